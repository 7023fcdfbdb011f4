#include "noam/stores/cassandra/values.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "noam/base/json.h"
#include "noam/model/datum_json.h"
#include "noam/model/decimal.h"
#include "noam/model/scalars.h"
#include "noam/schemas/cassandra/types.h"
#include "noam/schemas/plain.h"
#include "noam/stores/encoding.h"

namespace noam::stores::cassandra {

using model::Datum;
using model::Type;
using model::TypeKind;

namespace {

// Between the epoch of version 1 of a uuid, in 1582, and that of Unix, in milliseconds.
constexpr std::int64_t uuid_epoch = 12'219'292'800'000;
constexpr std::int64_t ticks_a_millisecond = 10'000;
constexpr std::size_t uuid_bytes = 16;
constexpr std::size_t time_bytes = 8;

bool is_textual(std::string_view cql_type) {
  return cql_type == "text" || cql_type == "varchar" || cql_type == "ascii";
}

// The bits of a whole number of a type that is smaller than bigint.
std::optional<unsigned> small_bits(std::string_view cql_type) {
  if (cql_type == "int") return 32;
  if (cql_type == "smallint") return 16;
  if (cql_type == "tinyint") return 8;
  return std::nullopt;
}

std::string big_endian(std::uint64_t number, std::size_t bytes) {
  std::string out(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) out[bytes - 1 - i] = static_cast<char>(number >> (8 * i));
  return out;
}

std::uint64_t from_big_endian(std::string_view bytes) {
  std::uint64_t out = 0;
  for (const char byte : bytes) out = out << 8U | static_cast<unsigned char>(byte);
  return out;
}

// The first uuid of a time, as Cassandra orders them.
std::string first_timeuuid(std::int64_t milliseconds) {
  constexpr std::string_view node("\x80\x80\x80\x80\x80\x80\x80\x80", 8);
  constexpr std::uint64_t version = std::uint64_t{1} << 60U;
  const auto ticks = static_cast<std::uint64_t>((milliseconds + uuid_epoch) * ticks_a_millisecond);
  return model::from_sortable(big_endian(ticks | version, time_bytes) + std::string(node));
}

std::int64_t time_of_timeuuid(std::string_view raw) {
  constexpr std::uint64_t without_version = (std::uint64_t{1} << 60U) - 1;
  const std::string sortable = model::to_sortable(raw);
  const std::uint64_t ticks = from_big_endian(std::string_view(sortable).substr(0, time_bytes)) & without_version;
  return static_cast<std::int64_t>(ticks / ticks_a_millisecond) - uuid_epoch;
}

// Of any size: a kept sum may be larger than what a field holds. Others may have written more zeros than noam does.
model::Decimal exact_decimal(std::string text) {
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return model::Decimal::from_canonical(text == "-0" ? "0" : std::move(text));
}

Error does_not_fit(const Type& type, const Datum& datum) {
  return Error{fmt::format("a {} cannot be stored in a column for type {}",
                           datum.is_list()     ? "list"
                           : datum.is_string() ? "text"
                           : datum.is_int()    ? "number"
                                               : "value",
                           static_cast<int>(type.kind))};
}

bool holds_list(const Type& type) {
  return type.kind == TypeKind::List || type.kind == TypeKind::Set || type.kind == TypeKind::Map ||
         type.kind == TypeKind::Rows;
}

}  // namespace

std::vector<Type> ColumnValues::field_types(const Type& type) const {
  if (type.kind == TypeKind::Reference) return schemas::key_types(model_, type);
  if (type.kind != TypeKind::Value) return type.arguments;
  std::vector<Type> out;
  for (const model::Field& field : model_.value(type.value()).fields) out.push_back(field.type);
  return out;
}

// --- Writing ---------------------------------------------------------------------------------------------------------

Result<void> ColumnValues::append(const Type& type, std::string_view cql_type, const Datum& datum,
                                  cql::Values& out) const {
  const TypeKind kind = schemas::resolved(model_, type).kind;
  if (datum.absent()) {
    out.null();
    return {};
  }
  if (is_textual(cql_type) && !schemas::cassandra::is_text(model_, type) && kind != TypeKind::Json) {
    const Json json = model::write_json(model_, type, datum);
    out.text(json.is_string() ? json.get<std::string>() : json.dump());
    return {};
  }
  if (const auto bits = small_bits(cql_type); bits && kind == TypeKind::Int) {
    if (!datum.is_int()) return does_not_fit(type, datum);
    const std::int64_t most = (std::int64_t{1} << (*bits - 1)) - 1;
    if (datum.as_int() > most || datum.as_int() < -most - 1)
      return Error{fmt::format("{} does not fit into a column of type {}", datum.as_int(), cql_type), "limit"};
    out.blob(big_endian(static_cast<std::uint64_t>(datum.as_int()), *bits / 8));
    return {};
  }
  if (cql_type == "timeuuid" && kind == TypeKind::Timestamp) {
    if (!datum.is_int()) return does_not_fit(type, datum);
    out.blob(first_timeuuid(datum.as_int()));
    return {};
  }
  return append_usual(type, datum, out);
}

Result<void> ColumnValues::append_usual(const Type& type, const Datum& datum, cql::Values& out) const {
  if (datum.absent()) {
    out.null();
    return {};
  }
  const auto need = [&](bool fits) -> Result<void> { return fits ? Result<void>() : does_not_fit(type, datum); };
  switch (type.kind) {
    case TypeKind::Bool:
      NOAM_RETURN_IF_ERROR(need(datum.is_bool()));
      out.boolean(datum.as_bool());
      return {};
    case TypeKind::Int:
      NOAM_RETURN_IF_ERROR(need(datum.is_int()));
      out.bigint(datum.as_int());
      return {};
    case TypeKind::Timestamp:
      NOAM_RETURN_IF_ERROR(need(datum.is_int()));
      out.timestamp(cql::Milliseconds(std::chrono::milliseconds(datum.as_int())));
      return {};
    case TypeKind::Date:
      NOAM_RETURN_IF_ERROR(need(datum.is_int()));
      out.date(std::chrono::sys_days(std::chrono::days(datum.as_int())));
      return {};
    case TypeKind::Float:
      NOAM_RETURN_IF_ERROR(need(datum.is_double()));
      out.floating(datum.as_double());
      return {};
    case TypeKind::Decimal:
      NOAM_RETURN_IF_ERROR(need(datum.is_decimal()));
      return out.decimal(datum.as_decimal().text());
    case TypeKind::Uuid:
      NOAM_RETURN_IF_ERROR(need(datum.is_string() && datum.as_string().size() == uuid_bytes));
      out.blob(datum.as_string());
      return {};
    case TypeKind::TimeUuid:
      NOAM_RETURN_IF_ERROR(need(datum.is_string() && datum.as_string().size() == uuid_bytes));
      out.blob(model::from_sortable(datum.as_string()));
      return {};
    case TypeKind::Inet:
      NOAM_RETURN_IF_ERROR(need(datum.is_string() && !datum.as_string().empty()));
      out.blob(model::from_inet(datum.as_string()));
      return {};
    case TypeKind::Bytes:
    case TypeKind::Text:
    case TypeKind::Enumeration:
    case TypeKind::Json:
      NOAM_RETURN_IF_ERROR(need(datum.is_string()));
      out.text(datum.as_string());
      return {};
    case TypeKind::Reference: {
      const std::vector<Type> parts = field_types(type);
      if (parts.size() == 1) return append_usual(parts[0], datum, out);
      return append_fields(parts, datum, out);
    }
    case TypeKind::Value:
      if (schemas::cassandra::holds_itself(model_, type.value())) {
        out.text(model::write_json(model_, type, datum).dump());
        return {};
      }
      return append_fields(field_types(type), datum, out);
    case TypeKind::Row:
      return append_fields(field_types(type), datum, out);
    case TypeKind::List:
    case TypeKind::Set:
    case TypeKind::Map:
    case TypeKind::Rows:
      return append_elements(type, datum, out);
    case TypeKind::Unknown:
    case TypeKind::Duration:
      break;
  }
  return does_not_fit(type, datum);
}

Result<void> ColumnValues::append_fields(const std::vector<Type>& types, const Datum& datum, cql::Values& out) const {
  if (!datum.is_list() || datum.as_list().size() != types.size()) return does_not_fit({}, datum);
  cql::Values fields;
  for (std::size_t i = 0; i < types.size(); ++i)
    NOAM_RETURN_IF_ERROR(append_usual(types[i], datum.as_list()[i], fields));
  out.tuple(fields);
  return {};
}

Result<void> ColumnValues::append_elements(const Type& type, const Datum& datum, cql::Values& out) const {
  if (!datum.is_list()) return does_not_fit(type, datum);
  if (schemas::cassandra::is_packed(type)) {
    out.blob(write_values({datum}));
    return {};
  }
  cql::Values elements;
  for (const Datum& element : datum.as_list()) {
    if (type.kind == TypeKind::Rows) {
      NOAM_RETURN_IF_ERROR(append_fields(field_types(type), element, elements));
    } else if (type.kind == TypeKind::Map) {
      if (!element.is_list() || element.as_list().size() != 2) return does_not_fit(type, element);
      for (std::size_t i = 0; i < 2; ++i)
        NOAM_RETURN_IF_ERROR(append_usual(type.arguments[i], element.as_list()[i], elements));
    } else {
      NOAM_RETURN_IF_ERROR(append_usual(type.element(), element, elements));
    }
  }
  if (type.kind == TypeKind::Map)
    out.map(elements);
  else
    out.list(elements);
  return {};
}

// --- Reading ---------------------------------------------------------------------------------------------------------

Result<Datum> ColumnValues::read(const Type& type, std::string_view cql_type, const cql::Cell& cell) const {
  // A sum, too: counters have no other type.
  if (cql_type == "counter" && !cell.is_null()) {
    NOAM_ASSIGN_OR_RETURN(const std::int64_t counted, cell.bigint());
    return Datum(counted);
  }
  const TypeKind kind = schemas::resolved(model_, type).kind;
  if (!cell.is_null()) {
    if (is_textual(cql_type) && !schemas::cassandra::is_text(model_, type) && kind != TypeKind::Json)
      return read_json_text(type, cell);
    if (const auto bits = small_bits(cql_type); bits && kind == TypeKind::Int) {
      if (cell.bytes().size() != *bits / 8) return Error{fmt::format("a cell of type {} has another size", cql_type)};
      const unsigned shift = 64 - *bits;
      return Datum(static_cast<std::int64_t>(from_big_endian(cell.bytes()) << shift) >> shift);
    }
    if (cql_type == "timeuuid" && kind == TypeKind::Timestamp) {
      NOAM_RETURN_IF_ERROR(cell.uuid());
      return Datum(time_of_timeuuid(cell.bytes()));
    }
  }
  return read_usual(type, cell);
}

Result<Datum> ColumnValues::read_json_text(const Type& type, const cql::Cell& cell) const {
  const auto read = [&](const Json& json) -> std::optional<Datum> {
    auto datum = model::read_json(model_, type, json);
    return datum ? std::optional<Datum>(std::move(*datum)) : std::nullopt;
  };
  // A text stands for itself; whatever else, as JSON.
  const std::string text(cell.bytes());
  if (auto datum = read(Json(text))) return std::move(*datum);
  if (const auto json = Json::read(text))
    if (auto datum = read(*json)) return std::move(*datum);
  return Error{fmt::format("the text `{}` is not a value of its column", model::shortened(text))};
}

Result<Datum> ColumnValues::read_usual(const Type& type, const cql::Cell& cell) const {
  // An empty collection is null, too.
  if (cell.is_null()) return holds_list(type) && !type.optional ? Datum(Datum::List()) : Datum();
  switch (type.kind) {
    case TypeKind::Bool: {
      NOAM_ASSIGN_OR_RETURN(const bool value, cell.boolean());
      return Datum(value);
    }
    case TypeKind::Int: {
      NOAM_ASSIGN_OR_RETURN(const std::int64_t value, cell.bigint());
      return Datum(value);
    }
    case TypeKind::Timestamp: {
      NOAM_ASSIGN_OR_RETURN(const cql::Milliseconds value, cell.timestamp());
      return Datum(static_cast<std::int64_t>(value.time_since_epoch().count()));
    }
    case TypeKind::Date: {
      NOAM_ASSIGN_OR_RETURN(const std::chrono::sys_days value, cell.date());
      return Datum(static_cast<std::int64_t>(value.time_since_epoch().count()));
    }
    case TypeKind::Float: {
      NOAM_ASSIGN_OR_RETURN(const double value, cell.floating());
      return Datum(value);
    }
    case TypeKind::Decimal: {
      NOAM_ASSIGN_OR_RETURN(const std::string text, cell.decimal());
      return Datum(exact_decimal(text));
    }
    case TypeKind::Uuid:
      NOAM_RETURN_IF_ERROR(cell.uuid());
      return Datum(std::string(cell.bytes()));
    case TypeKind::TimeUuid:
      NOAM_RETURN_IF_ERROR(cell.uuid());
      return Datum(model::to_sortable(cell.bytes()));
    case TypeKind::Inet:
      NOAM_RETURN_IF_ERROR(cell.inet());
      return Datum(model::to_inet(cell.bytes()));
    case TypeKind::Bytes:
    case TypeKind::Text:
    case TypeKind::Enumeration:
    case TypeKind::Json:
      return Datum(std::string(cell.bytes()));
    case TypeKind::Reference: {
      const std::vector<Type> parts = field_types(type);
      return parts.size() == 1 ? read_usual(parts[0], cell) : read_fields(parts, cell);
    }
    case TypeKind::Value:
      if (schemas::cassandra::holds_itself(model_, type.value())) return read_json_text(type, cell);
      return read_fields(field_types(type), cell);
    case TypeKind::Row:
      return read_fields(field_types(type), cell);
    case TypeKind::List:
    case TypeKind::Set:
    case TypeKind::Map:
    case TypeKind::Rows:
      return read_elements(type, cell);
    case TypeKind::Unknown:
    case TypeKind::Duration:
      break;
  }
  return Error{"a column has a type that noam does not store"};
}

Result<Datum> ColumnValues::read_fields(const std::vector<Type>& types, const cql::Cell& cell) const {
  NOAM_ASSIGN_OR_RETURN(const std::vector<cql::Cell> fields, cell.tuple());
  Datum::List out;
  for (std::size_t i = 0; i < types.size(); ++i) {
    NOAM_ASSIGN_OR_RETURN(Datum field, read_usual(types[i], i < fields.size() ? fields[i] : cql::Cell()));
    out.push_back(std::move(field));
  }
  return Datum(std::move(out));
}

Result<Datum> ColumnValues::read_elements(const Type& type, const cql::Cell& cell) const {
  if (schemas::cassandra::is_packed(type)) {
    std::vector<Datum> values;
    if (!read_values(cell.bytes(), values) || values.size() != 1) return Error{"a packed list cannot be read"};
    return std::move(values[0]);
  }
  Datum::List out;
  if (type.kind == TypeKind::Map) {
    NOAM_ASSIGN_OR_RETURN(const std::vector<cql::Cell> cells, cell.map());
    for (std::size_t i = 0; i + 1 < cells.size(); i += 2) {
      NOAM_ASSIGN_OR_RETURN(Datum key, read_usual(type.arguments[0], cells[i]));
      NOAM_ASSIGN_OR_RETURN(Datum value, read_usual(type.arguments[1], cells[i + 1]));
      out.push_back(Datum::List{std::move(key), std::move(value)});
    }
    return model::make_map(std::move(out));
  }
  NOAM_ASSIGN_OR_RETURN(const std::vector<cql::Cell> cells, cell.list());
  for (const cql::Cell& element : cells) {
    if (type.kind == TypeKind::Rows) {
      NOAM_ASSIGN_OR_RETURN(Datum row, read_fields(field_types(type), element));
      out.push_back(std::move(row));
    } else {
      NOAM_ASSIGN_OR_RETURN(Datum value, read_usual(type.element(), element));
      out.push_back(std::move(value));
    }
  }
  // Cassandra orders the elements of a set in its own way.
  return type.kind == TypeKind::Set ? model::make_set(std::move(out)) : Datum(std::move(out));
}

bool ColumnValues::keeps(const Type& type, std::string_view cql_type) const {
  const TypeKind kind = schemas::resolved(model_, type).kind;
  return !(kind == TypeKind::Float && cql_type == "float") && cql_type != "varint";
}

}  // namespace noam::stores::cassandra
