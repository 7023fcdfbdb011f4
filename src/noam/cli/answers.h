#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "noam/base/json.h"
#include "noam/model/layout.h"
#include "noam/model/model.h"

// Answers, as Session::answer gives them, for a person.
namespace noam::cli {

// As it stands on a terminal: nothing in it moves the cursor.
std::string visible(std::string_view text);

// `applied, key …`, `refused: … [code]`, `unknown: …`, with a line break.
std::string outcome_text(const Json& answer);

// `reason [code]`, without a line break.
std::string error_text(const Json& answer);

// The rows of an answer: columns under their names, or, where they are wider than `width`, one value a line. `row` is
// the type of a row. The last line counts them, and ends with `note`: `(3 rows)`, `(3 rows, 1.2 ms)`.
std::string rows_text(const model::Type& row, const Json& rows, std::size_t width = model::page_width,
                      std::string_view note = {});

}  // namespace noam::cli
