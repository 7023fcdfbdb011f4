#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/faults/workload.h"
#include "tests/reference/reference.h"

namespace noam::tests::faults {

// What a store was told and has answered, and what the reference evaluator makes of it. Failures are the test's.
class Told {
 public:
  explicit Told(const std::shared_ptr<const model::Model>& model) : model_(model), reference_(*model) {}

  // An answer that tells how it ended.
  static bool is_known(const Json& answer) {
    const std::string outcome = answer.value("outcome", "");
    return outcome == "applied" || outcome == "refused";
  }

  // It was answered, and the answer is right.
  void acknowledge(const Json& command, const Json& answer);
  // Nobody knows whether it was carried out: it is repeated, and then it was, once.
  void repeat(runtime::Session& session, const Json& command);
  // All that was acknowledged is there, and nothing else; copies are right; and a repeat changes nothing.
  void check(runtime::Session& session, Random& random);

  [[nodiscard]] std::size_t acknowledged() const { return acknowledged_.size(); }
  [[nodiscard]] std::size_t repeated() const { return repeated_; }

 private:
  std::shared_ptr<const model::Model> model_;
  reference::Reference reference_;
  std::vector<std::pair<Json, Json>> acknowledged_;
  std::size_t repeated_ = 0;
};

}  // namespace noam::tests::faults
