#include "noam/stores/encoding.h"

#include "noam/model/packed.h"

namespace noam::stores {

using model::Datum;

void append_values(const std::vector<Datum>& datums, std::string& out) {
  model::append_varint(datums.size(), out);
  for (const Datum& datum : datums) model::append_packed(datum, out);
}

std::string write_values(const std::vector<Datum>& datums) {
  std::string out;
  append_values(datums, out);
  return out;
}

bool read_values(std::string_view bytes, std::vector<Datum>& out, const model::Shared* owner) {
  std::uint64_t count = 0;
  if (!model::take_varint(bytes, count) || count > bytes.size()) return false;
  out.resize(count);
  return model::take_packed(bytes, owner, out) && bytes.empty();
}

bool read_first_value(std::string_view bytes, std::string& out) {
  std::uint64_t count = 0;
  if (!model::take_varint(bytes, count) || count > bytes.size()) return false;
  if (count == 0) model::append_packed(Datum(), out);
  std::string_view column;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!model::take_datum_bytes(bytes, column)) return false;
    if (i == 0) out += column;
  }
  return bytes.empty();
}

void append_fixed16(std::uint16_t number, std::string& out) {
  out += static_cast<char>(number >> 8U);
  out += static_cast<char>(number & 0xFFU);
}

bool take_fixed16(std::string_view& bytes, std::uint16_t& out) {
  if (bytes.size() < 2) return false;
  out = static_cast<std::uint16_t>(static_cast<unsigned char>(bytes[0]) << 8U | static_cast<unsigned char>(bytes[1]));
  bytes.remove_prefix(2);
  return true;
}

}  // namespace noam::stores
