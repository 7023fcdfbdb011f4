#include "noam/targets/hbase/values.h"

#include <bit>
#include <cstdint>

#include <fmt/format.h>

#include "noam/base/json.h"
#include "noam/schemas/keys.h"
#include "noam/schemas/plain.h"
#include "noam/targets/outline.h"

namespace noam::targets::hbase {

using model::Datum;
using model::Model;
using model::Type;
using model::TypeKind;

namespace {

std::string big_endian(std::uint64_t number) {
  std::string out;
  for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(number >> static_cast<unsigned>(shift));
  return out;
}

}  // namespace

Encoding encoding_of(const Model& model, const Type& type) {
  switch (resolved(model, type).kind) {
    case TypeKind::Bool:
      return Encoding::Bool;
    case TypeKind::Int:
    case TypeKind::Timestamp:
    case TypeKind::Duration:
      return Encoding::Int;
    case TypeKind::Float:
      return Encoding::Float;
    case TypeKind::Bytes:
      return Encoding::Bytes;
    case TypeKind::Uuid:
    case TypeKind::TimeUuid:
      return Encoding::Uuid;
    case TypeKind::Unknown:
    case TypeKind::Reference:
    case TypeKind::Value:
    case TypeKind::List:
    case TypeKind::Set:
    case TypeKind::Map:
    case TypeKind::Row:
    case TypeKind::Rows:
      return Encoding::Json;
    case TypeKind::Text:
    case TypeKind::Decimal:
    case TypeKind::Date:
    case TypeKind::Inet:
    case TypeKind::Json:
    case TypeKind::Enumeration:
      break;
  }
  return Encoding::Text;
}

const char* encoder_name(Encoding encoding) {
  switch (encoding) {
    case Encoding::Text:
      return "text";
    case Encoding::Bytes:
      return "bytes";
    case Encoding::Int:
      return "int";
    case Encoding::Float:
      return "float";
    case Encoding::Bool:
      return "bool";
    case Encoding::Uuid:
      return "uuid";
    case Encoding::Json:
      break;
  }
  return "json";
}

std::string int_bytes(std::int64_t number) { return big_endian(static_cast<std::uint64_t>(number)); }

std::string cell_bytes(const Model& model, const Type& type, const Datum& datum) {
  const Type& at = resolved(model, type);
  switch (encoding_of(model, at)) {
    case Encoding::Bool:
      return {datum.as_bool() ? '\xFF' : '\x00'};
    case Encoding::Int:
      // A sum of ints may be beyond 64 bits: then its text is longer than 8 bytes.
      return datum.is_int() ? int_bytes(datum.as_int()) : plain_text(model, at, datum);
    case Encoding::Float:
      return big_endian(std::bit_cast<std::uint64_t>(datum.as_double()));
    case Encoding::Bytes:
      return never_empty(datum, datum.as_string());
    case Encoding::Uuid:
      return at.kind == TypeKind::TimeUuid ? model::from_sortable(datum.as_string()) : std::string(datum.as_string());
    case Encoding::Json:
      return plain_json(model, at, datum).dump();
    case Encoding::Text:
      break;
  }
  return never_empty(datum, plain_text(model, at, datum));
}

bool stored(const Type& type, const Datum& datum) {
  if (datum.absent()) return false;
  return !(type.is_collection() || type.kind == TypeKind::Rows) || !datum.as_list().empty();
}

std::string ruby_inside(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || c == '#')
      out += fmt::format("\\{}", c);
    else if (byte < 0x20 || byte >= 0x7F)
      out += fmt::format("\\x{:02X}", byte);
    else
      out += c;
  }
  return out;
}

std::string ruby_text(std::string_view bytes) { return fmt::format("\"{}\"", ruby_inside(bytes)); }

}  // namespace noam::targets::hbase
