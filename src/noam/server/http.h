#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Requests and responses of HTTP as values, without a network.
namespace noam::server {

// What it points to must outlive it.
struct Request {
  std::string_view method;
  std::string_view target;  // path and query, as they were sent
  std::string_view content_type;
  std::string_view idempotency_key;
  std::string_view authorization;
  std::string_view host;
  std::string_view body;
};

struct Response {
  int status = 200;
  std::string content_type;  // empty: there is no body
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string statement;  // that was run, for the log
  std::string code;       // of a problem
};

// `Not Found`
std::string_view reason_phrase(int status);

// As RFC 9457 has it: what went wrong, for programs by its code, and for people.
Response problem(int status, std::string_view code, const std::string& detail);

// The status of a code of docs/json.md.
int status_of(std::string_view code);

}  // namespace noam::server
