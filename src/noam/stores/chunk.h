#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "noam/model/datum.h"

namespace noam::stores {

// Bytes of our own, which stay where they are.
class Chunk final : public model::Shared {
 public:
  explicit Chunk(std::size_t bytes) : bytes_(new char[bytes]), size_(bytes) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  // Aligned for a pointer. Nothing where there is no room.
  char* room(std::size_t bytes) {
    if (size_ - used_ < bytes) return nullptr;
    char* at = bytes_.get() + used_;
    constexpr std::size_t alignment = alignof(void*);
    used_ = std::min((used_ + bytes + alignment - 1) / alignment * alignment, size_);
    return at;
  }

 private:
  const std::unique_ptr<char[]> bytes_;  // NOLINT(modernize-avoid-c-arrays)
  const std::size_t size_;
  std::size_t used_ = 0;
};

// Room for many small things, in chunks that live as long as something within them.
class Chunks {
 public:
  Chunks() = default;
  Chunks(const Chunks&) = delete;
  Chunks& operator=(const Chunks&) = delete;
  ~Chunks() { leave(); }

  // Aligned for a pointer, and in the chunk that is the current one from now on.
  char* room(std::size_t bytes) {
    char* at = chunk_ == nullptr ? nullptr : chunk_->room(bytes);
    if (at != nullptr) return at;
    leave();
    chunk_ = new Chunk(std::max(bytes, next_));
    // For all that may be made within it, at once: each takes a byte at least.
    held_ = static_cast<std::uint32_t>(chunk_->size()) + 1;
    chunk_->hold(held_ - 1);
    next_ = std::clamp<std::size_t>(next_ * 4, std::size_t{1} << 12U, std::size_t{1} << 15U);
    return chunk_->room(bytes);
  }
  [[nodiscard]] const Chunk& chunk() const { return *chunk_; }
  // How often it is held for what is made within it.
  std::uint32_t& held() { return held_; }

 private:
  void leave() {
    if (chunk_ != nullptr) chunk_->let_go(held_);
  }

  Chunk* chunk_ = nullptr;
  std::uint32_t held_ = 0;
  std::size_t next_ = 0;  // the first is often the only one
};

}  // namespace noam::stores
