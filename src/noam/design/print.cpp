#include "noam/design/print.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "noam/base/json.h"
#include "noam/design/explanation.h"
#include "noam/design/layout.h"
#include "noam/design/strategies.h"
#include "noam/model/layout.h"
#include "noam/model/writing.h"

namespace noam::design {

using model::Expr;
using model::ExprKind;
using model::TypeKind;

namespace {

const std::vector<model::Parameter> no_parameters;

bool is_writable(const Family& family) {
  return family.purpose == Purpose::Base || family.purpose == Purpose::Written || family.purpose == Purpose::Access ||
         family.purpose == Purpose::Locator;
}

// The key of an entity that declares none has no name.
bool is_hidden_key(const model::Model& model, const Expr& expr) {
  return expr.kind == ExprKind::Field && expr.operands[0].type.kind == TypeKind::Reference &&
         model.entity(expr.operands[0].type.entity()).fields[expr.index].hidden;
}

// Access paths may lie under values that keys written by hand may not have; and a locator that was written would be a
// copy like others, which the keeping of copies may not always read. Both come by themselves.
bool comes_by_itself(const model::Model& model, const Design& design, const Collection& collection) {
  const auto unordered = [&](const model::Part& part) {
    const TypeKind kind = part.expr.type.kind;
    return kind == TypeKind::Value || kind == TypeKind::Json || part.expr.type.is_collection() ||
           kind == TypeKind::Row || kind == TypeKind::Rows || is_hidden_key(model, part.expr);
  };
  return collection.added && std::any_of(collection.families.begin(), collection.families.end(), [&](std::uint32_t f) {
           const Family& family = design.families[f];
           if (family.purpose == Purpose::Locator) return true;
           return family.purpose == Purpose::Access &&
                  (std::any_of(family.key.begin(), family.key.end(), unordered) ||
                   std::any_of(collection.by.begin(), collection.by.end(), unordered));
         });
}

const model::WrittenDesign* written_design(const Program& program) {
  for (const model::WrittenDesign& design : program.model->designs)
    if (design.name == program.design.name) return &design;
  return nullptr;
}

// A collection as it would be written.
class CollectionWriter {
 public:
  CollectionWriter(const Program& program, std::uint32_t index, const model::WrittenCollection* original)
      : program_(program),
        collection_(program.design.collections[index]),
        original_(original),
        variables_(collection_.variables) {
    find_sources();
    for (model::Variable& variable : variables_) name(variable);
    // A bare name is a field of the first variable, unless a variable has that name; and `l[0]` would be a list.
    if (!of_.empty()) {
      const model::Type& type = variables_[of_[0]].type;
      bare_ = of_[0];
      if (type.kind == TypeKind::Reference)
        for (const model::Field& field : program.model->entity(type.entity()).fields)
          for (const model::Variable& variable : variables_)
            if (variable.name == field.name) bare_.reset();
      for (const std::uint32_t f : collection_.families)
        if (holds_element(program.design.families[f].cells)) bare_.reset();
    }
  }

  [[nodiscard]] model::Scope scope() const { return {*program_.model, variables_, no_parameters}; }
  [[nodiscard]] const std::vector<std::uint32_t>& of() const { return of_; }

  [[nodiscard]] std::string sources() const { return written_sources(scope(), of_); }
  [[nodiscard]] std::string text(const Expr& expr) const { return written(scope(), expr); }
  [[nodiscard]] std::string cell(const model::Cell& cell) const { return written(scope(), cell, bare_); }

  // `collection … by …`, and the options of each target.
  [[nodiscard]] std::vector<std::string> head() const {
    std::vector<std::string> by;
    for (const model::Part& part : collection_.by) by.push_back(written(scope(), part, bare_));
    std::vector<std::string> out;
    out.push_back(fmt::format("collection {} of {} by {}", model::written_name(collection_.name), sources(),
                              fmt::join(by, ", ")));
    for (std::size_t i = 0; i < collection_.options.size();) {
      const std::string& target = collection_.options[i].target;
      std::vector<std::string> options;
      for (; i < collection_.options.size() && collection_.options[i].target == target; ++i)
        options.push_back(fmt::format("{}: {}", model::written_name(collection_.options[i].name),
                                      text(collection_.options[i].value)));
      out.push_back(fmt::format("with {}({})", target, fmt::join(options, ", ")));
    }
    return out;
  }

  [[nodiscard]] std::vector<std::string> clauses(const Family& family) const {
    return written_clauses(scope(), as_written(family), bare_);
  }
  [[nodiscard]] std::string path(const Family& family) const {
    return written_path(scope(), as_written(family), bare_);
  }

