#include "noam/runtime/whole_collections.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace noam::runtime {

namespace {

using design::Plan;

// The family that the plan looks through, if there is one.
std::optional<std::uint32_t> looked_through(const Plan& plan) {
  for (const auto* steps : {&plan.steps, &plan.late}) {
    for (const design::Step& step : *steps) {
      if (step.kind == design::StepKind::Scan) return step.family;
      for (const Plan& nested : step.nested)
        if (const auto family = looked_through(nested)) return family;
    }
  }
  for (const Plan& other : plan.otherwise)
    if (const auto family = looked_through(other)) return family;
  return std::nullopt;
}

struct Reliance {
  std::uint32_t family = 0;
  std::string what;  // of the command
};

std::optional<Reliance> reliance(const design::Program& program, model::EntityId entity) {
  const design::EntityPlan& plan = program.entities[static_cast<std::size_t>(entity)];
  const std::string& name = program.model->entity(entity).name;
  if (const auto family = looked_through(plan.load)) return Reliance{*family, fmt::format("to find {}", name)};
  if (const auto family = looked_through(plan.require.plan))
    return Reliance{*family, fmt::format("for a `require` of {}", name)};
  for (const auto* plans : {&plan.parts, &plan.keepers})
    for (const design::PartsPlan& parts : *plans)
      if (const auto family = looked_through(parts.plan))
        return Reliance{*family, fmt::format("for what refers to {}", name)};
  for (const design::Upkeep& upkeep : program.upkeep) {
    for (const design::DirectPlan& direct : upkeep.direct)
      if (direct.entity == entity)
        if (const auto family = looked_through(direct.plan)) return Reliance{*family, "to keep a copy"};
    for (const design::IndirectPlan& indirect : upkeep.indirect)
      if (indirect.entity == entity)
        if (const auto family = looked_through(indirect.plan)) return Reliance{*family, "to keep a copy"};
  }
  return std::nullopt;
}

std::optional<Reliance> reliance(const design::Program& program, const std::vector<model::Change>& changes,
                                 const std::vector<design::ChangePlan>& plans) {
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (const auto family = looked_through(plans[i].inputs.plan)) return Reliance{*family, "for a value"};
    if (const auto family = looked_through(plans[i].where.plan)) return Reliance{*family, "for `where`"};
    if (changes[i].kind == model::ChangeKind::For) {
      if (auto found = reliance(program, changes[i].body, plans[i].body)) return found;
    } else if (changes[i].kind != model::ChangeKind::Require) {
      if (auto found = reliance(program, changes[i].entity)) return found;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<void> relies_on_no_collection(const design::Program& program) {
  for (std::size_t i = 0; i < program.model->commands.size(); ++i) {
    const model::Command& command = program.model->commands[i];
    if (command.bulk) continue;
    const auto found = reliance(program, command.changes, program.commands[i].changes);
    if (!found) continue;
    const std::string& collection = program.design.collection_of(program.design.families[found->family]).name;
    return Error{fmt::format("command `{}` looks through all of collection `{}` {}, and this database cannot watch a "
                             "whole collection; add a collection to the design that finds it by its key (`noam design "
                             "--explain {}` shows what it looks for)",
                             command.name, collection, found->what, command.name),
                 "whole-collection"};
  }
  return {};
}

std::vector<ScanningQuery> scanning_queries(const design::Program& program) {
  std::vector<ScanningQuery> out;
  for (std::size_t i = 0; i < program.queries.size(); ++i)
    if (const auto family = looked_through(program.queries[i]))
      out.push_back(
          {program.model->queries[i].name, program.design.collection_of(program.design.families[*family]).name});
  return out;
}

}  // namespace noam::runtime
