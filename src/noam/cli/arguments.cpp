#include "noam/cli/arguments.h"

#include <algorithm>
#include <utility>

#include <CLI/CLI.hpp>

namespace noam::cli {

Option Option::required() {
  option_->required();
  return *this;
}

Option Option::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option Option::show_default() {
  option_->capture_default_str();
  return *this;
}

Option Option::one_of(const std::vector<std::string>& values) {
  option_->check(CLI::IsMember(values));
  return *this;
}

Option Option::check(const std::function<std::string(const std::string&)>& wrong) {
  option_->check(wrong);
  return *this;
}

Option Option::excludes(const std::string& other) {
  option_->excludes(other);
  return *this;
}

Option Option::one_value_each() {
  option_->allow_extra_args(false);
  return *this;
}

Option Command::add_option(const std::string& name, std::string& value, const std::string& about) {
  return Option(app_->add_option(name, value, about));
}

Option Command::add_option(const std::string& name, std::optional<std::string>& value, const std::string& about) {
  return Option(app_->add_option(name, value, about));
}

Option Command::add_option(const std::string& name, std::vector<std::string>& values, const std::string& about) {
  return Option(app_->add_option(name, values, about));
}

Option Command::add_option(const std::string& name, std::size_t& value, const std::string& about) {
  return Option(app_->add_option(name, value, about));
}

Option Command::add_option_with_optional_value(const std::string& name, std::optional<std::string>& value,
                                               const std::string& about) {
  const auto take = [&value](const std::vector<std::string>& given) {
    value = given.empty() ? std::string() : given.front();
  };
  return Option(app_->add_option_function<std::vector<std::string>>(name, take, about)->expected(0, 1));
}

void Command::add_flag(const std::string& name, bool& value, const std::string& about) {
  app_->add_flag(name, value, about);
}

void Command::footer(const std::string& text) { app_->footer(text); }

std::string Command::name() const { return app_->get_name(); }

CommandLine::CommandLine(const std::string& program, const std::string& about, const std::string& version,
                         const std::string& footer)
    : app_(std::make_unique<CLI::App>(about)), version_(version) {
  app_->name(program);
  app_->set_version_flag("--version", version, "Print the version and exit");
  app_->require_subcommand(1);
  app_->footer(footer);
}

CommandLine::~CommandLine() = default;

Command CommandLine::add_command(const std::string& name, const std::string& about) {
  return Command(app_->add_subcommand(name, about));
}

CommandLine::Parsed CommandLine::parse(int argc, const char* const* argv) {
  Parsed out;
  const auto chosen = [&] {
    const auto commands = app_->get_subcommands();
    return commands.empty() ? nullptr : commands.front();
  };
  try {
    app_->parse(argc, argv);
    if (chosen() != nullptr) out.command = chosen()->get_name();
  } catch (const CLI::CallForHelp&) {
    out.print = chosen() != nullptr ? chosen()->help(app_->get_name()) : app_->help();
  } catch (const CLI::CallForVersion&) {
    out.print = version_ + "\n";
  } catch (const CLI::ParseError& error) {
    out.wrong = error.what();
    std::replace(out.wrong.begin(), out.wrong.end(), '\n', ' ');
    const std::string of = chosen() != nullptr ? chosen()->get_name() + " " : "";
    out.wrong += "; see `" + app_->get_name() + " " + of + "--help`";
  }
  return out;
}

}  // namespace noam::cli
