#include "noam/targets/entry_names.h"

#include "noam/model/datum.h"
#include "noam/schemas/plain.h"

namespace noam::targets {

namespace {

std::string constants_of(const model::Model& model, const FamilyOutline& family) {
  std::string out;
  for (const Column& part : family.key) {
    if (!part.constant) continue;
    if (!out.empty()) out += '_';
    out += plain_text(model, part.type, model::from_literal(part.type, *part.constant));
  }
  return out;
}

}  // namespace

std::string EntryNames::give(const FamilyOutline& family) {
  if (!family.path.empty()) return namer_.give(family.path);
  const std::string constants = constants_of(model_, family);
  if (!constants.empty()) return namer_.give(constants);
  const std::string name = unnamed_ ? "copy" : "entries";
  unnamed_ = true;
  return namer_.give(name);
}

}  // namespace noam::targets
