#include "noam/design/figures.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "noam/base/check.h"
#include "noam/design/explanation.h"
#include "noam/model/layout.h"
#include "noam/model/writing.h"

namespace noam::design {

using model::Cell;
using model::CellShape;
using model::Datum;
using model::ExprKind;
using model::Part;

namespace {

constexpr std::size_t most_blocks = 4;   // of a collection that are shown
constexpr std::size_t most_entries = 6;  // of a family in a block that are shown

bool is_own(const Family& family) { return family.purpose != Purpose::Base && family.purpose != Purpose::Written; }

// The families of a collection that are shown, noam's own ones last.
std::vector<std::uint32_t> shown_families(const Design& design, const Collection& collection) {
  std::vector<std::uint32_t> out;
  for (const bool own : {false, true})
    for (const std::uint32_t f : collection.families)
      if (!design.families[f].of_noam() && is_own(design.families[f]) == own) out.push_back(f);
  return out;
}

// Collections that have something to show, noam's own ones last.
std::vector<std::pair<const Collection*, std::vector<std::uint32_t>>> shown_collections(const Design& design) {
  std::vector<std::pair<const Collection*, std::vector<std::uint32_t>>> out;
  for (const bool own : {false, true})
    for (const Collection& collection : design.collections) {
      std::vector<std::uint32_t> families = shown_families(design, collection);
      if (!families.empty() && is_own(design.families[families[0]]) == own)
        out.emplace_back(&collection, std::move(families));
    }
  return out;
}

// `games`, not ⟨games: …⟩: the path says what the value is already.
bool is_bare(const Family& family) {
  if (family.cells.size() != 1 || family.cells[0].shape != CellShape::Plain) return false;
  const Cell& cell = family.cells[0];
  if (family.elements) return cell.expr.kind == ExprKind::Variable;
  return family.purpose == Purpose::Base && family.key.empty() && cell.name == family.name;
}

// Keys that look alike: what lies under them is of one kind.
bool is_alike(const std::vector<Part>& a, const std::vector<Part>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Part& one, const Part& other) {
    return one.name == other.name && one.descending == other.descending && one.expr.type == other.expr.type;
  });
}

std::string part_name(const Program& program, const Collection& collection, const Part& part) {
  if (!part.name.empty()) return part.name;
  static const std::vector<model::Parameter> none;
  return model::written({*program.model, collection.variables, none}, part.expr);
}

std::string in_angles(const std::string& name) { return fmt::format("⟨{}⟩", name); }

// --- Blocks ---------------------------------------------------------------------------------------------------------

class BlockFigure {
 public:
  BlockFigure(const Program& program, const Sample* sample)
      : program_(program), model_(*program.model), sample_(sample) {
    check(sample == nullptr || sample->families.size() == program.design.families.size(),
          "a sample is of the design it is drawn for");
  }

  std::vector<FigureCollection> draw() {
    const std::vector<Use> uses = Explainer(program_).uses();
    std::vector<FigureCollection> out;
    for (const auto& [collection, families] : shown_collections(program_.design)) {
      FigureCollection drawn;
      drawn.name = collection->name;
      drawn.own = is_own(program_.design.families[families[0]]);
      if (drawn.own) {
        const std::string purpose = own_purpose(program_, families.back());
        drawn.remark = purpose.empty() ? use_text(uses[families[0]]) : purpose;
      }
      if (sample_ == nullptr)
        drawn.blocks.push_back(form(*collection, families));
      else
        fill(*collection, families, drawn);
      out.push_back(std::move(drawn));
    }
    return out;
  }

 private:
  [[nodiscard]] Notation key_part(const Collection& collection, const Part& part, const Datum* datum) const {
    if (datum != nullptr) return {key_notation(model_, part.expr.type, *datum), {}, ""};
    if (part.expr.kind == ExprKind::Constant && part.expr.constant != model::Literal())
      return {key_notation(model_, part.expr.type, model::from_literal(part.expr.type, part.expr.constant)), {}, ""};
    return {in_angles(part_name(program_, collection, part)), {}, ""};
  }

  [[nodiscard]] std::vector<Notation> key_parts(const Collection& collection, const std::vector<Part>& parts,
                                                const std::vector<Datum>* data) const {
    std::vector<Notation> out;
    for (std::size_t i = 0; i < parts.size(); ++i)
      out.push_back(key_part(collection, parts[i], data == nullptr ? nullptr : &(*data)[i]));
    return out;
  }

