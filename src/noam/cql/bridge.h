#pragma once

#include <cstddef>
#include <cstdint>

// The C interface of the Rust library in bridge/. Only session.cpp and response.cpp include this.
//
// All functions may be called from any thread; none throws, and a panic in the driver becomes an outcome of the kind
// Internal. What a call is given it only reads, and does not keep. An outcome is filled by the library and released by
// noam_cql_free; its slices point into it.
namespace noam::cql::bridge {

struct Client;     // a session
struct Statement;  // a prepared statement

struct Slice {
  const std::uint8_t* data;  // of texts: UTF-8, without a zero at the end
  std::size_t size;
};

struct Config {
  Slice contact_points;  // "host:port,…"
  Slice user;            // empty: without authentication
  Slice password;
  Slice datacenter;  // empty: no preference
  Slice ca_file;     // empty: the authorities of the system
  Slice certificate_file;
  Slice key_file;
  Slice certificate_name;
  std::uint8_t tls;
  std::uint8_t verify;       // as cql::Verification
  std::uint8_t compression;  // 1: LZ4
  std::uint16_t consistency;
  std::uint16_t serial_consistency;
  std::uint32_t connections_per_node;
  std::uint32_t threads;
  std::uint32_t connect_timeout_ms;
  std::uint32_t request_timeout_ms;
};

// A statement and its values: `value_count` times an int32 size (-1: null, -2: unset) and so many bytes.
struct Part {
  const Statement* statement;
  Slice values;
  std::uint32_t value_count;
};

inline constexpr std::uint16_t of_session = 0xFFFF;  // as a consistency

struct Request {
  const Part* parts;
  std::uint32_t part_count;  // more than one: a batch
  std::uint32_t timeout_ms;  // 0: that of the session
  std::uint32_t page_size;   // 0: all rows in one answer
  std::uint16_t consistency;
  std::uint16_t serial_consistency;
  std::uint8_t logged;
  std::uint8_t idempotent;
  std::uint8_t conditional;
  std::uint8_t trace;
  Slice paging_state;  // empty: from the beginning
};

struct Outcome {
  std::int32_t kind;      // 0: success; else as cql::FailureKind
  std::int32_t code;      // of the server; -1: not an error of the server
  std::int32_t received;  // as in cql::Failure
  std::int32_t required;
  std::uint32_t row_count;
  std::uint32_t column_count;
  std::uint64_t microseconds;  // that the request took
  Slice message;
  Slice rows;  // row_count times column_count cells: an int32 size (-1: null), and so many bytes
  Slice paging_state;
  std::uint8_t trace_id[16];
  std::uint8_t node[16];  // the coordinator: an IPv6 address, or an IPv4 one as ::ffff:a.b.c.d
  std::uint16_t node_port;
  std::uint8_t write_type;  // as cql::WriteType
  std::uint8_t has_rows;
  std::uint8_t has_more;
  std::uint8_t traced;
  void* owner;
};

struct Counters {
  std::uint64_t in_flight;
  std::uint64_t retries;
};

extern "C" {

// The sizes of Config, Part, Request and Outcome on the other side.
void noam_cql_sizes(std::uint32_t* sizes);

// A session, or null and the reason.
Client* noam_cql_connect(const Config* config, Outcome* outcome);
// No other call may be under way, or come later. Statements may be freed later.
void noam_cql_disconnect(Client* client);

// A statement without values, not prepared. After DDL, waits until all nodes agree on the schema.
void noam_cql_execute(const Client* client, Slice text, std::uint32_t timeout_ms, Outcome* outcome);

// Prepares on every node that is connected. Null and the reason if there is an error.
Statement* noam_cql_prepare(const Client* client, Slice text, std::uint32_t timeout_ms, Outcome* outcome);
void noam_cql_statement_free(Statement* statement);

// Runs all requests, at most `most` at a time, and returns when there are all outcomes, in the order of the requests.
// Requests that are not sent within so many microseconds are not sent.
void noam_cql_run(const Client* client, const Request* requests, std::size_t count, std::size_t most,
                  std::uint64_t microseconds, Outcome* outcomes);

// The trace with this id, as lines in `message`.
void noam_cql_trace(const Client* client, const std::uint8_t* id, std::uint32_t timeout_ms, Outcome* outcome);

void noam_cql_counters(const Client* client, Counters* counters);

Slice noam_cql_column_name(const Outcome* outcome, std::uint32_t index);
Slice noam_cql_column_type(Outcome* outcome, std::uint32_t index);
void noam_cql_free(Outcome* outcome);

}  // extern "C"

}  // namespace noam::cql::bridge
