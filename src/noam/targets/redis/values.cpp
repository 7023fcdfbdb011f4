#include "noam/targets/redis/values.h"

#include <algorithm>

#include <fmt/format.h>

#include "noam/base/json.h"
#include "noam/model/ordered.h"
#include "noam/model/scalars.h"
#include "noam/schemas/plain.h"

namespace noam::targets::redis {

using model::Datum;
using model::Model;
using model::Type;
using model::TypeKind;

namespace {

std::string escaped(std::string_view text) {
  if (text.empty()) return "%=";
  std::string out;
  for (const char c : text) {
    if (c == '%' || c == ':' || c == '{' || c == '}')
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out;
}

void add_leaves(const Model& model, const Type& type, const Datum& datum, std::vector<std::string>& out) {
  if (datum.absent()) {
    out.emplace_back("%-");
  } else if (is_scalar(model, type)) {
    out.push_back(escaped(plain_text(model, type, datum)));
  } else if (const Type& at = resolved(model, type); at.kind == TypeKind::Reference) {
    const std::vector<Type> types = key_types(model, at);
    for (std::size_t i = 0; i < types.size(); ++i) add_leaves(model, types[i], datum.as_list()[i], out);
  } else {
    out.push_back(escaped(plain_json(model, type, datum).dump()));
  }
}

}  // namespace

std::string joined_text(const Model& model, const std::vector<Column>& columns, const std::vector<Datum>& parts) {
  std::vector<std::string> leaves;
  for (std::size_t i = 0; i < columns.size(); ++i) add_leaves(model, columns[i].type, parts[i], leaves);
  return fmt::format("{}", fmt::join(leaves, ":"));
}

std::string entry_text(const Model& model, const PlacedFamily& family, const std::vector<Datum>& key) {
  return family.plain_key ? plain_text(model, family.family->key[0].type, key[0])
                          : joined_text(model, family.family->key, key);
}

std::string member_text(const Model& model, const PlacedFamily& family, const std::vector<Datum>& key) {
  std::string text = entry_text(model, family, key);
  if (family.natural) return text;
  std::string bytes;
  for (std::size_t i = 0; i < key.size(); ++i) model::append_ordered(key[i], family.family->key[i].descending, bytes);
  return hexadecimal(bytes) + ":" + text;
}

std::string value_text(const Model& model, const Type& type, const Datum& datum) {
  if (!is_scalar(model, type)) return plain_json(model, type, datum).dump();
  if (resolved(model, type).kind == TypeKind::Bytes) return std::string(datum.as_string());
  return plain_text(model, type, datum);
}

std::string bracketed(std::string_view field, std::string_view entry) { return fmt::format("{}[{}]", field, entry); }

std::string field_of(const PlacedFamily& family, std::string_view field, const std::string& entry) {
  if (family.shape == Shape::Fields) return std::string(field);
  return family.single ? entry : bracketed(field, entry);
}

std::string version_field(const PlacedFamily& head, const std::string& entry) {
  return head.shape == Shape::Fields ? head.version->field : bracketed(head.version->field, entry);
}

// Redis documentation, "Redis CLI", "String quoting and escaping": in double quotes \", \n, \r, \t, \b, \a, \\ and
// \xhh.
std::string quoted(std::string_view argument) {
  const bool text = model::is_utf8_text(argument);
  const auto plain = [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte != 0x7F && (byte < 0x80 || text) && c != '"' && c != '\'' && c != '\\';
  };
  if (!argument.empty() && std::all_of(argument.begin(), argument.end(), plain)) return std::string(argument);
  std::string out = "\"";
  for (const char c : argument) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (c == '\n')
      out += "\\n";
    else if (byte < 0x20 || byte == 0x7F || (byte >= 0x80 && !text))
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out + "\"";
}

}  // namespace noam::targets::redis
