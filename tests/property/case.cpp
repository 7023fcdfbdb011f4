#include "tests/property/case.h"

#include <cctype>

#include <fmt/format.h>

namespace noam::tests::property {

namespace {

std::string joined(const std::vector<std::string>& pieces, std::string_view between) {
  std::string out;
  for (const std::string& piece : pieces) out += (out.empty() ? "" : std::string(between)) + piece;
  return out;
}

std::string joined(const std::vector<Fragment>& pieces, std::string_view between) {
  std::string out;
  for (const Fragment& piece : pieces) out += (out.empty() ? "" : std::string(between)) + text(piece);
  return out;
}

std::string text(const std::vector<Source>& from) {
  std::string out;
  for (const Source& source : from)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", source.what, source.variable);
  return out;
}

std::string text(const Field& field) {
  return fmt::format("  {}: {}{}{}\n", field.name, field.type, field.marks.empty() ? "" : " ",
                     joined(field.marks, " "));
}

std::string text(const std::vector<Parameter>& parameters) {
  std::string out;
  for (const Parameter& parameter : parameters)
    out += fmt::format("{}${}{}{}", out.empty() ? "" : ", ", parameter.name, parameter.type.empty() ? "" : ": ",
                       parameter.type);
  return out.empty() ? out : "(" + out + ")";
}

std::string text(const Change& change, const std::string& indent) {
  std::string out = indent + (change.then ? "then " : "") + change.head;
  if (!change.where.empty()) {
    if (change.head != "require") out += " where";
    out += " " + joined(change.where, " and ");
  }
  std::string assignments;
  for (const Assignment& assignment : change.assignments)
    assignments += fmt::format("{}{}: {}", assignments.empty() ? "" : ", ", assignment.target, text(assignment.value));
  const bool braces = !change.assignments.empty() || change.head.starts_with("insert ");
  if (braces) out += " { " + assignments + " }";
  if (!change.tail.empty()) out += " " + change.tail;
  if (!change.head.starts_with("for ")) return out + "\n";
  out += " {\n";
  for (const Change& inner : change.body) out += text(inner, indent + "  ");
  return out + indent + "}\n";
}

std::string text(const std::vector<Cell>& cells);

std::string text(const Cell& cell) {
  if (cell.open == 0) return cell.text;
  std::string out = fmt::format("{} {} {}", cell.text, cell.open, text(cell.cells));
  if (!cell.from.empty()) out += " from " + text(cell.from);
  if (!cell.order_by.empty()) out += " order by " + joined(cell.order_by, ", ");
  if (!cell.limit.empty()) out += " limit " + cell.limit;
  return out + (cell.open == '{' ? " }" : " ]");
}

std::string text(const std::vector<Cell>& cells) {
  std::string out;
  for (const Cell& cell : cells) out += (out.empty() ? "" : ", ") + text(cell);
  return out;
}

std::string text(const Family& family) {
  std::string out = family.copy ? "copy" : "entry";
  if (!family.path.empty()) out += " " + family.path;
  if (family.path.empty() && family.key.empty()) out += " ε";
  if (family.elements) out += "[*]";
  if (!family.key.empty()) out += (family.path.empty() ? " [" : "[") + joined(family.key, ", ") + "]";
  if (!family.cells.empty()) out += ": " + text(family.cells);
  if (!family.from.empty()) out += " from " + text(family.from);
  if (!family.where.empty()) out += " where " + joined(family.where, " and ");
  if (!family.limit.empty()) out += " limit " + family.limit;
  return "    " + out + "\n";
}

}  // namespace

std::string text(const Fragment& fragment) {
  std::string out = fragment.before;
  for (const Select& select : fragment.select) out += "(" + text(select) + ")";
  return out + fragment.after;
}

std::string text(const Select& select) {
  std::string out = select.distinct ? "select distinct " : "select ";
  bool first = true;
  for (const Column& column : select.columns) {
    out += (first ? "" : ", ") + text(column.expr);
    if (!column.as.empty()) out += " as " + column.as;
    first = false;
  }
  out += " from " + text(select.from);
  if (!select.where.empty()) out += " where " + joined(select.where, " and ");
  if (!select.group_by.empty()) out += " group by " + joined(select.group_by, ", ");
  if (!select.order_by.empty()) out += " order by " + joined(select.order_by, ", ");
  if (!select.limit.empty()) out += " limit " + select.limit;
  return out;
}

std::string text(const Case& one) {
  std::string out = "model random\n\n";
  for (const Value& value : one.values) {
    out += "value " + value.name + " {\n";
    for (const Field& field : value.fields) out += text(field);
    out += "}\n";
  }
  for (const Entity& entity : one.entities) {
    out += "entity " + entity.name + (entity.transient ? " transient" : "") + " {\n";
    for (const Field& field : entity.fields) out += text(field);
    if (!entity.key.empty()) out += "  key (" + joined(entity.key, ", ") + ")\n";
    if (!entity.ttl.empty()) out += "  " + entity.ttl + "\n";
    for (const std::string& require : entity.require) out += "  require " + require + "\n";
    out += "}\n";
  }
  out += "\n";
  for (const Query& query : one.queries)
    out += fmt::format("query {}{}{}{} {{ {} }}\n", query.name, text(query.parameters),
                       query.refresh.empty() ? "" : " ", query.refresh, text(query.select));
  out += "\n";
  for (const Command& command : one.commands) {
    out += fmt::format("command {}{} {{\n", command.name, text(command.parameters));
    for (const Change& change : command.changes) out += text(change, "  ");
    out += "}\n";
  }
  for (const Design& design : one.designs) {
    out += "\ndesign " + design.name + " {\n";
    for (const Collection& collection : design.collections) {
      out += fmt::format("  collection {} of {} by {} {{\n", collection.name, text(collection.from),
                         joined(collection.by, ", "));
      for (const Family& family : collection.families) out += text(family);
      out += "  }\n";
    }
    if (!design.rest.empty()) out += "  rest " + design.rest + "\n";
    out += "}\n";
  }
  return out;
}

bool mentions(std::string_view text, std::string_view word) {
  const auto part_of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !part_of_word(text[at - 1]);
    const std::size_t end = at + word.size();
    if (begins && (end == text.size() || !part_of_word(text[end]))) return true;
  }
  return false;
}

}  // namespace noam::tests::property
