#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "noam/design/narration.h"
#include "noam/design/planner.h"
#include "noam/design/program.h"

// What statements do on a design: what they read, what they write, and which copies follow. Numbers are estimates from
// the statistics of the model, for one execution.
namespace noam::design {

// What a command does to one family.
struct Written {
  std::uint32_t family = 0;
  double entries = 0;  // made, changed or erased
  double bytes = 0;
  double blocks = 0;
  // What may be done to an entry.
  bool made = false;
  bool changed = false;
  bool appended = false;  // a list in it gets longer, and that is all
  bool erased = false;
  // Of an entry that is only changed, the values that may differ: cells, and then hidden ones.
  std::set<std::uint32_t> values;

  bool operator==(const Written&) const = default;
};

// A copy that follows a command.
struct Following {
  Written written;
  std::vector<std::string> through;  // entities that its rows depend on and are not made of, which the command changes
  bool forgotten = false;            // goes with the owner
  std::vector<Deed> support;         // what is read to keep it
};

struct Explanation {
  model::StatementRef statement;
  std::vector<Deed> deeds;  // query: its plan; command: what it reads before it writes
  std::vector<Written> bases;
  std::vector<Following> copies;
  Work read;  // all of it
  double written = 0;
  double written_bytes = 0;
  double blocks = 0;              // written, in one commit
  bool scans = false;             // reads a whole collection
  std::optional<Work> refresh;    // refreshed query: what a refresh reads, by `deeds`; `read` is asking for its rows
  std::optional<double> commits;  // bulk change: one an instance; the numbers are for all
};

// What a family is there for.
struct Use {
  std::vector<std::string> statements;  // that read it
  std::vector<std::string> copies;      // that are kept by reading it
  std::vector<std::string> others;      // `deleting a Url`, where no statement does it
};

// `for newest, posts_of; keeps caches_by_users`
std::string use_text(const Use& use);

// What the family that noam keeps, and designs can't say, is: `the rows of 24 refreshes`. Empty of others.
std::string own_purpose(const Program& program, std::uint32_t index);

class Explainer {
 public:
  // The program must outlive it.
  explicit Explainer(const Program& program);

  [[nodiscard]] Explanation explain(const model::StatementRef& statement) const;
  [[nodiscard]] std::vector<Use> uses() const;               // one a family
  [[nodiscard]] double entries(std::uint32_t family) const;  // that it is thought to have
  [[nodiscard]] double bytes(std::uint32_t family) const;    // of one
  [[nodiscard]] double blocks(std::uint32_t collection) const;

 private:
  const Program& program_;
  Planner planner_;
};

std::string statement_name(const model::Model& model, const model::StatementRef& statement);
// Queries, then commands.
std::vector<model::StatementRef> all_statements(const model::Model& model);

}  // namespace noam::design