  // The family as it was written, if it was.
  [[nodiscard]] const model::WrittenFamily* original(std::uint32_t family) const {
    if (original_ == nullptr) return nullptr;
    std::size_t at = 0;
    for (const std::uint32_t f : collection_.families) {
      if (program_.design.families[f].purpose == Purpose::Members) continue;
      if (f == family) return at < original_->families.size() ? &original_->families[at] : nullptr;
      ++at;
    }
    return nullptr;
  }

 private:
  static bool holds_element(const std::vector<model::Cell>& cells) {
    return std::any_of(cells.begin(), cells.end(), [](const model::Cell& cell) {
      bool found = holds_element(cell.cells);
      model::for_each(cell.expr, [&](const Expr& expr) { found = found || expr.kind == ExprKind::Element; });
      return found;
    });
  }

  void find_sources() {
    if (original_ != nullptr) {
      of_ = original_->from;
      return;
    }
    bool first = true;
    for (const std::uint32_t f : collection_.families) {
      const Family& family = program_.design.families[f];
      if (!is_writable(family)) continue;
      std::vector<std::uint32_t> from = family.from;
      if (family.elements && from.size() > 1) from.resize(1);
      if (first) of_ = from;
      first = false;
      std::size_t common = 0;
      while (common < of_.size() && common < from.size() && of_[common] == from[common]) ++common;
      of_.resize(common);
    }
  }

