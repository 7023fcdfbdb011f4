#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "noam/targets/outline.h"

// Where everything lies in Redis: keys, fields of hashes, members of sorted sets; and what the functions are called.
namespace noam::targets::redis {

enum class Shape : std::uint8_t {
  Fields,    // of the block's hash: what a block has once
  Elements,  // fields of the block's hash too, an element each: `rounds[0]`
  Ordered,   // a hash and a sorted set of their own
};

struct PlacedColumn {
  const Column* column = nullptr;
  std::string argument;  // of functions
  std::string field;     // in the hash; of entries, what is before the bracket
};

// Where the version of the aggregate is that a base belongs to.
struct VersionPlace {
  std::string field;       // before the bracket, if there is one
  std::size_t parts = 0;   // of the entry's key that stand in the bracket
  bool other_key = false;  // not in the hash that the family itself is in
  std::string suffix;      // of the key with that hash
};

struct PlacedFamily {
  const CollectionOutline* collection = nullptr;
  const FamilyOutline* family = nullptr;
  Shape shape = Shape::Fields;
  std::string name;    // after the collection's, of functions; empty where the block itself is meant
  std::string suffix;  // Ordered: `:hours`, after the key of the block
  std::vector<PlacedColumn> key;
  std::vector<PlacedColumn> columns;  // without those that are in a key anyway
  std::string marker;                 // a field that tells that there is an entry, where no column does
  bool head = false;
  std::optional<VersionPlace> version;  // none: a copy, or the head lies in another block
  bool apart = false;                   // a base whose head lies in another block
  bool natural = false;                 // members of the sorted set are the texts of the key themselves
  bool plain_key = false;               // the entry's key is one text, as it is
  bool hash = false;                    // there is something beside the key
  bool single = false;                  // one value an entry: its field is the entry's key alone
  std::string functions;                // `game_Player_games`: what the names of its functions begin with
};

class Layout {
 public:
  // The outline must outlive it.
  explicit Layout(const Outline& outline);

  [[nodiscard]] const Outline& outline() const { return outline_; }
  [[nodiscard]] const std::string& library() const { return library_; }
  [[nodiscard]] const std::vector<PlacedFamily>& families() const { return families_; }
  [[nodiscard]] const PlacedFamily& placed(const FamilyOutline& family) const;
  [[nodiscard]] const std::string& collection_name(const CollectionOutline& collection) const;

  // What the parts of a block's key are called where they are asked for.
  [[nodiscard]] static std::vector<std::string> block_arguments(const CollectionOutline& collection);
  // `game:Player:{…}`, given what stands in the braces.
  [[nodiscard]] std::string block_key(const CollectionOutline& collection, const std::string& block) const;
  // The keys that functions of the family take, given that of the block.
  [[nodiscard]] std::vector<std::string> keys(const PlacedFamily& family, const std::string& block_key) const;

 private:
  void place(const CollectionOutline& collection);
  void settle_version(PlacedFamily& family) const;
  void name_functions();

  const Outline& outline_;
  std::string library_;
  std::vector<std::string> collections_;  // their names, as in the outline
  std::vector<PlacedFamily> families_;
};

}  // namespace noam::targets::redis
