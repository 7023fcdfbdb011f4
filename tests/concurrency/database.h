#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "noam/base/json.h"
#include "noam/model/model.h"
#include "noam/runtime/session.h"
#include "tests/concurrency/interrupted_store.h"
#include "tests/threads.h"

// What the tests of several threads share.
namespace noam::tests::concurrency {

inline constexpr int thread_count = 8;
inline constexpr std::int64_t start_time = 1'700'000'000'000;

// How many rounds of a test there are: fewer under the thread sanitizer, where each takes ten times as long.
constexpr int rounds_of(int rounds) {
#ifdef __SANITIZE_THREAD__
  return (rounds + 3) / 4;
#else
  return rounds;
#endif
}

// NOAM_SEED of the environment, else by chance. It decides what is asked; not who comes first.
std::uint64_t run_seed();

// The n-th id of a run.
std::string command_id(std::uint64_t run, std::uint64_t n);

Json request(const std::string& name, Json params = Json::object(), const std::string& id = {});

// A session under a design, on a memory store. Its clock stands still unless it is set.
class Database {
 public:
  // A failure of the test where there is no such design.
  Database(const std::shared_ptr<const model::Model>& model, const std::string& design);
  // The same on another store.
  Database(const std::shared_ptr<const model::Model>& model, const std::string& design,
           std::unique_ptr<stores::Store> store);

  [[nodiscard]] runtime::Session& session() { return *session_; }
  [[nodiscard]] const InterruptedStore& store() const { return store_; }

  Json answer(const Json& request) { return session_->answer(request); }
  // Of a command: `applied`, or why not.
  std::string run(const std::string& name, const Json& params, const std::string& id = {});
  // Of a query; an error is a failure of the test.
  Json rows(const std::string& name, const Json& params = Json::object());

  // How many a family of the design has.
  std::size_t entries(std::uint32_t family);
  // What `verify` finds wrong; empty: nothing.
  std::string differences();

  void set_time(std::int64_t milliseconds) { time_ = milliseconds; }
  void pass_time(std::int64_t milliseconds) { time_ += milliseconds; }
  [[nodiscard]] std::int64_t time() const { return time_; }

 private:
  InterruptedStore store_;
  std::atomic<std::int64_t> time_ = start_time;
  std::unique_ptr<runtime::Session> session_;
};

}  // namespace noam::tests::concurrency
