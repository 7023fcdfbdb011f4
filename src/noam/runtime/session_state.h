#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "noam/base/fair_shared_mutex.h"
#include "noam/runtime/arguments.h"
#include "noam/runtime/base_entries.h"
#include "noam/runtime/copies.h"
#include "noam/runtime/executor.h"
#include "noam/runtime/notes.h"
#include "noam/runtime/receipts.h"
#include "noam/runtime/session.h"
#include "noam/runtime/sweeper.h"

// What the sources of the session share.
namespace noam::runtime {

inline constexpr int conflicts_before_alone = 3;

struct Session::State {
  explicit State(const design::Program& program) : bases(program), copies(program.design) {
    for (const model::Query& query : program.model->queries) query_limits.push_back(limit_parameters(query));
    for (const model::Command& command : program.model->commands) command_limits.push_back(limit_parameters(command));
    for (const model::Command& command : program.model->commands)
      receipt_places.push_back(command.bulk ? std::nullopt : receipt_place(program, bases, command));
    for (std::size_t i = 0; i < program.queries.size(); ++i)
      reads_once.push_back(
          static_cast<char>(!program.model->queries[i].refresh && Executor::reads_once(program.queries[i])));
  }

  // The turn of one attempt to change something. Attempts go side by side; one that met others too often goes alone,
  // and those who come after it wait behind it, so that it comes to its end.
  class Turn {
   public:
    Turn(State& state, int attempt) {
      if (attempt < conflicts_before_alone)
        shared_ = std::shared_lock(state.running);
      else
        alone_ = std::unique_lock(state.running);
    }

   private:
    std::shared_lock<FairSharedMutex> shared_;
    std::unique_lock<FairSharedMutex> alone_;
  };

  BaseEntries bases;
  CopyStates copies;
  std::vector<std::vector<std::uint32_t>> query_limits;  // of each, the parameters that are limits
  std::vector<std::vector<std::uint32_t>> command_limits;
  std::vector<char> reads_once;                             // of each query
  std::vector<std::optional<ReceiptPlace>> receipt_places;  // of each command
  std::mutex states_lock;
  std::atomic<std::int64_t> states_read{0};  // when, by the session's clock
  const std::string session_name = fmt::format("{:016x}", std::random_device{}() * std::uint64_t{0x9E3779B97F4A7C15});
  FairSharedMutex running;
  std::mutex random_lock;
  std::mt19937_64 random{std::random_device{}()};
  std::mutex sweeping;
  std::unique_ptr<ThreadScheduler> own_scheduler;
  std::unique_ptr<Sweeper> sweeper;  // the last member: what it runs uses the others
};

Outcome refused(std::string code, std::string reason);

template <typename Attempt>
Result<stores::Committed> Session::until_settled(const Attempt& attempt) {
  for (int n = 0;; ++n) {
    if (n > 0 && store_.capabilities().shared) pause(n);
    // The conflict may be about the state of a copy.
    NOAM_RETURN_IF_ERROR(renew_states(n > 1));
    const State::Turn turn(*state_, n);
    Result<stores::Committed> done = attempt(n);
    const bool conflict = done ? *done == stores::Outcome::Conflict : done.error().code == stores::conflict_code;
    if (!conflict) return done;
  }
}

}  // namespace noam::runtime
