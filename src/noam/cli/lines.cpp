#include "noam/cli/lines.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "noam/base/json_text.h"
#include "noam/model/json_text.h"
#include "noam/model/layout.h"

namespace noam::cli {

namespace {

constexpr std::size_t longest_upkeep_request = 4096;

std::string error_line(const std::string& code, const std::string& reason) {
  const Json json{{"error", {{"code", code.empty() ? "store" : code}, {"reason", reason}}}};
  return json.dump();
}

std::string refresh(runtime::Session& session, const Json& query) {
  if (!query.is_string()) return error_line("request", "`refresh` must be the name of a refreshed query");
  const auto done = session.refresh(query.get<std::string>());
  if (!done) return error_line(done.error().code, done.error().message);
  return Json{{"outcome", "applied"}}.dump();
}

std::string sweep(runtime::Session& session, const Json& wanted) {
  if (wanted != true) return error_line("request", "`sweep` must be true");
  const auto gone = session.sweep();
  if (!gone) return error_line(gone.error().code, gone.error().message);
  return Json{{"outcome", "applied"}, {"count", *gone}}.dump();
}

// A request of one member, `refresh` or `sweep`. Looks only at lines that may be one, so that others are parsed once.
std::optional<std::string> answer_upkeep(runtime::Session& session, std::string_view line) {
  if (line.size() > longest_upkeep_request) return std::nullopt;
  if (line.find("\"refresh\"") == std::string_view::npos && line.find("\"sweep\"") == std::string_view::npos)
    return std::nullopt;
  const auto read = parse_json(line);
  if (!read || !read->json.is_object() || read->json.size() != 1) return std::nullopt;
  const Json& request = read->json;
  if (request.contains("refresh")) return refresh(session, request["refresh"]);
  if (request.contains("sweep")) return sweep(session, request["sweep"]);
  return std::nullopt;
}

// Opened for reading; closed at the end. Standard input stays open.
class InputFile {
 public:
  explicit InputFile(const std::string& path)
      : descriptor_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~InputFile() {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

void count(const Json& answer, Answered& answered) {
  if (answer.contains("error")) {
    ++answered.errors;
  } else if (answer.contains("rows")) {
    ++answered.queries;
  } else {
    const Json& outcome = answer["outcome"];
    ++(outcome == "applied" ? answered.applied : outcome == "refused" ? answered.refused : answered.unknown);
  }
}

}  // namespace

std::string answer_request(runtime::Session& session, std::string_view line) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos)
    return error_line("request", "an empty line is not a request");
  if (auto answer = answer_upkeep(session, line)) return std::move(*answer);
  return session.answer_line(line);
}

std::string answer_too_long() {
  return error_line("request", fmt::format("the line is longer than {} MiB", longest_line >> 20U));
}

LineKind LineReader::next(std::string& line) {
  std::size_t searched = begin_;
  while (true) {
    const std::size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      const bool too_long = skipping_ || end - begin_ > longest_;
      if (!too_long) line.assign(buffer_, begin_, end - begin_);
      begin_ = end + 1;
      skipping_ = false;
      return too_long ? LineKind::TooLong : LineKind::Line;
    }
    if (skipping_ || buffer_.size() - begin_ > longest_) {
      skipping_ = true;
      begin_ = buffer_.size();
    }
    buffer_.erase(0, begin_);
    begin_ = 0;
    searched = buffer_.size();

    std::array<char, 65536> chunk{};
    ssize_t count = 0;
    do {
      count = ::read(descriptor_, chunk.data(), chunk.size());
    } while (count < 0 && errno == EINTR);
    if (count < 0) return LineKind::Failed;
    if (count > 0) {
      buffer_.append(chunk.data(), static_cast<std::size_t>(count));
      continue;
    }
    if (skipping_) {
      skipping_ = false;
      return LineKind::TooLong;
    }
    if (buffer_.empty()) return LineKind::End;
    line = std::move(buffer_);
    buffer_.clear();
    return LineKind::Line;
  }
}

Result<Answered> answer_file(runtime::Session& session, const std::string& path) {
  const std::string name = path == "-" ? "<stdin>" : path;
  const auto problem = [&] { return Error{fmt::format("{}: cannot be read: {}", name, std::strerror(errno))}; };
  const InputFile file(path);
  if (file.descriptor() < 0) return problem();
  Answered answered;
  LineReader reader(file.descriptor());
  std::string line;
  for (std::size_t number = 1;; ++number) {
    std::string text;
    switch (reader.next(line)) {
      case LineKind::Line:
        text = answer_request(session, line);
        break;
      case LineKind::TooLong:
        text = answer_too_long();
        break;
      case LineKind::Failed:
        return problem();
      case LineKind::End:
        return answered;
    }
    const Json answer = Json::parse(text);
    if (answer.contains("error") && answer["error"]["code"] == "request")
      return Error{fmt::format("{}:{}: {}", name, number, answer["error"]["reason"].get<std::string>())};
    count(answer, answered);
  }
}

std::string answered_text(const Answered& answered) {
  std::vector<std::string> parts;
  const auto add = [&](std::size_t number, std::string_view what) {
    if (number > 0) parts.push_back(fmt::format("{} {}", number, what));
  };
  add(answered.applied, "applied");
  add(answered.refused, "refused");
  add(answered.unknown, "unknown");
  add(answered.queries, "answered");
  add(answered.errors, "not answered");
  const std::size_t all = answered.applied + answered.refused + answered.unknown + answered.queries + answered.errors;
  return fmt::format("{}{}{}", model::counted(all, "request", "requests"), parts.empty() ? "" : ": ",
                     fmt::join(parts, ", "));
}

}  // namespace noam::cli
