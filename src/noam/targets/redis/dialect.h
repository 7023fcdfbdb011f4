#pragma once

#include <string>
#include <vector>

#include "noam/targets/redis/layout.h"
#include "noam/targets/statements.h"

// The requests of Redis: commands, and calls of the functions in functions.lua, with placeholders.
namespace noam::targets::redis {

class RedisDialect : public Dialect {
 public:
  // The layout must outlive it.
  explicit RedisDialect(const Layout& layout) : layout_(layout) {}

  [[nodiscard]] Native read(const Read& read) const override;
  [[nodiscard]] bool in_one_place(const FamilyOutline& a, const FamilyOutline& b) const override;
  [[nodiscard]] Native write(const Write& write) const override;
  [[nodiscard]] std::string together(const std::vector<Write>& writes) const override;
  // One call for all that is written to blocks of one collection.
  [[nodiscard]] std::vector<Native> batches(const std::vector<Write>& writes) const override;

 private:
  struct Call {
    std::string name;
    std::vector<std::string> keys;
    std::vector<std::string> arguments;  // names and values
  };

  [[nodiscard]] bool goes_by_adding(const Write& write) const;
  [[nodiscard]] Call call_of(const Write& write) const;
  // Without a write, of a read.
  [[nodiscard]] std::string key_of_block(const CollectionOutline& collection, const Write* write = nullptr) const;
  [[nodiscard]] std::string scan(const PlacedFamily& family) const;
  using Mates = std::vector<const FamilyOutline*>;
  [[nodiscard]] std::string read_fields(const PlacedFamily& family, const Mates& mates, const std::string& key) const;
  [[nodiscard]] std::string read_entry(const PlacedFamily& family, const Mates& mates, const std::string& key) const;
  [[nodiscard]] std::string read_range(const PlacedFamily& family, const Read& read, const std::string& key) const;

  const Layout& layout_;
};

}  // namespace noam::targets::redis
