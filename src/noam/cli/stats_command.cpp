#include "noam/cli/stats_command.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "noam/base/json.h"
#include "noam/cli/answers.h"
#include "noam/cli/files.h"
#include "noam/cli/lines.h"
#include "noam/cli/report.h"
#include "noam/compile/compile.h"
#include "noam/design/explanation.h"
#include "noam/design/layout.h"
#include "noam/design/program.h"
#include "noam/language/lexer.h"
#include "noam/model/datum_json.h"
#include "noam/model/estimates.h"
#include "noam/model/layout.h"

namespace noam::cli {

using runtime::FieldStatistics;
using runtime::Spread;
using runtime::Statistics;

namespace {

constexpr double far_off = 2;

// What the model says of a number. `written`: a person did.
struct Said {
  double number = 0;
  bool written = true;
};

std::optional<Said> said(const std::optional<double>& figure) {
  return figure ? std::optional(Said{*figure, true}) : std::nullopt;
}
std::optional<Said> said(const std::optional<model::Estimate>& estimate) {
  return estimate ? std::optional(Said{estimate->value, !estimate->derived}) : std::nullopt;
}

// How many times what the model says; nothing where that is about right.
std::optional<double> factor(double measured, const std::optional<Said>& model) {
  if (!model || model->number == measured) return std::nullopt;
  if (model->number <= 0 || measured <= 0) return std::nullopt;
  const double times = measured / model->number;
  return times > far_off || times < 1 / far_off ? std::optional(times) : std::nullopt;
}

std::string said_text(const std::optional<Said>& model) {
  if (!model) return "";
  return (model->written ? "~" : "≈") + model::figure(model->number);
}

std::string factor_text(double measured, const std::optional<Said>& model) {
  const auto times = factor(measured, model);
  if (!times) return "";
  return *times >= 1 ? "× " + rounded_figure(*times) : "× 1/" + rounded_figure(1 / *times);
}

std::string count_text(std::uint64_t number) { return model::figure(static_cast<double>(number)); }

std::string distinct_text(const FieldStatistics& field) {
  if (!field.counted || field.values.counts().empty()) return "";
  return (field.values.exact() ? "" : "about ") + model::figure(field.values.distinct());
}

std::string absent_text(const FieldStatistics& field) {
  const std::uint64_t all = field.present + field.absent;
  if (field.absent == 0 || all == 0) return "";
  const double share = 100.0 * static_cast<double>(field.absent) / static_cast<double>(all);
  return share < 1 ? "< 1 %" : fmt::format("{:.0f} %", share);
}

// One field, where something can be said of it: the measure that the model has a figure for, its spread, and the rest.
void add_field(model::Table& table, const model::Field& field, const FieldStatistics& measured) {
  if (field.hidden) return;
  const auto row = [&](const char* what, const Spread& spread, const std::optional<Said>& model, bool first) {
    table.add({first ? "  " + field.name : "", what, model::figure(spread.average()), count_text(spread.at(0.5)),
               count_text(spread.at(0.99)), count_text(spread.largest()), first ? absent_text(measured) : "",
               first ? distinct_text(measured) : "", said_text(model), factor_text(spread.average(), model)});
  };
  bool first = true;
  if (field.type.is_collection()) {
    row("elements", measured.lengths, said(field.statistic.count), first);
    first = false;
  }
  if (measured.bytes.count() > 0) {
    row("bytes", measured.bytes, said(field.about_bytes), first);
    first = false;
  }
  if (first) table.add({"  " + field.name, "", "", "", "", "", absent_text(measured), distinct_text(measured)});
  if (field.statistic.distinct && measured.counted && !measured.values.counts().empty()) {
    const auto model = said(field.statistic.distinct);
    const double distinct = measured.values.distinct();
    table.add(
        {"", "distinct", model::figure(distinct), "", "", "", "", "", said_text(model), factor_text(distinct, model)});
  }
}

std::string data_text(const Statistics& statistics, const model::Model& model) {
  model::Table table({false, false, true, true, true, true, true, true, true, false}, std::string::npos);
  table.add({"", "", "average", "p50", "p99", "largest", "absent", "distinct", "model says"});
  for (std::uint32_t e = 0; e < model.entities.size(); ++e) {
    const model::Entity& entity = model.entities[e];
    const runtime::EntityStatistics& measured = statistics.entities[e];
    if (!measured.kept) {
      table.add({entity.name, "not kept"});
      continue;
    }
    const auto says = said(model::instances(model, static_cast<model::EntityId>(e)));
    const auto number = static_cast<double>(measured.instances);
    table.add({entity.name, "instances", model::figure(number), "", "", "", "", "", said_text(says),
               factor_text(number, says)});
    if (measured.instances == 0) continue;
    for (std::size_t f = 0; f < entity.fields.size(); ++f) add_field(table, entity.fields[f], measured.fields[f]);
    for (const std::uint32_t r : entity.inverses) {
      const model::Role& role = model.roles[r];
      const runtime::RoleStatistics& back = statistics.roles[r];
      if (!back.measured) continue;
      const auto fan_out = said(model::backward_fan_out(model, role));
      table.add({"  " + role.inverse, "referring", model::figure(back.average), count_text(back.fan_out.at(0.5)),
                 count_text(back.fan_out.at(0.99)), (back.exact ? "" : "≥ ") + count_text(back.fan_out.largest()), "",
                 "", said_text(fan_out), factor_text(back.average, fan_out)});
    }
  }
  for (std::size_t v = 0; v < model.values.size(); ++v) {
    const std::vector<FieldStatistics>& fields = statistics.values[v];
    const bool any = std::any_of(fields.begin(), fields.end(),
                                 [](const FieldStatistics& field) { return field.present + field.absent > 0; });
    if (!any) continue;
    table.add({model.values[v].name, "in others"});
    for (std::size_t f = 0; f < fields.size(); ++f) add_field(table, model.values[v].fields[f], fields[f]);
  }
  return "data\n" + table.print(2);
}

std::string family_name(const design::Family& family) { return family.name.empty() ? "ε" : family.name; }

std::vector<std::string> stored_cells(std::string name, const runtime::Stored& stored) {
  const auto mean = [&](std::uint64_t number) {
    return stored.blocks == 0 ? 0 : static_cast<double>(number) / static_cast<double>(stored.blocks);
  };
  return {std::move(name),
          count_text(stored.blocks),
          count_text(stored.entries),
          model::bytes_figure(static_cast<double>(stored.bytes)),
          model::figure(mean(stored.entries)),
          count_text(stored.most_entries),
          model::bytes_figure(mean(stored.bytes)),
          model::bytes_figure(static_cast<double>(stored.most_bytes))};
}

std::string collections_text(const Statistics& statistics, const design::Program& program) {
  const design::Explainer explainer(program);
  model::Table table({false, true, true, true, true, true, true, true, true, false}, std::string::npos);
  table.add({"", "blocks", "entries", "bytes", "entries a block", "largest", "bytes a block", "largest", "model says"});
  for (std::size_t c = 0; c < program.design.collections.size(); ++c) {
    const design::Collection& collection = program.design.collections[c];
    const runtime::Stored& stored = statistics.collections[c].stored;
    if (stored.blocks == 0) {
      table.add({collection.name, "0"});
      continue;
    }
    const bool several = collection.families.size() > 1;
    if (several) table.add(stored_cells(collection.name, stored));
    for (const std::uint32_t f : collection.families) {
      const design::Family& family = program.design.families[f];
      auto cells = stored_cells(several ? "  " + family_name(family) : collection.name, statistics.families[f]);
      if (!family.of_noam()) {
        const auto number = static_cast<double>(statistics.families[f].entries);
        const std::optional<Said> says = Said{explainer.entries(f), false};
        cells.push_back(said_text(says));
        cells.push_back(factor_text(number, says));
      }
      table.add(std::move(cells));
    }
  }
  return "collections\n" + table.print(2);
}

Json key_json(const design::Program& program, std::uint32_t collection, const stores::Key& key) {
  const std::vector<model::Part>& by = program.design.collections[collection].by;
  Json out = Json::array();
  for (std::size_t i = 0; i < key.size(); ++i) {
    const bool typed = i < by.size() && by[i].expr.type.known();
    if (typed)
      out.push_back(model::write_json(*program.model, by[i].expr.type, key[i]));
    else if (key[i].is_int())
      out.push_back(key[i].as_int());
    else
      out.push_back(key[i].is_string() ? Json(key[i].as_string()) : Json());
  }
  return out;
}

std::string key_text(const design::Program& program, std::uint32_t collection, const stores::Key& key) {
  std::vector<std::string> parts;
  for (const Json& part : key_json(program, collection, key))
    parts.push_back(visible(part.is_string() ? part.get<std::string>() : part.dump()));
  return model::shortened(fmt::format("{}", fmt::join(parts, ", ")), 60);
}

std::string largest_text(const Statistics& statistics, const design::Program& program) {
  model::Table table({false, false, true, true}, std::string::npos);
  bool any = false;
  for (std::uint32_t c = 0; c < program.design.collections.size(); ++c) {
    std::string name = program.design.collections[c].name;
    for (const runtime::BlockSize& block : statistics.collections[c].largest) {
      if (!any) table.add({"", "block", "entries", "bytes"});
      any = true;
      table.add({std::exchange(name, ""), key_text(program, c, block.key), count_text(block.entries),
                 model::bytes_figure(static_cast<double>(block.bytes))});
    }
  }
  return any ? "\nlargest blocks\n" + table.print(2) : "";
}

std::string hottest_text(const Statistics& statistics, const design::Program& program) {
  if (statistics.hottest.empty()) return "";
  model::Table table({false, false, true, true, true}, std::string::npos);
  table.add({"", "block", "reads", "writes", "of all"});
  for (const stores::HotBlock& hot : statistics.hottest) {
    if (hot.block.collection >= program.design.collections.size()) continue;
    table.add({program.design.collections[hot.block.collection].name,
               key_text(program, hot.block.collection, hot.block.key), count_text(hot.reads), count_text(hot.writes),
               fmt::format("{:.1f} %", 100 * hot.share)});
  }
  return "\nhottest blocks (about)\n" + table.print(2);
}

// As JSON

Json said_json(double measured, const std::optional<Said>& model) {
  if (!model) return nullptr;
  const auto times = factor(measured, model);
  return Json{{"value", model->number}, {"derived", !model->written}, {"factor", times ? Json(*times) : Json()}};
}

Json spread_json(const Spread& spread, double average, const std::optional<Said>& model) {
  return Json{{"average", average},
              {"p50", spread.at(0.5)},
              {"p99", spread.at(0.99)},
              {"largest", spread.largest()},
              {"model", said_json(average, model)}};
}

Json field_json(const model::Field& field, const FieldStatistics& measured) {
  Json out{{"name", field.name}, {"present", measured.present}, {"absent", measured.absent}};
  out["elements"] = field.type.is_collection()
                        ? spread_json(measured.lengths, measured.lengths.average(), said(field.statistic.count))
                        : Json();
  out["bytes"] = measured.bytes.count() > 0
                     ? spread_json(measured.bytes, measured.bytes.average(), said(field.about_bytes))
                     : Json();
  out["distinct"] = measured.counted
                        ? Json{{"value", measured.values.distinct()},
                               {"exact", measured.values.exact()},
                               {"model", said_json(measured.values.distinct(), said(field.statistic.distinct))}}
                        : Json();
  return out;
}

Json stored_json(std::string name, const runtime::Stored& stored) {
  return Json{{"name", std::move(name)},
              {"blocks", stored.blocks},
              {"entries", stored.entries},
              {"bytes", stored.bytes},
              {"most_entries", stored.most_entries},
              {"most_bytes", stored.most_bytes}};
}

}  // namespace

std::string statistics_text(const Statistics& statistics, const design::Program& program) {
  return data_text(statistics, *program.model) + "\n" + collections_text(statistics, program) +
         largest_text(statistics, program) + hottest_text(statistics, program);
}

std::string statistics_json(const Statistics& statistics, const design::Program& program) {
  const model::Model& model = *program.model;
  Json out{{"schema", 1}, {"model", model.name}, {"strategy", program.design.name}};
  out["entities"] = Json::array();
  for (std::uint32_t e = 0; e < model.entities.size(); ++e) {
    const model::Entity& entity = model.entities[e];
    const runtime::EntityStatistics& measured = statistics.entities[e];
    const auto number = static_cast<double>(measured.instances);
    Json row{{"name", entity.name},
             {"kept", measured.kept},
             {"instances", measured.instances},
             {"model", said_json(number, said(model::instances(model, static_cast<model::EntityId>(e))))},
             {"fields", Json::array()},
             {"inverses", Json::array()}};
    if (measured.kept)
      for (std::size_t f = 0; f < entity.fields.size(); ++f)
        row["fields"].push_back(field_json(entity.fields[f], measured.fields[f]));
    for (const std::uint32_t r : entity.inverses) {
      const runtime::RoleStatistics& back = statistics.roles[r];
      if (!back.measured) continue;
      Json inverse{{"name", model.roles[r].inverse}, {"exact", back.exact}};
      inverse.update(spread_json(back.fan_out, back.average, said(model::backward_fan_out(model, model.roles[r]))));
      row["inverses"].push_back(std::move(inverse));
    }
    out["entities"].push_back(std::move(row));
  }
  out["values"] = Json::array();
  for (std::size_t v = 0; v < model.values.size(); ++v) {
    Json row{{"name", model.values[v].name}, {"fields", Json::array()}};
    for (std::size_t f = 0; f < model.values[v].fields.size(); ++f)
      row["fields"].push_back(field_json(model.values[v].fields[f], statistics.values[v][f]));
    out["values"].push_back(std::move(row));
  }
  const design::Explainer explainer(program);
  out["collections"] = Json::array();
  for (std::uint32_t c = 0; c < program.design.collections.size(); ++c) {
    const design::Collection& collection = program.design.collections[c];
    Json row = stored_json(collection.name, statistics.collections[c].stored);
    row["families"] = Json::array();
    for (const std::uint32_t f : collection.families) {
      Json family = stored_json(program.design.families[f].name, statistics.families[f]);
      family["model"] =
          program.design.families[f].of_noam()
              ? Json()
              : said_json(static_cast<double>(statistics.families[f].entries), Said{explainer.entries(f), false});
      row["families"].push_back(std::move(family));
    }
    row["largest"] = Json::array();
    for (const runtime::BlockSize& block : statistics.collections[c].largest)
      row["largest"].push_back(
          {{"key", key_json(program, c, block.key)}, {"entries", block.entries}, {"bytes", block.bytes}});
    out["collections"].push_back(std::move(row));
  }
  out["hottest"] = Json::array();
  for (const stores::HotBlock& hot : statistics.hottest) {
    if (hot.block.collection >= program.design.collections.size()) continue;
    out["hottest"].push_back({{"collection", program.design.collections[hot.block.collection].name},
                              {"key", key_json(program, hot.block.collection, hot.block.key)},
                              {"reads", hot.reads},
                              {"writes", hot.writes},
                              {"share", hot.share}});
  }
  return dumped(out);
}

// --- Figures in the text of a model ----------------------------------------------------------------------------------

std::string rounded_figure(double number) {
  if (number <= 0) return "0";
  const double digits = std::floor(std::log10(number));
  const double unit = std::pow(10, digits - 1);
  const double value = std::round(number / unit) * unit;
  if (value >= 9.95) return model::figure(std::round(value));
  // As many places as two digits need; a zero at the end says nothing.
  const int places = static_cast<int>(1 - std::floor(std::log10(value) + 1e-9));
  std::string text = fmt::format("{:.{}f}", value, std::min(places, 9));
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

namespace {

// What takes the place of a stretch of the text.
struct Edit {
  Span span;
  std::string text;
  std::string change;  // for a person
};

class Editor {
 public:
  Editor(const model::Model& model, const Statistics& statistics) : model_(model), statistics_(statistics) {}

  std::vector<Edit> edits(const language::Tree& tree) {
    std::size_t entity = 0;
    std::size_t value = 0;
    for (const language::Declaration& declaration : tree.declarations) {
      if (const auto* one = std::get_if<language::EntityDecl>(&declaration)) edit(*one, entity++);
      if (const auto* one = std::get_if<language::ValueDecl>(&declaration)) edit(*one, value++);
    }
    std::sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) { return a.span.begin < b.span.begin; });
    return std::move(edits_);
  }

 private:
  void edit(const language::EntityDecl& written, std::size_t index) {
    const model::Entity& entity = model_.entities[index];
    const runtime::EntityStatistics& measured = statistics_.entities[index];
    if (!measured.kept || measured.instances == 0) return;
    figure(entity.name, written.statistic.count, entity.statistic.count, written.name.span.end,
           static_cast<double>(measured.instances));
    std::size_t f = 0;
    for (const language::EntityMember& member : written.members) {
      const auto* field = std::get_if<language::Field>(&member);
      if (field == nullptr) continue;
      const std::size_t at = f++;
      const std::string name = entity.name + "." + entity.fields[at].name;
      edit(*field, entity.fields[at], measured.fields[at], name);
      if (!field->inverse || !entity.fields[at].role) continue;
      const std::uint32_t r = *entity.fields[at].role;
      if (!statistics_.roles[r].measured) continue;
      const model::Role& role = model_.roles[r];
      figure(model_.entity(role.to).name + "." + role.inverse, field->inverse_statistic.count, role.backward.count,
             field->inverse->span.end, statistics_.roles[r].average);
    }
  }

  void edit(const language::ValueDecl& written, std::size_t index) {
    const model::Value& value = model_.values[index];
    for (std::size_t f = 0; f < written.fields.size(); ++f)
      edit(written.fields[f], value.fields[f], statistics_.values[index][f], value.name + "." + value.fields[f].name);
  }

  void edit(const language::Field& written, const model::Field& field, const FieldStatistics& measured,
            const std::string& name) {
    const language::TypeExpr* syntax = &written.type;
    const model::Type* type = &field.type;
    while (type->is_collection()) {
      type = &type->arguments.back();
      syntax = &syntax->arguments.back();
    }
    const bool sized = type->kind == model::TypeKind::Text || type->kind == model::TypeKind::Bytes ||
                       type->kind == model::TypeKind::Json;
    if (sized && measured.bytes.count() > 0 && (syntax->length.missing() || syntax->about))
      bytes(name, *syntax, field.about_bytes, std::max(1.0, std::round(measured.bytes.average())));
    const bool symmetric = field.role && model_.roles[*field.role].symmetric;
    if (field.type.is_collection() && measured.lengths.count() > 0 && !symmetric)
      figure(name, written.statistic.count, field.statistic.count, written.type.span.end, measured.lengths.average());
  }

  // `~50`, where it stands or after what it belongs to.
  void figure(const std::string& name, const std::optional<language::Number>& written,
              const std::optional<double>& before, std::uint32_t otherwise, double measured) {
    const std::string text = rounded_figure(measured);
    if (before && rounded_figure(*before) == text) return;
    if (written)
      edits_.push_back({written->span, text, fmt::format("{}: ~{} -> ~{}", name, written->text, text)});
    else
      edits_.push_back({{otherwise, otherwise}, " ~" + text, fmt::format("{}: nothing -> ~{}", name, text)});
  }

  // `text(~80)`
  void bytes(const std::string& name, const language::TypeExpr& type, const std::optional<double>& before,
             double measured) {
    const std::string text = rounded_figure(measured);
    if (before && rounded_figure(*before) == text) return;
    const std::string_view word = type.name.text;
    if (!type.length.missing())
      edits_.push_back(
          {type.length.span, text, fmt::format("{}: {}(~{}) -> {}(~{})", name, word, type.length.text, word, text)});
    else
      edits_.push_back({{type.name.span.end, type.name.span.end},
                        fmt::format("(~{})", text),
                        fmt::format("{}: {} -> {}(~{})", name, word, word, text)});
  }

  const model::Model& model_;
  const Statistics& statistics_;
  std::vector<Edit> edits_;
};

// What a text says, figures aside: its words and signs without `~50` and `(~80)`.
std::vector<std::string> without_figures(const language::SourceFile& source) {
  using language::TokenKind;
  language::Diagnostics diagnostics;
  const language::Tokens lexed = language::lex(source, diagnostics);
  const std::vector<language::Token>& tokens = lexed.tokens;
  std::vector<std::string> out;
  const auto is = [&](std::size_t at, TokenKind kind) { return at < tokens.size() && tokens[at].kind == kind; };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (is(i, TokenKind::LeftParenthesis) && is(i + 1, TokenKind::Tilde) && is(i + 2, TokenKind::Number) &&
        is(i + 3, TokenKind::RightParenthesis)) {
      i += 3;
      continue;
    }
    if (is(i, TokenKind::Tilde) && is(i + 1, TokenKind::Number)) {
      ++i;
      continue;
    }
    out.emplace_back(source.text().substr(tokens[i].span.begin, tokens[i].span.end - tokens[i].span.begin));
  }
  for (const language::Comment& comment : lexed.comments)
    out.emplace_back(source.text().substr(comment.span.begin, comment.span.end - comment.span.begin));
  return out;
}

}  // namespace

