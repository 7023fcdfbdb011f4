#pragma once

#include <string>

#include "noam/schemas/names.h"
#include "noam/targets/outline.h"

namespace noam::targets {

// Names for the families of one collection that keep entries apart from others: the path where there is one; else the
// constants in the key, `follows`; else `entries` for the first and `copy` for others.
class EntryNames {
 public:
  // The model must outlive it.
  EntryNames(const model::Model& model, const NameRules& rules) : model_(model), namer_(rules) {}

  std::string give(const FamilyOutline& family);

 private:
  const model::Model& model_;
  Namer namer_;
  bool unnamed_ = false;
};

}  // namespace noam::targets
