#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "noam/stores/store.h"

namespace noam::tests {

// Does what the store behind it does; for stores of tests that do one thing differently.
class ForwardingStore : public stores::Store {
 public:
  explicit ForwardingStore(std::unique_ptr<stores::Store> behind) : behind_(std::move(behind)) {}

  [[nodiscard]] const stores::Capabilities& capabilities() const override { return behind_->capabilities(); }
  Result<void> deploy(const stores::Blueprint& blueprint) override { return behind_->deploy(blueprint); }
  [[nodiscard]] std::optional<stores::Deployment> deployment() const override { return behind_->deployment(); }
  std::unique_ptr<stores::Snapshot> snapshot(stores::Use use) override { return behind_->snapshot(use); }
  Result<void> read(std::span<const stores::ReadRequest> requests, const stores::Snapshot* at, stores::Deadline by,
                    stores::Answers& out) override {
    return behind_->read(requests, at, by, out);
  }
  Result<stores::Committed> commit(const stores::WriteBatch& batch, stores::Deadline by) override {
    return behind_->commit(batch, by);
  }
  Result<stores::ScanPage> scan(std::uint32_t family, const std::string& after, const stores::Snapshot* at,
                                stores::Deadline by) override {
    return behind_->scan(family, after, at, by);
  }
  [[nodiscard]] bool approximate(std::uint32_t family) const override { return behind_->approximate(family); }
  [[nodiscard]] std::vector<stores::HotBlock> hottest(std::size_t most) const override {
    return behind_->hottest(most);
  }

 protected:
  std::unique_ptr<stores::Store> behind_;
};

}  // namespace noam::tests
