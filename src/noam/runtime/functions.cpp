#include "noam/runtime/functions.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include <unicode/bytestream.h>
#include <unicode/casemap.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>
#include <xxhash.h>

#include "noam/base/check.h"

namespace noam::runtime {

using model::Decimal;
using model::Fold;
using model::Function;
using model::TypeKind;

namespace {

using Number = std::int64_t;

constexpr Number minutes_a_day = 1440;
constexpr Number milliseconds_a_minute = 60'000;
constexpr Number milliseconds_a_day = minutes_a_day * milliseconds_a_minute;
constexpr Number first_day = -719'162;  // 0001-01-01
constexpr Number last_day = 2'932'896;  // 9999-12-31

Datum does_not_fit(Overflow& overflow) {
  overflow = Overflow::Yes;
  return {};
}

Datum fitting(double number, Overflow& overflow) {
  return std::isfinite(number) ? Datum(number) : does_not_fit(overflow);
}

Datum fitting(Decimal number, Overflow& overflow) {
  return number.fits() ? Datum(std::move(number)) : does_not_fit(overflow);
}

bool is_time(TypeKind kind, Number time) {
  if (kind == TypeKind::Date) return time >= first_day && time <= last_day;
  return time >= first_day * milliseconds_a_day && time < (last_day + 1) * milliseconds_a_day;
}

// A timestamp or date and minutes.
Datum moved(TypeKind kind, Number time, Number minutes, Overflow& overflow) {
  Number by = 0;
  Number out = 0;
  if (kind == TypeKind::Date) {
    if (minutes % minutes_a_day != 0) return does_not_fit(overflow);
    by = minutes / minutes_a_day;
  } else if (__builtin_mul_overflow(minutes, milliseconds_a_minute, &by)) {
    return does_not_fit(overflow);
  }
  if (__builtin_add_overflow(time, by, &out) || !is_time(kind, out)) return does_not_fit(overflow);
  return out;
}

Number floored_quotient(Number dividend, Number divisor) {
  return dividend / divisor - (dividend % divisor < 0 ? 1 : 0);
}

std::chrono::year_month_day date_of(Number days) {
  return std::chrono::year_month_day(std::chrono::sys_days(std::chrono::days(days)));
}

Number days_of(std::chrono::year_month_day date) { return std::chrono::sys_days(date).time_since_epoch().count(); }

Number start_in_days(Function unit, Number days) {
  const auto date = date_of(days);
  switch (unit) {
    case Function::Day:
      return days;
    case Function::Week:
      return days - (days + 3 - floored_quotient(days + 3, 7) * 7);  // 1970 began on a Thursday
    case Function::Month:
      return days_of(date.year() / date.month() / 1);
    case Function::Year:
      return days_of(date.year() / 1 / 1);
    default:
      fail_check("a period of days");
  }
}

Number next_in_days(Function unit, Number days) {
  const auto date = date_of(days);
  switch (unit) {
    case Function::Day:
      return days + 1;
    case Function::Week:
      return days + 7;
    case Function::Month:
      return days_of((date.year() / date.month() + std::chrono::months(1)) / 1);
    case Function::Year:
      return days_of((date.year() + std::chrono::years(1)) / 1 / 1);
    default:
      fail_check("a period of days");
  }
}

// Of minutes and hours, in milliseconds; 0 for the others.
Number milliseconds_of(Function unit) {
  if (unit == Function::Minute) return milliseconds_a_minute;
  return unit == Function::Hour ? 60 * milliseconds_a_minute : 0;
}

bool in_words(UChar32 character) {
  constexpr std::uint32_t categories = U_GC_L_MASK | U_GC_M_MASK | U_GC_ND_MASK;
  return (U_GET_GC_MASK(character) & categories) != 0;
}

std::string folded(std::string_view word) {
  std::string out;
  const bool ascii = std::all_of(word.begin(), word.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (ascii) {
    for (const char c : word) out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return out;
  }
  icu::StringByteSink<std::string> sink(&out);
  UErrorCode status = U_ZERO_ERROR;
  icu::CaseMap::utf8Fold(U_FOLD_CASE_DEFAULT, icu::StringPiece(word.data(), static_cast<std::int32_t>(word.size())),
                         sink, nullptr, status);
  check(U_SUCCESS(status) != 0, "a word can be folded");
  return out;
}

// Each value as bytes of its own, the same on every machine. What `shard` gives rests on this: it never changes.
void append_bytes(std::string& out, const Datum& value) {
  const auto number = [&](std::uint64_t bits) {
    for (unsigned i = 8; i-- > 0;) out += static_cast<char>(static_cast<unsigned char>(bits >> (8U * i)));
  };
  const auto text = [&](char kind, std::string_view bytes) {
    out += kind;
    number(bytes.size());
    out += bytes;
  };
  if (value.absent()) {
    out += '\0';
  } else if (value.is_bool()) {
    out += value.as_bool() ? '\2' : '\1';
  } else if (value.is_int()) {
    out += '\3';
    number(static_cast<std::uint64_t>(value.as_int()));
  } else if (value.is_double()) {
    std::uint64_t bits = 0;
    const double held = value.as_double();
    std::memcpy(&bits, &held, sizeof bits);
    out += '\4';
    number(bits);
  } else if (value.is_decimal()) {
    text('\5', value.as_decimal().text());
  } else if (value.is_string()) {
    text('\6', value.as_string());
  } else {
    out += '\7';
    number(value.as_list().size());
    for (const Datum& element : value.as_list()) append_bytes(out, element);
  }
}

// The entry of a map that has the key; nullptr where none has.
const Datum* find_entry(const Datum::List& entries, const Datum& key) {
  const auto found = std::lower_bound(entries.begin(), entries.end(), key, [](const Datum& entry, const Datum& sought) {
    return entry.as_list().front() < sought;
  });
  return found != entries.end() && found->as_list().front() == key ? &*found : nullptr;
}

void make_unique(std::vector<Datum>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

__extension__ typedef unsigned __int128 Wide;  // NOLINT: ISO C++ has no such type

// Sums of floats: the least double is 2^-1074, the greatest below 2^1024; a weight has 63 bits, and so may the number
// of those taken have.
constexpr int least_exponent = -1074;
constexpr std::size_t float_sum_words = (1074 + 1024 + 63 + 63 + 1 + 63) / 64;

}  // namespace

Datum add(TypeKind kind, const Datum& a, const Datum& b, Overflow& overflow) {
  if (a.absent() || b.absent()) return {};
  if (a.is_double()) return fitting(a.as_double() + b.as_double(), overflow);
  if (a.is_decimal()) return fitting(a.as_decimal() + b.as_decimal(), overflow);
  if (kind == TypeKind::Timestamp || kind == TypeKind::Date) return moved(kind, a.as_int(), b.as_int(), overflow);
  Number sum = 0;
  if (__builtin_add_overflow(a.as_int(), b.as_int(), &sum)) return does_not_fit(overflow);
  return sum;
}

Datum subtract(TypeKind kind, const Datum& a, const Datum& b, Overflow& overflow) {
  if (a.absent() || b.absent()) return {};
  if (a.is_double()) return fitting(a.as_double() - b.as_double(), overflow);
  if (a.is_decimal()) return fitting(a.as_decimal() - b.as_decimal(), overflow);
  if (kind == TypeKind::Timestamp || kind == TypeKind::Date) {
    if (b.as_int() == std::numeric_limits<Number>::min()) return does_not_fit(overflow);
    return moved(kind, a.as_int(), -b.as_int(), overflow);
  }
  Number difference = 0;
  if (__builtin_sub_overflow(a.as_int(), b.as_int(), &difference)) return does_not_fit(overflow);
  return difference;
}

Datum multiply(const Datum& a, const Datum& b, Overflow& overflow) {
  if (a.absent() || b.absent()) return {};
  if (a.is_double()) return fitting(a.as_double() * b.as_double(), overflow);
  if (a.is_decimal()) return fitting(a.as_decimal() * b.as_decimal(), overflow);
  Number product = 0;
  if (__builtin_mul_overflow(a.as_int(), b.as_int(), &product)) return does_not_fit(overflow);
  return product;
}

Datum negate(const Datum& a, Overflow& overflow) {
  if (a.absent()) return {};
  if (a.is_double()) return -a.as_double();
  if (a.is_decimal()) return -a.as_decimal();
  if (a.as_int() == std::numeric_limits<Number>::min()) return does_not_fit(overflow);
  return -a.as_int();
}

Datum to_decimal(const Datum& a) { return a.is_int() ? Datum(Decimal(a.as_int())) : a; }

Datum greatest(const std::vector<Datum>& operands) {
  if (std::any_of(operands.begin(), operands.end(), [](const Datum& datum) { return datum.absent(); })) return {};
  const auto found = std::max_element(operands.begin(), operands.end());
  return found == operands.end() ? Datum() : *found;
}

Datum least(const std::vector<Datum>& operands) {
  // Absent is smaller than everything.
  const auto found = std::min_element(operands.begin(), operands.end());
  return found == operands.end() ? Datum() : *found;
}

Datum period_start(Function unit, TypeKind kind, const Datum& time) {
  if (time.absent()) return {};
  if (kind == TypeKind::Date) return start_in_days(unit, time.as_int());
  if (const Number period = milliseconds_of(unit); period != 0) return floored_quotient(time.as_int(), period) * period;
  return start_in_days(unit, floored_quotient(time.as_int(), milliseconds_a_day)) * milliseconds_a_day;
}

Datum next_period(Function unit, TypeKind kind, const Datum& start) {
  if (start.absent()) return {};
  Number next = 0;
  if (kind == TypeKind::Date) {
    next = next_in_days(unit, start.as_int());
  } else if (const Number period = milliseconds_of(unit); period != 0) {
    next = start.as_int() + period;
  } else {
    next = next_in_days(unit, floored_quotient(start.as_int(), milliseconds_a_day)) * milliseconds_a_day;
  }
  return is_time(kind, next) ? Datum(next) : Datum();
}

bool equal(const Datum& a, const Datum& b) { return !a.absent() && !b.absent() && a == b; }

bool less(const Datum& a, const Datum& b) { return !a.absent() && !b.absent() && a < b; }

bool less_equal(const Datum& a, const Datum& b) { return !a.absent() && !b.absent() && a <= b; }

bool contains(TypeKind collection_kind, const Datum& collection, const Datum& element) {
  if (collection.absent() || element.absent()) return false;
  const auto& elements = collection.as_list();
  switch (collection_kind) {
    case TypeKind::Set:
      return std::binary_search(elements.begin(), elements.end(), element);
    case TypeKind::Map:
      return find_entry(elements, element) != nullptr;
    default:
      return std::find(elements.begin(), elements.end(), element) != elements.end();
  }
}

bool starts_with(const Datum& text, const Datum& beginning) {
  return text.is_string() && beginning.is_string() && text.as_string().starts_with(beginning.as_string());
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  const std::size_t size = text.size();
  std::size_t begin = 0;  // of the run of letters before `at`
  for (std::size_t at = 0; at < size;) {
    const std::size_t before = at;
    UChar32 character = 0;
    U8_NEXT(bytes, at, size, character);
    if (character >= 0 && in_words(character)) continue;
    if (begin < before) out.push_back(folded(text.substr(begin, before - begin)));
    begin = at;
  }
  if (begin < size) out.push_back(folded(text.substr(begin)));
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool contains_all(const Datum& text, const Datum& words) {
  if (text.absent() || words.absent()) return false;
  const auto have = runtime::words(text.as_string());
  const auto asked = runtime::words(words.as_string());
  return std::includes(have.begin(), have.end(), asked.begin(), asked.end());
}

bool contains_any(const Datum& text, const Datum& words) {
  if (text.absent() || words.absent()) return false;
  const auto have = runtime::words(text.as_string());
  const auto asked = runtime::words(words.as_string());
  return std::any_of(asked.begin(), asked.end(),
                     [&](const std::string& word) { return std::binary_search(have.begin(), have.end(), word); });
}

Datum element(TypeKind collection_kind, const Datum& collection, const Datum& at) {
  if (collection.absent() || at.absent()) return {};
  const auto& elements = collection.as_list();
  if (collection_kind == TypeKind::Map) {
    const Datum* entry = find_entry(elements, at);
    return entry == nullptr ? Datum() : entry->as_list().back();
  }
  const auto size = static_cast<Number>(elements.size());
  const Number position = at.as_int() < 0 ? at.as_int() + size : at.as_int();
  return position < 0 || position >= size ? Datum() : elements[static_cast<std::size_t>(position)];
}

std::int64_t shard(const Datum& value, std::int64_t count) {
  check(count > 0, "there is a shard");
  std::string bytes;
  append_bytes(bytes, value);
  return static_cast<std::int64_t>(XXH3_64bits(bytes.data(), bytes.size()) % static_cast<std::uint64_t>(count));
}

void Folding::count_row(std::int64_t weight) { count(weight); }

void Folding::count(std::int64_t weight) {
  if (__builtin_add_overflow(count_, weight, &count_)) count_fits_ = false;
}

void Folding::take(const Datum& value, std::int64_t weight) {
  if (value.absent() || weight == 0) return;
  if (distinct_) {
    distinct_values_.push_back(value);
    if (distinct_values_.size() >= unique_at_) {
      make_unique(distinct_values_);
      unique_at_ = std::max(unique_at_, 2 * distinct_values_.size());
    }
    return;
  }
  count(weight);
  switch (fold_) {
    case Fold::Sum:
    case Fold::Avg:
      sum(value, weight);
      break;
    case Fold::Min:
      if (extreme_.absent() || value < extreme_) extreme_ = value;
      break;
    case Fold::Max:
      if (extreme_.absent() || extreme_ < value) extreme_ = value;
      break;
    default:
      break;
  }
}

void Folding::take_folded(std::int64_t count, const Datum& sum_or_extreme) {
  this->count(count);
  if (sum_or_extreme.absent()) return;
  switch (fold_) {
    case Fold::Sum:
    case Fold::Avg:
      sum(sum_or_extreme, 1);
      break;
    case Fold::Min:
      if (extreme_.absent() || sum_or_extreme < extreme_) extreme_ = sum_or_extreme;
      break;
    case Fold::Max:
      if (extreme_.absent() || extreme_ < sum_or_extreme) extreme_ = sum_or_extreme;
      break;
    default:
      break;
  }
}

void Folding::sum(const Datum& value, std::int64_t weight) {
  if (value.is_double()) {
    sum_float(value.as_double(), weight);
  } else if (value.is_decimal()) {
    sum_ = sum_ + (weight == 1 ? value.as_decimal() : value.as_decimal() * Decimal(weight));
  } else {
    Number product = 0;
    Number total = 0;
    if (__builtin_mul_overflow(value.as_int(), weight, &product)) {
      sum_ = sum_ + Decimal(value.as_int()) * Decimal(weight);
    } else if (__builtin_add_overflow(small_sum_, product, &total)) {
      sum_ = sum_ + Decimal(small_sum_);
      small_sum_ = product;
    } else {
      small_sum_ = total;
    }
  }
}

void Folding::sum_float(double value, std::int64_t weight) {
  if (float_sum_.empty()) float_sum_.resize(float_sum_words);
  // |value| is mantissa * 2^exponent; below the least normal number the mantissa is shorter, the exponent stays.
  int exponent = 0;
  static_cast<void>(std::frexp(value, &exponent));
  exponent = std::max(exponent - 53, least_exponent);
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(std::fabs(value), -exponent));
  const std::uint64_t times = weight < 0 ? -static_cast<std::uint64_t>(weight) : static_cast<std::uint64_t>(weight);
  const Wide product = Wide{mantissa} * times;

  const auto shift = static_cast<unsigned>(exponent - least_exponent);
  const unsigned bits = shift % 64;
  const Wide low = product << bits;
  const auto high = static_cast<std::uint64_t>(bits == 0 ? 0 : product >> (128 - bits));
  const std::array<std::uint64_t, 3> words = {static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(low >> 64U),
                                              high};
  const bool negative = (value < 0) != (weight < 0);
  bool carry = false;
  for (std::size_t i = shift / 64, at = 0; i < float_sum_.size() && (at < words.size() || carry); ++i, ++at) {
    const std::uint64_t word = at < words.size() ? words[at] : 0;
    const Wide operand = Wide{word} + (carry ? 1U : 0U);
    const Wide held = float_sum_[i];
    carry = negative ? held < operand : ((held + operand) >> 64U) != 0;
    float_sum_[i] = static_cast<std::uint64_t>(negative ? held - operand : held + operand);
  }
}

Decimal Folding::exact_float_sum() const {
  std::vector<std::uint64_t> magnitude = float_sum_;
  const bool negative = (magnitude.back() >> 63U) != 0;
  if (negative) {
    bool carry = true;
    for (std::uint64_t& word : magnitude) {
      word = ~word + (carry ? 1 : 0);
      carry = carry && word == 0;
    }
  }
  return Decimal::from_binary(negative, magnitude, least_exponent);
}

std::vector<Datum> Folding::different_values() const {
  std::vector<Datum> values = distinct_values_;
  make_unique(values);
  return values;
}

Decimal Folding::exact_sum() const {
  Decimal sum = small_sum_ == 0 ? sum_ : sum_ + Decimal(small_sum_);
  return float_sum_.empty() ? sum : sum + exact_float_sum();
}

std::int64_t Folding::counted() const {
  return distinct_ ? count_ + static_cast<std::int64_t>(different_values().size()) : count_;
}

Datum Folding::result(Overflow& overflow) const {
  if (distinct_) {
    Folding once = *this;
    once.distinct_ = false;
    for (const Datum& value : different_values()) once.take(value, 1);
    return once.result(overflow);
  }
  switch (fold_) {
    case Fold::Count:
      return count_fits_ ? Datum(count_) : does_not_fit(overflow);
    case Fold::Sum: {
      if (kind_ == TypeKind::Float) return fitting(exact_sum().to_double(), overflow);
      if (kind_ == TypeKind::Decimal) return fitting(exact_sum(), overflow);
      const auto sum = exact_sum().to_int();
      return sum ? Datum(*sum) : does_not_fit(overflow);
    }
    case Fold::Avg:
      if (!count_fits_) return does_not_fit(overflow);
      if (count_ == 0) return {};
      if (kind_ == TypeKind::Decimal) return fitting(divide(exact_sum(), count_), overflow);
      return divide_to_double(exact_sum(), count_);
    case Fold::Min:
    case Fold::Max:
      return extreme_;
    case Fold::None:
      break;
  }
  fail_check("a fold folds");
}

}  // namespace noam::runtime