  [[nodiscard]] Notation block_key(const Collection& collection, const std::vector<Datum>* data) const {
    return grouped_notation("", key_parts(collection, collection.by, data), "");
  }

  [[nodiscard]] Notation entry_key(const Collection& collection, const Family& family,
                                   const std::vector<Datum>* data) const {
    if (family.key.empty()) return {family.name.empty() ? "ε" : family.name, {}, ""};
    return grouped_notation(family.name + "[", key_parts(collection, family.key, data), "]");
  }

  [[nodiscard]] Notation cell_value(const Cell& cell, const Datum* datum) const {
    if (cell.shape == CellShape::Plain)
      return datum == nullptr ? value_placeholder(model_, cell.expr.type)
                              : value_notation(model_, cell.expr.type, *datum);
    if (datum != nullptr && datum->absent()) return {"absent", {}, ""};
    if (cell.shape == CellShape::Object) return cells_value(cell.cells, datum == nullptr ? nullptr : &datum->as_list());
    std::vector<Notation> rows;
    if (datum == nullptr) {
      rows = {cells_value(cell.cells, nullptr), {"…", {}, ""}};
    } else {
      const Datum::List& list = datum->as_list();
      for (std::size_t i = 0; i < std::min(list.size(), most_entries); ++i)
        rows.push_back(cells_value(cell.cells, &list[i].as_list()));
      if (list.size() > most_entries) rows.push_back({fmt::format("… {} more", list.size() - most_entries), {}, ""});
    }
    return grouped_notation("[", std::move(rows), "]");
  }

  [[nodiscard]] Notation cells_value(const std::vector<Cell>& cells, const std::vector<Datum>* data) const {
    std::vector<Notation> members;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const Datum* datum = data == nullptr ? nullptr : &(*data)[i];
      if (datum != nullptr && datum->absent()) continue;
      members.push_back(named(cells[i].name, cell_value(cells[i], datum)));
    }
    return grouped_notation("⟨", std::move(members), "⟩");
  }

  // Families with the same access paths: in the figure an entry has what all of them know.
  struct Unit {
    std::vector<std::uint32_t> families;
    const Family* first = nullptr;
    bool own = false;
  };
  // What lies under one key, in the order of the unit's families; null: nothing.
  using Together = std::vector<const SampleEntry*>;

  [[nodiscard]] std::vector<Unit> units_of(const std::vector<std::uint32_t>& families) const {
    std::vector<Unit> out;
    for (const std::uint32_t f : families) {
      const Family& family = program_.design.families[f];
      const auto same = std::find_if(out.begin(), out.end(), [&](const Unit& unit) {
        return unit.own == is_own(family) && unit.first->name == family.name && is_alike(unit.first->key, family.key);
      });
      if (same != out.end())
        same->families.push_back(f);
      else
        out.push_back({{f}, &family, is_own(family)});
    }
    return out;
  }

  [[nodiscard]] FigureBlock form(const Collection& collection, const std::vector<std::uint32_t>& families) const {
    FigureBlock out;
    out.key = block_key(collection, nullptr);
    for (const Unit& unit : units_of(families))
      // Where keys have constants, each family has its own.
      for (std::size_t i = 0; i < unit.families.size(); ++i) {
        const Family& family = program_.design.families[unit.families[i]];
        const Notation key = entry_key(collection, family, nullptr);
        const auto before = std::find_if(out.entries.begin(), out.entries.end(),
                                         [&](const FigureEntry& entry) { return entry.key == key; });
        if (i > 0 && before != out.entries.end())
          before->value = joined(std::move(before->value), cells_value(family.cells, nullptr));
        else
          out.entries.push_back(
              {key, is_bare(family) ? cell_value(family.cells[0], nullptr) : cells_value(family.cells, nullptr),
               unit.own});
      }
    return out;
  }

  // Two values of ⟨…⟩ as one.
  static Notation joined(Notation a, Notation b) {
    std::move(b.members.begin(), b.members.end(), std::back_inserter(a.members));
    return grouped_notation("⟨", std::move(a.members), "⟩");
  }

  void fill(const Collection& collection, const std::vector<std::uint32_t>& families, FigureCollection& drawn) const {
    std::map<std::vector<Datum>, std::map<std::uint32_t, std::vector<const SampleEntry*>>> blocks;
    for (const std::uint32_t f : families)
      for (const SampleEntry& entry : sample_->families[f]) blocks[entry.block][f].push_back(&entry);
    const std::vector<Unit> units = units_of(families);
    for (const auto& [key, entries] : blocks) {
      if (drawn.blocks.size() == most_blocks) {
        drawn.more = blocks.size() - most_blocks;
        break;
      }
      FigureBlock block;
      block.key = block_key(collection, &key);
      for (const Unit& unit : units) {
        const std::vector<Together> rows = together(unit, entries);
        const std::size_t shown = std::min(rows.size(), most_entries);
        for (std::size_t i = 0; i < shown; ++i) add_entry(collection, unit, rows[i], block);
        if (rows.size() > shown)
          block.entries.push_back({grouped_notation(unit.first->name + "[", {{"…", {}, ""}}, "]"),
                                   {fmt::format("{} more", rows.size() - shown), {}, ""},
                                   true});
      }
      drawn.blocks.push_back(std::move(block));
    }
  }

  static std::vector<Together> together(const Unit& unit,
                                        const std::map<std::uint32_t, std::vector<const SampleEntry*>>& entries) {
    const auto before = [&](const std::vector<Datum>& a, const std::vector<Datum>& b) {
      for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i] != b[i]) return (a[i] < b[i]) != unit.first->key[i].descending;
      return false;
    };
    std::map<std::vector<Datum>, Together, decltype(before)> by_key(before);
    for (std::size_t i = 0; i < unit.families.size(); ++i) {
      const auto of_family = entries.find(unit.families[i]);
      if (of_family == entries.end()) continue;
      for (const SampleEntry* entry : of_family->second) {
        Together& row = by_key[entry->key];
        row.resize(unit.families.size());
        row[i] = entry;
      }
    }
    std::vector<Together> out;
    for (auto& row : by_key) out.push_back(std::move(row.second));
    return out;
  }

  void add_entry(const Collection& collection, const Unit& unit, const Together& row, FigureBlock& block) const {
    const SampleEntry& any = **std::find_if(row.begin(), row.end(), [](const auto* entry) { return entry != nullptr; });
    FigureEntry out;
    out.key = entry_key(collection, *unit.first, &any.key);
    out.own = unit.own;
    if (unit.families.size() == 1 && is_bare(*unit.first)) {
      // An optional field that has no value is no part of the aggregate.
      if (any.values[0].absent()) return;
      out.value = cell_value(unit.first->cells[0], any.values.data());
    } else {
      out.value = cells_value({}, nullptr);
      for (std::size_t i = 0; i < row.size(); ++i)
        if (row[i] != nullptr)
          out.value = joined(std::move(out.value),
                             cells_value(program_.design.families[unit.families[i]].cells, &row[i]->values));
    }
    block.entries.push_back(std::move(out));
  }

  const Program& program_;
  const model::Model& model_;
  const Sample* sample_;
};

