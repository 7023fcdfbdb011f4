#include "tests/blocks/simulation.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "noam/base/json.h"
#include "noam/runtime/session.h"
#include "noam/stores/blocks/layer.h"
#include "tests/blocks/fibers.h"
#include "tests/blocks/simulated_blocks.h"
#include "tests/compiled.h"
#include "tests/concurrency/history.h"
#include "tests/property/random.h"

namespace noam::tests::blocks {
namespace {

using concurrency::Event;
using concurrency::History;
using property::Random;

constexpr std::int64_t start_ms = 1'700'000'000'000;

const char* const vault = R"(
model vault

entity Owner { name: text key  note: int }
entity Account { id: int key  owner: Owner inverse accounts  balance: int  require balance >= 0 }

command found($name) { insert Owner { name: $name, note: 0 } }
command open($id, $owner, $balance) { insert Account { id: $id, owner: $owner, balance: $balance } }
command close($id) { delete Account[$id] }
command deposit($id, $n) { update Account[$id] { balance: balance + $n } }
command transfer($from, $to, $n) {
  update Account[$from] { balance: balance - $n }
  update Account[$to] { balance: balance + $n }
}
command level($a, $b) { update Account[$a] { balance: Account[$b].balance + 1 } }
command draw($a, $b, $n) {
  require Account[$a].balance + Account[$b].balance >= $n
  update Account[$a] { balance: 0 }
}
command give($id, $owner) { update Account[$id] { owner: $owner } }
command annotate($name, $id) { update Owner[$name] { note: Account[$id].balance } }

query account($id) { select a from Account a where a.id = $id }
query pair($a, $b) { select x.balance as x, y.balance as y from Account x, Account y where x.id = $a and y.id = $b }
query of_owner($name) { select a.id, a.balance from Account a where a.owner = $name order by a.id }
query sum_of($name) { select o.note, count(o.accounts) as n, (select sum(a.balance) from o.accounts a) as total from Owner o where o.name = $name }

design kept {
  collection owners of Owner o by name {
    entry ε: note
    copy numbers: count(*) as n, sum(a.balance) as total from o.accounts a
    copy accounts[a.id]: a.balance from o.accounts a
  }
}
)";

const ModelPointer& the_model() {
  static const ModelPointer model = model_of(vault);
  return model;
}

const design::Program& the_program(const std::string& design) {
  static std::map<std::string, design::Program> programs;
  const auto found = programs.find(design);
  return found != programs.end() ? found->second
                                 : programs.emplace(design, program_of(the_model(), design)).first->second;
}

constexpr std::array owners = {"ann", "ben"};
constexpr int accounts = 3;

bool is_command(const Json& request) {
  const auto& commands = the_model()->commands;
  return std::any_of(commands.begin(), commands.end(),
                     [&](const model::Command& one) { return one.name == request["run"].get<std::string>(); });
}

Json request(const std::string& name, Json params) { return {{"run", name}, {"params", std::move(params)}}; }

class Simulation {
 public:
  Simulation(std::uint64_t seed, const SimulationOptions& options)
      : options_(options), random_(seed), database_(database_options(options)) {}

  SimulationResult run();

 private:
  // A program that runs noam.
  struct Process : Weather {
    explicit Process(Simulation& of) : simulation(of) {}

    void on_the_way(bool write) override {
      writing = write;
      simulation.give_way();
      writing = false;
    }
    Fate fate_of_write() override { return simulation.fate_of_write(); }
    void deliver_late(std::function<void()> write) override { simulation.late_.push_back(std::move(write)); }
    std::size_t staleness() override { return simulation.staleness(); }

    Simulation& simulation;
    std::int64_t skew_us = 0;
    std::list<Event> todo;  // the first is under way
    bool writing = false;
    std::vector<Fibers::Id> background;
    std::optional<Fibers::Id> main;
    bool done = false;
  };

