#include "noam/cql/session.h"

#include <algorithm>

#include <fmt/format.h>

#include "noam/base/check.h"
#include "noam/cql/bridge.h"
#include "noam/cql/response_held.h"

namespace noam::cql {

namespace {

constexpr int unprepared_code = 0x2500;  // of the protocol
constexpr int most_forgotten = 5;        // times that a request is sent again

bridge::Slice slice(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

std::uint32_t milliseconds(std::chrono::milliseconds time) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(time.count(), 1, UINT32_MAX));
}

// What is left until the deadline; at most what is given.
std::chrono::microseconds left(Deadline by, std::chrono::microseconds most) {
  if (by == no_deadline) return most;
  const auto until = std::chrono::duration_cast<std::chrono::microseconds>(by - std::chrono::steady_clock::now());
  return std::clamp(until, std::chrono::microseconds(0), most);
}

std::string joined(const std::vector<ContactPoint>& points) {
  std::string out;
  for (const ContactPoint& point : points) out += (out.empty() ? "" : ",") + show(point);
  return out;
}

// The requests as the driver wants them. They point into those that were given.
struct Lent {
  std::vector<bridge::Part> parts;
  std::vector<bridge::Request> requests;

  explicit Lent(std::span<const Request> given) {
    std::size_t count = 0;
    for (const Request& request : given) count += request.statements.size();
    parts.reserve(count);
    requests.reserve(given.size());
    for (const Request& request : given) add(request);
  }

 private:
  void add(const Request& request) {
    check(!request.statements.empty(), "a request has a statement");
    check(!(request.conditional && request.idempotent), "a conditional request is not idempotent");
    const bridge::Part* first = parts.data() + parts.size();
    for (const Statement& statement : request.statements) {
      check(static_cast<bool>(statement.prepared), "a statement is prepared");
      parts.push_back({statement.prepared.get(), slice(statement.values.bytes()),
                       static_cast<std::uint32_t>(statement.values.count())});
    }
    requests.push_back({
        .parts = first,
        .part_count = static_cast<std::uint32_t>(request.statements.size()),
        .timeout_ms = request.timeout ? milliseconds(*request.timeout) : 0,
        .page_size = request.page_size,
        .consistency = request.consistency ? static_cast<std::uint16_t>(*request.consistency) : bridge::of_session,
        .serial_consistency =
            request.serial_consistency ? static_cast<std::uint16_t>(*request.serial_consistency) : bridge::of_session,
        .logged = request.logged,
        .idempotent = request.idempotent,
        .conditional = request.conditional,
        .trace = request.trace,
        .paging_state = slice(request.paging_state),
    });
  }
};

// A difference would let each side read the fields of the other at wrong places.
void check_sizes() {
  std::array<std::uint32_t, 4> sizes{};
  bridge::noam_cql_sizes(sizes.data());
  check(sizes == std::array<std::uint32_t, 4>{sizeof(bridge::Config), sizeof(bridge::Part), sizeof(bridge::Request),
                                              sizeof(bridge::Outcome)},
        "both sides of the driver have the same structs");
}

// It points into what it is made of.
bridge::Config config_of(const Options& options, const std::string& contact_points, const Tls& tls) {
  return {
      .contact_points = slice(contact_points),
      .user = slice(options.user),
      .password = slice(options.password),
      .datacenter = slice(options.datacenter),
      .ca_file = slice(tls.ca_file),
      .certificate_file = slice(tls.certificate_file),
      .key_file = slice(tls.key_file),
      .certificate_name = slice(tls.name),
      .tls = options.tls.has_value(),
      .verify = static_cast<std::uint8_t>(tls.verification),
      .compression = options.compression,
      .consistency = static_cast<std::uint16_t>(options.consistency),
      .serial_consistency = static_cast<std::uint16_t>(options.serial_consistency),
      .connections_per_node = options.connections_per_node,
      .threads = options.threads,
      .connect_timeout_ms = milliseconds(options.connect_timeout),
      .request_timeout_ms = milliseconds(options.request_timeout),
  };
}

}  // namespace

bool available() { return true; }

struct Session::Connected {
  bridge::Client* client;
  std::chrono::milliseconds request_timeout;
  std::size_t in_flight;
  Meters meters;

  Connected(bridge::Client* opened, const Options& options)
      : client(opened), request_timeout(options.request_timeout), in_flight(options.in_flight) {}
  Connected(const Connected&) = delete;
  Connected& operator=(const Connected&) = delete;
  ~Connected() { bridge::noam_cql_disconnect(client); }

  void count(const Response& response) {
    const bool failed = !response.ok();
    meters.count(response.taken(), failed, failed && response.failure().unknown, !failed && !response.applied());
  }
};