Result<Rewritten> with_figures(const language::SourceFile& source, const Statistics& statistics) {
  const Compilation before = compile(source);
  if (before.diagnostics.has_errors())
    return Error{fmt::format("{}: changed during the measurement, and now has errors", source.name())};
  Rewritten out;
  std::size_t at = 0;
  for (Edit& edit : Editor(*before.model, statistics).edits(before.tree)) {
    out.text += source.text().substr(at, edit.span.begin - at);
    out.text += edit.text;
    at = edit.span.end;
    out.changes.push_back(std::move(edit.change));
  }
  out.text += source.text().substr(at);
  const language::SourceFile after(source.name(), out.text);
  if (compile(after).diagnostics.has_errors() || without_figures(source) != without_figures(after))
    return Error{
        fmt::format("{}: not changed, because the figures would change the meaning of the model", source.name())};
  return out;
}

// --- The command -----------------------------------------------------------------------------------------------------

Command add_stats_command(CommandLine& line, StatsOptions& options) {
  Command command =
      line.add_command("stats", "Measure the data in a store and compare it with the figures of the model");
  add_opening_options(command, options.opening);
  command.add_option(
      "--after", options.after,
      "First run the requests of this file, JSON lines as for `noam run --batch`; `-` for standard input");
  command.add_option("--top", options.top, "Number of largest and hottest blocks to show")
      .type_name("N")
      .show_default();
  command.add_flag("--json", options.json, "Print the measurements as JSON (docs/commands/stats.md)");
  command.add_flag("--write", options.write,
                   "Write the measurements into the model file as its `~` figures, and print the changes");
  command.footer(
      "Measures numbers of instances, lengths of texts and collections, fan-outs and distinct values; blocks, entries\n"
      "and bytes of every collection; the largest and the hottest blocks. `×` marks figures of the model that are off\n"
      "by a factor of more than 2. With --after and no --store, everything runs in memory.\n"
      "Exit codes: 0 success; 1 the model has errors; 2 usage error (files, arguments, stores, invalid requests).\n"
      "Example: noam stats shop.noam --store rocksdb:data --write\n"
      "More:    docs/commands/stats.md");
  return command;
}

