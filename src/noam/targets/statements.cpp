#include "noam/targets/statements.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "noam/base/check.h"
#include "noam/model/writing.h"

namespace noam::targets {

using design::Deed;
using design::DeedKind;
using design::Step;
using design::StepKind;

namespace {

// What is known to be equal to a slot, since an entry was looked up by it.
using Known = std::map<std::uint32_t, model::Expr>;

model::Expr with_known(const model::Expr& expr, const Known& known) {
  if (expr.kind == model::ExprKind::Slot) {
    const auto found = known.find(expr.index);
    return found == known.end() ? expr : found->second;
  }
  model::Expr out = expr;
  for (model::Expr& operand : out.operands) operand = with_known(operand, known);
  return out;
}

// Learns from a lookup which slots hold a part of the key that it was asked for.
void learn(const Step& step, Known& known) {
  const auto source = [&](const design::Place& place) -> const design::KeySource* {
    if (place.kind == design::Place::Kind::Block && place.index < step.block.size()) return &step.block[place.index];
    if (place.kind == design::Place::Kind::Key && place.index < step.prefix.size()) return &step.prefix[place.index];
    return nullptr;
  };
  for (const auto* parts : {&step.block, &step.prefix})
    for (const design::KeySource& part : *parts)
      if (part.slot && part.kind == design::KeySource::Kind::Value) known[*part.slot] = with_known(part.value, known);
  for (const design::Output& output : step.outputs)
    if (const auto* part = source(output.place); part != nullptr && part->kind == design::KeySource::Kind::Value)
      known[output.slot] = with_known(part->value, known);
}

// One value each, and the same ones.
bool same_sources(const std::vector<design::KeySource>& a, const std::vector<design::KeySource>& b,
                  const Known& known) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [&](const design::KeySource& one, const design::KeySource& other) {
        const bool values = one.kind == design::KeySource::Kind::Value && other.kind == design::KeySource::Kind::Value;
        return values && model::same(with_known(one.value, known), with_known(other.value, known));
      });
}

bool takes_several(const design::KeySource& source) { return source.kind != design::KeySource::Kind::Value; }

class Lister {
 public:
  Lister(const Outline& outline, const Dialect& dialect)
      : outline_(outline), dialect_(dialect), explainer_(*outline.program) {}

  ListedStatement list(const model::StatementRef& statement) {
    out_ = {};
    out_.statement = statement;
    out_.heading = heading(statement);
    const design::Explanation explanation = explainer_.explain(statement);
    tell(explanation.deeds, 1);
    std::vector<Write> writes;
    std::vector<std::string> written_back;
    note_made(explanation);
    for (const design::Written& written : explanation.bases) write("write", written, false, 1, writes);
    for (const design::Following& copy : explanation.copies) {
      out_.steps.push_back({1,
                            fmt::format("{} {}", copy.forgotten ? "forget its part of" : "keep",
                                        outline_.family(copy.written.family).label),
                            {},
                            false,
                            {}});
      tell(copy.support, 2);
      if (read_before(copy)) written_back.push_back(outline_.family(copy.written.family).label);
      write("then write", copy.written, copy.forgotten, 2, writes);
    }
    if (!writes.empty()) {
      out_.together = dialect_.together(writes);
      if (!written_back.empty())
        out_.together += fmt::format(" What is read and written back ({}) must have one writer at a time.",
                                     fmt::join(written_back, ", "));
      out_.batches = dialect_.batches(writes);
    }
    return std::move(out_);
  }

 private:
  std::string heading(const model::StatementRef& statement) const {
    const model::Model& model = outline_.model();
    const auto& parameters =
        statement.command ? model.commands[statement.index].parameters : model.queries[statement.index].parameters;
    std::vector<std::string> names;
    for (const model::Parameter& parameter : parameters) names.push_back("$" + parameter.name);
    return fmt::format("{} {}({})", statement.command ? "command" : "query", design::statement_name(model, statement),
                       fmt::join(names, ", "));
  }

