#include "noam/cli/program.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "noam/cli/compile.h"
#include "noam/cli/design_command.h"
#include "noam/cli/files.h"
#include "noam/cli/report.h"
#include "noam/cli/run_command.h"
#include "noam/cli/shell_command.h"
#include "noam/cli/stats_command.h"
#include "noam/cli/verify_command.h"
#include "noam/language/parser.h"
#include "noam/language/printer.h"
#include "noam/language/suggest.h"
#include "noam/model/diagram.h"
#include "noam/model/show.h"

namespace noam::cli {

namespace {

using language::Diagnostics;
using language::SourceFile;

int check(const std::vector<std::string>& paths, bool json) {
  std::vector<SourceFile> sources;
  int code = exit_fine;
  for (const std::string& path : paths) {
    auto source = read_input(path);
    if (source)
      sources.push_back(std::move(*source));
    else
      code = complain(source.error().message);
  }
  const std::vector<Compilation> all = compile_all(sources);
  std::string out;
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Diagnostics& diagnostics = all[i].diagnostics;
    if (diagnostics.has_errors() && code == exit_fine) code = exit_wrong_model;
    if (json) {
      for (auto& one : nlohmann::ordered_json::parse(language::render_json(diagnostics, sources[i])))
        array.push_back(std::move(one));
    } else if (!diagnostics.empty()) {
      out += language::render(diagnostics, sources[i], {color_wanted(STDOUT_FILENO)});
      out += fmt::format("{}: {}\n", sources[i].name(), summary(diagnostics));
    }
  }
  if (json) out = dumped(array);
  return deliver(out, code);
}

int format(const std::vector<std::string>& paths, bool only_check, bool json) {
  int code = exit_fine;
  const auto raise = [&](int to) { code = std::max(code, to); };
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  std::string out;
  for (const std::string& path : paths) {
    const auto source = read_input(path);
    if (!source) {
      raise(complain(source.error().message));
      continue;
    }
    Diagnostics diagnostics;
    const language::Tree tree = language::parse(*source, diagnostics);
    diagnostics.sort();
    const bool readable = !diagnostics.has_errors();
    const std::string text = readable ? language::print(tree, *source) : std::string(source->text());
    const bool canonical = readable && text == source->text();
    bool written = false;
    if (!readable) {
      raise(exit_wrong_model);
      if (!json)
        fmt::print(stderr, "{}{}: not formatted, {}\n",
                   language::render(diagnostics, *source, {color_wanted(STDERR_FILENO)}), source->name(),
                   summary(diagnostics));
    } else if (only_check && !canonical) {
      raise(exit_wrong_model);
      if (!json) out += fmt::format("{}: not in the canonical layout; run `noam fmt {}`\n", source->name(), path);
    } else if (!only_check && path == "-") {
      if (!json) out += text;
    } else if (!only_check && !canonical) {
      const auto replaced = replace_file(path, text);
      written = replaced.has_value();
      if (!replaced) raise(complain(replaced.error().message));
    }
    if (!json) continue;
    nlohmann::ordered_json row{{"file", source->name()}, {"canonical", canonical}, {"written", written}};
    if (path == "-" && !only_check && readable) row["text"] = text;
    row["diagnostics"] = nlohmann::ordered_json::parse(language::render_json(diagnostics, *source));
    array.push_back(std::move(row));
  }
  return deliver(json ? dumped(array) : out, code);
}

int show(const std::string& path, bool json, const std::string& diagram) {
  const auto source = read_input(path);
  if (!source) return complain(source.error().message);
  const Compilation compilation = compile(*source);
  if (compilation.diagnostics.has_errors()) return complain_of_model(compilation.diagnostics, *source);
  if (diagram == "mermaid") return deliver(model::mermaid(compilation.model), exit_fine);
  if (diagram == "dot") return deliver(model::dot(compilation.model), exit_fine);
  return deliver(json ? model::show_json(compilation.model) : model::show_text(compilation.model), exit_fine);
}

std::string indented(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += fmt::format("    {}\n", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// A paragraph, broken at 100 columns.
std::string filled(std::string_view text) {
  std::string out;
  std::size_t column = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n')) ++at;
    std::size_t end = at;
    while (end < text.size() && text[end] != ' ' && text[end] != '\n') ++end;
    if (end == at) break;
    if (column > 0 && column + 1 + (end - at) > 100) {
      out += '\n';
      column = 0;
    }
    if (column > 0) {
      out += ' ';
      ++column;
    }
    out += text.substr(at, end - at);
    column += end - at;
    at = end;
  }
  return out + "\n";
}

int explain(const std::string& name, bool json) {
  const auto as_json = [](const language::CodeInfo& row) {
    return nlohmann::ordered_json{{"code", row.name},       {"severity", language::severity_name(row.severity)},
                                  {"summary", row.summary}, {"explanation", row.explanation},
                                  {"wrong", row.wrong},     {"right", row.right}};
  };
  if (name.empty()) {
    std::string out;
    nlohmann::ordered_json array = nlohmann::ordered_json::array();
    for (const language::CodeInfo& row : language::all_codes()) {
      out += fmt::format("{:<26}{:<9}{}\n", row.name, language::severity_name(row.severity), row.summary);
      array.push_back(as_json(row));
    }
    return deliver(json ? dumped(array) : out, exit_fine);
  }
  const auto code = language::find_code(name);
  if (!code) return complain(fmt::format("no diagnostic has the code `{}`; `noam explain` lists them all", name));
  const language::CodeInfo& row = language::info(*code);
  if (json) return deliver(dumped(as_json(row)), exit_fine);
  std::string out = fmt::format("{} ({}): {}\n\n{}", row.name, language::severity_name(row.severity), row.summary,
                                filled(row.explanation));
  if (!row.wrong.empty()) out += fmt::format("\nwrong:\n\n{}", indented(row.wrong));
  if (!row.right.empty()) out += fmt::format("\nright:\n\n{}", indented(row.right));
  return deliver(out, exit_fine);
}

}  // namespace

int run(int argc, const char* const* argv) {
  CLI::App app{
      "noam: model your queries, not your data.\n"
      "One text file says what an application knows, asks and does, and how often; noam checks it and\n"
      "runs it.\n"};
  app.name("noam");
  app.set_version_flag("--version", std::string("noam ") + NOAM_VERSION, "Print the version and leave");
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 fine; 1 the model is wrong (or, with fmt --check, not in its layout); 2 wrong use: arguments, "
      "files;\n"
      "            3 refused (run) or different (verify); 4 unknown (run).\n"
      "Example:    noam check examples/game/game.noam\n"
      "More:       noam COMMAND --help; docs/language.md teaches the language");

