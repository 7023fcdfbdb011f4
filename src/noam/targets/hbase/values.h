#pragma once

#include <string>
#include <string_view>

#include "noam/model/datum.h"
#include "noam/model/model.h"

// Values as bytes of cells: what HBase's own Bytes class writes, where it has the type.
namespace noam::targets::hbase {

enum class Encoding : std::uint8_t {
  Text,   // UTF-8
  Bytes,  // as they are
  Int,    // 8 bytes, big-endian
  Float,  // 8 bytes, big-endian, IEEE 754
  Bool,   // one byte: ff, 00
  Uuid,   // 16 bytes
  Json,   // a JSON text
};

Encoding encoding_of(const model::Model& model, const model::Type& type);
// What a script calls to make such bytes: `int`.
const char* encoder_name(Encoding encoding);

// Of something that is there. Never empty.
std::string cell_bytes(const model::Model& model, const model::Type& type, const model::Datum& datum);
std::string int_bytes(std::int64_t number);

// Whether there is anything to store: not of what is absent, nor of an empty collection.
bool stored(const model::Type& type, const model::Datum& datum);

// A Ruby string in double quotes, ASCII alone.
std::string ruby_text(std::string_view bytes);
// The inside of one.
std::string ruby_inside(std::string_view bytes);

}  // namespace noam::targets::hbase
