#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "noam/model/datum.h"
#include "noam/model/expression.h"

// Arithmetic, folds, times and words of the reference evaluator: written as simply as can be, on exact numbers.
namespace noam::reference {

using model::Datum;

// Operands that are present, both of the result's kind (a time and a duration in minutes). Nothing where the result
// does not fit.
std::optional<Datum> add(model::TypeKind kind, const Datum& a, const Datum& b);
std::optional<Datum> subtract(model::TypeKind kind, const Datum& a, const Datum& b);
std::optional<Datum> multiply(model::TypeKind kind, const Datum& a, const Datum& b);
std::optional<Datum> negate(model::TypeKind kind, const Datum& a);

// Of numbers that are present, all of the kind. The sum of nothing is 0; nothing where it does not fit.
std::optional<Datum> sum(model::TypeKind kind, const std::vector<Datum>& numbers);
// Absent of nothing.
Datum average(model::TypeKind kind, const std::vector<Datum>& numbers);

// The start of the period that a timestamp or date lies in.
Datum period_start(model::Function unit, model::TypeKind kind, const Datum& time);

// The words of a text, case folded, in their order.
std::vector<std::string> words(std::string_view text);

}  // namespace noam::reference