  // Variables that noam made are named after a byte of their entity.
  static void name(model::Variable& variable) {
    const bool ascii = std::all_of(variable.name.begin(), variable.name.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    if (variable.name.size() == 1 && !ascii) variable.name = "x";
  }

  [[nodiscard]] model::WrittenFamily as_written(const Family& family) const {
    model::WrittenFamily out;
    out.copy = family.purpose != Purpose::Base;
    const auto index = static_cast<std::uint32_t>(&family - program_.design.families.data());
    const model::WrittenFamily* before = original(index);
    if (before != nullptr)
      out.path = before->path;
    else if (!family.name.empty())
      out.path = {family.name};
    out.where = family.where;
    out.limit = family.limit;
    for (const std::uint32_t variable : family.from)
      if (std::find(of_.begin(), of_.end(), variable) == of_.end()) out.from.push_back(variable);
    if (!out.copy && !out.path.empty()) {
      const auto& fields = program_.model->entity(variables_[of_[0]].type.entity()).fields;
      for (std::uint32_t i = 0; i < fields.size(); ++i)
        if (fields[i].name == out.path.back()) out.field = i;
    }
    if (family.elements && !out.from.empty()) {  // `rounds[*]` says it all
      out.elements = true;
      out.from.clear();
      return out;
    }
    out.key = family.key;
    for (model::Part& part : out.key)
      if (is_hidden_key(*program_.model, part.expr)) part.expr = Expr(part.expr.operands[0]);
    out.cells = family.cells;
    return out;
  }

  const Program& program_;
  const Collection& collection_;
  const model::WrittenCollection* original_;
  std::vector<model::Variable> variables_;
  std::vector<std::uint32_t> of_;
  std::optional<std::uint32_t> bare_;
};

CollectionWriter writer_of(const Program& program, std::uint32_t collection) {
  const model::WrittenDesign* design = written_design(program);
  const bool was_written = design != nullptr && collection < design->collections.size();
  return {program, collection, was_written ? &design->collections[collection] : nullptr};
}

std::string comment(std::size_t indent, const std::string& text) {
  const std::string before = std::string(indent, ' ') + "// ";
  const std::string lines = model::wrapped(before, before.size(), text);
  std::string out;
  std::size_t at = 0;
  while (at < lines.size()) {
    const std::size_t end = lines.find('\n', at) + 1;
    out += before + lines.substr(at + before.size(), end - at - before.size());
    at = end;
  }
  return out;
}

// Lines that are indented by two, as comments.
std::string commented(const std::string& lines) {
  std::string out;
  std::size_t at = 0;
  while (at < lines.size()) {
    const std::size_t end = lines.find('\n', at) + 1;
    out += "  // " + lines.substr(at + 2, end - at - 2);
    at = end;
  }
  return out;
}

std::string listed(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

class DesignPrinter {
 public:
  explicit DesignPrinter(const Program& program)
      : program_(program), written_(written_design(program)), uses_(Explainer(program).uses()) {}

  std::string print() {
    std::vector<std::string> asked;   // what the design is about
    std::vector<std::string> placed;  // what was added
    for (std::uint32_t i = 0; i < program_.design.collections.size(); ++i) {
      const Collection& collection = program_.design.collections[i];
      const bool base = holds(collection, Purpose::Base);
      const bool shown = std::any_of(collection.families.begin(), collection.families.end(),
                                     [&](std::uint32_t f) { return is_writable(program_.design.families[f]); });
      if (!shown) continue;
      if (written_ != nullptr ? !collection.added : base)
        asked.push_back(print_collection(i));
      else
        placed.push_back(comment(2, reason(collection)) + (comes_by_itself(*program_.model, program_.design, collection)
                                                               ? commented(print_collection(i))
                                                               : print_collection(i)));
    }
    std::string out = head() + " {\n";
    std::vector<std::string> paragraphs = std::move(asked);
    if (!placed.empty()) paragraphs.emplace_back("  // placed for you\n");
    paragraphs.insert(paragraphs.end(), placed.begin(), placed.end());
    const std::string own = print_own();
    if (!own.empty()) paragraphs.push_back(own);
    paragraphs.push_back(fmt::format("  rest {}\n", written_ != nullptr ? written_->rest : program_.design.rest));
    return out + fmt::format("{}", fmt::join(paragraphs, "\n")) + "}\n";
  }

 private:
  [[nodiscard]] bool holds(const Collection& collection, Purpose purpose) const {
    return std::any_of(collection.families.begin(), collection.families.end(),
                       [&](std::uint32_t f) { return program_.design.families[f].purpose == purpose; });
  }

  // A design may not have the name of a strategy.
  [[nodiscard]] std::string head() const {
    if (written_ != nullptr) {
      std::string out = "design " + model::written_name(written_->name);
      if (!written_->targets.empty()) out += " for " + listed(written_->targets);
      return out;
    }
    const std::string wanted = fmt::format("{}_{}", program_.model->name, program_.design.name);
    std::string name = wanted;
    const auto taken = [&](const model::WrittenDesign& design) { return design.name == name; };
    for (int n = 2; std::any_of(program_.model->designs.begin(), program_.model->designs.end(), taken); ++n)
      name = fmt::format("{}_{}", wanted, n);
    return "design " + model::written_name(name);
  }

  [[nodiscard]] std::string reason(const Collection& collection) const {
    std::vector<std::string> reasons;
    for (const std::uint32_t f : collection.families) {
      const Family& family = program_.design.families[f];
      std::string text;
      if (family.purpose == Purpose::Base) {
        if (!reasons.empty()) continue;
        text = fmt::format("where {} lives",
                           program_.model->entity(collection.variables[family.from[0]].type.entity()).name);
      } else if (family.purpose == Purpose::Access) {
        text = use_text(uses_[f]);
      } else if (family.purpose == Purpose::Locator) {
        text = fmt::format("where each {} lies, by its key: {}",
                           program_.model->entity(collection.variables[family.from[0]].type.entity()).name,
                           use_text(uses_[f]));
      } else {
        continue;
      }
      reasons.push_back(std::move(text));
    }
    return fmt::format("{}", fmt::join(reasons, "; "));
  }

  [[nodiscard]] std::string print_collection(std::uint32_t index) const {
    const Collection& collection = program_.design.collections[index];
    const CollectionWriter writer = writer_of(program_, index);
    std::string out;
    std::vector<std::pair<std::string, std::vector<std::string>>> families;  // a comment, and clauses
    for (const std::uint32_t f : collection.families) {
      const Family& family = program_.design.families[f];
      if (!is_writable(family)) continue;
      families.emplace_back(added(writer, f), writer.clauses(family));
    }
    std::vector<std::string> head = writer.head();
    if (families.size() == 1 && families[0].first.empty()) {
      const std::string line = fmt::format("  {} {{ {} }}", fmt::join(head, " "), fmt::join(families[0].second, " "));
      if (model::display_width(line) <= model::page_width) return out + line + "\n";
    }
    head.back() += " {";
    out += model::wrapped("  ", 6, head, "");
    for (const auto& family : families) {
      if (!family.first.empty()) out += comment(4, family.first);
      out += model::wrapped("    ", 8, family.second, "");
    }
    return out + "  }\n";
  }

  // What the written design left out, and noam put here.
  [[nodiscard]] std::string added(const CollectionWriter& writer, std::uint32_t f) const {
    const Family& family = program_.design.families[f];
    if (written_ == nullptr || program_.design.collection_of(family).added) return "";
    const model::WrittenFamily* before = writer.original(f);
    if (before == nullptr) return "placed for you";
    if (family.purpose != Purpose::Base || family.elements) return "";
    std::vector<std::string> names;
    for (std::size_t i = before->cells.size(); i < family.cells.size(); ++i) names.push_back(family.cells[i].name);
    return names.empty() ? "" : "placed for you: " + listed(names);
  }

  // What designs can't say.
  [[nodiscard]] std::string print_own() const {
    model::Table table({}, 70);
    bool any = false;
    const auto add = [&](const std::string& name, const std::string& form, const std::string& what) {
      table.add({fmt::format("//   {} {}", name, form), what});
      any = true;
    };
    for (std::uint32_t f = 0; f < program_.design.families.size(); ++f) {
      const Family& family = program_.design.families[f];
      const std::string label = family_label(program_.design, f);
      const std::string form = own_form(family);
      switch (family.purpose) {
        case Purpose::Due:
        case Purpose::Refreshed:
        case Purpose::Guard:
        case Purpose::Notes:
        case Purpose::Members:
          add(label, form, own_purpose(program_, f));
          break;
        default:
          break;
      }
      for (const Hidden& hidden : family.hidden) {
        if (family.purpose == Purpose::Members) continue;
        add(label, fmt::format("+ {}", hidden_name(hidden.kind)), hidden_text(family, hidden));
      }
    }
    if (!any) return "";
    return "  // kept by noam, and not written:\n" + table.print(2);
  }

  [[nodiscard]] static std::string own_form(const Family& family) {
    std::vector<std::string> key;
    for (const model::Part& part : family.key) key.push_back(part.name + (part.descending ? " desc" : ""));
    std::vector<std::string> cells;
    for (const model::Cell& cell : family.cells) cells.push_back(cell.name);
    std::string out = key.empty() ? "ε" : fmt::format("[{}]", listed(key));
    if (!cells.empty()) out += ": " + listed(cells);
    return out;
  }

  [[nodiscard]] std::string hidden_text(const Family& family, const Hidden& hidden) const {
    switch (hidden.kind) {
      case HiddenKind::Weight:
        return "a column: how many rows share the entry";
      case HiddenKind::Sum:
        return fmt::format("a column: the exact sum of `{}`", family.cells[hidden.of].name);
      case HiddenKind::Counted:
        return fmt::format("a column: how many values are in `{}`", family.cells[hidden.of].name);
      case HiddenKind::Due:
        return "a column: when the instance expires";
      case HiddenKind::Elements:
        break;
    }
    const Collection& collection = program_.design.collection_of(family);
    const auto& fields = program_.model->entity(collection.variables[family.from[0]].type.entity()).fields;
    const bool list = fields[hidden.of].type.kind == model::TypeKind::List;
    const std::string& name = fields[hidden.of].name;
    return list ? fmt::format("a column: how long `{}` is", name)
                : fmt::format("a column: which elements `{}` has", name);
  }

  const Program& program_;
  const model::WrittenDesign* written_;
  std::vector<Use> uses_;
};

// --- JSON -----------------------------------------------------------------------------------------------------------

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json parts_json(const CollectionWriter& writer, const model::Model& model, const std::vector<model::Part>& parts,
                bool written_parts) {
  Json out = Json::array();
  for (const model::Part& part : parts)
    out.push_back({{"name", or_null(part.name)},
                   {"expression", written_parts ? Json(writer.text(part.expr)) : Json(nullptr)},
                   {"type", to_string(model, part.expr.type)},
                   {"descending", part.descending}});
  return out;
}

Json from_json(const CollectionWriter& writer, const std::vector<std::uint32_t>& from) {
  const model::Scope scope = writer.scope();
  Json out = Json::array();
  for (const std::uint32_t index : from) {
    const model::Variable& variable = scope.variables[index];
    out.push_back({{"name", variable.name},
                   {"source", written_source(scope, variable)},
                   {"type", to_string(scope.model, variable.type)}});
  }
  return out;
}

Json cells_json(const CollectionWriter& writer, const std::vector<model::Cell>& cells, bool written_cells) {
  const model::Scope scope = writer.scope();
  Json out = Json::array();
  for (const model::Cell& cell : cells) {
    if (cell.shape == model::CellShape::Plain) {
      out.push_back({{"shape", "plain"},
                     {"name", or_null(cell.name)},
                     {"expression", written_cells ? Json(writer.text(cell.expr)) : Json(nullptr)},
                     {"fold", cell.expr.kind == ExprKind::Fold},
                     {"type", to_string(scope.model, cell.expr.type)}});
      continue;
    }
    out.push_back({{"shape", cell.shape == model::CellShape::Object ? "object" : "list"},
                   {"name", or_null(cell.name)},
                   {"cells", cells_json(writer, cell.cells, written_cells)},
                   {"from", from_json(writer, cell.from)},
                   {"order_by", parts_json(writer, scope.model, cell.order_by, written_cells)},
                   {"limit", cell.limit ? Json(*cell.limit) : Json(nullptr)}});
  }
  return out;
}

// The own field that lies in entries of its own, one an element.
Json elements_json(const Program& program, const Family& family) {
  if (!family.elements) return nullptr;
  const Collection& collection = program.design.collection_of(family);
  return program.model->entity(collection.variables[family.from[0]].type.entity()).fields[*family.elements].name;
}

Json hidden_json(const Program& program, const Family& family) {
  Json out = Json::array();
  for (const Hidden& hidden : family.hidden) {
    Json of = nullptr;
    if (hidden.kind == HiddenKind::Sum || hidden.kind == HiddenKind::Counted) of = family.cells[hidden.of].name;
    if (hidden.kind == HiddenKind::Elements) {
      const Collection& collection = program.design.collection_of(family);
      of = program.model->entity(collection.variables[family.from[0]].type.entity()).fields[hidden.of].name;
    }
    out.push_back({{"kind", hidden_name(hidden.kind)}, {"of", std::move(of)}});
  }
  return out;
}

// Which thing it was made for.
Json of_json(const Program& program, const Family& family) {
  switch (family.purpose) {
    case Purpose::Members:
      return {{"family", family.members_of},
              {"column", program.design.families[family.members_of].cells[family.members_column].name}};
    case Purpose::Due:
      return {{"entity", program.model->entities[family.members_of].name}};
    case Purpose::Refreshed:
      return {{"query", program.model->queries[family.members_of].name}};
    default:
      return nullptr;
  }
}

}  // namespace

std::string print_design(const Program& program) { return DesignPrinter(program).print(); }

Json design_json(const Program& program) {
  const Explainer explainer(program);
  const auto uses = explainer.uses();
  const model::WrittenDesign* written = written_design(program);
  Json collections = Json::array();
  for (std::uint32_t i = 0; i < program.design.collections.size(); ++i) {
    const Collection& collection = program.design.collections[i];
    const CollectionWriter writer = writer_of(program, i);
    bool written_parts = false;
    Json families = Json::array();
    for (const std::uint32_t f : collection.families) {
      const Family& family = program.design.families[f];
      const bool writable = is_writable(family);
      const bool has_rows = writable || family.purpose == Purpose::Members;
      written_parts = written_parts || has_rows;
      families.push_back(
          {{"family", f},
           {"path", or_null(family.name)},
           {"purpose", purpose_name(family.purpose)},
           {"base", family.purpose == Purpose::Base},
           {"text", writable ? Json(fmt::format("{}", fmt::join(writer.clauses(family), " "))) : Json(nullptr)},
           {"from", from_json(writer, family.from)},
           {"key", parts_json(writer, *program.model, family.key, has_rows)},
           {"cells", cells_json(writer, family.cells, has_rows)},
           {"hidden", hidden_json(program, family)},
           {"where", family.where ? Json(writer.text(*family.where)) : Json(nullptr)},
           {"limit", family.limit ? Json(*family.limit) : Json(nullptr)},
           {"elements", elements_json(program, family)},
           {"existence", family.existence},
           {"grouped", family.grouped},
           {"stratum", family.stratum},
           {"of", of_json(program, family)},
           {"entries", explainer.entries(f)},
           {"entry_bytes", explainer.bytes(f)},
           {"read_by", {{"statements", uses[f].statements}, {"copies", uses[f].copies}, {"others", uses[f].others}}}});
    }
    Json options = Json::array();
    for (const model::TargetOption& option : collection.options)
      options.push_back({{"target", option.target}, {"name", option.name}, {"value", writer.text(option.value)}});
    collections.push_back({{"name", collection.name},
                           {"added", collection.added},
                           {"from", from_json(writer, writer.of())},
                           {"by", parts_json(writer, *program.model, collection.by, written_parts)},
                           {"options", std::move(options)},
                           {"families", std::move(families)}});
  }
  return {{"name", program.design.name},
          {"written", written != nullptr},
          {"targets", written != nullptr ? written->targets : std::vector<std::string>{}},
          {"rest", program.design.rest},
          {"collections", std::move(collections)}};
}

}  // namespace noam::design
