#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "noam/base/json.h"
#include "noam/design/explanation.h"
#include "noam/design/print.h"
#include "noam/model/layout.h"
#include "noam/model/writing.h"

namespace noam::design {

namespace {

constexpr std::size_t widest_text = 60;

// To three digits, and whole from 10 on: it is an estimate.
double rounded(double number) {
  if (!std::isfinite(number) || number == 0) return number;
  const double scale = std::pow(10.0, 2 - std::floor(std::log10(std::abs(number))));
  const double digits = std::round(number * scale) / scale;
  return digits >= 10 ? std::round(digits) : digits;
}

std::string estimate(double number) {
  if (number == 0) return "";
  if (number < 0.01) return "<0.01";
  return model::figure(rounded(number));
}

std::string size(double bytes) { return bytes == 0 ? "" : bytes < 1 ? "<1 B" : model::bytes_figure(bytes); }

// Broken between words; what goes on is indented further.
std::vector<std::string> broken(std::size_t indent, const std::string& text, std::size_t width) {
  std::vector<std::string> lines{std::string(indent, ' ')};
  bool begins = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    at = end + 1;
    if (!begins && model::display_width(lines.back()) + 1 + model::display_width(word) > width) {
      lines.emplace_back(indent + 4, ' ');
      begins = true;
    }
    lines.back() += (begins ? "" : " ") + word;
    begins = false;
  }
  return lines;
}

std::string signature(const model::Model& model, const model::StatementRef& statement) {
  const auto& parameters =
      statement.command ? model.commands[statement.index].parameters : model.queries[statement.index].parameters;
  std::vector<std::string> names;
  for (const model::Parameter& parameter : parameters) names.push_back("$" + model::written_name(parameter.name));
  std::string out = fmt::format("{} {}", statement.command ? "command" : "query",
                                model::written_name(statement_name(model, statement)));
  if (!names.empty()) out += fmt::format("({})", fmt::join(names, ", "));
  return out;
}

class PlanPrinter {
 public:
  explicit PlanPrinter(const Program& program)
      : program_(program), explainer_(program), table_({false, true, true, true, true}, widest_text) {
    table_.add({"", "reads", "entries", "bytes", "written"});
  }

  void add(const model::StatementRef& statement) {
    if (any_) table_.add({""});
    any_ = true;
    const Explanation explanation = explainer_.explain(statement);
    add_line(0, signature(*program_.model, statement), explanation.read, explanation.written);
    if (statement.command)
      add_command(explanation);
    else
      add_query(explanation);
  }

  [[nodiscard]] std::string print() const { return table_.print(0); }

 private:
  // The numbers stand beside the last line of a text.
  void add_line(std::size_t depth, const std::string& text, const Work& work = {}, double written = 0) {
    const bool numbers = work.reads > 0 || work.entries > 0 || written > 0;
    const auto lines = broken(2 * depth, text, numbers ? widest_text : model::page_width);
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) table_.add({lines[i]});
    table_.add({lines.back(), estimate(work.reads), estimate(work.entries), size(work.bytes), estimate(written)});
  }

  void warn(const Explanation& explanation) {
    if (!explanation.scans) return;
    std::set<std::uint32_t> scanned;
    const auto find = [&](const auto& self, const std::vector<Deed>& deeds) -> void {
      for (const Deed& deed : deeds) {
        if (deed.kind == DeedKind::Scan && deed.family) scanned.insert(*deed.family);
        if (deed.kind != DeedKind::Otherwise) self(self, deed.inside);
      }
    };
    find(find, explanation.deeds);
    for (const Following& copy : explanation.copies) find(find, copy.support);
    std::vector<std::string> names;
    for (const std::uint32_t family : scanned)
      names.push_back(fmt::format("{} ({} entries)", family_label(program_.design, family),
                                  model::figure(rounded(explainer_.entries(family)))));
    add_line(1, fmt::format("reads all of {}", fmt::join(names, " and ")));
  }

  void add_deeds(const std::vector<Deed>& deeds, std::size_t depth) {
    for (const Deed& deed : deeds) {
      if (deed.kind == DeedKind::Load && one_collection(deed.inside)) {
        add_line(depth, deed.text, total(deed.inside));
        continue;
      }
      add_line(depth, deed.text, deed.work);
      add_deeds(deed.inside, depth + 1);
    }
  }

  // How an aggregate is read needs no words where it lies in one place.
  [[nodiscard]] bool one_collection(const std::vector<Deed>& deeds) const {
    std::set<std::uint32_t> collections;
    for (const Deed& deed : deeds)
      if (deed.family) collections.insert(program_.design.families[*deed.family].collection);
    return collections.size() <= 1;
  }

