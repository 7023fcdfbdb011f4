#include "tests/faults/process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <random>
#include <stdexcept>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support.h"

namespace noam::tests::faults {

namespace {

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("can't make a pipe");
    from = ends[0];
    to = ends[1];
  }
  int from = -1;
  int to = -1;
};

void close_one(int& file) {
  if (file >= 0) ::close(file);
  file = -1;
}

// Takes what there is. Closes the file at its end.
void take(int& file, std::string& into) {
  std::array<char, 65536> buffer{};
  const ssize_t count = ::read(file, buffer.data(), buffer.size());
  if (count > 0)
    into.append(buffer.data(), static_cast<std::size_t>(count));
  else if (count == 0 || (errno != EINTR && errno != EAGAIN))
    close_one(file);
}

}  // namespace

Process::Process(const std::vector<std::string>& command, const std::function<void()>& prepare) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  // Who names no store means one that begins with nothing.
  ::setenv("NOAM_STORE", "memory:", 1);
  const Pipe input;
  const Pipe output;
  const Pipe errors;
  id_ = ::fork();
  if (id_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(input.from, STDIN_FILENO);
    ::dup2(output.to, STDOUT_FILENO);
    ::dup2(errors.to, STDERR_FILENO);
    ::signal(SIGPIPE, SIG_DFL);
    if (prepare) prepare();
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(input.from);
  ::close(output.to);
  ::close(errors.to);
  input_ = input.to;
  output_ = output.from;
  errors_ = errors.from;
  if (id_ < 0) throw std::runtime_error("can't fork");
}

Process::~Process() {
  if (code_ < 0) {
    kill();
    wait();
  }
  close_one(input_);
  close_one(output_);
  close_one(errors_);
}

bool Process::write(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t written = ::write(input_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void Process::close_input() { close_one(input_); }

bool Process::take_some(Instant limit) {
  const auto left = limit - std::chrono::steady_clock::now();
  if (left <= left.zero()) return false;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
  const timespec time{seconds.count(), std::chrono::nanoseconds(left - seconds).count()};
  std::array<pollfd, 2> files{pollfd{output_, POLLIN, 0}, pollfd{errors_, POLLIN, 0}};
  if (::ppoll(files.data(), files.size(), &time, nullptr) <= 0) return true;
  if (files[0].revents != 0) take(output_, out);
  if (files[1].revents != 0) take(errors_, err);
  return true;
}

bool Process::read_until(Instant limit) {
  while (output_ >= 0 || errors_ >= 0)
    if (!take_some(limit)) return false;
  return true;
}

std::optional<std::string> Process::read_line(Instant limit) {
  while (true) {
    if (const std::size_t end = out.find('\n'); end != std::string::npos) {
      std::string line = out.substr(0, end);
      out.erase(0, end + 1);
      return line;
    }
    if (output_ < 0 || !take_some(limit)) return std::nullopt;
  }
}

void Process::kill() const { ::kill(id_, SIGKILL); }

int Process::wait() {
  if (code_ >= 0) return code_;
  int status = 0;
  while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) continue;
  code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return code_;
}

Ended run(const std::vector<std::string>& command, std::string_view input, const std::function<void()>& prepare) {
  Process process(command, prepare);
  process.write(input);
  process.close_input();
  Ended ended;
  ended.hung = !process.read_until(in(patience));
  if (ended.hung) process.kill();
  ended.code = process.wait();
  ended.out = std::move(process.out);
  ended.err = std::move(process.err);
  return ended;
}

namespace {

std::vector<std::string> of_noam(const std::vector<std::string>& arguments) {
  std::vector<std::string> command{noam_program()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

}  // namespace

Ended noam(const std::vector<std::string>& arguments, std::string_view input, const std::function<void()>& prepare) {
  return run(of_noam(arguments), input, prepare);
}

Ended noam_killed_after(const std::vector<std::string>& arguments, std::chrono::microseconds time) {
  Process process(of_noam(arguments));
  process.close_input();
  if (!process.read_until(in(time))) process.kill();
  Ended ended;
  ended.code = process.wait();
  process.read_until(in(patience));
  ended.out = std::move(process.out);
  ended.err = std::move(process.err);
  return ended;
}

std::vector<std::string> as(const std::string& role, const std::vector<std::string>& arguments) {
  std::vector<std::string> command{"/proc/self/exe", "--role", role};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

std::size_t amount(const char* name, std::size_t otherwise) {
  const char* const given = std::getenv(name);
  return given == nullptr ? otherwise : std::strtoull(given, nullptr, 10);
}

std::uint64_t seed() {
  if (const char* given = std::getenv("NOAM_SEED")) return std::strtoull(given, nullptr, 10);
  return std::random_device{}();
}

}  // namespace noam::tests::faults
