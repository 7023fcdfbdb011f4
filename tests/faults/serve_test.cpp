// The program that serves over HTTP: signals, and what is left of commands when it is killed.

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "noam/base/json.h"
#include "noam/model/command_id.h"
#include "noam/runtime/session.h"
#include "noam/server/access.h"
#include "tests/faults/process.h"
#include "tests/http_client.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"

namespace noam::tests::faults {
namespace {

constexpr const char* text = R"(
model counters
entity Counter { name: text key  n: int }
query counted($name) { select c.n from Counter c where c.name = $name }
command make($name) { insert Counter { name: $name, n: 0 } }
command count($name) { update Counter[$name] { n: n + 1 } }
)";

class Serving : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(folder.path() / "counters.noam") << text;
    const auto deployed = run_noam({"deploy", model(), "--store", store()});
    ASSERT_EQ(deployed.code, 0) << deployed.err;
  }

  [[nodiscard]] std::string model() const { return (folder.path() / "counters.noam").string(); }
  [[nodiscard]] std::string store() const { return "rocksdb:" + (folder.path() / "store").string(); }

  void start(const std::vector<std::string>& more = {}) {
    std::vector<std::string> command{noam_program(), "serve",       model(), "--store", store(),
                                     "--listen",     "127.0.0.1:0", "--log", log()};
    command.insert(command.end(), more.begin(), more.end());
    server = std::make_unique<Process>(command);
    const auto line = server->read_line(in(patience));
    ASSERT_TRUE(line) << server->err;
    port = static_cast<std::uint16_t>(std::stoi(line->substr(line->rfind(':') + 1)));
  }
  [[nodiscard]] std::string log() const { return (folder.path() / "log").string(); }

  // The body of the response, and its status; nothing: there was no response.
  [[nodiscard]] std::optional<std::pair<int, std::string>> ask(const std::string& line, const std::string& body = {},
                                                               const std::string& more = {}) const {
    HttpClient client(port);
    if (!client.connected()) return std::nullopt;
    std::string request = line + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + more;
    if (!body.empty())
      request += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
    client.say(request + "\r\n" + body);
    const std::string heard = client.hear_all();
    const std::size_t end = heard.find("\r\n\r\n");
    if (end == std::string::npos) return std::nullopt;
    return std::pair(std::stoi(heard.substr(9, 3)), heard.substr(end + 4));
  }
  void signal(int which) const { ::kill(server->id(), which); }

  TemporaryFolder folder;
  std::unique_ptr<Process> server;
  std::uint16_t port = 0;
};

TEST_F(Serving, EndsOnATermination) {
  start();
  EXPECT_EQ(ask("POST /c/make", R"({"name":"a"})")->first, 200);
  signal(SIGTERM);
  EXPECT_TRUE(server->read_until(in(patience)));
  EXPECT_EQ(server->wait(), 0);
  EXPECT_EQ(server->err, "");
  const std::string lines = read_file(log());
  EXPECT_NE(lines.find(R"("path":"/c/make","statement":"make","status":200)"), std::string::npos) << lines;
  // What it has answered is in the store.
  EXPECT_EQ(run_noam({"run", model(), "counted", "name=a", "--store", store(), "--json"}).out,
            "{\"rows\":[{\"n\":0}]}\n");
}