  std::vector<std::string> paths;
  std::string path;
  std::string diagram;
  std::string name;
  bool json = false;
  bool only_check = false;
  const char* const input = "The text of a model; `-` is standard input";

  CLI::App* check_command =
      app.add_subcommand("check", "Say what is wrong with models, where, and what to do about it");
  check_command->add_option("FILE", paths, input)->required();
  check_command->add_flag("--json", json,
                          "Diagnostics as a JSON array with byte offsets, lines and columns (docs/json.md)");
  check_command->footer(
      "Prints nothing where all is well. Errors make the exit code 1; warnings and lints alone do not.\n"
      "A lint is silenced by a comment `// allow: code` beside the line or alone above it.\n"
      "`noam explain CODE` tells more about a diagnostic.\n"
      "Example: noam check shop.noam");

  CLI::App* format_command = app.add_subcommand("fmt", "Bring models into their one layout");
  format_command->add_option("FILE", paths, input)->required();
  format_command->add_flag("--check", only_check,
                           "Change nothing; name the files that are not in the layout, exit code 1 if any");
  format_command->add_flag("--json", json, "What became of each file, as a JSON array (docs/json.md)");
  format_command->footer(
      "Files are rewritten in place, comments kept. With `-`, standard input is printed.\n"
      "A file that can't be parsed is left as it is.\n"
      "Example: noam fmt shop.noam");

  CLI::App* show_command = app.add_subcommand("show", "Print a model as it was understood");
  show_command->add_option("FILE", path, input)->required();
  auto* json_option = show_command->add_flag("--json", json, "Everything as JSON (docs/json.md)");
  show_command->add_option("--diagram", diagram, "Draw entities, values and roles: `mermaid` or `dot`")
      ->check(CLI::IsMember({"mermaid", "dot"}))
      ->excludes(json_option);
  show_command->footer(
      "Entities with keys and sizes, roles with both directions, statements with the types of their parameters.\n"
      "Example: noam show shop.noam --diagram dot | dot -Tsvg > shop.svg");

  CLI::App* explain_command = app.add_subcommand("explain", "Tell more about a diagnostic");
  explain_command->add_option("CODE", name,
                              "What stands in brackets after a diagnostic; without it, all codes are listed");
  explain_command->add_flag("--json", json, "As JSON");
  explain_command->footer("Example: noam explain keys-do-not-determine");

  DesignOptions design_options;
  CLI::App* design_command = add_design_command(app, design_options);
  RunOptions run_options;
  CLI::App* run_command = add_run_command(app, run_options);
  ShellOptions shell_options;
  CLI::App* shell_command = add_shell_command(app, shell_options);
  StatsOptions stats_options;
  CLI::App* stats_command = add_stats_command(app, stats_options);
  VerifyOptions verify_options;
  CLI::App* verify_command = add_verify_command(app, verify_options);

  constexpr std::array<std::string_view, 9> commands = {"check", "fmt",   "show",  "explain", "design",
                                                        "run",   "shell", "stats", "verify"};
  if (argc > 1 && argv[1][0] != '-' && std::find(commands.begin(), commands.end(), argv[1]) == commands.end()) {
    const auto near = language::closest(argv[1], commands);
    return complain(fmt::format("no command `{}`; {}", argv[1],
                                near ? fmt::format("did you mean `{}`?", *near) : "see `noam --help`"));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    for (const CLI::App* command : app.get_subcommands()) return deliver(command->help("noam"), exit_fine);
    return deliver(app.help(), exit_fine);
  } catch (const CLI::CallForVersion&) {
    return deliver(fmt::format("noam {}\n", NOAM_VERSION), exit_fine);
  } catch (const CLI::ParseError& error) {
    std::string message = error.what();
    for (char& c : message)
      if (c == '\n') c = ' ';
    const auto chosen = app.get_subcommands();
    return complain(
        fmt::format("{}; see `noam {}--help`", message, chosen.empty() ? "" : chosen.front()->get_name() + " "));
  }
  if (check_command->parsed()) return check(paths, json);
  if (format_command->parsed()) return format(paths, only_check, json);
  if (show_command->parsed()) return show(path, json, diagram);
  if (design_command->parsed()) return show_design(design_options);
  if (run_command->parsed()) return run_statements(run_options);
  if (shell_command->parsed()) return run_shell(shell_options);
  if (stats_command->parsed()) return show_statistics(stats_options);
  if (verify_command->parsed()) return verify_copies(verify_options);
  return explain(name, json);
}

}  // namespace noam::cli
