#include "noam/design/notation.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "noam/model/layout.h"
#include "noam/model/scalars.h"
#include "noam/model/writing.h"

namespace noam::design {

using model::Datum;
using model::Type;
using model::TypeKind;

namespace {

constexpr std::size_t most_members = 6;  // of a collection that are shown

constexpr const char* value_open = "⟨";
constexpr const char* value_close = "⟩";

std::string scalar_text(const Type& type, const Datum& datum) {
  switch (type.kind) {
    case TypeKind::Timestamp:
      return model::print_timestamp(datum.as_int());
    case TypeKind::Date:
      return model::print_date(datum.as_int());
    case TypeKind::Uuid:
      return model::print_uuid(datum.as_string());
    case TypeKind::TimeUuid:
      return model::print_uuid(model::from_sortable(datum.as_string()));
    case TypeKind::Inet:
      return model::print_inet(model::from_inet(datum.as_string()));
    case TypeKind::Bytes:
      return model::print_base64(datum.as_string());
    case TypeKind::Json: {
      std::string text(datum.as_string());
      std::replace_if(
          text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
      return text;
    }
    default:
      break;
  }
  if (datum.is_bool()) return datum.as_bool() ? "true" : "false";
  if (datum.is_int()) return std::to_string(datum.as_int());
  if (datum.is_double()) return model::print_float(datum.as_double());
  if (datum.is_decimal()) return datum.as_decimal().text();
  return std::string(datum.as_string());
}

bool is_quoted(const Type& type) {
  return type.kind == TypeKind::Text || type.kind == TypeKind::Enumeration || type.kind == TypeKind::Unknown;
}

// A text that nobody takes for something else where it stands alone in a key.
bool is_plain(std::string_view text) {
  if (text.empty() || text == "absent") return false;
  const auto plain = [](char c) {
    return static_cast<unsigned char>(c) >= 0x80 || std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
           c == '-' || c == '.' || c == '@' || c == '/' || c == ':' || c == '+' || c == '#' || c == '%';
  };
  return std::all_of(text.begin(), text.end(), plain);
}

// The types of the key of an entity.
std::vector<Type> key_types(const model::Model& model, const Type& reference) {
  std::vector<Type> out;
  const model::Entity& entity = model.entity(reference.entity());
  for (const std::uint32_t part : entity.key) out.push_back(entity.fields[part].type);
  return out;
}

std::string reference_key(const model::Model& model, const Type& type, const Datum& datum) {
  const std::vector<Type> types = key_types(model, type);
  if (types.size() == 1) return key_notation(model, types[0], datum);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < types.size(); ++i) parts.push_back(key_notation(model, types[i], datum.as_list()[i]));
  return fmt::format("({})", fmt::join(parts, ", "));
}

void add_rest(std::vector<Notation>& members, std::size_t all) {
  if (all > members.size()) members.push_back({fmt::format("… {} more", all - members.size()), {}, ""});
}

// Breaks a text that is too wide, after a sign where there is one.
std::vector<std::string> pieces(std::string_view text, std::size_t width) {
  std::vector<std::string> out;
  while (model::display_width(text) > width) {
    std::size_t end = model::fitting(text, width);
    if (end == 0) break;  // not even one character
    if (const std::size_t sign = text.substr(0, end).find_last_of("-_./:, ");
        sign != std::string_view::npos && sign >= end / 2)
      end = sign + 1;
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  out.emplace_back(text);
  return out;
}

// `reserved` columns stay free at the end of the last line.
std::vector<std::string> broken(const Notation& notation, std::size_t width, std::size_t reserved, bool all) {
  const std::string whole = flat(notation);
  const std::size_t room = width > reserved ? width - reserved : 1;
  if (model::display_width(whole) <= room) return {whole};
  if (notation.members.empty()) return all ? pieces(whole, room) : std::vector{model::cut(whole, room)};
  // Members stand under the first one, or where that is too far to the right, under what opens them.
  const std::size_t opening = model::display_width(notation.text);
  const bool beside = opening * 3 <= width;
  const std::size_t indent = beside ? opening : std::min<std::size_t>(2, width - 1);
  std::vector<std::string> out;
  if (!beside) out.push_back(model::cut(notation.text, width));
  for (std::size_t i = 0; i < notation.members.size(); ++i) {
    const bool last = i + 1 == notation.members.size();
    const std::size_t end = last ? model::display_width(notation.close) + reserved : 1;
    std::vector<std::string> lines = broken(notation.members[i], width - indent, end, all);
    lines.back() += last ? notation.close : ",";
    for (std::string& line : lines) {
      const bool first = beside && out.empty();
      out.push_back((first ? notation.text : std::string(indent, ' ')) + line);
    }
  }
  return out;
}

}  // namespace

bool Notation::operator==(const Notation& other) const {
  return text == other.text && close == other.close &&
         std::equal(members.begin(), members.end(), other.members.begin(), other.members.end());
}

std::string flat(const Notation& notation) {
  std::string out = notation.text;
  for (std::size_t i = 0; i < notation.members.size(); ++i) out += (i > 0 ? ", " : "") + flat(notation.members[i]);
  return out + notation.close;
}

std::vector<std::string> lines_of(const Notation& notation, std::size_t width) {
  std::vector<std::string> out = broken(notation, std::max<std::size_t>(width, 1), 0, false);
  for (std::string& line : out) line = model::cut(line, width);
  return out;
}

std::vector<std::string> whole_lines_of(const Notation& notation, std::size_t width) {
  constexpr std::size_t most_lines = 6;
  std::vector<std::string> out = broken(notation, std::max<std::size_t>(width, 1), 0, true);
  if (out.size() > most_lines) {
    out.resize(most_lines);
    out.back() = model::cut(out.back() + "…", width);
  }
  for (std::string& line : out) line = model::cut(line, width);
  return out;
}

Notation grouped_notation(const std::string& open, std::vector<Notation> members, const std::string& close) {
  if (members.empty()) return {open + close, {}, ""};
  return {open, std::move(members), close};
}

Notation named(const std::string& name, Notation notation) {
  notation.text = fmt::format("{}: {}", name, notation.text);
  return notation;
}

std::string key_notation(const model::Model& model, const Type& type, const Datum& datum) {
  if (datum.absent()) return "absent";
  if (type.kind == TypeKind::Reference)
    return fmt::format("{}:{}", model.entity(type.entity()).name, reference_key(model, type, datum));
  if (datum.is_list()) return flat(value_notation(model, type, datum));
  const std::string text = scalar_text(type, datum);
  return is_quoted(type) && !is_plain(text) ? model::written_text(text) : text;
}

Notation value_notation(const model::Model& model, const Type& type, const Datum& datum) {
  if (datum.absent()) return {"absent", {}, ""};
  if (type.kind == TypeKind::Reference) return {key_notation(model, type, datum), {}, ""};
  if (!datum.is_list()) {
    const std::string text = scalar_text(type, datum);
    return {is_quoted(type) ? model::written_text(text) : text, {}, ""};
  }
  const Datum::List& list = datum.as_list();
  std::vector<Notation> members;
  if (type.kind == TypeKind::Value || type.kind == TypeKind::Row) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const bool value = type.kind == TypeKind::Value;
      const std::string& name = value ? model.value(type.value()).fields[i].name : type.names[i];
      const Type& member = value ? model.value(type.value()).fields[i].type : type.arguments[i];
      if (!list[i].absent()) members.push_back(named(name, value_notation(model, member, list[i])));
    }
    return grouped_notation(value_open, std::move(members), value_close);
  }
  Type element;
  if (type.kind == TypeKind::Rows) {
    element = type;
    element.kind = TypeKind::Row;
  } else if (type.is_collection()) {
    element = type.element();
  }
  for (std::size_t i = 0; i < std::min(list.size(), most_members); ++i) {
    if (type.kind == TypeKind::Map)
      members.push_back(named(key_notation(model, type.arguments[0], list[i].as_list()[0]),
                              value_notation(model, element, list[i].as_list()[1])));
    else
      members.push_back(value_notation(model, element, list[i]));
  }
  add_rest(members, list.size());
  const bool braces = type.kind == TypeKind::Set || type.kind == TypeKind::Map;
  return grouped_notation(braces ? "{" : "[", std::move(members), braces ? "}" : "]");
}

Notation value_placeholder(const model::Model& model, const Type& type) {
  const auto unknown = [](std::string text) { return Notation{std::move(text), {}, ""}; };
  switch (type.kind) {
    case TypeKind::Reference:
      return unknown(model.entity(type.entity()).name + ":…");
    case TypeKind::Value: {
      std::vector<Notation> members;
      for (const model::Field& field : model.value(type.value()).fields)
        members.push_back(named(field.name, value_placeholder(model, field.type)));
      return grouped_notation(value_open, std::move(members), value_close);
    }
    case TypeKind::List:
    case TypeKind::Set:
    case TypeKind::Map: {
      Notation element = value_placeholder(model, type.element());
      std::vector<Notation> members;
      if (type.kind == TypeKind::Map)
        members.push_back(named("…", std::move(element)));
      else if (element != unknown("…"))
        members.push_back(std::move(element));
      members.push_back(unknown("…"));
      const bool list = type.kind == TypeKind::List;
      return grouped_notation(list ? "[" : "{", std::move(members), list ? "]" : "}");
    }
    default:
      return unknown("…");
  }
}

}  // namespace noam::design
