#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "noam/design/design.h"
#include "noam/model/model.h"

// What of a design must stay as it is while data lies under it.
namespace noam::design {

// Words that stay: they are kept with data.
const char* purpose_name(Purpose purpose);
const char* hidden_name(HiddenKind kind);

// The data of the model and where it lies, as JSON, all by names and as it would be written: collections with their
// keys, families with their columns, entities and values with their fields. No statistics, statements or places in a
// text. Two designs with the same layout, up to the order of collections and families, can use the same data.
std::string describe_layout(const Design& design, const model::Model& model);

// A collection of a layout, and its families.
struct LaidOut {
  std::string name;
  std::vector<std::string> families;  // each a JSON text that tells it from the others
};
// Those of a layout, in its order. Nothing where the text is no layout.
std::vector<LaidOut> laid_out(std::string_view layout);

// What differs, a line each, in words for a person; nothing: they are the same.
std::vector<std::string> layout_differences(std::string_view stored, std::string_view wanted);

}  // namespace noam::design
