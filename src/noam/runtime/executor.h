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

 private:
  struct Batch {
    std::vector<Row> rows;
    std::vector<std::uint32_t> seeds;  // of each row
  };
  struct Ordered {
    Row row;
    Row order;
  };

  const design::Plan& usable(const design::Plan& plan, bool first_page);
  Result<void> check_limits(const design::Plan& plan) const;
  Row columns(const design::Plan& plan, const Row& row) const;
  Result<Batch> finish(const design::Plan& plan, Batch batch, std::size_t seeds, const std::vector<Row>& given,
                       const std::optional<Row>& after, std::optional<Row>* position);
  Result<void> run_steps(const std::vector<design::Step>& steps, Batch& batch, std::uint32_t slots);
  Result<void> lookup(const design::Step& step, Batch& batch);
  Result<void> scan(const design::Step& step, Batch& batch);
  Result<void> collect(const design::Step& step, Batch& batch);
  void unnest(const design::Step& step, Batch& batch) const;
  void filter(const design::Step& step, Batch& batch) const;
  Result<void> nest(const design::Step& step, Batch& batch);
  Result<void> refreshed(const design::Step& step, Batch& batch);
  Result<Batch> fold(const design::Plan& plan, Batch batch, std::size_t seeds, const std::vector<Row>& given) const;
  bool take(const design::Step& step, const stores::Key& block, const stores::Entry& entry, Row& row) const;
  [[nodiscard]] std::vector<model::Datum> key_values(const design::KeySource& source, const Row& row) const;
  [[nodiscard]] model::Datum value(const model::Expr& expr, const Row& row) const {
    return evaluate(environment_, expr, row);
  }

  Transaction& transaction_;
  const design::Design& design_;
  const Environment& environment_;
  Transaction::Moment moment_;
  std::optional<std::int64_t> lookup_limit_;  // of limited steps
};

// The element that an entry of an element family holds: its cells, put together.
model::Datum element_of(const design::Family& family, const stores::Entry& entry, const model::Datum& key);

}  // namespace noam::runtime
