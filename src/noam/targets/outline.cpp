#include "noam/targets/outline.h"

#include "noam/design/explanation.h"

namespace noam::targets {

Outline outline(const design::Program& program) {
  Outline out{schemas::outline(*program.model, program.design), &program};
  const design::Explainer explainer(program);
  for (CollectionOutline& collection : out.collections) {
    collection.blocks = explainer.blocks(collection.index);
    for (FamilyOutline& family : collection.families) {
      family.entries = explainer.entries(family.index);
      family.bytes = explainer.bytes(family.index);
    }
  }
  return out;
}

}  // namespace noam::targets
