#include "noam/cql/failure.h"

namespace noam::cql {

bool perhaps_applied(FailureKind kind, bool by_server, Nature nature) {
  switch (kind) {
    case FailureKind::Misuse:
    case FailureKind::Refused:
    case FailureKind::NotAllowed:
    case FailureKind::Tls:
    case FailureKind::NotSent:
    case FailureKind::NotAvailable:
      return false;
    // An idempotent request may have been sent to another node before.
    case FailureKind::NotConnected:
      return nature.idempotent;
    // Cassandra checks the replicas of a conditional request again when it commits what was decided.
    case FailureKind::Unavailable:
      return nature.idempotent || nature.conditional;
    // The driver's own: all streams of the connection are in use, so nothing was sent.
    case FailureKind::Overloaded:
      return by_server || nature.idempotent;
    case FailureKind::WriteTimeout:
    case FailureKind::ReadTimeout:
    case FailureKind::WriteFailure:
    case FailureKind::ReadFailure:
    case FailureKind::Timeout:
    case FailureKind::Broken:
    case FailureKind::Internal:
      return true;
  }
  return true;
}

std::string_view name_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::NotConnected:
      return "not connected";
    case FailureKind::NotAllowed:
      return "not allowed";
    case FailureKind::Tls:
      return "tls";
    case FailureKind::Refused:
      return "refused";
    case FailureKind::Unavailable:
      return "unavailable";
    case FailureKind::WriteTimeout:
      return "write timeout";
    case FailureKind::ReadTimeout:
      return "read timeout";
    case FailureKind::WriteFailure:
      return "write failure";
    case FailureKind::ReadFailure:
      return "read failure";
    case FailureKind::Overloaded:
      return "overloaded";
    case FailureKind::Timeout:
      return "timeout";
    case FailureKind::Broken:
      return "connection broken";
    case FailureKind::Misuse:
      return "misuse";
    case FailureKind::Internal:
      return "internal";
    case FailureKind::NotSent:
      return "not sent";
    case FailureKind::NotAvailable:
      return "not available";
  }
  return "internal";
}

Error error_of(const Failure& failure) {
  const std::string name(name_of(failure.kind));
  // Servers and libraries may write several lines.
  std::string text = "cassandra: " + name + ": ";
  for (const char c : failure.message) {
    const bool space = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (!space)
      text += c;
    else if (text.back() != ' ')
      text += ' ';
  }
  return {text, name};
}

}  // namespace noam::cql
