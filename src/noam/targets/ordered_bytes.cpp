#include "noam/targets/ordered_bytes.h"

namespace noam::targets {

const std::string_view ordered_bytes_table =
    R"(| value | bytes |
| --- | --- |
| absent | `02` |
| false, true | `03`, `04` |
| int, timestamp (milliseconds since 1970), date (days since 1970) | `14` + n, then n bytes, the highest first, as few as it takes; a negative one: `14` - n, then the complement of its amount in n bytes |
| float | `20`, then 8 bytes: the IEEE bits with the sign bit turned, of a negative one all bits turned |
| decimal | 0 is `29`. A positive one is `2A`, the exponent e + 2^31 in 4 bytes, the digits d of 0.d × 10^e in pairs, each pair + 1 in a byte, and `00`. A negative one is `28` and the complement of the rest |
| text, bytes, uuid, inet (`04` or `06` before its bytes) | `30`, the bytes, a zero byte as `00 FF`, and `00 01`. A timeuuid has its time first |
| a reference by several parts | `38`, the parts, `00` |

Of a descending part all bytes are complemented.
)";

}  // namespace noam::targets
