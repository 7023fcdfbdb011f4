#include <cstdio>
#include <functional>

#include <sys/resource.h>

#include "tests/cql/server.h"

// What requests cost. Prints figures and compares none, because the server runs on the same machine.
namespace noam::tests {
namespace {

using cql::Request;
using cql::Values;

double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

class Cost : public ServerTest {
 protected:
  // Runs so many requests, `in_flight` in each call.
  void measure(const char* name, std::size_t in_flight, int count, const std::function<Request(int)>& make) {
    int made = 0;
    int applied = 0;
    double spent = 0;
    std::chrono::duration<double> taken{0};
    while (made < count) {
      std::vector<Request> requests;
      for (std::size_t i = 0; i < in_flight; ++i) requests.push_back(make(made++));
      const double before = processor_seconds();
      const auto start = std::chrono::steady_clock::now();
      const auto responses = session().run(requests);
      taken += std::chrono::steady_clock::now() - start;
      spent += processor_seconds() - before;
      for (const auto& response : responses) applied += response.ok() && response.applied() ? 1 : 0;
    }
    EXPECT_EQ(applied, made);
    std::printf("  %-22s %2zu in flight: %7.0f requests/s, %6.1f µs of the client's processor each\n", name, in_flight,
                made / taken.count(), spent / made * 1e6);
  }
};

TEST_F(Cost, OfAConditionalBatchAndOfAPlainWrite) {
  execute("CREATE TABLE KS.t (id int, p int, head bigint static, v text, PRIMARY KEY (id, p))");
  const auto insert = prepare("INSERT INTO KS.t (id, p, v) VALUES (?, ?, ?)");
  const auto update = prepare("UPDATE KS.t SET head = ? WHERE id = ? IF head = ?");
  const auto begin = prepare("INSERT INTO KS.t (id, head) VALUES (?, 0)");
  constexpr int blocks = 64;
  for (int i = 0; i < blocks; ++i) run(request(begin, Values().integer(i)));

  const auto write = [&](int i) { return request(insert, Values().integer(1'000 + i).integer(0).text("value")); };
  int done = 0;
  const auto batch = [&](int) {
    const int block = done % blocks;
    const int version = done / blocks;
    ++done;
    Request out;
    out.conditional = true;
    out.statements = {{update, Values().bigint(version + 1).integer(block).bigint(version)},
                      {insert, Values().integer(block).integer(1).text("value")},
                      {insert, Values().integer(block).integer(2).text("value")}};
    return out;
  };
  for (const int rounds : {1, 2}) {  // the first warms up the server
    const int count = rounds == 1 ? 1'500 : 3'000;
    measure("plain write", 1, count, write);
    measure("plain write", 64, count * 4, write);
    measure("batch of 3, condition", 1, count, batch);
    measure("batch of 3, condition", 64, count * 2, batch);
  }
}

}  // namespace
}  // namespace noam::tests
