#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "noam/design/explanation.h"
#include "noam/targets/outline.h"

// The statements of a model as the requests of a database: what each step of a plan asks of it, and what a command
// writes. The walk is the same for every target; a target says how one read and one write are written.
namespace noam::targets {

// Entries of one block, or all of a family.
struct Read {
  const CollectionOutline* collection = nullptr;
  const FamilyOutline* family = nullptr;
  bool scan = false;       // all blocks
  std::size_t prefix = 0;  // so many parts of the entry's key are given, and
  bool low = false;        // bounds for the part after them
  bool high = false;
  bool low_inclusive = true;
  bool high_inclusive = true;
  bool reverse = false;
  bool limited = false;  // no more than so many entries are needed
  // Other families whose entries have the same key and lie in one row, document or item with it: read by the same
  // request. Only of one entry.
  std::vector<const FamilyOutline*> mates;

  [[nodiscard]] bool ranged() const { return low || high; }
  [[nodiscard]] bool one_entry() const { return !scan && prefix == family->key.size(); }
};

enum class WriteKind : std::uint8_t {
  Insert,  // an instance that must not be there
  Put,     // an entry, whether it is there or not; only some of its values where it is known to be there
  Append,  // elements to a list inside an entry
  Add,     // to the counts of an entry, which may not be there yet
  Erase,   // an entry
};

struct Write {
  const CollectionOutline* collection = nullptr;
  const FamilyOutline* family = nullptr;
  WriteKind kind = WriteKind::Put;
  bool fresh = false;  // Put: its aggregate is made by the same command, which sees to it that it is new
  // Add, Erase: the entry as it was, while the command writes others of the family, too. Its key is not theirs: the
  // placeholders end in `_gone`.
  bool gone = false;
  bool forgotten = false;  // Erase: goes with its owner, whatever is counted in it
  // Put: the values that differ, of an entry that is there. Empty: all, of one that may be new.
  std::set<std::uint32_t> changed;

  [[nodiscard]] bool partial() const { return !changed.empty(); }
  [[nodiscard]] bool writes(const Column& value) const {
    return changed.empty() || changed.contains(static_cast<std::uint32_t>(&value - family->values.data()));
  }
  // What the placeholder of a part of the key, and of a value, ends in. What identifies the instance of a base is the
  // same before and after.
  [[nodiscard]] const char* end_of(const Column& part) const {
    return gone && !(family->base && part.identifies) ? gone_end : "";
  }
  [[nodiscard]] const char* end() const { return gone ? gone_end : ""; }
  // Erase: only if nothing is counted in the entry any more.
  [[nodiscard]] bool only_if_over() const { return family->adds && !forgotten; }

  static constexpr const char* gone_end = "_gone";
};

// A request, or why there is none.
struct Native {
  std::string text;  // in the database's own language; may have several lines, does not end in a line break
  std::string why_not;

  bool operator==(const Native&) const = default;
};

class Dialect {
 public:
  virtual ~Dialect() = default;

  [[nodiscard]] virtual Native read(const Read& read) const = 0;
  // Entries of both that have the same key lie in one row, document or item, and one request can read them.
  [[nodiscard]] virtual bool in_one_place(const FamilyOutline& a, const FamilyOutline& b) const = 0;
  [[nodiscard]] virtual Native write(const Write& write) const = 0;
  // What of a command's writes happens together or not at all, in sentences.
  [[nodiscard]] virtual std::string together(const std::vector<Write>& writes) const = 0;
  // Requests that do several of them at once, where the database has such.
  [[nodiscard]] virtual std::vector<Native> batches(const std::vector<Write>& /*writes*/) const { return {}; }
};

// One line of a plan, and the requests it becomes: none where the program that asks does it.
struct ListedStep {
  std::size_t depth = 0;
  std::string text;
  std::vector<Native> requests;
  bool asks = false;          // the database; so it has requests
  std::vector<Write> writes;  // that the requests are, one each; none where they read
};

struct ListedStatement {
  model::StatementRef statement;
  std::string heading;  // `query game($id)`
  std::vector<ListedStep> steps;
  std::string together;  // commands
  std::vector<Native> batches;
};

// ` Tag_counts follows afterwards: …`, with a space before it; nothing where there are none.
std::string told_followers(const std::vector<std::string>& names);

// The end of a sentence and the next, for databases where a block is changed as a whole: bases in several collections
// are changed one after the other, and copies in collections without bases follow.
std::string told_apart(const std::vector<Write>& writes);

std::vector<ListedStatement> list_statements(const Outline& outline, const Dialect& dialect);

// For databases where a command's writes to bases are not one request a family: steps that write to bases ask for
// `requests` of all of these writes instead, at the step where it is one, else together at the end.
void gather_base_writes(std::vector<ListedStatement>& statements,
                        const std::function<std::vector<Native>(const std::vector<Write>&)>& requests);

// As a text whose comments begin with `comment`: a heading a statement, steps with their requests below, and what is
// atomic.
std::string print_statements(const std::vector<ListedStatement>& statements, std::string_view comment,
                             std::string_view end_of_request);

// What may be written to a family: `Insert` for instances, `Add` for counts, and so on.
std::vector<WriteKind> ways_to_write(const FamilyOutline& family);
const char* write_name(WriteKind kind);

}  // namespace noam::targets
