#include "noam/cli/design_command.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "noam/base/json.h"
#include "noam/cli/files.h"
#include "noam/cli/opening.h"
#include "noam/cli/program.h"
#include "noam/cli/report.h"
#include "noam/cli/sample.h"
#include "noam/compile/compile.h"
#include "noam/design/draw.h"
#include "noam/design/explanation.h"
#include "noam/design/print.h"
#include "noam/language/suggest.h"

namespace noam::cli {

namespace {

// `did you mean …`, or all there are.
std::string instead(const std::string& asked, const std::vector<std::string_view>& names, const char* what) {
  if (const auto near = language::closest(asked, names)) return fmt::format("did you mean `{}`?", *near);
  if (names.empty()) return fmt::format("the model has no {}", what);
  return fmt::format("the model has {}", fmt::join(names, ", "));
}

Result<model::StatementRef> find_statement(const model::Model& model, const std::string& name) {
  std::vector<std::string_view> names;
  for (std::uint32_t i = 0; i < model.queries.size(); ++i) {
    if (model.queries[i].name == name) return model::StatementRef{false, i};
    names.push_back(model.queries[i].name);
  }
  for (std::uint32_t i = 0; i < model.commands.size(); ++i) {
    if (model.commands[i].name == name) return model::StatementRef{true, i};
    names.push_back(model.commands[i].name);
  }
  return Error{fmt::format("no statement `{}`; {}", name, instead(name, names, "statements"))};
}

Result<const model::Mix*> find_mix(const model::Model& model, const std::string& name) {
  std::vector<std::string_view> names;
  for (const model::Mix& mix : model.mixes) {
    if (mix.name == name) return &mix;
    names.push_back(mix.name);
  }
  return Error{fmt::format("no mix `{}`; {}", name, instead(name, names, "mixes"))};
}

struct Wanted {
  bool design = true;
  bool plans = false;
  std::optional<model::StatementRef> only;
  const model::Mix* mix = nullptr;
};

Result<Wanted> find_wanted(const model::Model& model, const DesignOptions& options) {
  Wanted wanted;
  wanted.plans = options.explain.has_value();
  if (options.explain && !options.explain->empty()) {
    NOAM_ASSIGN_OR_RETURN(wanted.only, find_statement(model, *options.explain));
    wanted.design = false;
  }
  if (!options.mix.empty()) {
    NOAM_ASSIGN_OR_RETURN(wanted.mix, find_mix(model, options.mix));
  }
  return wanted;
}

std::string as_json(const design::Program& program, const Wanted& wanted) {
  Json out{{"schema", 1}, {"model", program.model->name}};
  if (wanted.design) out["design"] = design::design_json(program);
  if (wanted.plans) out["plans"] = design::plans_json(program, wanted.only);
  if (wanted.mix != nullptr) out["mix"] = design::mix_json(program, *wanted.mix);
  return dumped(out);
}

std::string as_text(const design::Program& program, const Wanted& wanted) {
  std::string out;
  const auto add = [&](const std::string& part) { out += (out.empty() ? "" : "\n") + part; };
  if (wanted.design) add(design::print_design(program));
  if (wanted.plans) add(design::print_plans(program, wanted.only));
  if (wanted.plans && !wanted.only) add(design::print_storage(program));
  if (wanted.mix != nullptr) add(design::print_mix(program, *wanted.mix));
  return out;
}

// One line where options are given that do not go together.
Result<void> check_drawing(const DesignOptions& options) {
  if (options.draw.empty()) {
    const char* given = options.svg               ? "--svg"
                        : !options.output.empty() ? "--output"
                        : !options.data.empty()   ? "--with-data"
                                                  : nullptr;
    if (given != nullptr) return Error{fmt::format("{} needs --draw blocks or --draw tables", given)};
    return {};
  }
  const char* other = options.json           ? "--json"
                      : options.explain      ? "--explain"
                      : !options.mix.empty() ? "--mix"
                                             : nullptr;
  if (other != nullptr) return Error{fmt::format("--draw and {} cannot be used together", other)};
  if (options.draw != "blocks" && !options.data.empty())
    return Error{"--with-data needs --draw blocks: tables show no data"};
  return {};
}

Result<std::string> drawn(const design::Program& program, const DesignOptions& options) {
  const bool svg = options.svg || std::filesystem::path(options.output).extension() == ".svg";
  if (options.draw == "tables") return svg ? design::draw_tables_svg(program) : design::draw_tables_text(program);
  std::optional<design::Sample> sample;
  if (!options.data.empty()) {
    NOAM_ASSIGN_OR_RETURN(sample, read_sample(program, options.data));
  }
  const design::Sample* shown = sample ? &*sample : nullptr;
  return svg ? design::draw_blocks_svg(program, shown) : design::draw_blocks_text(program, shown);
}

int draw(const design::Program& program, const DesignOptions& options) {
  const auto picture = drawn(program, options);
  if (!picture) return complain(picture.error().message);
  if (options.output.empty()) return deliver(*picture, exit_fine);
  NewFolders folders;
  if (const auto created = folders.create(folder_around(options.output)); !created)
    return complain(created.error().message);
  if (const auto written = write_file(options.output, *picture); !written) return complain(written.error().message);
  folders.keep();
  return exit_fine;
}

}  // namespace

Command add_design_command(CommandLine& line, DesignOptions& options) {
  Command command = line.add_command("design", "Show the database design of a model, and the plans of its statements");
  command.add_option("FILE", options.path, "Model file; `-` for standard input");
  command
      .add_option("--strategy", options.strategy, "Design to use: `eao`, `etf`, `normalized`, or a design of the model")
      .type_name("S")
      .show_default();
  command
      .add_option_with_optional_value(
          "--explain", options.explain,
          "Print the plans of all statements, or of this one: steps, reads, writes and updated copies")
      .type_name("[STATEMENT]");
  command.add_option("--mix", options.mix, "Print the total cost of a mix").type_name("M");
  command.add_flag("--json", options.json, "Print JSON (docs/design.md)");
  command
      .add_option(
          "--draw", options.draw,
          "Draw a picture instead: `blocks` with their entries, or `tables` with their columns, keys and queries")
      .type_name("KIND")
      .one_of({"blocks", "tables"});
  command
      .add_option(
          "--with-data", options.data,
          "Show the instances of this file or folder in the blocks (formats as for `noam load`); can be repeated")
      .type_name("DATA")
      .one_value_each();
  command.add_flag("--svg", options.svg, "Draw the picture as SVG");
  command
      .add_option("-o,--output", options.output,
                  "File for the picture, SVG if its name ends in .svg; its folder is created if missing. Default: "
                  "standard output")
      .type_name("PICTURE");
  command.footer(
      "The printed design can be pasted into the model and changed there. Numbers are estimates from the statistics "
      "of\n"
      "the model. Plans are for the embedded store: a command is one commit over everything it changes.\n"
      "Examples: noam design shop.noam --strategy etf --explain place\n"
      "          noam design shop.noam --draw blocks --with-data data -o shop.svg");
  return command;
}

int show_design(DesignOptions options) {
  // `--explain FILE` is FILE explained.
  if (options.path.empty() && options.explain && !options.explain->empty()) std::swap(options.path, *options.explain);
  if (options.path.empty()) return complain("FILE is required; see `noam design --help`");
  if (const auto possible = check_drawing(options); !possible) return complain(possible.error().message);
  const auto [source, model, code] = read_model(options.path);
  if (!model) return code;
  if (const auto found = find_strategy(*model, options.strategy); !found) return complain(found.error().message);
  const auto wanted = find_wanted(*model, options);
  if (!wanted) return complain(wanted.error().message);
  const auto program = compile_program(model, options.strategy);
  if (!program) return complain(program.error().message);
  if (!options.draw.empty()) return draw(*program, options);
  return deliver(options.json ? as_json(*program, *wanted) : as_text(*program, *wanted), exit_fine);
}

}  // namespace noam::cli