  // Its entries are worked out from what was there, and not by adding.
  [[nodiscard]] bool read_before(const design::Following& copy) const {
    const std::uint32_t family = copy.written.family;
    return !copy.forgotten && !outline_.family(family).adds &&
           std::any_of(copy.support.begin(), copy.support.end(),
                       [&](const Deed& deed) { return deed.step == nullptr && deed.family == family; });
  }

  // Base families of entities that the command makes instances of.
  void note_made(const design::Explanation& explanation) {
    made_.clear();
    const design::Design& design = outline_.program->design;
    const auto entity = [&](std::uint32_t family) {
      const design::Family& at = design.families[family];
      return design.collection_of(at).variables[at.from[0]].type.id;
    };
    std::set<std::uint32_t> entities;
    for (const design::Written& written : explanation.bases)
      if (written.made && design.families[written.family].existence) entities.insert(entity(written.family));
    for (const design::Written& written : explanation.bases)
      if (design.families[written.family].purpose == design::Purpose::Base && !written.changed &&
          entities.contains(entity(written.family)))
        made_.insert(written.family);
  }

  Read read_of(std::uint32_t family) const {
    Read out;
    out.collection = &outline_.collection_of(family);
    out.family = &outline_.family(family);
    return out;
  }

  void tell(const std::vector<Deed>& deeds, std::size_t depth) {
    std::set<const Step*> asked;  // with others before them
    for (std::size_t i = 0; i < deeds.size(); ++i) {
      const Deed& deed = deeds[i];
      ListedStep step;
      step.depth = depth;
      step.text = deed.text;
      if (deed.step != nullptr && asked.contains(deed.step))
        asked_before(step);
      else if (deed.step != nullptr)
        ask(*deed.step, mates_of(deeds, i, asked), step);
      else if (deed.family)
        ask(deed, step);
      out_.steps.push_back(std::move(step));
      tell(deed.inside, depth + 1);
    }
  }

  static void asked_before(ListedStep& out) {
    out.requests.push_back({{}, "by the request above"});
    out.asks = true;
  }

  // The families of later steps that look up entries of the same key in the same place.
  std::vector<const FamilyOutline*> mates_of(const std::vector<Deed>& deeds, std::size_t at,
                                             std::set<const Step*>& asked) const {
    std::vector<const FamilyOutline*> out;
    const Step& step = *deeds[at].step;
    if (!one_entry(step)) return out;
    const FamilyOutline& family = outline_.family(step.family);
    Known known;
    learn(step, known);
    for (std::size_t i = at + 1; i < deeds.size(); ++i) {
      const Step* other = deeds[i].step;
      if (other == nullptr || !one_entry(*other)) continue;
      if (other->family != step.family && dialect_.in_one_place(family, outline_.family(other->family)) &&
          same_sources(step.block, other->block, known) && same_sources(step.prefix, other->prefix, known) &&
          asked.insert(other).second)
        out.push_back(&outline_.family(other->family));
      learn(*other, known);
    }
    return out;
  }

  [[nodiscard]] bool one_entry(const Step& step) const {
    return step.kind == StepKind::Lookup && step.prefix.size() == outline_.family(step.family).key.size();
  }

  void ask(const Step& step, std::vector<const FamilyOutline*> mates, ListedStep& out) const {
    switch (step.kind) {
      case StepKind::Lookup:
      case StepKind::Scan: {
        Read read = read_of(step.family);
        read.scan = step.kind == StepKind::Scan;
        read.prefix = step.prefix.size();
        read.low = step.range.low.has_value();
        read.high = step.range.high.has_value();
        read.low_inclusive = step.range.low_inclusive;
        read.high_inclusive = step.range.high_inclusive;
        read.reverse = step.reverse;
        read.limited = step.limited;
        read.mates = std::move(mates);
        request(read, out);
        if (std::any_of(step.block.begin(), step.block.end(), takes_several) ||
            std::any_of(step.prefix.begin(), step.prefix.end(), takes_several))
          out.text += " (once for each value)";
        break;
      }
      case StepKind::Collect: {
        Read read = read_of(step.family);
        request(read, out);
        if (step.spread) out.text += " (once for each element)";
        break;
      }
      case StepKind::Refreshed:
        refreshed(step, out);
        break;
      case StepKind::Unnest:
      case StepKind::Filter:
      case StepKind::Nested:
        break;
    }
  }

