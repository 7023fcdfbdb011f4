#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "noam/model/datum.h"

// The functions and folds of the language on values. Pure. An absent operand gives absent, unless said otherwise.
namespace noam::runtime {

using model::Datum;

// Arithmetic whose result does not fit: a query takes it as absent, a command refuses (overflow).
enum class Overflow : std::uint8_t { No, Yes };

// On int, float, decimal (both of the same kind), and timestamp or date with a duration in minutes (`kind` is the kind
// of the result; a date moves by whole days). Sets `overflow` to Yes, and gives absent, where it does not fit: int
// beyond 64 bits, float infinite, decimal beyond its digits, times beyond the years 1 to 9999, a date by a part of a
// day.
Datum add(model::TypeKind kind, const Datum& a, const Datum& b, Overflow& overflow);
Datum subtract(model::TypeKind kind, const Datum& a, const Datum& b, Overflow& overflow);
Datum multiply(const Datum& a, const Datum& b, Overflow& overflow);
Datum negate(const Datum& a, Overflow& overflow);
Datum to_decimal(const Datum& a);
Datum greatest(const std::vector<Datum>& operands);  // absent where one is
Datum least(const std::vector<Datum>& operands);

// The start of the period that the timestamp or date (`kind`) lies in; weeks start on Monday. `unit` is
// Function::Minute, Hour, Day, Week, Month or Year.
Datum period_start(model::Function unit, model::TypeKind kind, const Datum& time);
// The start of the next period; absent beyond the year 9999.
Datum next_period(model::Function unit, model::TypeKind kind, const Datum& start);

// Comparisons: false where either is absent.
bool equal(const Datum& a, const Datum& b);
bool less(const Datum& a, const Datum& b);
bool less_equal(const Datum& a, const Datum& b);

// Membership in a set or list; in the keys of a map. False where either is absent.
bool contains(model::TypeKind collection_kind, const Datum& collection, const Datum& element);
bool starts_with(const Datum& text, const Datum& beginning);

// Maximal runs of Unicode letters, marks and decimal digits, case-folded (full, default); ascending, each once.
std::vector<std::string> words(std::string_view text);
bool contains_all(const Datum& text, const Datum& words);  // false on absent text; true where there are no words
bool contains_any(const Datum& text, const Datum& words);

// A list position (negative ones from the end) or a map key; absent where it is not there.
Datum element(model::TypeKind collection_kind, const Datum& collection, const Datum& at);

// A number from 0 to count - 1 that depends on the value alone, the same on every machine, for ever.
std::int64_t shard(const Datum& value, std::int64_t count);

// Collects what a fold folds. Absent values are not folded. `weight`: so many rows had that value (count, sum, avg).
class Folding {
 public:
  Folding(model::Fold fold, bool distinct, model::TypeKind operand_kind)
      : fold_(fold), distinct_(distinct), kind_(operand_kind) {}

  void count_row(std::int64_t weight);  // count(*)
  void take(const Datum& value, std::int64_t weight);
  // A part that was folded elsewhere: `count` values (of count and avg), their exact sum as a decimal (of sum and avg),
  // or their least or greatest (of min and max). Parts of a distinct fold have no value in common.
  void take_folded(std::int64_t count, const Datum& sum_or_extreme);

  // count and sum of nothing are 0; min, max, avg of nothing are absent. Sets `overflow`, and gives absent, where a
  // count, a sum or an average of decimals does not fit its kind. The sum of floats is the double nearest to the exact
  // sum; avg: the float nearest to the exact sum / count, for decimals 34 digits, half to even (ints: a float).
  [[nodiscard]] Datum result(Overflow& overflow) const;
  // The exact sum as a decimal, of ints and decimals: what is kept.
  [[nodiscard]] model::Decimal exact_sum() const;
  // How many values were folded, or rows were counted.
  [[nodiscard]] std::int64_t counted() const;

 private:
  void count(std::int64_t weight);
  void sum(const Datum& value, std::int64_t weight);
  void sum_float(double value, std::int64_t weight);
  [[nodiscard]] model::Decimal exact_float_sum() const;
  [[nodiscard]] std::vector<Datum> different_values() const;

  model::Fold fold_;
  bool distinct_;
  model::TypeKind kind_;
  std::int64_t count_ = 0;
  bool count_fits_ = true;
  model::Decimal sum_;
  std::int64_t small_sum_ = 0;  // of ints: what is not in sum_ yet
  // The exact sum of floats in units of the least double, two's complement, the least significant word first; empty: 0.
  std::vector<std::uint64_t> float_sum_;
  Datum extreme_;
  std::vector<Datum> distinct_values_;  // made unique now and then, and when asked
  std::size_t unique_at_ = 1024;
};

}  // namespace noam::runtime
