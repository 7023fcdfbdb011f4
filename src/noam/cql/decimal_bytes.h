#pragma once

#include <string>
#include <string_view>

#include "noam/base/result.h"

// The CQL type decimal: a scale, as an int of 32 bits, and an unscaled whole number of any size, as two's complement.
namespace noam::cql {

// Of a number such as `-12.50`: digits, at most one point between digits, no exponent. The digits after the point are
// the scale.
Result<std::string> decimal_bytes(std::string_view text);

// All digits are kept, so `12.50` comes back as it was written. An error if the bytes are not a decimal, or if the text
// would have more than 10,000 zeros that are not stored.
Result<std::string> decimal_text(std::string_view bytes);

}  // namespace noam::cql
