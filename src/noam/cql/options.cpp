#include "noam/cql/options.h"

#include <charconv>

#include <fmt/format.h>

namespace noam::cql {

namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (problem != std::errc() || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

// The characters of host names and addresses. A comma would separate two contact points.
bool can_be_host(std::string_view host) {
  return !host.empty() && host.find_first_of(" ,/[]@") == std::string_view::npos;
}

}  // namespace

Result<ContactPoint> parse_contact_point(std::string_view text) {
  const std::string_view all = trimmed(text);
  const auto invalid = [&](std::string_view what) {
    return Error{fmt::format("invalid contact point `{}`: {}", all, what), "value"};
  };
  std::string_view host = all;
  std::optional<std::string_view> port;
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos) return invalid("missing `]`");
    const std::string_view rest = host.substr(end + 1);
    host = host.substr(1, end - 1);
    if (!rest.empty() && !rest.starts_with(':')) return invalid("expected `:` after `]`");
    if (!rest.empty()) port = rest.substr(1);
  } else if (const std::size_t colon = host.find(':'); colon != std::string_view::npos && colon == host.rfind(':')) {
    port = host.substr(colon + 1);
    host = host.substr(0, colon);
  }
  if (!can_be_host(host)) return invalid("expected `host` or `host:port`");
  ContactPoint point{.host = std::string(host)};
  if (port) {
    const auto number = parse_port(*port);
    if (!number) return invalid("a port is a number from 1 to 65535");
    point.port = *number;
  }
  return point;
}

Result<std::vector<ContactPoint>> parse_contact_points(std::string_view text) {
  std::vector<ContactPoint> points;
  while (true) {
    const std::size_t comma = text.find(',');
    NOAM_ASSIGN_OR_RETURN(auto point, parse_contact_point(text.substr(0, comma)));
    points.push_back(std::move(point));
    if (comma == std::string_view::npos) return points;
    text.remove_prefix(comma + 1);
  }
}

std::string show(const ContactPoint& point) {
  const bool brackets = point.host.find(':') != std::string::npos;
  return brackets ? fmt::format("[{}]:{}", point.host, point.port) : fmt::format("{}:{}", point.host, point.port);
}

namespace {

const char* problem_of(const Tls& tls) {
  if (tls.certificate_file.empty() != tls.key_file.empty()) {
    return "a client certificate needs both a certificate file and a key file";
  }
  if (tls.verification == Verification::Name && tls.name.empty()) return "missing name to verify certificates by";
  if (tls.verification != Verification::Name && !tls.name.empty()) {
    return "a name of certificates is given, but certificates are not verified by name";
  }
  return nullptr;
}

const char* problem_of(const Options& options) {
  if (options.contact_points.empty()) return "missing contact point";
  for (const ContactPoint& point : options.contact_points) {
    if (!can_be_host(point.host) || point.port == 0) return "invalid contact point";
  }
  if (options.user.empty() && !options.password.empty()) return "a password is given without a user";
  if (options.consistency == Consistency::Serial || options.consistency == Consistency::LocalSerial) {
    return "the consistency of a session cannot be serial, because writes use it";
  }
  if (options.connect_timeout.count() <= 0 || options.request_timeout.count() <= 0) return "a timeout must be positive";
  if (options.connections_per_node == 0 || options.threads == 0 || options.in_flight == 0) {
    return "connections, threads and requests in flight must be positive";
  }
  return options.tls ? problem_of(*options.tls) : nullptr;
}

}  // namespace

Result<void> validate(const Options& options) {
  if (const char* problem = problem_of(options)) return Error{fmt::format("cassandra: {}", problem), "value"};
  return {};
}

}  // namespace noam::cql
