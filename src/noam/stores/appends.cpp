#include "noam/stores/appends.h"

#include <cstdint>

#include "noam/base/breakage.h"
#include "noam/model/packed.h"
#include "noam/stores/encoding.h"

namespace noam::stores {

using model::Datum;
using model::PackedElements;

namespace {

// A column: its bytes, or its list in pieces.
struct Column {
  std::string_view bytes;
  std::vector<PackedElements> pieces;
};

bool take_columns(std::string_view bytes, std::vector<Column>& out) {
  std::uint64_t count = 0;
  if (!model::take_varint(bytes, count) || count > bytes.size()) return false;
  out.resize(count);
  for (Column& column : out)
    if (!model::take_datum_bytes(bytes, column.bytes)) return false;
  return bytes.empty();
}

bool is_absent(std::string_view bytes) {
  Datum datum;
  return bytes.size() == 1 && model::take_packed(bytes, nullptr, datum) && datum.absent();
}

// With the elements of an operand, whose columns begin at `from`.
bool append_to(std::vector<Column>& columns, std::size_t from, std::string_view operand, bool to_absent) {
  std::vector<Column> more;
  if (!is_elements(operand) || !take_columns(operand, more) || more.size() - 1 > columns.size() - from) return false;
  for (std::size_t i = 1; i < more.size(); ++i) {
    std::string_view elements = more[i].bytes;
    if (is_absent(elements)) continue;
    Column& column = columns[from + i - 1];
    if (column.pieces.empty() && !(to_absent && is_absent(column.bytes))) {
      std::string_view list = column.bytes;
      if (!model::take_elements(list, column.pieces.emplace_back())) return false;
    }
    if (!model::take_elements(elements, column.pieces.emplace_back())) return false;
  }
  return true;
}

std::string write_columns(const std::vector<Column>& columns) {
  std::size_t size = 10;
  for (const Column& column : columns) {
    size += column.bytes.size() + 20;
    for (const PackedElements& piece : column.pieces) size += piece.bytes.size();
  }
  std::string out;
  out.reserve(size);
  model::append_varint(columns.size(), out);
  for (const Column& column : columns) {
    if (column.pieces.empty())
      out += column.bytes;
    else
      model::append_packed_list(column.pieces, out);
  }
  return out;
}

}  // namespace

std::string write_elements(const Append& append) {
  Key values{true};  // Adds have a number there
  values.insert(values.end(), append.elements.begin(), append.elements.end());
  return write_values(values);
}

bool is_elements(std::string_view operand) {
  std::uint64_t count = 0;
  Datum first;
  return model::take_varint(operand, count) && count > 0 && model::take_packed(operand, nullptr, first) &&
         first.is_bool();
}

std::optional<std::string> append_elements(std::string_view columns, const std::vector<std::string_view>& operands) {
  std::vector<Column> made;
  if (!take_columns(columns, made)) return std::nullopt;
  const std::size_t first = broken(Breakage::AppendForgotten) && operands.size() > 1 ? 1 : 0;
  for (std::size_t i = first; i < operands.size(); ++i)
    if (!append_to(made, 0, operands[i], false)) return std::nullopt;
  return write_columns(made);
}

std::optional<std::string> join_elements(const std::vector<std::string_view>& operands) {
  std::vector<Column> made;
  if (operands.empty() || !is_elements(operands[0]) || !take_columns(operands[0], made)) return std::nullopt;
  for (std::size_t i = 1; i < operands.size(); ++i) {
    std::vector<Column> longer;
    if (!take_columns(operands[i], longer)) return std::nullopt;
    if (longer.size() != made.size() || !append_to(made, 1, operands[i], true)) return std::nullopt;
  }
  return write_columns(made);
}

}  // namespace noam::stores
