#include "noam/stores/cassandra/place.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace noam::stores::cassandra {

namespace {

constexpr const char* form = "cassandra://HOST,HOST/KEYSPACE?datacenter=NAME";
constexpr const char* password_variable = "NOAM_CASSANDRA_PASSWORD";
constexpr std::size_t longest_keyspace = 48;

Error wrong(const std::string& message) { return Error{message, "value"}; }

// `%20` and the like.
Result<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    unsigned char byte = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (digits.size() != 2 || problem != std::errc() || end != digits.data() + 2)
      return wrong(fmt::format("invalid escape `%{}` in the URL of the store", digits));
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

bool is_keyspace(std::string_view name) {
  const auto one_of = [](char c, bool digits) {
    return (c >= 'a' && c <= 'z') || (digits && (c == '_' || (c >= '0' && c <= '9')));
  };
  return !name.empty() && name.size() <= longest_keyspace && one_of(name[0], false) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return one_of(c, true); });
}

Result<std::chrono::milliseconds> duration(std::string_view name, std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (problem != std::errc() || number == 0 || (unit != "s" && unit != "ms"))
    return wrong(fmt::format("invalid {} `{}`: write a time, for example 12s or 500ms", name, text));
  return std::chrono::milliseconds(unit == "s" ? std::int64_t{number} * 1'000 : number);
}

template <typename Value, std::size_t size>
Result<Value> choice(std::string_view name, std::string_view text,
                     const std::array<std::pair<std::string_view, Value>, size>& choices) {
  std::string list;
  for (const auto& [word, value] : choices) {
    if (word == text) return value;
    list += (list.empty() ? "" : ", ") + std::string(word);
  }
  return wrong(fmt::format("invalid {} `{}`: one of {}", name, text, list));
}

cql::Tls& tls_of(Place& place) {
  if (!place.cluster.tls) place.cluster.tls.emplace();
  return *place.cluster.tls;
}

Result<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) return wrong(fmt::format("the password file `{}` cannot be read", path));
  return line;
}

struct Option {
  std::string_view name;
  Result<void> (*set)(Place& place, const std::string& value);
};

constexpr std::array options = {
    Option{"datacenter",
           [](Place& place, const std::string& value) -> Result<void> {
             place.cluster.datacenter = value;
             return {};
           }},
    Option{"user",
           [](Place& place, const std::string& value) -> Result<void> {
             place.cluster.user = value;
             return {};
           }},
    Option{"password_file",
           [](Place& place, const std::string& value) -> Result<void> {
             NOAM_ASSIGN_OR_RETURN(place.cluster.password, first_line(value));
             return {};
           }},
    // Weaker levels would lose what was acknowledged.
    Option{"consistency",
           [](Place& place, const std::string& value) -> Result<void> {
             constexpr std::array<std::pair<std::string_view, cql::Consistency>, 4> levels = {
                 {{"quorum", cql::Consistency::Quorum},
                  {"local_quorum", cql::Consistency::LocalQuorum},
                  {"each_quorum", cql::Consistency::EachQuorum},
                  {"all", cql::Consistency::All}}};
             NOAM_ASSIGN_OR_RETURN(place.cluster.consistency, choice("consistency", value, levels));
             return {};
           }},
    Option{"serial",
           [](Place& place, const std::string& value) -> Result<void> {
             constexpr std::array<std::pair<std::string_view, cql::SerialConsistency>, 2> levels = {
                 {{"serial", cql::SerialConsistency::Serial}, {"local_serial", cql::SerialConsistency::LocalSerial}}};
             NOAM_ASSIGN_OR_RETURN(place.cluster.serial_consistency, choice("serial", value, levels));
             return {};
           }},
    Option{"replication",
           [](Place& place, const std::string& value) -> Result<void> {
             unsigned number = 0;
             const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
             if (problem != std::errc() || end != value.data() + value.size() || number == 0)
               return wrong(fmt::format("invalid replication `{}`: a number of nodes, for example 3", value));
             place.replication = number;
             return {};
           }},
    Option{"tls",
           [](Place& place, const std::string& value) -> Result<void> {
             constexpr std::array<std::pair<std::string_view, cql::Verification>, 3> checks = {
                 {{"address", cql::Verification::Address},
                  {"name", cql::Verification::Name},
                  {"chain", cql::Verification::Chain}}};
             NOAM_ASSIGN_OR_RETURN(tls_of(place).verification, choice("tls", value, checks));
             return {};
           }},
    Option{"tls_name",
           [](Place& place, const std::string& value) -> Result<void> {
             tls_of(place).name = value;
             tls_of(place).verification = cql::Verification::Name;
             return {};
           }},
    Option{"ca",
           [](Place& place, const std::string& value) -> Result<void> {
             tls_of(place).ca_file = value;
             return {};
           }},
    Option{"certificate",
           [](Place& place, const std::string& value) -> Result<void> {
             tls_of(place).certificate_file = value;
             return {};
           }},
    Option{"key",
           [](Place& place, const std::string& value) -> Result<void> {
             tls_of(place).key_file = value;
             return {};
           }},
    Option{"compression",
           [](Place& place, const std::string& value) -> Result<void> {
             constexpr std::array<std::pair<std::string_view, bool>, 2> kinds = {{{"lz4", true}, {"none", false}}};
             NOAM_ASSIGN_OR_RETURN(place.cluster.compression, choice("compression", value, kinds));
             return {};
           }},
    Option{"connect_timeout",
           [](Place& place, const std::string& value) -> Result<void> {
             NOAM_ASSIGN_OR_RETURN(place.cluster.connect_timeout, duration("connect_timeout", value));
             return {};
           }},
    Option{"request_timeout",
           [](Place& place, const std::string& value) -> Result<void> {
             NOAM_ASSIGN_OR_RETURN(place.cluster.request_timeout, duration("request_timeout", value));
             return {};
           }},
};

