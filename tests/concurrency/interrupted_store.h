#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "noam/stores/store.h"
#include "tests/forwarding_store.h"

namespace noam::tests::concurrency {

// A store whose callers come between each other: around its calls a thread now and then gives the processor away, so
// that few processors show what many would. What it keeps lies in the store behind it.
class InterruptedStore : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  std::unique_ptr<stores::Snapshot> snapshot(stores::Use use) override;
  Result<void> read(std::span<const stores::ReadRequest> requests, const stores::Snapshot* at, stores::Deadline by,
                    stores::Answers& out) override;
  Result<stores::Committed> commit(const stores::WriteBatch& batch, stores::Deadline by) override;
  Result<stores::ScanPage> scan(std::uint32_t family, const std::string& after, const stores::Snapshot* at,
                                stores::Deadline by) override;

  // When this thread last took a snapshot or committed, by a count over all threads: about where its statement stands
  // among the others.
  [[nodiscard]] static std::uint64_t last_step();
  // How often this thread had to try again, in all its life.
  [[nodiscard]] static std::size_t conflicts_of_thread();

  // How often commits had to be tried again.
  [[nodiscard]] std::size_t conflicts() const { return conflicts_; }

 private:
  void step();

  std::atomic<std::uint64_t> steps_ = 0;
  std::atomic<std::size_t> conflicts_ = 0;
};

}  // namespace noam::tests::concurrency
