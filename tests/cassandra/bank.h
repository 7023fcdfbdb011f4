#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "noam/base/json.h"
#include "noam/model/model.h"
#include "tests/compiled.h"
#include "tests/concurrency/history.h"
#include "tests/property/random.h"

// What the clients of the tests of faults ask for: a bank, of which a long history can be checked. Each command that
// moves a branch or an account counts it up, and notes in an entity of its own which state of which of them it saw and
// made. So the order of all states is known at the end, and one order of all statements follows from it.
namespace noam::tests::bank {

const ModelPointer& the_model();
inline constexpr const char* the_design = "kept";  // copies in several tables

// The commands that open it.
std::vector<Json> opening();

// A statement about the whole bank. All commands are applied, whatever the others do. `op` is of this statement alone.
Json random_statement(property::Random& random, const std::string& op);
// All that the bank has, at the end.
std::vector<Json> closing();

// Statements about accounts that belong to a group of some forty statements. They may be refused. Groups have nothing
// in common, so the search for a serial order looks at one after the other.
inline constexpr std::size_t statements_of_a_group = 36;
Json random_statement_of_group(property::Random& random, std::size_t group, std::size_t number);
std::vector<Json> closing_of_group(std::size_t group);

bool is_command(const Json& request);

// Why the history of statements about the whole bank is not strictly serialisable; `moves` are the rows of the query of
// that name, asked for at the end.
std::optional<std::string> not_in_order(const concurrency::History& history, const Json& moves, std::int64_t time);

// Why the counters do not have what was added, each command once: the last numbers, and those that were read meanwhile.
std::optional<std::string> wrong_counters(const concurrency::History& history);

}  // namespace noam::tests::bank
