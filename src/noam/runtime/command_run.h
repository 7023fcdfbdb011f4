#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "noam/base/result.h"
#include "noam/design/program.h"
#include "noam/model/datum_json.h"
#include "noam/runtime/base_entries.h"
#include "noam/runtime/evaluate.h"
#include "noam/runtime/transaction.h"
#include "noam/runtime/upkeep.h"

namespace noam::runtime {

// One attempt at a command: reads and changes through a transaction, which is committed by somebody else.
class CommandRun {
 public:
  CommandRun(const design::Program& program, const BaseEntries& bases, Transaction& transaction,
             Environment environment, std::size_t max_fanout)
      : program_(program),
        model_(*program.model),
        bases_(bases),
        transaction_(transaction),
        environment_(std::move(environment)),
        max_fanout_(max_fanout) {}

  // Nothing where it was applied; else why it was refused. Then nothing of the transaction may be committed.
  Result<std::optional<model::Refusal>> run(const model::Command& command, const design::CommandPlan& plan);
  // One instance of a bulk change, its predicate asked again. False in `applied` where it does not hold any more.
  Result<std::optional<model::Refusal>> run_bulk(const model::Command& command, const design::CommandPlan& plan,
                                                 const model::Datum& key, bool& applied);
  // The keys that a bulk change is about.
  Result<std::vector<model::Datum>> find_bulk(const model::Command& command, const design::CommandPlan& plan);
  // An instance that is due goes. False where it is not there, or not due, any more.
  Result<bool> expire(model::EntityId entity, const model::Datum& key, std::int64_t now);
  // The answer of a refreshed query is replaced.
  Result<void> refresh(std::uint32_t query, std::int64_t now, const std::vector<Row>& rows);

  // Rows of a load, those from the n-th on: instances with these fields, each of which may be absent where it was not
  // given. What became of each is added to `out`; where one is refused, the transaction is as if it had not been there,
  // and it may be the last. They are taken in another order where nobody can tell: by their keys it is quicker.
  Result<void> load_rows(model::EntityId id, std::span<const model::Datum::List> rows, std::uint32_t n,
                         bool stop_at_refusal, std::vector<std::optional<model::Refusal>>& out);
  // After the last row. Where it is refused, nothing of the transaction may be committed.
  Result<std::optional<model::Refusal>> finish_load() { return complete(); }

  // In the order of the inserts: the entity and the key that was made.
  [[nodiscard]] const std::vector<std::pair<model::EntityId, model::Datum>>& generated() const { return generated_; }

 private:
  using Refused = std::optional<model::Refusal>;

  struct Aggregate {
    std::optional<model::Datum::List> settled;  // its fields when the copies were last right
    std::optional<model::Datum::List> fields;   // now
    model::Datum due;
    bool touched = false;
  };
  using Address = std::pair<model::EntityId, model::Datum>;

  // A row of a load.
  struct Arrival {
    std::size_t index = 0;
    model::Datum key;
    model::Datum::List fields;
    bool made = false;  // its key
    Refused refused;
    Aggregate* aggregate = nullptr;  // what is known of it, where it is not transient
  };