namespace {

// Which access paths noam adds may depend on figures. A model that its own store would refuse helps nobody.
Result<void> still_opens(const Opened& opened, const std::string& name, const std::string& text) {
  const auto deployed = opened.store->deployment();
  if (!deployed || !opened.store->capabilities().durable) return {};
  NOAM_ASSIGN_OR_RETURN(const design::Program program,
                        compile_program(language::SourceFile(name, text), opened.strategy));
  const auto differences = design::layout_differences(deployed->layout, program.design.layout);
  if (differences.empty()) return {};
  return Error{
      fmt::format("{}: not changed, because with the measured figures the design would differ from that of store `{}`: "
                  "{}",
                  name, opened.url, differences.front())};
}

}  // namespace

int show_statistics(const StatsOptions& options) {
  if (options.after == "-" && options.opening.path == "-")
    return complain("standard input cannot be both the model and the requests");
  if (options.write && options.opening.path == "-") return complain("--write needs a model file, not `-`");
  const auto source =
      options.write ? read_input(options.opening.path) : Result<language::SourceFile>(language::SourceFile("", ""));
  if (!source) return complain(source.error().message);
  OpeningOptions opening = options.opening;
  if (!options.after.empty()) opening.otherwise = "memory:";
  const Opened opened = open_model(opening);
  if (!opened.session) return opened.code;
  if (!options.after.empty()) {
    const auto before = answer_file(*opened.session, options.after);
    if (!before) return complain(before.error().message);
    if (before->refused + before->unknown + before->errors > 0)
      complain(fmt::format("{}: {}", options.after == "-" ? "<stdin>" : options.after, answered_text(*before)));
  }
  const auto statistics = runtime::measure(*opened.session, options.top);
  if (!statistics) return complain(statistics.error().message);
  const design::Program& program = opened.session->program();
  if (!options.write)
    return deliver(options.json ? statistics_json(*statistics, program) : statistics_text(*statistics, program),
                   exit_fine);
  const auto rewritten = with_figures(*source, *statistics);
  if (!rewritten) return complain(rewritten.error().message);
  if (const auto opens = still_opens(opened, source->name(), rewritten->text); !opens)
    return complain(opens.error().message);
  if (!rewritten->changes.empty())
    if (const auto written = replace_file(options.opening.path, rewritten->text); !written)
      return complain(written.error().message);
  if (options.json) return deliver(dumped(Json{{"schema", 1}, {"changes", rewritten->changes}}), exit_fine);
  std::string out;
  for (const std::string& change : rewritten->changes) out += change + "\n";
  return deliver(out.empty() ? "no changes\n" : out, exit_fine);
}

}  // namespace noam::cli
