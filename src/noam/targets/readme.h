#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "noam/targets/target.h"

// The page that comes with the files of a target: where every attribute of the model lives, and what is atomic.
namespace noam::targets {

// Where a column lies, in the words of the database: "`long_url` of table `urls`".
using PlaceName =
    std::function<std::string(const CollectionOutline& collection, const FamilyOutline& family, const Column& column)>;

struct Section {
  std::string title;
  std::string text;  // Markdown
};

// Title, what it was made from, the sections that come first, the table of attributes, how statements are read, what
// the target can do and its limits, the sections that come last. All targets have `Files` and what lies where
// (`Tables`, `Documents`, `Keys`) first; `Types`, where they are made `Keys`, and `Writing` last, and then what is
// theirs alone.
std::string readme(const Outline& outline, std::string_view title, const Capabilities& capabilities,
                   const std::vector<Section>& first, const PlaceName& place, const std::vector<Section>& last);

// A Markdown table. Cells may hold anything; `|` and line breaks are made harmless.
std::string markdown_table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows);

}  // namespace noam::targets
