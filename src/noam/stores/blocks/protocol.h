#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "noam/base/result.h"
#include "noam/stores/blocks/block_store.h"
#include "noam/stores/blocks/records.h"

// Transactions over blocks that a database can only write one by one. docs/transactions.md has the rules and their
// reasons. A transaction first holds the units that it writes, without a change of their entries; then it looks again
// at those that it only read; then one conditional write of its home decides; then the others take their changes.
// Whoever meets a hold settles it. Nobody waits while it holds.
namespace noam::stores::blocks {

// The world outside, so that it can be simulated.
struct Surroundings {
  std::function<std::int64_t()> microseconds;  // since 1970, by a clock that may be wrong
  std::function<std::chrono::steady_clock::time_point()> steady;
  std::function<void(std::chrono::milliseconds)> wait;
  std::function<std::uint64_t()> random;
  // Does it later, at the same time as other work. What is not done, others will do.
  std::function<void(std::function<void()>)> later;
};

struct ProtocolOptions {
  std::chrono::milliseconds patience{2'000};          // with a hold, until its transaction is stopped, and
  std::chrono::microseconds patience_a_unit{10'000};  // for each unit of the transaction
  std::chrono::milliseconds longest_attempt{60'000};  // after this time an attempt does not go on
  std::chrono::milliseconds gravestones{86'400'000};  // how long the head of a block without entries stays
  std::chrono::milliseconds guards{4'200'000};        // how long an id is kept at least
  std::size_t guards_in_head = 32;
};

class Protocol {
 public:
  // The store and the surroundings must outlive it; what is to be done later must be done before it ends.
  Protocol(BlockStore& store, const Surroundings& around, const ProtocolOptions& options)
      : store_(store), around_(around), options_(options) {}

  // The collection of each part, and when the first design was deployed, in microseconds since 1970.
  void begin(std::vector<std::uint32_t> collections, std::int64_t deployed);

  // A query may pass holds of transactions that have read nothing else and are not decided; a command passes none.
  enum class Reader : std::uint8_t { Command, Query };
  Result<void> read(const std::vector<UnitRead>& units, Fresh fresh, Reader reader, Deadline by,
                    std::vector<UnitAnswer>& out);

  // Whether nothing that was read has changed, all at one moment.
  Result<bool> validate(const std::map<UnitRef, Version>& seen, Deadline by);

  struct Write {
    Head before;                  // as it was read, without a hold
    std::vector<Change> changes;  // puts and deletes
    std::vector<KeptGuard> guards;
  };
  struct Plan {
    std::map<UnitRef, Version> reads;
    std::map<UnitRef, Write> writes;  // at least one
    UnitRef home;                     // one of them
  };
  // Applied, Conflict or Unknown.
  Result<Outcome> commit(const Plan& plan, Deadline by);

  // The last head that was seen, if it has this sequence and is held by nobody.
  [[nodiscard]] std::optional<Head> known_head(const UnitRef& unit, std::uint64_t sequence) const;

  // Settles holds and forgets marks and heads that nobody needs any more, in one part. How many.
  Result<std::size_t> tidy(std::uint32_t part, Deadline by);

 private:
  enum class Judgement : std::uint8_t { Alive, Committed, Over };
  struct Judged {
    Judgement judgement = Judgement::Alive;
    Head home;  // where it is another unit
  };
  struct Attempt;

  [[nodiscard]] std::uint64_t fresh_number(std::int64_t microseconds) const;
  [[nodiscard]] std::uint64_t next_version(std::uint64_t version, const TransactionId& by) const;
  [[nodiscard]] static std::uint64_t next_sequence(std::uint64_t sequence, std::uint64_t fresh);
  Result<Head> read_head(const UnitRef& unit, Deadline by);
  Result<Hold> hold_of(const UnitRef& unit, const Head& head) const;
  Result<Judged> judge(const UnitRef& unit, const Head& head, const Hold& hold, Deadline by);
  // One step towards a unit that is not held: finishes or removes the hold, waits, or stops its transaction.
  Result<void> settle(const UnitRef& unit, const Head& head, Deadline by);
  [[nodiscard]] bool patience_is_over(const TransactionId& of, const Hold& hold);
  Result<Head> finished(const Head& head, const TransactionId& by, const std::vector<KeptGuard>& added, Deadline until);
  // Of one unit.
  Result<Written> write(const UnitRef& unit, std::variant<UnitWrite::Sequence, UnitWrite::Held> condition,
                        std::vector<Change> changes, Head head, Deadline by);
  void remember(const UnitRef& unit, const Head& head);
  // Keeps elsewhere what will have to go from a full head next, so that no commit has to wait for that.
  void copy_guards(const Head& head);
  [[nodiscard]] bool is_copied(const KeptGuard& guard) const;
  // As it was seen last.
  [[nodiscard]] std::optional<Head> last_head(const UnitRef& unit) const;

  Result<Outcome> commit_group(const Plan& plan, const TransactionId& id, Deadline by);
  Result<bool> prepare(Attempt& attempt);
  Result<bool> validate_others(const Attempt& attempt);
  Result<Outcome> decide(Attempt& attempt);
  void abort(const Attempt& attempt);
  void finish(const Attempt& attempt);
  void forget(const UnitRef& home, const TransactionId& id, Deadline by);
  [[nodiscard]] bool may_go_on(const Attempt& attempt) const;
  [[nodiscard]] TransactionId new_transaction();

  BlockStore& store_;
  const Surroundings& around_;
  const ProtocolOptions options_;
  std::vector<std::uint32_t> collections_;
  std::int64_t deployed_ = 0;

  mutable std::mutex lock_;  // never held while the store is asked
  // Heads by unit, those that were met lately and those before them.
  std::map<UnitRef, Head> heads_;
  std::map<UnitRef, Head> older_heads_;
  // When a hold was seen first, by its transaction.
  std::map<TransactionId, std::chrono::steady_clock::time_point> first_seen_;
  std::map<UnitRef, std::uint32_t> conflicts_;  // one after the other
  std::set<std::string> copied_;                // ids of guards that are kept elsewhere
};

}  // namespace noam::stores::blocks
