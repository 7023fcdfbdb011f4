#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "noam/base/result.h"
#include "noam/cql/metrics.h"
#include "noam/cql/options.h"
#include "noam/cql/request.h"
#include "noam/cql/response.h"

namespace noam::cql {

using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline no_deadline = Deadline::max();

// Whether noam was built with the driver. Without it, `Session::connect` is an error that says how to get it.
bool available();

// Connections to an Apache Cassandra cluster. Safe to use from several threads; all calls wait for their answers.
class Session {
 public:
  // Waits until a node has answered. The `code` of an error is the name of a FailureKind.
  static Result<std::unique_ptr<Session>> connect(const Options& options);

  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();  // no other call may be under way

  // On all nodes. An error has the words of the server, and the name of a FailureKind as its code.
  Result<Prepared> prepare(std::string_view text);

  // A statement without values that runs once, such as DDL; after DDL, waits until all nodes agree on the schema.
  Response execute(std::string_view text, Deadline by = no_deadline);

  // One response for each request, in their order. Sends at most `Options::in_flight` at a time. A failed request does
  // not stop the others. At the deadline, requests that wait for an answer fail with Timeout, those not sent with
  // NotSent.
  std::vector<Response> run(std::span<const Request> requests, Deadline by = no_deadline);
  Response run(const Request& request, Deadline by = no_deadline);

  // What the server did for a request with `Request::trace`, one event a line. The server records it with some delay.
  Result<std::vector<std::string>> trace(const Response& response);

  [[nodiscard]] Metrics metrics() const;

 private:
  struct Connected;
  explicit Session(std::unique_ptr<Connected> connected);
  std::vector<Response> run_once(std::span<const Request> requests, Deadline by);

  std::unique_ptr<Connected> connected_;
};

}  // namespace noam::cql
