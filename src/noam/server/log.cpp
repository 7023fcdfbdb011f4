#include "noam/server/log.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "noam/base/json.h"
#include "noam/model/scalars.h"
#include "noam/runtime/session.h"

namespace noam::server {

namespace {

Result<int> open_file(const std::string& path) {
  if (path.empty()) return -1;
  if (path == "-") return STDERR_FILENO;
  constexpr int mode = 0640;
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, mode);
  if (file < 0) return Error{fmt::format("log `{}`: cannot be written: {}", path, std::strerror(errno))};
  return file;
}

}  // namespace

Result<std::unique_ptr<RequestLog>> RequestLog::open(const std::string& path) {
  NOAM_ASSIGN_OR_RETURN(const int file, open_file(path));
  return std::unique_ptr<RequestLog>(new RequestLog(path, file));
}

RequestLog::~RequestLog() {
  if (file_ > STDERR_FILENO) ::close(file_);
}

Result<void> RequestLog::open_again() {
  NOAM_ASSIGN_OR_RETURN(const int file, open_file(path_));
  const std::lock_guard lock(lock_);
  if (file_ > STDERR_FILENO) ::close(file_);
  file_ = file;
  return {};
}

void RequestLog::write(const LoggedRequest& request) {
  if (path_.empty()) return;
  const double milliseconds = std::chrono::duration<double, std::milli>(request.took).count();
  Json line{{"time", model::print_timestamp(runtime::system_time())},
            {"client", std::string(request.client)},
            {"method", std::string(request.method)},
            {"path", std::string(request.path)}};
  if (!request.statement.empty()) line.add("statement", std::string(request.statement));
  line.add("status", request.status);
  line.add("bytes", request.bytes);
  line.add("ms", static_cast<std::int64_t>(milliseconds * 1'000) / 1'000.0);
  const std::string text = line.dump() + "\n";
  const std::lock_guard lock(lock_);
  // A log that cannot be written is no reason not to answer.
  if (::write(file_, text.data(), text.size()) < 0) return;
}

}  // namespace noam::server