// --- Tables ---------------------------------------------------------------------------------------------------------

bool is_kept_count(const Cell& cell) {
  return cell.shape == CellShape::Plain && (cell.expr.kind == ExprKind::CountOf ||
                                            (cell.expr.kind == ExprKind::Fold && cell.expr.fold == model::Fold::Count));
}

Notation cell_type(const model::Model& model, const Cell& cell) {
  if (cell.shape == CellShape::Plain) return {model::to_string(model, cell.expr.type), {}, ""};
  std::vector<Notation> members;
  for (const Cell& inside : cell.cells) members.push_back(named(inside.name, cell_type(model, inside)));
  const bool list = cell.shape == CellShape::List;
  return grouped_notation(list ? "[⟨" : "⟨", std::move(members), list ? "⟩]" : "⟩");
}

// Asks for the rows that a refresh of this query left.
bool reads_refreshed(const Plan& plan, std::uint32_t query) {
  for (const auto* steps : {&plan.steps, &plan.late})
    for (const Step& step : *steps) {
      if (step.kind == StepKind::Refreshed && step.query == query) return true;
      for (const Plan& nested : step.nested)
        if (reads_refreshed(nested, query)) return true;
    }
  return false;
}

class TableFigure {
 public:
  explicit TableFigure(const Program& program) : program_(program), uses_(Explainer(program).uses()) {}

  std::vector<FigureTable> draw() {
    std::vector<FigureTable> out;
    for (const auto& [collection, families] : shown_collections(program_.design))
      out.push_back(table(*collection, families));
    return out;
  }

 private:
  struct Section {
    std::string name;
    std::vector<Part> key;
    FigureSection drawn;
  };

