#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "noam/base/json.h"
#include "noam/model/command_id.h"
#include "noam/model/datum_json.h"
#include "noam/model/json_text.h"
#include "noam/model/model.h"
#include "tests/engine.h"
#include "tests/reference/commands.h"
#include "tests/reference/evaluate.h"

// The meaning of a model as code: the conceptual data in maps, commands carried out on a copy of them, queries by
// nested loops. Slow, simple, and without a line of the runtime.
//
// Where docs/language.md leaves a choice, this is ours. The tests of this folder show each.
//
// Data and references
//   - A reference is stored under the limits of its target's key: longer than text(8) is `value`, empty is `key`.
//   - Two values are equal where all fields are; there an absent field equals an absent one.
//   - What is reached through an absent value, row or reference is absent; a collection so reached is empty.
//   - A symmetric role is the union wherever it is read, in `select v` too; but a `require` of an entity and the
//     condition of a bulk change, which read own fields only, read what the aggregate keeps. `add` writes into x also
//     what the union has already by the other side.
//   - The steps before the last of a path in `from` exist, also where the last step is a part of their key.
//   - A variable over a map with references as keys is not asked for: only what it stands for must exist.
//   - `remove v from p v where q` looks at all elements, whether what they refer to exists or not.
//   - An owner exists before the change that names it: nothing is made as its own owner. An insert and a put ask for
//   all
//     owners, an update only for one that is another than before.
//   - A time to live that runs from a date runs from the beginning of that day.
//
// Commands
//   - Before anything runs: an id that is too old (`expired`); names that are no parameters (`value`); then the
//     parameters in the order of their declaration; then parameters that are limits, wherever they stand, and negative
//     (`value`); then the same id: its outcome, or `value` if it belongs to another command or to other parameters. The
//     first decides.
//   - All of a change is looked at, and the code that comes first in this order decides, whatever is found first:
//     absent, value, required, overflow, position, key, exists, owner. What overflows is not asked anything more. A
//     target whose key overflows is `overflow`. Where `then` or `delete` meets nothing, nothing else is looked at.
//   - The targets of an update are found and assigned one after the other, each in what the ones before left; their
//     positions and keys, as the right sides, are worked out on the state before.
//   - On the way to a collection a step that leads nowhere is `position`, also for `remove`; only what is to be removed
//     itself may be missing. The key of a map entry to be made is stored: `required`, `value` or `key` where it can't
//     be; a list position that is absent is `position`.
//   - Arithmetic that does not fit refuses a command wherever it stands, in nested selects and in the `require` of
//     entities too (those of the changed aggregates, by entity and key; the first that fails decides).
//   - An `and` with a false part is false, and an `or` with a true one is true, whatever the others are: only a
//   condition
//     that is not decided otherwise overflows. Everything else hands an overflow on. So it is in queries, for sums.
//   - A bulk change: an instance for which the condition overflows does not match. The part of the n-th that matched at
//     the start has the id part_of(id, n), from 0, whatever became of the ones before; its one change is number 0.
//
// Queries
//   - A limit that is absent (`$n: int?`) is none. A sum that does not fit is an error also with `limit 0` and on any
//     page. A nested scalar whose one row was cut is absent.
//   - `contains all` and `contains any` with absent words are false, as comparisons are.
//   - The average of decimals has 34 digits, and an exponent as small as that takes.
//   - A cursor is asked for together with a limit; a refreshed query has none, for what it cut is not kept. A cursor of
//     another query, of other parameters (but the limit), or of none, is an error `request`, before anything is looked
//     at.
//   - A refreshed query keeps its rows in their total order, also where it says none. A refresh at the time of another
//     takes its place; one that overflows leaves the last.
namespace noam::reference {

class Reference : public tests::Engine {
 public:
  explicit Reference(model::Model model);

  Json answer(const Json& request) override;
  // A line as it comes: what is no request, or was rounded while it was read, is an error or refused.
  std::string answer_line(std::string_view line);
  void set_time(std::int64_t milliseconds) override { clock_ = milliseconds; }
  void refresh(const std::string& name) override;
  void expire() override;

  // Everything that is kept: {"Entity": [[key, {field: value}], …]}, in the order of keys.
  [[nodiscard]] Json dump() const;

 private:
  struct Call {
    Json params;
    std::optional<model::CommandId> id;
    std::optional<std::string> cursor;
  };

  Json run_command(const model::Command& command, const Call& call);
  Json run_query(std::uint32_t index, const Call& call);
  Json run_bulk(const model::Command& command, const std::vector<Datum>& parameters, const model::CommandId& id);
  std::optional<model::Refusal> read_parameters(const std::vector<model::Parameter>& parameters,
                                                const std::vector<std::uint32_t>& limits, const Json& given,
                                                std::vector<Datum>& read) const;
  [[nodiscard]] model::CommandId make_id();
  [[nodiscard]] Json write_row(const model::Query& query, const Datum::List& columns) const;

  model::Model model_;
  State state_;
  std::vector<RoundedInteger> rounded_;  // of the line that is answered
  std::vector<Refreshes> refreshes_;     // one a query
  struct Applied {
    std::string command;
    std::vector<model::Datum> parameters;
    Json outcome;
  };
  std::map<std::string, Applied> applied_;  // by id
  std::int64_t clock_ = 1'700'000'000'000;
  std::uint64_t made_ids_ = 0;
};

}  // namespace noam::reference
