#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/temporary_folder.h"

// What several tests across folders need.
namespace noam::tests {

std::filesystem::path source_dir();
const char* noam_program();
const char* example_library();

std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, std::string_view text);

// The files below a folder of the project with this ending, sorted.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder, std::string_view ending);

// Without their line breaks.
std::vector<std::string> lines_of(const std::string& text);

struct ProgramRun {
  int code = -1;  // the exit code; 128 + signal where it was killed
  std::string out;
  std::string err;
};

// Runs the program `noam` with these arguments and this standard input.
ProgramRun run_noam(const std::vector<std::string>& arguments, std::string_view input = {});
ProgramRun run_program(const std::vector<std::string>& command, std::string_view input = {});

// A file of commands after `$ `, from the root of the project, each followed by what it prints until the next one: that
// is what it prints. NOAM_UPDATE_GOLDEN=1 writes what is printed anew; the review reads the difference.
void expect_transcript(const std::filesystem::path& file);
// The words of such a command line, which has no quotes; files of the project from its root.
std::vector<std::string> command_words(const std::string& line);

}  // namespace noam::tests