  [[nodiscard]] FigureColumn key_column(const Collection& collection, const Part& part, const std::string& mark) const {
    return {part_name(program_, collection, part), {model::to_string(*program_.model, part.expr.type), {}, ""}, mark};
  }

  [[nodiscard]] Section& section_of(std::vector<Section>& sections, const Collection& collection,
                                    const Family& family) const {
    const std::string name = is_bare(family) && family.key.empty() ? "" : family.name;
    for (Section& section : sections)
      if (section.name == name && is_alike(section.key, family.key)) return section;
    Section made{name, family.key, {}};
    if (!name.empty()) made.drawn.path = family.key.empty() ? name : name + "[*]";
    made.drawn.own = is_own(family);
    for (const Part& part : family.key)
      made.drawn.columns.push_back(key_column(collection, part, part.descending ? "C↓" : "C↑"));
    sections.push_back(std::move(made));
    return sections.back();
  }

  [[nodiscard]] FigureTable table(const Collection& collection, const std::vector<std::uint32_t>& families) const {
    const auto& all = program_.design.families;
    FigureTable out;
    out.name = collection.name;
    out.own = is_own(all[families[0]]);
    const bool keyed = std::any_of(families.begin(), families.end(), [&](std::uint32_t f) {
      return !all[f].key.empty() && (out.own || !is_own(all[f]));
    });
    // What belongs to the block as a whole comes first.
    std::vector<Section> sections(1);
    sections[0].drawn.own = out.own;
    for (const Part& part : collection.by) sections[0].drawn.columns.push_back(key_column(collection, part, "K"));
    for (const bool with_key : {false, true})
      for (const std::uint32_t f : families)
        if (all[f].key.empty() != with_key) add_columns(section_of(sections, collection, all[f]), all[f], keyed);
    // The first one without a name goes on with the block key.
    for (Section& section : sections) {
      FigureSection& drawn = section.drawn;
      if (out.sections.size() != 1 || !drawn.path.empty() || drawn.own != out.own) {
        out.sections.push_back(std::move(drawn));
        continue;
      }
      std::vector<FigureColumn>& columns = out.sections[0].columns;
      const auto key_end = drawn.columns.begin() + static_cast<std::ptrdiff_t>(section.key.size());
      columns.insert(columns.begin() + static_cast<std::ptrdiff_t>(collection.by.size()), drawn.columns.begin(),
                     key_end);
      columns.insert(columns.end(), key_end, drawn.columns.end());
    }
    add_readers(families, out);
    return out;
  }

  void add_columns(Section& section, const Family& family, bool keyed) const {
    std::vector<FigureColumn>& columns = section.drawn.columns;
    for (const Cell& cell : family.cells) {
      const auto same = [&](const FigureColumn& column) { return column.name == cell.name; };
      if (std::any_of(columns.begin(), columns.end(), same)) continue;
      std::vector<std::string> marks;
      if (family.key.empty() && keyed) marks.emplace_back("S");
      if (family.purpose != Purpose::Base && is_kept_count(cell)) marks.emplace_back("++");
      columns.push_back({cell.name, cell_type(*program_.model, cell), fmt::format("{}", fmt::join(marks, " "))});
    }
  }

  void add_readers(const std::vector<std::uint32_t>& families, FigureTable& out) const {
    for (std::uint32_t q = 0; q < program_.model->queries.size(); ++q)
      if (std::any_of(families.begin(), families.end(), [&](std::uint32_t f) { return reads(q, f); }))
        out.queries.push_back(program_.model->queries[q].name);
    if (!out.own) return;
    out.remark = own_purpose(program_, families.back());
    const std::vector<std::string>& copies = uses_[families[0]].copies;
    if (out.remark.empty() && !copies.empty()) out.remark = fmt::format("keeps {}", fmt::join(copies, ", "));
  }

  [[nodiscard]] bool reads(std::uint32_t query, std::uint32_t f) const {
    const Family& family = program_.design.families[f];
    if (family.purpose == Purpose::Refreshed)
      return family.members_of == query || reads_refreshed(program_.queries[query], family.members_of);
    const auto& statements = uses_[f].statements;
    return std::find(statements.begin(), statements.end(), program_.model->queries[query].name) != statements.end();
  }

  const Program& program_;
  std::vector<Use> uses_;
};

}  // namespace

std::vector<FigureCollection> block_figure(const Program& program, const Sample* sample) {
  return BlockFigure(program, sample).draw();
}

std::vector<FigureTable> table_figure(const Program& program) { return TableFigure(program).draw(); }

}  // namespace noam::design
