#include "noam/runtime/notes.h"

#include "noam/base/check.h"

namespace noam::runtime {

std::uint32_t family_for(const design::Design& design, design::Purpose purpose) {
  for (std::uint32_t i = 0; i < design.families.size(); ++i)
    if (design.families[i].purpose == purpose) return i;
  fail_check("a design has a place for what noam notes");
}

stores::EntryRef note_entry(const design::Design& design, const std::string& name) {
  const std::uint32_t family = family_for(design, design::Purpose::Notes);
  return {{design.families[family].collection, {model::Datum(name)}}, family, {}};
}

}  // namespace noam::runtime
