#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "noam/design/program.h"
#include "noam/runtime/evaluate.h"
#include "noam/stores/store.h"

namespace noam::runtime {

// An entity, and the key of one of its instances.
using Instance = std::pair<model::EntityId, model::Datum>;

// Where the base of an instance lies: its entries, from its fields. The one derivation of every base family.
class BaseEntries {
 public:
  explicit BaseEntries(const design::Program& program);

  using Entry = std::pair<stores::EntryRef, stores::Key>;
  // Each once, in no order. `due`: when it expires, where its entity has a ttl.
  [[nodiscard]] std::vector<Entry> of(model::EntityId id, const model::Datum::List& fields,
                                      const model::Datum& due) const;

  // The instance that an entry can be of, if its keys tell.
  [[nodiscard]] std::optional<Instance> instance_of(const stores::EntryRef& entry) const;

  // A family whose block the key of the instance tells; none: no such.
  [[nodiscard]] std::optional<std::uint32_t> family_by_key(model::EntityId id) const;

  // An entry of one of the families whose place the key of the instance tells (design::AppendPlan): that of the whole
  // instance, or of an element at this position.
  [[nodiscard]] stores::EntryRef head_of(model::EntityId id, std::uint32_t family, const model::Datum& key) const;
  [[nodiscard]] Entry element_of(model::EntityId id, std::uint32_t family, const model::Datum& key,
                                 std::int64_t position, const model::Datum& element) const;

 private:
  struct BaseFamily {
    std::uint32_t family = 0;
    std::vector<model::Expr> block;  // over slots: the fields, then element and its key
    std::vector<model::Expr> key;
    std::vector<model::Expr> cells;
  };

  [[nodiscard]] const BaseFamily& find(model::EntityId id, std::uint32_t family) const;
  // Fields of which only the key is known.
  [[nodiscard]] Row known_by(model::EntityId id, const model::Datum& key) const;
  [[nodiscard]] stores::EntryRef place(const BaseFamily& base, const Row& row) const;

  const design::Program& program_;
  std::vector<std::vector<BaseFamily>> families_;  // by entity
};

// The reference to an instance, from its fields.
model::Datum key_of(const model::Entity& entity, const model::Datum::List& fields);

}  // namespace noam::runtime
