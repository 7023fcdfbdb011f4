#include "tests/blocks/fibers.h"

#include <cstdint>
#include <utility>

#include <ucontext.h>

#include "noam/base/check.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace noam::tests::blocks {

namespace {

constexpr std::size_t stack_bytes = std::size_t{512} * 1024;

}  // namespace

struct Fibers::Fiber {
  std::function<void()> task;
  ucontext_t context{};
  std::unique_ptr<char[]> stack;
  bool begun = false;
  bool killed = false;
  bool over = false;
  void* shadow = nullptr;  // of the address sanitizer
};

struct Fibers::Outside {
  ucontext_t context{};
  const void* stack = nullptr;
  std::size_t size = 0;
};

namespace {

// The address sanitizer wants to know which stack is in use.
void switch_begins([[maybe_unused]] void** save, [[maybe_unused]] const void* stack,
                   [[maybe_unused]] std::size_t size) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(save, stack, size);
#endif
}
void switch_ended([[maybe_unused]] void* saved, [[maybe_unused]] const void** stack,
                  [[maybe_unused]] std::size_t* size) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(saved, stack, size);
#endif
}

}  // namespace

Fibers::Fibers() : outside_(std::make_unique<Outside>()) {}

Fibers::~Fibers() {
  for (Id id = 0; id < fibers_.size(); ++id) {
    while (!fibers_[id]->over) {
      kill(id);
      resume(id);
    }
  }
}

Fibers::Id Fibers::add(std::function<void()> task) {
  auto fiber = std::make_unique<Fiber>();
  fiber->task = std::move(task);
  fibers_.push_back(std::move(fiber));
  return fibers_.size() - 1;
}

bool Fibers::ended(Id id) const { return fibers_[id]->over; }

void Fibers::kill(Id id) { fibers_[id]->killed = true; }

void Fibers::enter(unsigned high, unsigned low) {
  auto* fibers = reinterpret_cast<Fibers*>((std::uint64_t{high} << 32U) | low);
  switch_ended(nullptr, &fibers->outside_->stack, &fibers->outside_->size);
  Fiber& fiber = *fibers->fibers_[fibers->running_];
  fibers->run(fiber);
  switch_begins(nullptr, fibers->outside_->stack, fibers->outside_->size);
}

void Fibers::run(Fiber& fiber) {
  try {
    fiber.task();
  } catch (const Killed&) {
    // As its process would end.
  }
  fiber.task = nullptr;
  fiber.over = true;
}

bool Fibers::resume(Id id) {
  Fiber& fiber = *fibers_[id];
  if (fiber.over) return false;
  if (!fiber.begun && fiber.killed) {
    fiber.over = true;
    return false;
  }
  running_ = id;
  if (!fiber.begun) {
    fiber.begun = true;
    if (stacks_.empty()) {
      fiber.stack = std::unique_ptr<char[]>(new char[stack_bytes]);
    } else {
      fiber.stack = std::move(stacks_.back());
      stacks_.pop_back();
    }
    check(getcontext(&fiber.context) == 0, "a context can be made");
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = stack_bytes;
    fiber.context.uc_link = &outside_->context;
    const auto self = reinterpret_cast<std::uint64_t>(this);
    makecontext(&fiber.context, reinterpret_cast<void (*)()>(enter), 2, static_cast<unsigned>(self >> 32U),
                static_cast<unsigned>(self));
  }
  void* saved = nullptr;
  switch_begins(&saved, fiber.stack.get(), stack_bytes);
  swapcontext(&outside_->context, &fiber.context);
  switch_ended(saved, nullptr, nullptr);
  if (fiber.over && fiber.stack) stacks_.push_back(std::move(fiber.stack));
  return !fiber.over;
}

void Fibers::give_way() {
  Fiber& fiber = *fibers_[running_];
  switch_begins(&fiber.shadow, outside_->stack, outside_->size);
  swapcontext(&fiber.context, &outside_->context);
  switch_ended(fiber.shadow, &outside_->stack, &outside_->size);
  if (fiber.killed) throw Killed{};
}

}  // namespace noam::tests::blocks