  static DatabaseOptions database_options(const SimulationOptions& options) {
    DatabaseOptions out;
    out.parts = options.one_part_a_family ? Parts::OneAFamily : Parts::OneACollection;
    out.capabilities.units_at_once = options.units_at_once;
    out.history = 4;
    out.fault = options.fault;
    return out;
  }

  void give_way() { fibers_.give_way(); }
  void wait(std::chrono::microseconds time) {
    wakes_[fibers_.running()] = now_us_ + static_cast<std::uint64_t>(time.count());
    give_way();
  }
  Weather::Fate fate_of_write() {
    if (!faults_ || !random_.chance(trouble_percent_)) return Weather::Fate::Arrives;
    ++out_.unknown;
    return random_.pick(std::vector{Weather::Fate::AnswerLost, Weather::Fate::Lost, Weather::Fate::Late});
  }
  std::size_t staleness() { return faults_ && random_.chance(20) ? random_.below(4) : 0; }

  void choose_workload();
  Json random_statement();
  Event make_event(int thread, Json request);
  void start(Process& process);
  void run_process(Process& process);
  void open_and(Process& process, const std::function<void(runtime::Session&)>& work);
  void kill(Process& process);
  // Runs until all processes are done. False: it does not end.
  bool schedule(std::uint64_t most_steps);
  [[nodiscard]] std::optional<std::string> left_behind() const;
  void calm(const std::function<void(runtime::Session&)>& work);