  void add_query(const Explanation& explanation) {
    warn(explanation);
    const model::Query& query = program_.model->queries[explanation.statement.index];
    if (!explanation.refresh) {
      add_deeds(explanation.deeds, 1);
      return;
    }
    add_line(1, "read the last refresh");
    add_line(1,
             fmt::format("a refresh, every {}, {}:", model::written_duration(query.refresh->every_minutes),
                         query.refresh->keep == 1
                             ? "the last is kept"
                             : fmt::format("{} are kept", model::figure(static_cast<double>(query.refresh->keep)))),
             *explanation.refresh);
    add_deeds(explanation.deeds, 2);
  }

  void add_command(const Explanation& explanation) {
    warn(explanation);
    if (explanation.commits)
      add_line(1, fmt::format("for {} instances, each a command of its own",
                              model::figure(rounded(*explanation.commits))));
    add_deeds(explanation.deeds, 1);
    for (const Written& base : explanation.bases)
      add_line(1, "write " + family_label(program_.design, base.family), {}, base.entries);
    for (const Following& copy : explanation.copies) {
      std::string text =
          (copy.forgotten ? "forget its part of " : "keep ") + family_label(program_.design, copy.written.family);
      if (!copy.through.empty()) text += fmt::format(", which looks at {}", fmt::join(copy.through, " and "));
      add_line(1, text, {}, copy.written.entries);
      add_deeds(copy.support, 2);
    }
    if (explanation.commits) {
      add_line(1, "a commit each");
    } else {
      const double entries = rounded(explanation.written);
      const double blocks = rounded(explanation.blocks);
      add_line(1, fmt::format("one commit: {} {} in {} {}", model::figure(entries), entries == 1 ? "entry" : "entries",
                              model::figure(blocks), blocks == 1 ? "block" : "blocks"));
    }
  }

  const Program& program_;
  Explainer explainer_;
  model::Table table_;
  bool any_ = false;
};

Json work_json(const Work& work) { return {{"reads", work.reads}, {"entries", work.entries}, {"bytes", work.bytes}}; }

Json deeds_json(const Program& program, const std::vector<Deed>& deeds) {
  Json out = Json::array();
  for (const Deed& deed : deeds) {
    Json collection = nullptr;
    Json path = nullptr;
    Json index = nullptr;
    if (deed.family) {
      const Family& family = program.design.families[*deed.family];
      collection = program.design.collection_of(family).name;
      if (!family.name.empty()) path = family.name;
      index = *deed.family;
    }
    out.push_back({{"kind", deed_name(deed.kind)},
                   {"text", deed.text},
                   {"collection", std::move(collection)},
                   {"path", std::move(path)},
                   {"family", std::move(index)},
                   {"work", work_json(deed.work)},
                   {"steps", deeds_json(program, deed.inside)}});
  }
  return out;
}

Json written_json(const Program& program, const Written& written) {
  const Family& family = program.design.families[written.family];
  return {{"collection", program.design.collection_of(family).name},
          {"path", family.name.empty() ? Json(nullptr) : Json(family.name)},
          {"family", written.family},
          {"entries", written.entries},
          {"bytes", written.bytes},
          {"blocks", written.blocks}};
}

Json explanation_json(const Program& program, const Explanation& explanation) {
  Json bases = Json::array();
  for (const Written& base : explanation.bases) bases.push_back(written_json(program, base));
  Json copies = Json::array();
  for (const Following& copy : explanation.copies) {
    Json one = written_json(program, copy.written);
    one["through"] = copy.through;
    one["forgotten"] = copy.forgotten;
    one["read"] = work_json(total(copy.support));
    one["support"] = deeds_json(program, copy.support);
    copies.push_back(std::move(one));
  }
  const bool command = explanation.statement.command;
  return {{"statement", statement_name(*program.model, explanation.statement)},
          {"kind", command ? "command" : "query"},
          {"scans", explanation.scans},
          {"read", work_json(explanation.read)},
          {"refresh", explanation.refresh ? work_json(*explanation.refresh) : Json(nullptr)},
          {"written", {{"entries", explanation.written}, {"bytes", explanation.written_bytes}}},
          {"blocks", explanation.blocks},
          {"commits", command ? Json(explanation.commits.value_or(1)) : Json(nullptr)},
          {"steps", deeds_json(program, explanation.deeds)},
          {"bases", std::move(bases)},
          {"copies", std::move(copies)}};
}

// The cost of a mix.
struct Share {
  model::StatementRef statement;
  bool refresh = false;  // of the query, not the query itself
  double times = 0;      // a second, or of one statement
  Work read;             // of all those times
  double written = 0;
  double written_bytes = 0;
};