TEST_F(Serving, ReadsItsFilesAgainOnAHangup) {
  const auto allow = [&](const std::string& token) {
    std::ofstream(folder.path() / "tokens") << Json{
        {"tokens",
         Json::array(
             {Json{{"name", "one"}, {"sha256", server::hexadecimal_digest(token)}, {"may", Json::array({"write"})}}})}};
  };
  const auto status = [&](const std::string& token) {
    return ask("POST /c/make", R"({"name":")" + token + "\"}", "Authorization: Bearer " + token + "\r\n")->first;
  };
  allow("first");
  start({"--tokens", (folder.path() / "tokens").string()});
  EXPECT_EQ(status("first"), 200);
  EXPECT_EQ(status("second"), 401);
  allow("second");
  std::filesystem::rename(log(), log() + ".1");
  signal(SIGHUP);
  const auto until = in(patience);
  while (status("second") == 401 && std::chrono::steady_clock::now() < until) {
  }
  EXPECT_EQ(status("first"), 401);
  EXPECT_NE(read_file(log()).find("/c/make"), std::string::npos);
  // One that is wrong changes nothing.
  std::ofstream(folder.path() / "tokens") << "{";
  signal(SIGHUP);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(status("second"), 409);
  EXPECT_EQ(read_file(log()).find("first\""), std::string::npos) << "no secrets in the log";
  signal(SIGTERM);
  EXPECT_TRUE(server->read_until(in(patience)));
  EXPECT_EQ(server->wait(), 0);
  EXPECT_NE(server->err.find("the tokens from before stay valid"), std::string::npos) << server->err;
}

TEST_F(Serving, SaysWhatIsWrongInALine) {
  const auto wrong = [&](const std::vector<std::string>& more, const std::string& says) {
    std::vector<std::string> arguments{"serve", model(), "--store", store()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramRun run = run_noam(arguments);
    EXPECT_EQ(run.code, 2) << says;
    EXPECT_EQ(run.out, "");
    EXPECT_NE(run.err.find(says), std::string::npos) << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  };
  wrong({"--listen", "0.0.0.0:0"}, "beyond this machine, noam serve needs --tokens");
  wrong({"--listen", "8080"}, "invalid --listen `8080`");
  wrong({"--listen", "127.0.0.1:70000"}, "invalid --listen");
  wrong({"--listen", "127.0.0.1:0", "--timeout", "soon"}, "invalid --timeout `soon`");
  wrong({"--listen", "127.0.0.1:0", "--tokens", "/no/such/file"}, "tokens `/no/such/file`: cannot be read");
  wrong({"--listen", "127.0.0.1:0", "--log", "/no/such/folder/log"}, "log `/no/such/folder/log`: cannot be written");
  start();
  wrong({"--listen", "127.0.0.1:" + std::to_string(port)}, "store");  // it is in use
  server->kill();
}

// Each command once, however often the server is killed: who has no answer repeats it under its id.
TEST_F(Serving, KilledLosesNothingAndDoesNothingTwice) {
  std::mt19937 random(std::random_device{}());
  start();
  ASSERT_EQ(ask("POST /c/make", R"({"name":"a"})")->first, 200);
  std::int64_t acknowledged = 0;
  std::int64_t repeated = 0;
  std::optional<std::string> open;  // the id of a command without an answer
  for (int round = 0; round < 6; ++round) {
    std::thread killer([this, wait = std::chrono::milliseconds(20 + random() % 200)] {
      std::this_thread::sleep_for(wait);
      server->kill();
    });
    while (true) {
      if (open)
        ++repeated;
      else
        open = model::make_command_id(runtime::system_time(), random(), random()).text();
      const auto answer = ask("POST /c/count", R"({"name":"a"})", "Idempotency-Key: " + *open + "\r\n");
      if (!answer || answer->first != 200) break;
      open.reset();
      ++acknowledged;
    }
    killer.join();
    server->wait();
    start();
  }
  if (open) {
    EXPECT_EQ(ask("POST /c/count", R"({"name":"a"})", "Idempotency-Key: " + *open + "\r\n")->first, 200);
    ++acknowledged;
  }
  EXPECT_GT(acknowledged, 0);
  EXPECT_EQ(ask("GET /q/counted?name=a")->second, "{\"rows\":[{\"n\":" + std::to_string(acknowledged) + "}]}")
      << repeated << " repeated";
  signal(SIGTERM);
  EXPECT_TRUE(server->read_until(in(patience)));
  EXPECT_EQ(server->wait(), 0);
}

}  // namespace
}  // namespace noam::tests::faults