  // When the last refresh was, and its rows; or all that are kept.
  void refreshed(const Step& step, ListedStep& out) const {
    for (const CollectionOutline& collection : outline_.collections) {
      for (const FamilyOutline& family : collection.families) {
        const design::Family& at = outline_.program->design.families[family.index];
        if (at.purpose != design::Purpose::Refreshed || at.members_of != step.query) continue;
        Read read;
        read.collection = &collection;
        read.family = &family;
        if (!family.one_a_block()) {
          read.prefix = step.history ? 0 : 1;
          read.low = step.history && step.range.low;
          read.high = step.history && step.range.high;
        }
        request(read, out);
      }
    }
  }

  void ask(const Deed& deed, ListedStep& out) const {
    Read read = read_of(*deed.family);
    read.scan = deed.kind == DeedKind::Scan;
    if (!read.scan && !deed.whole_block) read.prefix = read.family->key.size();
    request(read, out);
  }

  void request(const Read& read, ListedStep& out) const {
    out.requests.push_back(dialect_.read(read));
    out.asks = true;
  }

  void write(const char* what, const design::Written& written, bool forgotten, std::size_t depth,
             std::vector<Write>& writes) {
    ListedStep step;
    step.depth = depth;
    const FamilyOutline& family = outline_.family(written.family);
    step.text = fmt::format("{} {}", what, family.label);
    step.asks = true;
    const auto add = [&](Write write) {
      write.collection = &outline_.collection_of(written.family);
      write.family = &family;
      step.writes.push_back(write);
      step.requests.push_back(dialect_.write(write));
      writes.push_back(std::move(write));
    };
    const auto write_of = [](WriteKind kind, bool gone = false) {
      Write out;
      out.kind = kind;
      out.gone = gone;
      return out;
    };
    const bool unknown = !written.made && !written.changed && !written.appended && !written.erased;
    if (forgotten) {
      Write erased = write_of(WriteKind::Erase);
      erased.forgotten = true;
      add(std::move(erased));
    } else if (family.adds) {
      // Less in the entry that a row leaves, more in the one that it comes to.
      const bool moved = written.made && written.erased;
      add(write_of(WriteKind::Add));
      if (moved) add(write_of(WriteKind::Add, true));
      if (written.erased) add(write_of(WriteKind::Erase, moved));
    } else {
      if (written.made) {
        Write made = write_of(family.existence ? WriteKind::Insert : WriteKind::Put);
        made.fresh = made_.contains(family.index);
        add(std::move(made));
      }
      if ((written.changed && !(written.made && !family.existence)) || unknown) add(change_of(written, family));
      if (written.appended) add(write_of(WriteKind::Append));
      const bool others = written.made || written.changed || written.appended;
      const bool several = !family.base || family.elements != model::TypeKind::Unknown;
      if (written.erased) add(write_of(WriteKind::Erase, others && several));
    }
    out_.steps.push_back(std::move(step));
  }

  // A change writes the values that may differ, and no others. Elements are written whole.
  static Write change_of(const design::Written& written, const FamilyOutline& family) {
    Write out;
    out.kind = WriteKind::Put;
    if (family.elements == model::TypeKind::Unknown && written.values.size() < family.values.size())
      out.changed = written.values;
    return out;
  }

  const Outline& outline_;
  const Dialect& dialect_;
  const design::Explainer explainer_;
  std::set<std::uint32_t> made_;
  ListedStatement out_;
};

void add_lines(std::string& out, std::string_view begin, std::string_view text) {
  while (true) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += begin;
    out += text.substr(0, end);
    out += '\n';
    if (end == text.size()) return;
    text.remove_prefix(end + 1);
  }
}

