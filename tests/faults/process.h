#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

// Other processes: those that are killed, and those that may hang or crash.
namespace noam::tests::faults {

using Instant = std::chrono::steady_clock::time_point;

// How long a child may take before it counts as hanging. Far more than any takes, also under sanitizers.
inline constexpr std::chrono::seconds patience{120};

inline Instant in(std::chrono::microseconds time) { return std::chrono::steady_clock::now() + time; }

// A child process. It never outlives this, nor the test program.
class Process {
 public:
  // `prepare` runs in the child before the program is there: only what is safe after a fork of several threads.
  explicit Process(const std::vector<std::string>& command, const std::function<void()>& prepare = {});
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  // To its standard input. False where nobody reads it.
  bool write(std::string_view text) const;
  void close_input();

  // Takes what it writes until it has closed its outputs, or until then. True: it has closed them.
  bool read_until(Instant limit);
  // The next line of its standard output; none: it ended, or said nothing until then.
  std::optional<std::string> read_line(Instant limit);

  void kill() const;
  // Waits for its end. The exit code, or 128 + the signal that ended it.
  int wait();

  [[nodiscard]] pid_t id() const { return id_; }

  std::string out;  // what it wrote so far, but for the lines that were read
  std::string err;

 private:
  // Waits for more. False: the time is over.
  bool take_some(Instant limit);

  pid_t id_ = -1;
  int code_ = -1;
  int input_ = -1;
  int output_ = -1;
  int errors_ = -1;
};

struct Ended {
  bool hung = false;  // it was killed after `patience`
  int code = -1;      // the exit code; 128 + signal where one ended it
  std::string out;
  std::string err;
};

// Runs a command to its end.
Ended run(const std::vector<std::string>& command, std::string_view input = {},
          const std::function<void()>& prepare = {});
// The program `noam`.
Ended noam(const std::vector<std::string>& arguments, std::string_view input = {},
           const std::function<void()>& prepare = {});

// The same, killed after this time where it has not ended; then its code is `killed`.
Ended noam_killed_after(const std::vector<std::string>& arguments, std::chrono::microseconds time);
inline constexpr int killed = 128 + 9;

// The command line of this test program in another role (roles.h).
std::vector<std::string> as(const std::string& role, const std::vector<std::string>& arguments);

// A number of the environment, else this one. For how much of a test there is.
std::size_t amount(const char* name, std::size_t otherwise);
// NOAM_SEED of the environment, else by chance.
std::uint64_t seed();

}  // namespace noam::tests::faults
