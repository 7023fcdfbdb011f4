#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "noam/base/result.h"

namespace noam::server {

// What the log says about an answered request. Parameters are left out, because they may be secret.
struct LoggedRequest {
  std::string_view method;
  std::string_view path;  // without the query
  std::string_view statement;
  std::string_view client;
  int status = 0;
  std::size_t bytes = 0;  // of the body of the response
  std::chrono::steady_clock::duration took{};
};

// Writes a line of JSON for each request to a file. open_again() opens the file anew, for example after it was moved.
class RequestLog {
 public:
  // `-` is standard error; nothing: no lines.
  static Result<std::unique_ptr<RequestLog>> open(const std::string& path);
  RequestLog(const RequestLog&) = delete;
  RequestLog& operator=(const RequestLog&) = delete;
  ~RequestLog();

  void write(const LoggedRequest& request);
  Result<void> open_again();

 private:
  RequestLog(std::string path, int file) : path_(std::move(path)), file_(file) {}

  const std::string path_;
  std::mutex lock_;
  int file_;
};

}  // namespace noam::server
