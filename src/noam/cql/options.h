#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "noam/base/result.h"

namespace noam::cql {

// How many replicas must answer; the numbers are those of the protocol.
enum class Consistency : std::uint16_t {
  Any = 0,
  One = 1,
  Two = 2,
  Three = 3,
  Quorum = 4,
  All = 5,
  LocalQuorum = 6,
  EachQuorum = 7,
  Serial = 8,       // of reads only
  LocalSerial = 9,  // of reads only
  LocalOne = 10,
};

// Who decides on a condition: a quorum of all replicas, or of those in one datacenter.
enum class SerialConsistency : std::uint16_t { Serial = 8, LocalSerial = 9 };

struct ContactPoint {
  std::string host = {};  // a name or an address; an IPv6 address without brackets
  std::uint16_t port = 9042;

  bool operator==(const ContactPoint&) const = default;
};

// What the certificate of a node must say, besides being signed by a trusted authority.
enum class Verification : std::uint8_t {
  Chain,    // nothing more
  Address,  // the address of the node
  Name,     // `Tls::name`
};

// Files are in PEM format.
struct Tls {
  std::string ca_file = {};           // the authorities to trust, and no others; empty: those of the system
  std::string certificate_file = {};  // of the client; empty: none
  std::string key_file = {};          // of the client
  Verification verification = Verification::Address;
  std::string name = {};  // a DNS name; `.ring.example` stands for every name that ends with it

  bool operator==(const Tls&) const = default;
};

struct Options {
  std::vector<ContactPoint> contact_points = {};  // the other nodes are found from these
  std::string datacenter = {};                    // its nodes are asked first; empty: all are alike
  std::string user = {};                          // empty: without authentication
  std::string password = {};
  std::optional<Tls> tls = std::nullopt;
  bool compression = false;  // LZ4
  Consistency consistency = Consistency::Quorum;
  SerialConsistency serial_consistency = SerialConsistency::Serial;
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds request_timeout{12'000};  // longer than the timeouts of the server
  std::uint32_t connections_per_node = 1;
  std::uint32_t threads = 1;       // of the driver; one serves tens of thousands of requests a second
  std::uint32_t in_flight = 1024;  // most requests of one call that are sent and not answered

  bool operator==(const Options&) const = default;
};

// `host`, `host:port`, `address`, `[IPv6 address]:port`, or an IPv6 address alone.
Result<ContactPoint> parse_contact_point(std::string_view text);
// Several, separated by commas.
Result<std::vector<ContactPoint>> parse_contact_points(std::string_view text);
std::string show(const ContactPoint& point);  // with its port; an IPv6 address in brackets

// What can be found wrong with options without connecting.
Result<void> validate(const Options& options);

}  // namespace noam::cql