Result<void> set_option(Place& place, std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const auto* const option =
      std::find_if(options.begin(), options.end(), [&](const Option& one) { return one.name == name; });
  if (option == options.end()) {
    if (name == "password")
      return wrong(
          fmt::format("a password does not belong in a URL, which others may see; use password_file=FILE or "
                      "the environment variable {}",
                      password_variable));
    std::string list;
    for (const Option& one : options) list += (list.empty() ? "" : ", ") + std::string(one.name);
    return wrong(fmt::format("unknown option `{}` in the URL of the store; options: {}", name, list));
  }
  if (equals == std::string_view::npos || equals + 1 == text.size())
    return wrong(fmt::format("option `{}` of the store has no value; write {}=VALUE", name, name));
  NOAM_ASSIGN_OR_RETURN(const std::string value, decoded(text.substr(equals + 1)));
  return option->set(place, value);
}

}  // namespace

Result<Place> parse_place(std::string_view rest) {
  const auto invalid = [&](const std::string& what) {
    return wrong(fmt::format("store `cassandra:{}`: {}; write {}", rest, what, form));
  };
  if (!rest.starts_with("//")) return invalid("missing `//`");
  std::string_view text = rest.substr(2);
  std::string_view query;
  if (const std::size_t at = text.find('?'); at != std::string_view::npos) {
    query = text.substr(at + 1);
    text = text.substr(0, at);
  }
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash + 1 == text.size()) return invalid("it names no keyspace");
  Place out;
  out.keyspace = std::string(text.substr(slash + 1));
  if (!is_keyspace(out.keyspace))
    return wrong(
        fmt::format("invalid keyspace `{}`: a small letter, and then small letters, digits and `_`, at most {}",
                    out.keyspace, longest_keyspace));
  const std::string_view hosts = text.substr(0, slash);
  if (hosts.empty()) return invalid("it names no host");
  if (hosts.find('@') != std::string_view::npos)
    return wrong(
        fmt::format("user and password do not belong before the host; use ?user=NAME, and password_file=FILE "
                    "or the environment variable {}",
                    password_variable));
  NOAM_ASSIGN_OR_RETURN(out.cluster.contact_points, cql::parse_contact_points(hosts));
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    NOAM_RETURN_IF_ERROR(set_option(out, query.substr(0, end)));
    query = query.substr(std::min(end + 1, query.size()));
  }
  if (!out.cluster.user.empty() && out.cluster.password.empty())
    if (const char* password = std::getenv(password_variable)) out.cluster.password = password;
  NOAM_RETURN_IF_ERROR(cql::validate(out.cluster));
  return out;
}

std::string show(const Place& place) {
  std::string hosts;
  for (const cql::ContactPoint& point : place.cluster.contact_points)
    hosts += (hosts.empty() ? "" : ",") + cql::show(point);
  return fmt::format("cassandra://{}/{}", hosts, place.keyspace);
}

}  // namespace noam::stores::cassandra