  Result<Aggregate*> load(model::EntityId entity, const model::Datum& key);
  // What was found of an instance.
  Aggregate aggregate_of(model::EntityId entity, const Row& row) const;
  // Those that are not known yet, all at once.
  Result<void> look_up(model::EntityId entity, std::vector<Arrival>& rows);
  [[nodiscard]] std::vector<std::size_t> loading_order(model::EntityId id,
                                                       std::span<const model::Datum::List> rows) const;
  // With its key, where its values are right.
  Arrival arrive(model::EntityId id, model::Datum::List fields) const;
  Result<Refused> load_row(model::EntityId id, Arrival& row);
  Result<Row> compute(const design::Computation& computation, const Row& seed);
  Result<Refused> change(const model::Command& command, const model::Change& change, const design::ChangePlan& plan);
  Result<Refused> insert(const model::Change& change, const Row& inputs);
  // Fills in keys that noam makes, and empty collections. Whether a key was made.
  bool make_keys(const model::Entity& entity, model::Datum::List& fields) const;
  // What a new instance is asked besides its own values. `aggregate`: what is known of it, none where it is transient;
  // `replaces`: it may be there already.
  Result<Refused> check_place(model::EntityId id, const model::Datum& key, const model::Datum::List& fields,
                              const Aggregate* aggregate, bool replaces);
  void place(model::EntityId id, const model::Datum& key, model::Datum::List fields, Aggregate* aggregate);
  Result<Refused> update(const model::Change& change, const design::ChangePlan& plan, const Row& inputs);
  Refused assign(const model::Change& change, const Row& inputs, std::size_t input, model::Datum::List& fields) const;
  Result<Refused> change_collection(const model::Change& change, const design::ChangePlan& plan, const Row& inputs,
                                    std::size_t input, const model::Datum& key, model::Datum::List& fields);
  // To a list that need not be read.
  Result<Refused> append(const model::Change& change, const design::AppendPlan& plan, const Row& inputs,
                         std::size_t input, const model::Datum& key);
  // To one that lies in this column of an entry.
  void append_inside(stores::EntryRef entry, stores::Key columns, std::uint32_t column,
                     const model::Datum::List& added);
  // What an Append or Add brings; why it can't be is added to `refused`.
  model::Datum::List added_by(const model::Change& change, const model::Type& collection, const std::string& name,
                              const Row& inputs, std::size_t input, Refused& refused) const;
  [[nodiscard]] Refused absent(const model::Change& change, const model::Datum& key) const;
  Result<Refused> check_owners(model::EntityId id, const model::Datum::List& fields, const model::Datum::List* before);
  Result<Refused> remove(model::EntityId entity, const model::Datum& key);
  Result<void> forget_other_side(const model::Role& role, const model::Datum& key, const model::Datum::List& removed);
  Result<model::Datum::List> symmetric_members(const model::Role& role, const model::Datum& key,
                                               const model::Datum::List& own);
  Result<void> forget_transient(model::EntityId owner, const model::Datum& key);
  AggregateChange forgotten(const design::Forgetting& forgetting, const stores::ScanPage::Item& item) const;
  void write(model::EntityId entity, const model::Datum& key, Aggregate& aggregate,
             std::optional<model::Datum::List> fields, model::Datum due);
  // Whether an input of the change did not fit; then it is absent.
  [[nodiscard]] bool overflowed(std::size_t input) const;
  Refused storable(const model::Type& type, const model::Datum& value, const std::string& name,
                   std::size_t input) const;
  // As it is written in the command, in backticks.
  [[nodiscard]] std::string text(const model::Expr& expr) const;
  model::Datum due_of(model::EntityId id, const model::Datum::List& fields) const;
  Result<void> settle(bool last = false);  // the last time: what is known of instances is not needed any more
  Result<Refused> finish();
  Result<Refused> complete();
  Result<Refused> check_requirements();
  Result<Refused> check_requirements(model::EntityId id, const model::Datum& key, const model::Datum::List& fields);
  bool is_dirty() const;

  const design::Program& program_;
  const model::Model& model_;
  const BaseEntries& bases_;
  Transaction& transaction_;
  Environment environment_;
  std::size_t max_fanout_;
  const model::Command* command_ = nullptr;  // that runs
  Row variables_;                            // slot v: variable v of the command
  std::map<Address, Aggregate> aggregates_;
  std::vector<AggregateChange> transients_;  // inserted since the copies were last right
  std::vector<RefreshChange> refreshes_;
  std::vector<std::pair<model::EntityId, model::Datum>> generated_;
  std::uint32_t changes_ = 0;
};

}  // namespace noam::runtime