std::vector<Share> shares(const Program& program, const model::Mix& mix) {
  const Explainer explainer(program);
  double sum = 0;
  for (const model::Weight& weight : mix.weights) sum += weight.weight;
  std::vector<Share> out;
  for (const model::Weight& weight : mix.weights) {
    if (weight.weight <= 0 || sum <= 0) continue;
    const Explanation explanation = explainer.explain(weight.statement);
    Share share;
    share.statement = weight.statement;
    share.times = weight.weight / sum * mix.rate_per_second.value_or(1);
    share.read = explanation.read * share.times;
    share.written = explanation.written * share.times;
    share.written_bytes = explanation.written_bytes * share.times;
    out.push_back(share);
  }
  if (!mix.rate_per_second) return out;
  // Refreshes come by the clock, whatever is asked.
  for (std::uint32_t i = 0; i < program.model->queries.size(); ++i) {
    const auto& refresh = program.model->queries[i].refresh;
    if (!refresh || refresh->every_minutes <= 0) continue;
    const Explanation explanation = explainer.explain({false, i});
    Share share;
    share.statement = {false, i};
    share.refresh = true;
    share.times = 1.0 / (60.0 * static_cast<double>(refresh->every_minutes));
    share.read = *explanation.refresh * share.times;
    share.written = program.queries[i].rows * share.times;
    out.push_back(share);
  }
  return out;
}

Share sum_of(const std::vector<Share>& all) {
  Share sum;
  for (const Share& share : all) {
    sum.times += share.refresh ? 0 : share.times;
    sum.read += share.read;
    sum.written += share.written;
    sum.written_bytes += share.written_bytes;
  }
  return sum;
}

}  // namespace

std::string print_plans(const Program& program, const std::optional<model::StatementRef>& only) {
  PlanPrinter printer(program);
  for (const model::StatementRef& statement : all_statements(*program.model))
    if (!only || *only == statement) printer.add(statement);
  return printer.print();
}

Json plans_json(const Program& program, const std::optional<model::StatementRef>& only) {
  const Explainer explainer(program);
  Json out = Json::array();
  for (const model::StatementRef& statement : all_statements(*program.model))
    if (!only || *only == statement) out.push_back(explanation_json(program, explainer.explain(statement)));
  return out;
}

std::string print_mix(const Program& program, const model::Mix& mix) {
  const auto all = shares(program, mix);
  model::Table table({false, true, true, true, true, true});
  table.add({"", mix.rate_per_second ? "times" : "share", "reads", "entries", "bytes", "written"});
  const auto add = [&](const std::string& name, const Share& share, bool times) {
    const std::string often = !times                  ? ""
                              : mix.rate_per_second   ? estimate(share.times)
                              : share.times < 0.00005 ? "<0.01 %"
                                                      : fmt::format("{:.2f} %", share.times * 100);
    table.add({name, often, estimate(share.read.reads), estimate(share.read.entries), size(share.read.bytes),
               estimate(share.written)});
  };
  for (const Share& share : all) {
    const std::string name = model::written_name(statement_name(*program.model, share.statement));
    add(share.refresh ? "refresh of " + name : name, share, true);
  }
  add("in all", sum_of(all), mix.rate_per_second.has_value());
  return fmt::format("mix {}, {}\n", model::written_name(mix.name),
                     mix.rate_per_second ? "in a second" : "for one statement of it on average") +
         table.print(2);
}

Json mix_json(const Program& program, const model::Mix& mix) {
  const auto all = shares(program, mix);
  const auto one = [&](const Share& share) {
    return Json{{"times", share.times},
                {"read", work_json(share.read)},
                {"written", {{"entries", share.written}, {"bytes", share.written_bytes}}}};
  };
  Json statements = Json::array();
  for (const Share& share : all) {
    Json each{{"statement", statement_name(*program.model, share.statement)}, {"refresh", share.refresh}};
    each.update(one(share));
    statements.push_back(std::move(each));
  }
  return {{"mix", mix.name},
          {"rate_per_second", mix.rate_per_second ? Json(*mix.rate_per_second) : Json(nullptr)},
          {"total", one(sum_of(all))},
          {"statements", std::move(statements)}};
}

std::string print_storage(const Program& program) {
  const Explainer explainer(program);
  const auto uses = explainer.uses();
  model::Table table({false, true, true, false}, 100);
  table.add({"", "entries", "bytes", "read by"});
  for (std::uint32_t f = 0; f < program.design.families.size(); ++f) {
    const Family& family = program.design.families[f];
    if (family.of_noam()) continue;
    std::vector<std::string> readers = uses[f].statements;
    for (const std::string& copy : uses[f].copies) readers.push_back("keeping " + copy);
    for (const std::string& other : uses[f].others) readers.push_back(other);
    if (family.counts_members) readers.push_back("keeping " + family_label(program.design, family.members_of));
    const std::size_t most = 3;
    const std::size_t more = readers.size() > most ? readers.size() - most : 0;
    readers.resize(readers.size() - more);
    std::string who = fmt::format("{}", fmt::join(readers, ", "));
    if (more > 0) who += fmt::format(" and {} more", more);
    if (who.empty() && family.copy() && family.purpose != Purpose::Due) who = "nobody";
    table.add({family_label(program.design, f), estimate(explainer.entries(f)),
               size(explainer.entries(f) * explainer.bytes(f)), who});
  }
  return "stored\n" + table.print(2);
}

}  // namespace noam::design
