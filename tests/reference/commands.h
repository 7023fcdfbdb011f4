#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "noam/model/command_id.h"
#include "noam/model/datum_json.h"
#include "noam/model/model.h"
#include "tests/reference/evaluate.h"

namespace noam::reference {

// Takes the instance away, with its parts, and theirs.
void delete_instance(const model::Model& model, State& state, model::EntityId entity, const Datum& key);

// Carries out the changes of one command on a state, which is worth nothing where the command is refused.
class Execution {
 public:
  Execution(const model::Model& model, State& state, const std::vector<Refreshes>& refreshes,
            const model::Command& command, std::vector<Datum> parameters, const model::CommandId& id);

  // Why it is refused; nothing where it is applied.
  std::optional<model::Refusal> run();

  // One instance of a bulk change, as a command of its own. Not applied, too, where the condition does not hold.
  bool run_on(const model::Change& bulk, const Datum& key);
  // The instances that a bulk change is carried out on, in their order.
  std::vector<Datum> matching(const model::Change& bulk);

  [[nodiscard]] const std::vector<std::pair<model::Type, Datum>>& generated_keys() const { return generated_; }

 private:
  // The reasons against one change; the one whose code comes first in the order of codes decides.
  class Objections {
   public:
    void add(const std::string& code, const std::string& reason);
    [[nodiscard]] bool none() const { return !first_; }
    [[nodiscard]] const std::optional<model::Refusal>& first() const { return first_; }

   private:
    std::optional<model::Refusal> first_;
  };

  // Each gives false, and leaves `refusal_`, where the command is refused.
  bool carry_out(const std::vector<model::Change>& changes);
  bool carry_out(const model::Change& change);
  bool insert(const model::Change& change);
  bool update(const model::Change& change);
  bool update(const model::Change& change, const Datum& key);
  bool remove_instance(const model::Change& change);
  bool change_collection(const model::Change& change);
  bool run_loop(const model::Change& change);
  bool refuse(const Objections& objections);
  bool refuse(std::string code, std::string reason);

  // The instance to be changed, bound to the change's variable. Absent: there is none, and `objections` says whether
  // that is a refusal.
  Datum target_of(const model::Change& change, Objections& objections);
  Datum evaluate(const model::Expr& expr, Objections& objections);
  void ask_stored(const model::Type& type, const Datum& datum, Objections& objections) const;
  void ask_key(const model::Type& reference, const Datum& key, Objections& objections) const;
  void ask_owners(const model::Entity& entity, const Datum::List& fields, const Datum::List* before,
                  Objections& objections) const;
  void assign(const model::Expr& target, Datum value, Datum& aggregate, Objections& objections);
  // Where a path from the instance leads in the aggregate; null, with an objection, where it leads nowhere.
  Datum* locate(const model::Expr& path, Datum& aggregate, Objections& objections);
  void change_elements(const model::Change& change, const Datum& key, Datum& collection, Objections& objections);
  void take_out_on_both_sides(const model::Role& role, const Datum& key, const Datum::List& others);
  void store(model::EntityId entity, const Datum& key, Datum::List fields);
  std::optional<std::int64_t> due(const model::Entity& entity, const Datum::List& fields) const;
  bool requirements_hold();

  const model::Model& model_;
  State& state_;
  const std::vector<Refreshes>& refreshes_;
  const model::Command& command_;
  model::CommandId id_;
  Evaluation evaluation_;
  std::uint32_t change_ = 0;  // carried out so far
  std::set<std::pair<model::EntityId, Datum>> changed_;
  std::vector<std::pair<model::Type, Datum>> generated_;
  std::optional<model::Refusal> refusal_;
};

}  // namespace noam::reference
