#pragma once

#include <optional>
#include <span>

#include "noam/stores/memory.h"
#include "tests/forwarding_store.h"

namespace noam::tests {

// A memory store that fails where it is told to.
class FailingStore : public ForwardingStore {
 public:
  FailingStore() : ForwardingStore(stores::open_memory_store()) {}

  std::optional<Error> on_read;
  std::optional<Error> on_commit;

  Result<void> read(std::span<const stores::ReadRequest> requests, const stores::Snapshot* at, stores::Deadline by,
                    stores::Answers& out) override {
    if (on_read) return *on_read;
    return behind_->read(requests, at, by, out);
  }
  Result<stores::Committed> commit(const stores::WriteBatch& batch, stores::Deadline by) override {
    if (on_commit) return *on_commit;
    return behind_->commit(batch, by);
  }
};

}  // namespace noam::tests
