#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "noam/design/program.h"
#include "noam/model/command_id.h"
#include "noam/model/datum.h"
#include "noam/runtime/base_entries.h"
#include "noam/runtime/evaluate.h"
#include "noam/runtime/session.h"
#include "noam/stores/store.h"

// What is kept under the id of a command, so that a repeat of it is told what became of it.
namespace noam::runtime {

// After this time an id is refused as too old. It is kept for longer, so that a commit which began in time still finds
// what an earlier one has kept.
inline constexpr std::int64_t id_window = 3'600'000;
inline constexpr std::int64_t id_kept = id_window + 600'000;

// The command that an id belongs to.
struct Receipt {
  std::string command;
  std::string sum;  // of its parameters; empty: kept by a version that did not sum them
  Outcome outcome;
  // A bulk change that has begun: the instances it is about were chosen at its start, and a repeat takes these.
  std::optional<std::vector<model::Datum>> todo;
};

std::string sum_of(const std::vector<model::Datum>& parameters);

stores::EntryRef receipt_entry(const design::Design& design, const model::CommandId& id);
// A block that follows from the parameters of a command alone: one that it changes, if there is such.
struct ReceiptPlace {
  model::EntityId entity{};
  std::vector<model::Expr> key;  // over parameters
  std::uint32_t family = 0;
};
std::optional<ReceiptPlace> receipt_place(const design::Program& program, const BaseEntries& bases,
                                          const model::Command& command);
stores::Guard::Beside beside(const ReceiptPlace& place, const BaseEntries& bases, const Environment& environment);

// Keeps the receipt.
stores::Guard guard_of(const design::Program& program, const model::CommandId& id, const Receipt& receipt);
// Keeps nothing: asks whether something is kept.
stores::Guard question(const design::Program& program, const model::CommandId& id);
// What a guard has kept.
Receipt read_receipt(const model::Model& model, const stores::Key& kept);

}  // namespace noam::runtime
