#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
class Option;
}  // namespace CLI

// The commands of a program, their options and their help. The library that reads the command line is included by
// arguments.cpp alone, because it takes long to compile.
namespace noam::cli {

// Each function changes the option and returns it.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option required();
  Option type_name(const std::string& name);  // what the help calls the value
  Option show_default();
  Option one_of(const std::vector<std::string>& values);
  // The function returns what is wrong with the value, or an empty text.
  Option check(const std::function<std::string(const std::string&)>& wrong);
  Option excludes(const std::string& other);
  Option one_value_each();  // `--option a --option b`, and not `--option a b`

 private:
  CLI::Option* option_;
};

// A name in capitals is an argument without an option: FILE. What the variable holds before is the default.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  Option add_option(const std::string& name, std::string& value, const std::string& about);
  Option add_option(const std::string& name, std::optional<std::string>& value, const std::string& about);
  Option add_option(const std::string& name, std::vector<std::string>& values, const std::string& about);
  Option add_option(const std::string& name, std::size_t& value, const std::string& about);
  // `--option` alone gives an empty text.
  Option add_option_with_optional_value(const std::string& name, std::optional<std::string>& value,
                                        const std::string& about);
  void add_flag(const std::string& name, bool& value, const std::string& about);
  void footer(const std::string& text);
  [[nodiscard]] std::string name() const;

 private:
  CLI::App* app_;
};

class CommandLine {
 public:
  CommandLine(const std::string& program, const std::string& about, const std::string& version,
              const std::string& footer);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  Command add_command(const std::string& name, const std::string& about);

  struct Parsed {
    std::string command;  // that was chosen; empty: none
    std::string print;    // the help or the version, if that was asked for
    std::string wrong;    // one line, if the arguments are wrong
  };
  Parsed parse(int argc, const char* const* argv);

 private:
  std::unique_ptr<CLI::App> app_;
  std::string version_;
};

}  // namespace noam::cli
