#include "noam/runtime/copies.h"

#include <fmt/format.h>

#include "noam/design/layout.h"

namespace noam::runtime {

const char* state_name(CopyState state) {
  switch (state) {
    case CopyState::Ready:
      return "ready";
    case CopyState::Building:
      return "building";
    case CopyState::Broken:
      break;
  }
  return "broken";
}

// Families of one collection may share a name; their place among them tells them apart.
std::string CopyStates::note_name(const design::Design& design, std::uint32_t family) {
  const design::Family& at = design.families[family];
  const design::Collection& collection = design.collection_of(at);
  std::size_t before = 0;
  for (const std::uint32_t other : collection.families) {
    if (other == family) break;
    const design::Family& one = design.families[other];
    before += one.name == at.name && one.purpose == at.purpose ? 1 : 0;
  }
  return fmt::format("copy/{}/{}/{}/{}", collection.name, design::purpose_name(at.purpose), at.name, before);
}

Error CopyStates::refusal(std::uint32_t family) const {
  const std::string& collection = design_.collection_of(design_.families[family]).name;
  if (of(family) == CopyState::Building)
    return Error{fmt::format("the copy in collection `{}` is not complete; run `noam repair` to rebuild it",
                             collection),
                 "broken"};
  return Error{fmt::format("the copy in collection `{}` is broken: it differs from its base data; run `noam repair` to "
                           "correct it",
                           collection),
               "broken"};
}

}  // namespace noam::runtime
