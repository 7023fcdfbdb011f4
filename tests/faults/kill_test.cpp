// A process is killed at any moment, again and again: what it was told to be applied is there, and what it was told
// nothing of can be repeated under its id and is then there once.

#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/compiled.h"
#include "tests/faults/process.h"
#include "tests/faults/roles.h"
#include "tests/faults/workload.h"
#include "tests/property/compare.h"
#include "tests/reference/reference.h"
#include "tests/support.h"

namespace noam::tests::faults {

namespace {

// One call, so that lines of several threads do not mix.
void tell(const Json& line) {
  const std::string text = line.dump() + "\n";
  if (::write(STDOUT_FILENO, text.data(), text.size()) != static_cast<ssize_t>(text.size())) ::_exit(3);
}

}  // namespace

// MODEL DESIGN FOLDER SEED
int work_until_killed(const RoleArguments& arguments) {
  const auto model = model_of(read_file(arguments[0]));
  auto opened = open(model, arguments[1], arguments[2]);
  if (!opened) {
    tell({{"failed", opened.error().message}});
    return 2;
  }
  tell({{"ready", true}});
  const std::uint64_t seed = std::stoull(arguments[3]);
  std::vector<std::thread> threads;
  for (std::size_t writer = 0; writer < writer_count; ++writer) {
    threads.emplace_back([&, writer] {
      Random random(seed + writer);
      while (true) {
        const Json command = command_by_chance(random, writer);
        tell({{"writer", writer}, {"send", command}});
        tell({{"writer", writer}, {"answer", opened->session->answer(command)}});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

namespace {

struct Figures {
  std::size_t rounds = 0;
  std::size_t acknowledged = 0;
  std::size_t unknown = 0;
  std::size_t counted_before = 0;  // unknown commands that count, and had counted before the kill
  std::size_t counted_by_repeat = 0;
  std::size_t killed_while_opening = 0;
};

// A store, what it was told, and what the reference evaluator says of it.
class KilledStore {
 public:
  KilledStore(std::string design, std::uint64_t seed)
      : design_(std::move(design)), random_(seed), model_(model_of(microblog_text())), reference_(*model_) {
    write_file(model_path(), microblog_text());
    auto opened = open(model_, design_, store_path(), stores::Existing::Refused);
    if (!opened) {
      ADD_FAILURE() << opened.error().message;
      return;
    }
    for (const Json& command : first_commands(random_)) compare(command, opened->session->answer(command));
  }

  // One process that is killed, and what it left.
  void round(Figures& figures) {
    ++figures.rounds;
    const std::vector<std::optional<Json>> open_calls = work_and_kill(figures);
    auto opened = open(model_, design_, store_path());
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_EQ(differences(*opened->session), "");
    for (const auto& call : open_calls) {
      if (!call) continue;
      ++figures.unknown;
      const Json before = opened->session->answer(request("all_counters"));
      compare(*call, opened->session->answer(*call));
      if (!(*call)["run"].get<std::string>().starts_with("count_")) continue;
      const bool repeat_counted = opened->session->answer(request("all_counters")) != before;
      ++(repeat_counted ? figures.counted_by_repeat : figures.counted_before);
    }
    // Those that were acknowledged, once more: nothing happens, and the answer is the same.
    for (std::size_t i = 0; i < 3 && !acknowledged_.empty(); ++i) {
      const auto& [command, answer] = random_.pick(acknowledged_);
      if (answer["outcome"] != "applied") continue;
      EXPECT_EQ(opened->session->answer(command), answer) << command.dump();
    }
    ASSERT_EQ(differences(*opened->session), "");
    for (const Json& question : all_questions()) {
      const Json answer = opened->session->answer(question);
      const Json expected = reference_.answer(question);
      const auto difference = property::difference(*model_, question, answer, expected);
      ASSERT_FALSE(difference) << question.dump() << ": " << *difference << "\n"
                               << answer.dump() << "\n"
                               << expected.dump();
    }
  }

 private:
  [[nodiscard]] std::string model_path() const { return (folder_.path() / "model.noam").string(); }
  [[nodiscard]] std::string store_path() const { return (folder_.path() / "store").string(); }

  // What the evaluator makes of a command is what the store made of it.
  void compare(const Json& command, const Json& answer) {
    const Json expected = reference_.answer(command);
    const auto difference = property::difference(*model_, command, answer, expected);
    EXPECT_FALSE(difference) << command.dump() << ": " << *difference << "\n"
                             << answer.dump() << "\n"
                             << expected.dump();
  }

  // The call of each writer that was not answered.
  std::vector<std::optional<Json>> work_and_kill(Figures& figures) {
    Process process(as("work", {model_path(), design_, store_path(), std::to_string(random_.next() >> 8U)}));
    // Some are killed while they open the store.
    const bool at_once = random_.chance(20);
    const std::size_t time = at_once ? random_.between(1'000, 40'000) : random_.between(20'000, 170'000);
    std::optional<std::string> first;
    if (!at_once) {
      first = process.read_line(in(patience));
      EXPECT_EQ(first, R"({"ready":true})") << process.err;
    }
    const bool ended = process.read_until(in(std::chrono::microseconds(time)));
    EXPECT_FALSE(ended) << process.out << process.err;
    process.kill();
    EXPECT_EQ(process.wait(), 128 + SIGKILL);
    process.read_until(in(patience));

    std::vector<std::optional<Json>> open_calls(writer_count);
    std::size_t begin = 0;
    // What is behind the last end of a line was never written to the end, nor sent.
    for (std::size_t end = process.out.find('\n'); end != std::string::npos; end = process.out.find('\n', begin)) {
      const Json line = Json::parse(process.out.substr(begin, end - begin));
      begin = end + 1;
      if (line.contains("ready")) {
        first = line.dump();
        continue;
      }
      if (line.contains("failed")) {
        ADD_FAILURE() << line.dump();
        continue;
      }
      auto& call = open_calls[line["writer"].get<std::size_t>()];
      if (line.contains("send")) {
        EXPECT_FALSE(call);
        call = line["send"];
        continue;
      }
      compare(*call, line["answer"]);
      acknowledged_.emplace_back(*call, line["answer"]);
      call.reset();
      ++figures.acknowledged;
    }
    if (!first) ++figures.killed_while_opening;
    return open_calls;
  }

  TemporaryFolder folder_;
  std::string design_;
  Random random_;
  std::shared_ptr<const model::Model> model_;
  reference::Reference reference_;
  std::vector<std::pair<Json, Json>> acknowledged_;
};

TEST(Killed, ProcessLosesNothingThatWasAcknowledged) {
  const std::size_t rounds = amount("NOAM_KILL_ROUNDS", 10);
  constexpr std::size_t rounds_of_a_store = 20;
  const std::uint64_t start = seed();
  SCOPED_TRACE("NOAM_SEED=" + std::to_string(start));
  Figures figures;
  std::vector<std::unique_ptr<KilledStore>> stores;
  for (std::size_t round = 0; round < rounds && !HasFailure(); ++round) {
    // Two stores in turn, each under its design.
    if (round % (2 * rounds_of_a_store) == 0) {
      stores.clear();
      stores.push_back(std::make_unique<KilledStore>("seed003", start + round));
      stores.push_back(std::make_unique<KilledStore>("eao", start + round + 1));
    }
    stores[round % 2]->round(figures);
  }
  std::printf(
      "%zu rounds: %zu commands acknowledged, %zu unknown (of the counts %zu done, %zu not), %zu killed while "
      "opening\n",
      figures.rounds, figures.acknowledged, figures.unknown, figures.counted_before, figures.counted_by_repeat,
      figures.killed_while_opening);
  EXPECT_GT(figures.acknowledged, 0U);
  EXPECT_GT(figures.unknown, 0U);
}

}  // namespace
}  // namespace noam::tests::faults
