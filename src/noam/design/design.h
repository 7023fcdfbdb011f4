#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "noam/model/model.h"

// A database as noam lays it out: collections of blocks of entries. Plain values.
namespace noam::design {

// What a family is there for.
enum class Purpose : std::uint8_t {
  Base,       // where data lives
  Written,    // a copy that was asked for
  Access,     // a copy by which a statement, or the keeping of another copy, finds its way
  Locator,    // where the base of an instance lies, by its key
  Members,    // the values that a kept fold was made of, counted
  Due,        // what expires when
  Refreshed,  // the rows of a refreshed query
  Guard,      // which commands were applied
  Notes,      // what noam remembers of the data: the state of copies, how far a load came
};

// A column that nobody asked for and noam needs; it stands after the others.
enum class HiddenKind : std::uint8_t {
  Weight,    // how many rows share the entry; the entry goes when it is 0
  Sum,       // exact sum of the column `of`, which is an average or a sum
  Counted,   // how many values are in the fold of column `of`
  Due,       // when the instance expires
  Elements,  // base: the keys of the elements of field `of`, which lie in blocks of their own; of a list that is not in
             // the entry, its length
};

struct Hidden {
  HiddenKind kind = HiddenKind::Weight;
  std::uint32_t of = 0;

  bool operator==(const Hidden&) const = default;
};

struct Family {
  std::uint32_t collection = 0;
  std::string name;  // the path; empty: ε
  Purpose purpose = Purpose::Base;
  std::vector<std::uint32_t> from;  // variables of the collection, its own last: their rows are what the family holds
  std::vector<model::Part> key;     // of an entry in its block
  std::vector<model::Cell> cells;
  std::optional<model::Expr> where;
  std::optional<std::uint32_t> limit;  // entries a block, the first ones in the order of the key

  std::optional<std::uint32_t>
      elements;            // base: one entry an element of this own field; `key` is what tells them apart
  bool existence = false;  // base: there is an entry for each instance
  bool grouped = false;    // copy: several rows may share an entry
  std::vector<Hidden> hidden;
  std::uint32_t stratum = 0;         // 0 base, 1 needs nothing but the aggregate, 2 reads others to be kept
  bool counts_members = false;       // Members, or a written copy that holds the same
  std::uint32_t members_of = 0;      // then: the family, and
  std::uint32_t members_column = 0;  // the column whose values these are

  [[nodiscard]] bool copy() const { return purpose != Purpose::Base && purpose != Purpose::Refreshed && !of_noam(); }
  [[nodiscard]] bool of_noam() const { return purpose == Purpose::Guard || purpose == Purpose::Notes; }
  [[nodiscard]] std::size_t width() const { return cells.size() + hidden.size(); }  // of an entry's value
  // Counts and sums: to keep them, nobody needs to know what they are. (Of members one must know which are new.)
  [[nodiscard]] bool added_to() const;

  bool operator==(const Family&) const = default;
};

struct Collection {
  std::string name;
  std::vector<model::Variable> variables;
  std::vector<model::Part> by;  // the block key
  std::vector<model::TargetOption> options;
  std::vector<std::uint32_t> families;
  bool added = false;  // placed by noam, not written

  bool operator==(const Collection&) const = default;
};

struct Design {
  std::string name;  // of the strategy, or of the written design
  std::string rest;  // the strategy that placed what was not written
  std::vector<Collection> collections;
  std::vector<Family> families;
  std::string layout;  // what tells it from others where data lies under it (describe_layout); the last thing made

  bool operator==(const Design&) const = default;

  [[nodiscard]] const Collection& collection_of(const Family& family) const { return collections[family.collection]; }
};

}  // namespace noam::design
