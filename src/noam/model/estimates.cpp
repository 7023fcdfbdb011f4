#include "noam/model/estimates.h"

#include <set>

namespace noam::model {

namespace {

// What a person wrote, or what needs no figure.
std::optional<double> written_forward(const Model& model, const Role& role) {
  if (!role.many) return 1;
  return model.entity(role.from).fields[role.field].statistic.count;
}

std::optional<double> written_backward(const Model& model, const Role& role) {
  if (role.backward.count) return role.backward.count;
  return role.symmetric ? written_forward(model, role) : std::nullopt;
}

constexpr int farthest = 32;  // roles away

// `asked`: entities that could not say it, or wait for this one.
std::optional<Estimate> instances(const Model& model, EntityId id, std::set<EntityId>& asked, int distance) {
  const Entity& entity = model.entity(id);
  if (entity.statistic.count) return Estimate{*entity.statistic.count, false};
  if (distance > farthest || !asked.insert(id).second) return std::nullopt;
  for (const bool owner : {true, false}) {  // the owner knows best
    for (const auto& role : model.roles) {
      if (role.from != id || role.owner != owner) continue;
      const auto forward = written_forward(model, role);
      const auto backward = written_backward(model, role);
      if (!forward || !backward || *forward <= 0) continue;
      if (const auto targets = instances(model, role.to, asked, distance + 1)) {
        return Estimate{targets->value * *backward / *forward, true};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Estimate> instances(const Model& model, EntityId entity) {
  std::set<EntityId> asked;
  return instances(model, entity, asked, 0);
}

std::optional<Estimate> forward_fan_out(const Model& model, const Role& role) {
  if (const auto written = written_forward(model, role)) return Estimate{*written, false};
  const auto backward = written_backward(model, role);
  const auto sources = instances(model, role.from);
  const auto targets = instances(model, role.to);
  if (!backward || !sources || !targets || sources->value <= 0) return std::nullopt;
  return Estimate{*backward * targets->value / sources->value, true};
}

std::optional<Estimate> backward_fan_out(const Model& model, const Role& role) {
  if (const auto written = written_backward(model, role)) return Estimate{*written, false};
  const auto forward = written_forward(model, role);
  const auto sources = instances(model, role.from);
  const auto targets = instances(model, role.to);
  if (!forward || !sources || !targets || targets->value <= 0) return std::nullopt;
  return Estimate{sources->value * *forward / targets->value, true};
}

}  // namespace noam::model
