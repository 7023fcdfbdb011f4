#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "noam/base/result.h"

namespace noam::cql {

// Why a request failed.
enum class FailureKind : std::uint8_t {
  NotConnected = 1,   // no node can be reached
  NotAllowed = 2,     // password or permissions
  Tls = 3,            // certificates or keys
  Refused = 4,        // the server found the statement wrong: syntax, missing table, …
  Unavailable = 5,    // too few replicas are alive
  WriteTimeout = 6,   // too few replicas answered the coordinator in time; also of SERIAL reads
  ReadTimeout = 7,    //
  WriteFailure = 8,   // replicas reported errors
  ReadFailure = 9,    //
  Overloaded = 10,    // the server is overloaded or starting; or too many requests wait on one connection
  Timeout = 11,       // the client's own timeout
  Broken = 12,        // the connection broke before the answer
  Misuse = 13,        // the request does not fit the statement, or an option is wrong
  Internal = 14,      // an error that has no other kind
  NotSent = 15,       // the deadline passed before the request was sent
  NotAvailable = 16,  // noam was built without the driver
};

// What timed out or failed on the server.
enum class WriteType : std::uint8_t { None, Simple, Batch, UnloggedBatch, Counter, BatchLog, Cas, View, Other };

struct Failure {
  FailureKind kind = FailureKind::Internal;
  std::optional<int> code = std::nullopt;  // of the server, as in the protocol; none: not an error of the server
  std::string message = {};                // in the words of the server, if it is one of the server
  bool unknown = false;                    // the request may have been applied, or may be applied later
  WriteType write_type = WriteType::None;
  int received = 0;  // replicas that answered, of timeouts and failures; those alive, if unavailable
  int required = 0;

  bool operator==(const Failure&) const = default;
};

// What a request says about itself.
struct Nature {
  bool idempotent = false;
  bool conditional = false;
};

// Whether a request that failed this way may have been applied.
bool perhaps_applied(FailureKind kind, bool by_server, Nature nature);

std::string_view name_of(FailureKind kind);  // "write timeout"

// For a person: the kind, and the words of the server. `code` is the name of the kind.
Error error_of(const Failure& failure);

}  // namespace noam::cql
