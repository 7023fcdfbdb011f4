#include "tests/support.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace noam::tests {

namespace fs = std::filesystem;

fs::path source_dir() { return NOAM_SOURCE_DIR; }
const char* noam_program() { return NOAM_PROGRAM; }
const char* example_library() { return NOAM_EXAMPLE_LIBRARY; }

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("can't read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("can't write " + path.string());
}

std::vector<fs::path> files_below(const fs::path& folder, std::string_view ending) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(source_dir() / folder))
    if (entry.is_regular_file() && entry.path().extension() == ending) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

ProgramRun run_program(const std::vector<std::string>& command, std::string_view input) {
  // Through files, so that no pipe can fill up while nobody reads it.
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in";
  const fs::path out = folder.path() / "out";
  const fs::path err = folder.path() / "err";
  write_file(in, input);
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open(in.c_str(), O_RDONLY), STDIN_FILENO);
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    // Who names no store means one that begins with nothing.
    ::setenv("NOAM_STORE", "memory:", 1);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  if (child < 0) throw std::runtime_error("can't fork");
  int status = 0;
  ::waitpid(child, &status, 0);
  ProgramRun run;
  run.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.out = read_file(out);
  run.err = read_file(err);
  return run;
}

ProgramRun run_noam(const std::vector<std::string>& arguments, std::string_view input) {
  std::vector<std::string> command{NOAM_PROGRAM};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_program(command, input);
}

std::vector<std::string> command_words(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> out;
  for (std::string word; stream >> word;)
    out.push_back(word.rfind("examples/", 0) == 0 || word.rfind("tests/", 0) == 0 ? (source_dir() / word).string()
                                                                                  : word);
  return out;
}

void expect_transcript(const std::filesystem::path& file) {
  SCOPED_TRACE(file.filename().string());
  const std::string text = read_file(file);
  std::string said;
  for (const std::string& line : lines_of(text)) {
    if (line.rfind("$ noam ", 0) != 0) continue;
    const ProgramRun run = run_noam(command_words(line.substr(7)));
    EXPECT_EQ(run.code, 0) << line << "\n" << run.err;
    said += (said.empty() ? "" : "\n") + line + "\n" + run.out;
  }
  EXPECT_FALSE(said.empty()) << "golden, and without a command";
  if (std::getenv("NOAM_UPDATE_GOLDEN") != nullptr)
    write_file(file, said);
  else
    EXPECT_EQ(text, said);
}

}  // namespace noam::tests
