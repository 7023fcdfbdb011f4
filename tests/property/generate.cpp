#include "tests/property/generate.h"

#include <algorithm>

#include "tests/property/generate_internal.h"

namespace noam::tests::property {

Generator::Generator(std::uint64_t seed, const Options& options) : options_(options), random_(seed) {
  out_.seed = seed;
}

// The key that a call names: mostly of an instance that is there, or for one to be made, that is not.
Json Generator::key_for(const TuplePlan& tuple) {
  const std::vector<Json>& live = live_[tuple.entity];
  if (!tuple.made && !live.empty() && random_.chance(88)) return random_.pick(live);
  Json key = fresh_key(tuple.entity).json;
  for (int i = 0; i < 6 && tuple.made && std::find(live.begin(), live.end(), key) != live.end(); ++i)
    if (!random_.chance(15)) key = fresh_key(tuple.entity).json;
  return key;
}

// Keeps track of what probably exists after the step.
void Generator::note_keys(const StatementPlan& statement, const Step& step) {
  for (const TuplePlan& tuple : statement.tuples) {
    if (!tuple.made && !tuple.gone) continue;
    const EntityPlan& entity = entities_[tuple.entity];
    std::vector<Json>& live = live_[tuple.entity];
    if (tuple.made && entity.made_key() && tuple.parameters.empty()) {
      live.push_back({{"$known", entity.name}, {"n", made_[tuple.entity]++}});
      continue;
    }
    Json key = Json::array();
    for (const std::string& part : tuple.parameters)
      if (step.params.contains(part)) key.push_back(step.params[part]);
    if (key.empty() || key.size() != std::max<std::size_t>(1, entity.key.size())) continue;
    if (key.size() == 1) key = Json(key.front());
    std::erase(live, key);
    if (tuple.made) live.push_back(std::move(key));
  }
}

// One call with parameters; now and then a wrong one.
Step Generator::call(const StatementPlan& statement) {
  Step step;
  step.name = statement.name;
  step.params = Json::object();
  for (const TuplePlan& tuple : statement.tuples) {
    const Json key = key_for(tuple);
    for (std::size_t i = 0; i < tuple.parameters.size(); ++i) {
      const auto used = std::find_if(statement.parameters.begin(), statement.parameters.end(),
                                     [&](const ParameterPlan& one) { return one.name == tuple.parameters[i]; });
      if (used == statement.parameters.end()) continue;
      step.params[tuple.parameters[i]] = tuple.parameters.size() == 1 ? key : key[i];
    }
  }
  for (const ParameterPlan& parameter : statement.parameters) {
    if (step.params.contains(parameter.name)) {
      // An empty key is refused.
      if (parameter.fresh && parameter.type.kind == TypeKind::Text && random_.chance(1))
        step.params[parameter.name] = "";
    } else if (parameter.bound) {
      step.params[parameter.name] =
          random_.chance(4) ? -1 : static_cast<std::int64_t>(random_.between(random_.chance(5) ? 0 : 1, 4));
    } else if (parameter.position) {
      step.params[parameter.name] = static_cast<std::int64_t>(random_.below(4)) - 2;
    } else {
      Json value = json_of(parameter.type, true);
      if (parameter.owner && parameter.type.optional && (live_[parameter.type.id].empty() || random_.chance(35)))
        value = nullptr;  // a root
      if (parameter.type.kind != TypeKind::Reference && !value.is_null()) {
        std::vector<Json>& seen = seen_[type_text(parameter.type)];
        if (!seen.empty() && random_.chance(60)) value = random_.pick(seen);
        if (seen.size() < 20) seen.push_back(value);
      }
      if (value.is_null() && random_.chance(50)) continue;  // left out is absent, too
      step.params[parameter.name] = std::move(value);
    }
  }
  if (with("wrong") && random_.chance(3)) {
    step.wrong = true;
    const std::size_t count = statement.parameters.size();
    switch (random_.weighted({40, 30, 20})) {
      case 0:
        if (count > 0) {
          const ParameterPlan& parameter = random_.pick(statement.parameters);
          step.params[parameter.name] = wrong_json(parameter.type);
        }
        break;
      case 1:
        if (count > 0) step.params.erase(random_.pick(statement.parameters).name);
        break;
      default:
        step.params["nobody"] = 1;
        break;
    }
  }
  return step;
}

void Generator::ask(std::vector<StatementPlan>& queries, std::size_t count) {
  for (std::size_t i = 0; i < count && !queries.empty(); ++i) out_.steps.push_back(call(random_.pick(queries)));
}

void Generator::make_steps() {
  const auto run = [&](const StatementPlan& statement) {
    Step step = call(statement);
    step.id = ++ids_;
    step.milliseconds = random_.chance(40) ? 0 : 7;
    // Another command under an id that was used before, or the same again.
    if (with("reuse") && ids_ > 1 && random_.chance(3)) step.id = 1 + random_.below(ids_ - 1);
    if (with("repeat") && ids_ > 1 && random_.chance(3)) {
      const std::uint64_t id = 1 + random_.below(ids_ - 1);
      const auto before =
          std::find_if(out_.steps.begin(), out_.steps.end(), [&](const Step& at) { return at.id == id; });
      if (before != out_.steps.end()) {
        const std::int64_t milliseconds = step.milliseconds;
        step = *before;
        step.milliseconds = milliseconds;
      }
    }
    note_keys(statement, step);
    out_.steps.push_back(std::move(step));
  };
  const std::size_t commands = random_.between(options_.least_commands, options_.most_commands);
  std::size_t done = 0;
  // Something to begin with: owners come before their parts. The second round can refer to all of the first.
  for (const std::size_t round : {0U, 1U}) {
    for (std::size_t i = 0; i < entities_.size(); ++i) {
      std::vector<const StatementPlan*> inserts;
      for (const StatementPlan& command : commands_)
        if (command.populates && command.entity == i) inserts.push_back(&command);
      const std::size_t count = random_.between(2, round == 0 ? 3 : 4);
      for (std::size_t n = 0; n < count && !inserts.empty(); ++n, ++done) run(*random_.pick(inserts));
    }
  }
  std::vector<unsigned> weights;
  for (const StatementPlan& command : commands_) weights.push_back(command.weight);
  std::vector<std::string> refreshed;
  for (const QueryPlan& query : query_plans_)
    if (query.refreshed) refreshed.push_back(query.name);
  const bool expires =
      std::any_of(out_.entities.begin(), out_.entities.end(), [](const Entity& entity) { return !entity.ttl.empty(); });
  const auto refresh = [&] {
    if (refreshed.empty()) return;
    Step step;
    step.kind = StepKind::Refresh;
    step.name = random_.pick(refreshed);
    step.milliseconds = 60'001;
    out_.steps.push_back(std::move(step));
  };
  refresh();
  for (; done < commands; ++done) {
    run(commands_[random_.weighted(weights)]);
    ask(queries_, random_.weighted({40, 40, 20}));
    if (random_.chance(10) && !queries_.empty()) {
      Step step;
      step.kind = StepKind::Continue;
      step.name = random_.pick(queries_).name;
      out_.steps.push_back(std::move(step));
    }
    if (random_.chance(8)) refresh();
    if (random_.chance(expires ? 12 : 4)) {
      static const std::vector<std::int64_t> moves = {61'003, 1'860'001, 7'203'001, 86'400'017};
      Step step;
      step.kind = StepKind::Time;
      step.milliseconds = random_.pick(moves);
      out_.steps.push_back(std::move(step));
    }
    if (expires && random_.chance(12)) {
      Step step;
      step.kind = StepKind::Expire;
      out_.steps.push_back(std::move(step));
    }
  }
  // In the end, everything is asked.
  for (const std::string& query : refreshed) {
    Step step;
    step.kind = StepKind::Refresh;
    step.name = query;
    step.milliseconds = 60'001;
    out_.steps.push_back(std::move(step));
  }
  for (const StatementPlan& query : queries_) {
    const std::size_t times = query.parameters.empty() ? 1 : 3;
    for (std::size_t i = 0; i < times; ++i) out_.steps.push_back(call(query));
  }
}

Case Generator::run() {
  overflow_ = with("overflow") && random_.chance(25);
  make_data();
  make_commands();
  make_queries();
  make_design();
  make_steps();
  return std::move(out_);
}

Case generate(std::uint64_t seed, const Options& options) { return Generator(seed, options).run(); }

}  // namespace noam::tests::property