Session::Session(std::unique_ptr<Connected> connected) : connected_(std::move(connected)) {}
Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::connect(const Options& options) {
  check_sizes();
  NOAM_RETURN_IF_ERROR(validate(options));
  const std::string contact_points = joined(options.contact_points);
  const Tls tls = options.tls.value_or(Tls{});
  const bridge::Config config = config_of(options, contact_points, tls);
  auto held = std::make_unique<Response::Held>();
  bridge::Client* client = bridge::noam_cql_connect(&config, &held->outcome);
  if (client == nullptr) {
    Failure failure = Response(std::move(held)).failure();
    failure.message = fmt::format("{} ({})", failure.message, contact_points);
    return error_of(failure);
  }
  return std::unique_ptr<Session>(new Session(std::make_unique<Connected>(client, options)));
}

Result<Prepared> Session::prepare(std::string_view text) {
  auto held = std::make_unique<Response::Held>();
  bridge::Statement* statement = bridge::noam_cql_prepare(connected_->client, slice(text),
                                                          milliseconds(connected_->request_timeout), &held->outcome);
  if (statement == nullptr) return error_of(Response(std::move(held)).failure());
  return Prepared(std::shared_ptr<const bridge::Statement>(statement, [](bridge::Statement* freed) {
    bridge::noam_cql_statement_free(freed);
  }));
}

// Schema agreement has to wait for every node, so the time is not that of requests.
constexpr std::chrono::milliseconds longest_execution = std::chrono::minutes(2);

Response Session::execute(std::string_view text, Deadline by) {
  const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(left(by, longest_execution));
  if (time.count() == 0) {
    return Response(Failure{FailureKind::NotSent, std::nullopt, "the deadline passed before the request was sent"});
  }
  auto held = std::make_unique<Response::Held>();
  bridge::noam_cql_execute(connected_->client, slice(text), milliseconds(time), &held->outcome);
  return Response(std::move(held));
}

std::vector<Response> Session::run_once(std::span<const Request> requests, Deadline by) {
  const Lent lent(requests);
  std::vector<bridge::Outcome> outcomes(requests.size());
  const auto time = left(by, std::chrono::hours(24));
  bridge::noam_cql_run(connected_->client, lent.requests.data(), requests.size(), connected_->in_flight,
                       static_cast<std::uint64_t>(time.count()), outcomes.data());
  std::vector<Response> responses;
  responses.reserve(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    auto held = std::make_unique<Response::Held>();
    held->outcome = outcomes[i];
    held->nature = {requests[i].idempotent, requests[i].conditional};
    connected_->count(responses.emplace_back(std::move(held)));
  }
  return responses;
}

// The driver prepares a statement again that a node has forgotten, but a node that has too many of them may forget it
// once more before it is run. Nothing was carried out then.
std::vector<Response> Session::run(std::span<const Request> requests, Deadline by) {
  std::vector<Response> responses = run_once(requests, by);
  for (int attempt = 0; attempt < most_forgotten; ++attempt) {
    std::vector<std::size_t> forgotten;
    for (std::size_t i = 0; i < responses.size(); ++i)
      if (!responses[i].ok() && responses[i].failure().code == unprepared_code) forgotten.push_back(i);
    if (forgotten.empty()) break;
    std::vector<Request> again;
    for (const std::size_t i : forgotten) again.push_back(requests[i]);
    std::vector<Response> answers = run_once(again, by);
    for (std::size_t i = 0; i < forgotten.size(); ++i) responses[forgotten[i]] = std::move(answers[i]);
  }
  return responses;
}

Response Session::run(const Request& request, Deadline by) {
  return std::move(run(std::span(&request, 1), by).front());
}

Result<std::vector<std::string>> Session::trace(const Response& response) {
  const auto id = response.trace_id();
  if (!id) return Error{"the request was not traced", "value"};
  auto held = std::make_unique<Response::Held>();
  bridge::noam_cql_trace(connected_->client, id->data(), milliseconds(connected_->request_timeout), &held->outcome);
  const std::string text(view(held->outcome.message));
  const Response traced(std::move(held));
  if (!traced.ok()) return error_of(traced.failure());
  std::vector<std::string> lines;
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    lines.push_back(text.substr(begin, end - begin));
  }
  return lines;
}

Metrics Session::metrics() const {
  Metrics metrics = connected_->meters.read();
  bridge::Counters counters{};
  bridge::noam_cql_counters(connected_->client, &counters);
  metrics.in_flight = counters.in_flight;
  metrics.retries = counters.retries;
  return metrics;
}

}  // namespace noam::cql
