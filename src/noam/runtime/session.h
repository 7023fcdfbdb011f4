#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "noam/base/result.h"
#include "noam/design/program.h"
#include "noam/model/command_id.h"
#include "noam/model/datum.h"
#include "noam/model/datum_json.h"
#include "noam/stores/store.h"

// The face of the library: a model and a design on a store.
namespace noam::runtime {

// Milliseconds since 1970. Given from outside, so that time can be simulated.
using Clock = std::function<std::int64_t()>;
std::int64_t system_time();

struct SessionOptions {
  Clock clock = system_time;
  std::size_t max_fanout = 100'000;      // entries that one command may touch
  std::chrono::milliseconds timeout{0};  // of a statement; 0: none
};

// A parameter by its name, without the $.
struct Argument {
  std::string name;
  model::Datum value;
};
using Arguments = std::vector<Argument>;

// The answer of a query.
struct Rows {
  std::vector<std::string> columns;
  std::vector<std::vector<model::Datum>> rows;
  std::string cursor;  // empty: that was all
};

enum class OutcomeKind : std::uint8_t { Applied, Refused, Unknown };

// What became of a command. Three outcomes, never two: after `Unknown`, repeat it with the same id.
struct Outcome {
  OutcomeKind kind = OutcomeKind::Applied;
  std::string code;                                            // Refused
  std::string reason;                                          // Refused, Unknown
  std::vector<std::pair<model::EntityId, model::Datum>> keys;  // generated, in the order of the inserts
  std::optional<std::int64_t> count;                           // bulk changes: those applied
};

// One copy that is not what it should be.
struct Difference {
  std::string collection;
  std::string what;  // one line for a person
};

struct Verification {
  std::vector<Difference> differences;
  std::vector<std::string> unknown;  // what can't be made again from the bases, one line each
  std::size_t entries = 0;           // compared
};

// Safe to use from several threads. The store must outlive it.
class Session {
 public:
  // Deploys the design on the store. `strategy`: eao, etf, normalized, or a design of the model.
  static Result<std::unique_ptr<Session>> open(std::shared_ptr<const model::Model> model, const std::string& strategy,
                                               stores::Store& store, SessionOptions options = {});

  [[nodiscard]] const model::Model& model() const { return *program_.model; }
  [[nodiscard]] const design::Program& program() const { return program_; }

  // An error has a code: `request` (no such query or parameter), `value`, `required`, `overflow`, `cursor`, or none
  // where the store failed. With a cursor: the page after it.
  Result<Rows> query(std::string_view name, const Arguments& arguments, std::string_view cursor = {});

  // Without an id, one is made; then only the store's own answer tells whether it was applied.
  Outcome command(std::string_view name, const Arguments& arguments,
                  const std::optional<model::CommandId>& id = std::nullopt);

  // One line of JSON for one request (docs/json.md). Never fails: what is wrong is in the answer.
  nlohmann::ordered_json answer(const nlohmann::ordered_json& request);
  std::string answer_line(std::string_view line);

  // Carries out a refreshed query now.
  Result<void> refresh(std::string_view name);
  // Deletes what is due, and forgets ids of commands that are too old to be repeated. How many instances went.
  Result<std::size_t> sweep();

  // Compares every copy with what its bases say.
  Result<Verification> verify();
  // Writes what verify misses.
  Result<std::size_t> repair();

 private:
  struct State;
  Session(design::Program program, stores::Store& store, SessionOptions options);

  Outcome run_command(const model::Command& command, const design::CommandPlan& plan,
                      std::vector<model::Datum> parameters, const model::CommandId& id, bool look_up);
  Outcome run_bulk(const model::Command& command, const design::CommandPlan& plan, std::vector<model::Datum> parameters,
                   const model::CommandId& id, bool look_up);
  Result<std::optional<Outcome>> applied_before(const model::CommandId& id);
  [[nodiscard]] stores::Deadline deadline() const;
  Result<std::vector<Difference>> compare(std::uint32_t index, bool write, Verification& verification,
                                          std::size_t& written);
  model::CommandId new_id();

  design::Program program_;
  stores::Store& store_;
  SessionOptions options_;
  std::unique_ptr<State> state_;

 public:
  ~Session();
};

}  // namespace noam::runtime
