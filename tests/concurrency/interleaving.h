#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "noam/base/json.h"
#include "noam/model/model.h"

namespace noam::tests::concurrency {

// Two statements of which one comes in the midst of the other. By no chance: wherever the first one calls the store.
struct Interleaving {
  std::string name;
  std::vector<Json> before;  // requests that were carried out already
  Json first;                // a request; null: what is due is deleted
  Json other;                // a request
};

const std::vector<Interleaving>& interleavings();
// The model that they are about. All of its queries are asked afterwards, so none has parameters.
std::shared_ptr<const model::Model> interleaved_model();

// Lets the other one come before each of the first one's calls to the store, one run for each. What they are told and
// what there is afterwards is that of one of the two orders, by the reference evaluator; if not, what went wrong.
std::optional<std::string> disorder(const std::shared_ptr<const model::Model>& model, const Interleaving& one,
                                    const std::string& design);

}  // namespace noam::tests::concurrency
