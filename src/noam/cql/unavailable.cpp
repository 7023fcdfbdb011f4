// What noam::cql is if noam is built without the driver.

#include "noam/base/check.h"
#include "noam/cql/session.h"

namespace noam::cql {

namespace {

constexpr const char* how_to =
    "this noam was built without the driver for Cassandra: run `tools/setup cassandra`, then build again";

}  // namespace

bool available() { return false; }

// There are none.
struct Session::Connected {};
struct Response::Held {};

Session::Session(std::unique_ptr<Connected> connected) : connected_(std::move(connected)) {}
Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::connect(const Options& options) {
  NOAM_RETURN_IF_ERROR(validate(options));
  return error_of({FailureKind::NotAvailable, std::nullopt, how_to});
}

Result<Prepared> Session::prepare(std::string_view /*text*/) {
  return error_of({FailureKind::NotAvailable, std::nullopt, how_to});
}

Response Session::execute(std::string_view /*text*/, Deadline /*by*/) {
  return Response(Failure{FailureKind::NotAvailable, std::nullopt, how_to});
}

std::vector<Response> Session::run_once(std::span<const Request> requests, Deadline by) { return run(requests, by); }

std::vector<Response> Session::run(std::span<const Request> requests, Deadline by) {
  std::vector<Response> responses;
  for (const Request& request : requests) responses.push_back(run(request, by));
  return responses;
}

Response Session::run(const Request& /*request*/, Deadline /*by*/) {
  return Response(Failure{FailureKind::NotAvailable, std::nullopt, how_to});
}

Result<std::vector<std::string>> Session::trace(const Response& /*response*/) {
  return error_of({FailureKind::NotAvailable, std::nullopt, how_to});
}

Metrics Session::metrics() const { return {}; }

Response::Response() = default;
Response::Response(Failure failure) : failure_(std::move(failure)) {}
Response::Response(std::unique_ptr<Held> held) : held_(std::move(held)) {}
Response::Response(Response&&) noexcept = default;
Response& Response::operator=(Response&&) noexcept = default;
Response::~Response() = default;

const Failure& Response::failure() const {
  check(failure_.has_value(), "a response is asked for its failure only if it has one");
  return *failure_;
}

std::span<const Cell> Response::row(std::size_t /*index*/) const { return {}; }
std::string_view Response::column_name(std::size_t /*index*/) const { return {}; }
std::string_view Response::column_type(std::size_t /*index*/) const { return {}; }
std::optional<std::string_view> Response::paging_state() const { return std::nullopt; }
std::optional<Uuid> Response::trace_id() const { return std::nullopt; }
std::string Response::coordinator() const { return {}; }
std::chrono::microseconds Response::taken() const { return {}; }

}  // namespace noam::cql