// Lines of at most so many characters, broken between words.
std::string wrapped(std::string_view text, std::size_t width) {
  std::string out;
  std::size_t line = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (line > 0 && line + 1 + end > width) {
      out += '\n';
      line = 0;
    }
    if (line > 0) out += ' ';
    line += end + (line > 0 ? 1 : 0);
    out += text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace

std::string told_followers(const std::vector<std::string>& names) {
  if (names.empty()) return {};
  return fmt::format(" {} {} afterwards, request by request: whoever writes must see to it.", fmt::join(names, ", "),
                     names.size() == 1 ? "follows" : "follow");
}

std::string told_apart(const std::vector<Write>& writes) {
  std::vector<std::string> bases;
  std::vector<std::string> copies;
  const auto add = [](std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const Write& write : writes)
    if (write.family->base) add(bases, write.collection->name);
  for (const Write& write : writes)
    if (std::find(bases.begin(), bases.end(), write.collection->name) == bases.end())
      add(copies, write.collection->name);
  std::string out = ".";
  if (bases.size() > 1) out = fmt::format("; blocks of {} are changed one after the other.", fmt::join(bases, ", "));
  return out + told_followers(copies);
}

std::vector<ListedStatement> list_statements(const Outline& outline, const Dialect& dialect) {
  std::vector<ListedStatement> out;
  Lister lister(outline, dialect);
  for (const model::StatementRef& statement : design::all_statements(outline.model()))
    out.push_back(lister.list(statement));
  return out;
}

void gather_base_writes(std::vector<ListedStatement>& statements,
                        const std::function<std::vector<Native>(const std::vector<Write>&)>& requests) {
  for (ListedStatement& statement : statements) {
    std::vector<Write> writes;
    std::vector<ListedStep*> steps;
    for (ListedStep& step : statement.steps) {
      if (step.writes.empty() || !step.writes[0].family->base) continue;
      writes.insert(writes.end(), step.writes.begin(), step.writes.end());
      steps.push_back(&step);
    }
    if (steps.empty()) continue;
    if (steps.size() == 1) {
      steps[0]->requests = requests(writes);
      continue;
    }
    for (ListedStep* step : steps) step->requests = {{{}, "in what is asked for all of them, at the end"}};
    statement.batches = requests(writes);
  }
}

std::string print_statements(const std::vector<ListedStatement>& statements, std::string_view comment,
                             std::string_view end_of_request) {
  std::string out;
  for (const ListedStatement& statement : statements) {
    if (!out.empty()) out += '\n';
    out += fmt::format("{}{}\n", comment, statement.heading);
    const auto add_requests = [&](const std::vector<Native>& requests, std::size_t depth) {
      for (const Native& native : requests) {
        if (!native.text.empty()) add_lines(out, "", native.text + std::string(end_of_request));
        if (!native.why_not.empty())
          add_lines(out, fmt::format("{}{}", comment, std::string(2 * depth, ' ')), native.why_not);
      }
    };
    for (const ListedStep& step : statement.steps) {
      add_lines(out, fmt::format("{}{}", comment, std::string(2 * step.depth, ' ')), step.text);
      add_requests(step.requests, step.depth + 1);
    }
    if (!statement.together.empty()) add_lines(out, fmt::format("{}  ", comment), wrapped(statement.together, 112));
    add_requests(statement.batches, 1);
  }
  return out;
}

std::vector<WriteKind> ways_to_write(const FamilyOutline& family) {
  std::vector<WriteKind> out;
  if (family.adds) return {WriteKind::Add, WriteKind::Erase};
  if (family.existence) out.push_back(WriteKind::Insert);
  out.push_back(WriteKind::Put);
  if (family.base && std::any_of(family.values.begin(), family.values.end(), [](const Column& column) {
        return column.place.kind == design::Place::Kind::Cell && column.type.kind == model::TypeKind::List;
      }))
    out.push_back(WriteKind::Append);
  out.push_back(WriteKind::Erase);
  return out;
}

const char* write_name(WriteKind kind) {
  switch (kind) {
    case WriteKind::Insert:
      return "insert";
    case WriteKind::Put:
      return "put";
    case WriteKind::Append:
      return "append";
    case WriteKind::Add:
      return "add";
    case WriteKind::Erase:
      return "erase";
  }
  return "";
}

}  // namespace noam::targets
