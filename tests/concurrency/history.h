#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "noam/base/json.h"
#include "noam/model/model.h"
#include "noam/runtime/session.h"

// What several threads asked and were told, and whether it can have come about by one statement after another.
namespace noam::tests::concurrency {

// One call of a statement. Times are counted over all threads: a call that ended before another began has the smaller
// number.
struct Event {
  int thread = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t guess = 0;  // about where it stands in the serial order; tried first, and nothing depends on it
  Json request;
  Json answer;
};
using History = std::vector<Event>;

// Runs statements and writes down what became of them. Each thread has a number of its own, below `threads`.
class Recorder {
 public:
  Recorder(runtime::Session& session, int threads) : session_(session), events_(static_cast<std::size_t>(threads)) {}

  const Json& run(int thread, Json request);

  // When no thread runs any more.
  [[nodiscard]] History history() const;

 private:
  runtime::Session& session_;
  std::atomic<std::uint64_t> clock_ = 0;
  std::vector<History> events_;  // by thread
};

// Why the history is not strictly serialisable: there is no order of all its events which keeps those apart that did
// not overlap in time, and in which the reference evaluator, from an empty database at this time, gives the answers
// that were given. Nothing where there is such an order. Gives up after so many tries, which is a reason too.
std::optional<std::string> not_serialisable(const model::Model& model, const History& history, std::int64_t time,
                                            std::size_t most_tries = 20'000);

// A line an event, in the order in which they began.
std::string text(const History& history);

}  // namespace noam::tests::concurrency