  const SimulationOptions options_;
  Random random_;
  SimulationResult out_;
  Database database_;
  Fibers fibers_;
  std::map<Fibers::Id, std::uint64_t> wakes_;  // of those that wait or sleep
  std::list<Process> processes_;
  std::vector<std::function<void()>> late_;
  std::uint64_t now_us_ = 1'000;
  std::uint64_t moments_ = 0;  // for the history
  std::uint64_t ids_ = 0;
  History history_;
  bool faults_ = false;
  std::vector<unsigned> kinds_;  // of statements that are asked for
  std::size_t accounts_ = accounts;
  unsigned sweep_percent_ = 0;
  unsigned verify_percent_ = 0;
  unsigned trouble_percent_ = 0;
  unsigned crash_permille_ = 0;
  unsigned sleep_permille_ = 0;
  unsigned jump_permille_ = 0;
};

// Either a little of everything, or much of a few things, so that they meet.
void Simulation::choose_workload() {
  constexpr unsigned kinds = 14;
  for (unsigned kind = 0; kind < kinds; ++kind) kinds_.push_back(kind);
  if (random_.chance(60)) {
    random_.shuffle(kinds_);
    kinds_.resize(random_.between(1, 4));
    accounts_ = 2;
  }
  if (random_.chance(50)) sweep_percent_ = 15;
  if (random_.chance(20)) verify_percent_ = 20;
}

Json Simulation::random_statement() {
  if (random_.chance(sweep_percent_)) return {{"run", "sweep"}};
  if (random_.chance(verify_percent_)) return {{"run", "verify"}};
  const auto account = [&] { return static_cast<int>(random_.below(accounts_)); };
  const auto owner = [&] { return owners[random_.below(owners.size())]; };
  const int n = static_cast<int>(random_.below(4));
  const int a = account();
  int b = account();
  if (b == a) b = (b + 1) % static_cast<int>(accounts_);
  switch (random_.pick(kinds_)) {
    case 0:
      return request("open", {{"id", a}, {"owner", owner()}, {"balance", n}});
    case 1:
      return request("close", {{"id", a}});
    case 2:
      return request("deposit", {{"id", a}, {"n", n + 1}});
    case 3:
    case 4:
      return request("transfer", {{"from", a}, {"to", b}, {"n", n}});
    case 5:
      return request("level", {{"a", a}, {"b", b}});
    case 6:
    case 7:
      return request("draw", {{"a", a}, {"b", b}, {"n", n + 1}});
    case 8:
      return request("give", {{"id", a}, {"owner", owner()}});
    case 9:
      return request("annotate", {{"name", owner()}, {"id", a}});
    case 10:
      return request("account", {{"id", a}});
    case 11:
      return request("pair", {{"a", a}, {"b", b}});
    case 12:
      return request("of_owner", {{"name", owner()}});
    default:
      return request("sum_of", {{"name", owner()}});
  }
}

Event Simulation::make_event(int thread, Json made) {
  Event event;
  event.thread = thread;
  if (is_command(made))
    made["id"] = model::make_command_id(start_ms + static_cast<std::int64_t>(now_us_ / 1'000), ++ids_, 1).text();
  event.request = std::move(made);
  return event;
}

void Simulation::open_and(Process& process, const std::function<void(runtime::Session&)>& work) {
  stores::blocks::Surroundings around;
  around.microseconds = [&] { return start_ms * 1'000 + static_cast<std::int64_t>(now_us_) + process.skew_us; };
  around.steady = [&] {
    return std::chrono::steady_clock::time_point(std::chrono::microseconds(static_cast<std::int64_t>(now_us_)));
  };
  around.wait = [&](std::chrono::milliseconds time) { wait(time); };
  around.random = [&] { return random_.next(); };
  around.later = [&](std::function<void()> later) {
    const Fibers::Id id = fibers_.add(std::move(later));
    process.background.push_back(id);
  };
  stores::blocks::ProtocolOptions options;
  options.guards_in_head = 3;
  // Longer than an attempt and the difference of two clocks.
  options.gravestones = std::chrono::seconds(100);
  options.longest_attempt = std::chrono::seconds(60);
  if (random_.chance(30)) options.patience = std::chrono::milliseconds(random_.below(20));
  const auto store = stores::blocks::open_block_layer(database_.connect(&process), around, options);
  runtime::SessionOptions session_options;
  session_options.states_every = std::chrono::milliseconds(0);  // by clocks that jump, a look each time
  session_options.clock = [&] { return start_ms + (static_cast<std::int64_t>(now_us_) + process.skew_us) / 1'000; };
  session_options.pause = [&](std::chrono::milliseconds most) {
    wait(std::chrono::milliseconds(random_.below(static_cast<std::size_t>(most.count()) + 1)));
  };
  auto session = runtime::Session::open(the_program(options_.design), *store, session_options);
  if (!session) {
    if (!out_.wrong) out_.wrong = "a session cannot be opened: " + session.error().message;
    return;
  }
  work(**session);
  // What was left for later uses the store.
  while (std::any_of(process.background.begin(), process.background.end(),
                     [&](Fibers::Id id) { return !fibers_.ended(id); }))
    wait(std::chrono::milliseconds(1));
}

void Simulation::run_process(Process& process) {
  open_and(process, [&](runtime::Session& session) {
    while (!process.todo.empty()) {
      Event& event = process.todo.front();
      if (event.request["run"] == "sweep") {
        // What fails is left for the next.
        (void)session.sweep();
        process.todo.pop_front();
        continue;
      }
      if (event.request["run"] == "verify") {
        // Whatever the others do meanwhile, it takes nothing for wrong that is not.
        if (const auto found = session.verify(); found && !found->differences.empty() && !out_.wrong)
          out_.wrong = "verified meanwhile: " + found->differences[0].collection + ": " + found->differences[0].what;
        process.todo.pop_front();
        continue;
      }
      if (event.begin == 0) event.begin = ++moments_;
      Json answer = session.answer(event.request);
      // Whoever is not told what became of a command repeats it.
      if (answer.value("outcome", "") == "unknown") continue;
      event.answer = std::move(answer);
      event.end = ++moments_;
      history_.push_back(std::move(event));
      process.todo.pop_front();
    }
  });
  process.done = true;
}

void Simulation::start(Process& process) {
  process.background.clear();
  process.main = fibers_.add([this, &process] { run_process(process); });
}

void Simulation::kill(Process& process) {
  // Those first that use what the main one has.
  for (const Fibers::Id id : process.background) {
    while (!fibers_.ended(id)) {
      fibers_.kill(id);
      fibers_.resume(id);
    }
  }
  while (!fibers_.ended(*process.main)) {
    fibers_.kill(*process.main);
    fibers_.resume(*process.main);
  }
  ++out_.killed;
  process.writing = false;
  // Another process takes over: it repeats what is not answered, and asks queries anew.
  if (!process.todo.empty() && !is_command(process.todo.front().request)) process.todo.front().begin = 0;
}

bool Simulation::schedule(std::uint64_t most_steps) {
  for (std::uint64_t step = 0; step < most_steps; ++step) {
    if (out_.wrong) return true;
    ++out_.steps;
    std::vector<std::pair<Process*, Fibers::Id>> ready;
    std::uint64_t first_wake = UINT64_MAX;
    bool left = false;
    for (Process& process : processes_) {
      std::vector<Fibers::Id> tasks = process.background;
      tasks.push_back(*process.main);
      for (const Fibers::Id id : tasks) {
        if (fibers_.ended(id)) continue;
        left = true;
        const auto wake = wakes_.find(id);
        if (wake == wakes_.end() || wake->second <= now_us_)
          ready.emplace_back(&process, id);
        else
          first_wake = std::min(first_wake, wake->second);
      }
    }
    if (!left) return true;
    if (!late_.empty() && random_.chance(8)) {
      const std::size_t at = random_.below(late_.size());
      const auto write = std::move(late_[at]);
      late_.erase(late_.begin() + static_cast<std::ptrdiff_t>(at));
      if (!random_.chance(20)) write();
      continue;
    }
    if (ready.empty()) {
      now_us_ = first_wake;
      continue;
    }
    // A long time passes. What was sent before has arrived by then, or never will.
    const bool sending = std::any_of(processes_.begin(), processes_.end(), [](const Process& p) { return p.writing; });
    if (faults_ && !sending && random_.below(1'000) < jump_permille_) {
      late_.clear();
      now_us_ += 200'000'000;
    }
    const auto [process, id] = ready[random_.below(ready.size())];
    now_us_ += random_.below(1'500);
    if (faults_ && random_.below(1'000) < crash_permille_) {
      kill(*process);
      start(*process);
      continue;
    }
    if (faults_ && random_.below(1'000) < sleep_permille_) {
      wakes_[id] = now_us_ + random_.below(4'000'000);
      continue;
    }
    wakes_.erase(id);
    fibers_.resume(id);
    std::erase_if(process->background, [&](Fibers::Id one) { return fibers_.ended(one); });
  }
  return false;
}

std::optional<std::string> Simulation::left_behind() const {
  std::optional<std::string> out;
  database_.for_each([&](const db::UnitRef& unit, const db::Head& head, std::size_t /*entries*/) {
    if (head.holder != db::TransactionId{}) out = fmt::format("a hold is left in part {}", unit.part);
    if (!head.done.empty()) out = fmt::format("a mark is left in part {}", unit.part);
  });
  return out;
}

void Simulation::calm(const std::function<void(runtime::Session&)>& work) {
  processes_.clear();
  faults_ = false;
  Process& process = processes_.emplace_back(*this);
  process.main = fibers_.add([&] { open_and(process, work); });
  if (!schedule(400'000) && !out_.wrong) out_.wrong = "a process alone does not come to an end";
}

SimulationResult Simulation::run() {
  calm([&](runtime::Session& session) {
    const auto ask = [&](Json made) {
      Event event = make_event(0, std::move(made));
      event.begin = ++moments_;
      event.answer = session.answer(event.request);
      event.end = ++moments_;
      history_.push_back(std::move(event));
    };
    for (const char* owner : owners) ask(request("found", {{"name", owner}}));
    for (int a = 0; a < accounts; ++a)
      if (random_.chance(75))
        ask(request("open", {{"id", a}, {"owner", owners[random_.below(owners.size())]}, {"balance", 3}}));
  });
  if (out_.wrong) return out_;

  processes_.clear();
  choose_workload();
  faults_ = options_.faults;
  trouble_percent_ = static_cast<unsigned>(random_.below(12));
  crash_permille_ = static_cast<unsigned>(random_.below(8));
  sleep_permille_ = static_cast<unsigned>(random_.below(8));
  if (sweep_percent_ > 0) jump_permille_ = static_cast<unsigned>(random_.below(5));
  const std::size_t count = 2 + random_.below(3);
  for (std::size_t i = 0; i < count; ++i) {
    Process& process = processes_.emplace_back(*this);
    process.skew_us = static_cast<std::int64_t>(random_.below(20'000'000)) - 10'000'000;
    const std::size_t statements = 1 + random_.below(4);
    for (std::size_t n = 0; n < statements; ++n)
      process.todo.push_back(make_event(static_cast<int>(i) + 1, random_statement()));
    // Now and then somebody else sends the same.
    if (i > 0 && random_.chance(20) && !processes_.front().todo.empty())
      process.todo.push_back(processes_.front().todo.front());
  }
  for (Process& process : processes_) start(process);
  if (!schedule(60'000) && !out_.wrong) {
    // Too much went wrong to come to an end; what follows is calm.
    faults_ = false;
    if (!schedule(400'000) && !out_.wrong)
      out_.wrong = "it does not come to an end, though nothing goes wrong any more";
  }
  if (out_.wrong) return out_;
  // What is still on its way arrives now, or never.
  const bool arrives = random_.chance(70);
  for (const auto& write : late_)
    if (arrives) write();
  late_.clear();

  calm([&](runtime::Session& session) {
    for (int i = 0; i < 20 && left_behind(); ++i) {
      if (const auto done = session.sweep(); !done && !out_.wrong) out_.wrong = done.error().message;
      wait(std::chrono::seconds(1));
    }
    const auto ask = [&](Json made) {
      Event event = make_event(0, std::move(made));
      event.begin = ++moments_;
      event.answer = session.answer(event.request);
      event.end = ++moments_;
      history_.push_back(std::move(event));
    };
    for (int a = 0; a < accounts; ++a) ask(request("account", {{"id", a}}));
    for (const char* owner : owners) {
      ask(request("of_owner", {{"name", owner}}));
      ask(request("sum_of", {{"name", owner}}));
    }
    const auto found = session.verify();
    if (!found)
      out_.wrong = found.error().message;
    else if (!found->differences.empty())
      out_.wrong = found->differences[0].collection + ": " + found->differences[0].what;
  });
  if (!out_.wrong) out_.wrong = left_behind();
  for (Event& event : history_) out_.commands += event.answer.value("outcome", "") == "applied" ? 1 : 0;
  out_.writes = database_.writes();
  std::sort(history_.begin(), history_.end(), [](const Event& a, const Event& b) { return a.begin < b.begin; });
  for (Event& event : history_) event.guess = event.end;
  if (!out_.wrong) out_.wrong = concurrency::not_serialisable(*the_model(), history_, start_ms);
  if (out_.wrong) *out_.wrong += "\n" + concurrency::text(history_);
  return out_;
}

}  // namespace

SimulationResult simulate(std::uint64_t seed, const SimulationOptions& options) {
  return Simulation(seed, options).run();
}

SimulationResult simulate(std::uint64_t seed, Fault fault) {
  SimulationOptions options;
  options.fault = fault;
  constexpr std::array designs = {"eao", "kept", "etf"};
  options.design = designs[seed % designs.size()];
  options.one_part_a_family = seed / 3 % 2 == 1;
  options.units_at_once = seed % 11 == 10 ? 100 : 1;
  return simulate(seed, options);
}

}  // namespace noam::tests::blocks
