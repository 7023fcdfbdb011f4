#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "noam/base/result.h"
#include "noam/design/plan.h"
#include "noam/runtime/evaluate.h"
#include "noam/runtime/transaction.h"

namespace noam::runtime {

// Rows of one answer; `position` is that of the last row where there are more.
struct PageOfRows {
  std::vector<Row> rows;
  std::optional<Row> position;
};

// Runs plans on what a transaction sees. An error has a code where the statement is to blame (`overflow`, `value`).
class Executor {
 public:
  Executor(Transaction& transaction, const design::Design& design, const Environment& environment,
           Transaction::Moment moment)
      : transaction_(transaction), design_(design), environment_(environment), moment_(moment) {}

  // One answer for each seed: the rows of the plan's columns. A seed fills the slots before the plan's own.
  Result<std::vector<std::vector<Row>>> run(const design::Plan& plan, const std::vector<Row>& seeds);
  // The first page, or what comes after the position.
  Result<PageOfRows> page(const design::Plan& plan, const std::optional<Row>& after);

  // One read, of one block: it needs no snapshot to see one moment.
  static bool reads_once(const design::Plan& plan);

  // Nothing but columns, worked out from a row.
  static bool is_plain(const design::Plan& plan) {
    return plan.steps.empty() && plan.late.empty() && plan.otherwise.empty() && !plan.folded && !plan.limit;
  }
  Row columns(const design::Plan& plan, const Row& row) const;

 private:
  struct Batch {
    std::vector<Row> rows;
    std::vector<std::uint32_t> seeds;  // of each row
  };
  const design::Plan& usable(const design::Plan& plan, bool first_page);
  Result<void> check_limits(const design::Plan& plan) const;
  Result<Batch> finish(const design::Plan& plan, Batch batch, std::size_t seeds, const std::vector<Row>& given,
                       const std::optional<Row>& after, std::optional<Row>* position);
  [[nodiscard]] model::Datum spent(const model::Expr& expr, Row& row) const;
  void show(const design::Plan& plan, std::vector<Row>& rows) const;
  // The first page of a plan whose rows are `shown`.
  Result<PageOfRows> show_entries(const design::Plan& plan);
  [[nodiscard]] Row order_of(const design::Plan& plan, const Row& row) const;
  [[nodiscard]] Result<std::size_t> most_rows(const design::Plan& plan, const Row& given) const;
  // `then` follows.
  Result<void> run_steps(const std::vector<design::Step>& steps, const std::vector<design::Step>& then, Batch& batch,
                         std::uint32_t slots);
  // The blocks a row looks at. None: nothing can be found.
  void blocks_of(const design::Step& step, const Row& row, std::vector<stores::Key>& out) const;
  // Where it is one. False: nothing can be found.
  bool block_of(const design::Step& step, Row& row, stores::Key& out) const;
  bool range_of(const design::Step& step, const Row& row, stores::ReadRequest& out) const;
  [[nodiscard]] bool gathers(const design::Step& step) const;
  Result<void> look_at_block(const design::Step& step, const design::Step* next, Batch& batch);
  void stay_without(const design::Step& step, Row& row) const;  // an optional lookup that found nothing
  Result<void> lookup(const design::Step& step, const design::Step* next, Batch& batch);
  Result<void> scan(const design::Step& step, Batch& batch);
  Result<void> collect(const design::Step& step, Batch& batch);
  void unnest(const design::Step& step, Batch& batch) const;
  void filter(const design::Step& step, Batch& batch) const;
  Result<void> nest(const design::Step& step, Batch& batch);
  Result<void> refreshed(const design::Step& step, Batch& batch);
  Result<Batch> fold(const design::Plan& plan, Batch batch, std::size_t seeds, const std::vector<Row>& given) const;
  enum class Use : std::uint8_t { OneOfSeveral, Last };  // of an entry
  bool take(const design::Step& step, const stores::Key& block, stores::Entry& entry, Row& row, Use use) const;
  [[nodiscard]] std::vector<model::Datum> key_values(const design::KeySource& source, const Row& row) const;
  [[nodiscard]] model::Datum value(const model::Expr& expr, const Row& row) const {
    if (expr.kind == model::ExprKind::Slot) return row[expr.index];
    if (expr.kind == model::ExprKind::Parameter) return environment_.parameters[expr.index];
    return evaluate(environment_, expr, row);
  }
  [[nodiscard]] model::Datum value(const design::KeySource& source, const Row& row) const;

  Transaction& transaction_;
  const design::Design& design_;
  const Environment& environment_;
  Transaction::Moment moment_;
  std::optional<std::int64_t> lookup_limit_;  // of limited steps
  std::optional<stores::Answer> collected_;   // what the next step would read, for its one row
};

// The element that an entry of an element family holds: its cells, put together.
model::Datum element_of(const design::Family& family, stores::Entry entry, const model::Datum& key);

}  // namespace noam::runtime
