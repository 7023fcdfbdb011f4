#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

// Pages that show a console. A reader types what stands behind `$ ` and sees the lines below it; so does the test.
//
// A console is a fenced block marked `console` or not marked at all, or a block indented by four spaces, with a line
// that begins with `$ `. What is printed ends at the next `$ ` line or at the end of the block. A command may go on:
// after `|` or `\` at the end of its line, or as a here-document (<<'END').
//
// A fenced block whose mark ends in `file=NAME` is the file NAME, which is written where the block stands. `continues`
// in the mark adds the block to what the file holds. `wrong` adds it, too, but the next block goes on without it.
namespace noam::tests {

struct StoryStep {
  enum class Kind {
    File,     // is written
    Command,  // is run, and what it prints is compared
    Folder,   // `cd X`: the commands below run in that folder
    Make,     // `make X`: not run; X is a target of the Makefile
    Other,    // another program: not run
  };
  Kind kind = Kind::Other;
  std::size_t line = 0;              // of the page, from 1
  std::string text;                  // the file; the command with its here-document
  std::string path;                  // of a file or a folder
  bool announced = false;            // a file: the paragraph above names it in backquotes
  std::vector<std::string> targets;  // of `make`

  // What is printed, without empty lines at the end: the lines [begin, end) of the page, indented by `indent`.
  std::vector<std::string> printed;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string indent;
};

// The steps of a page in Markdown, in their order.
std::vector<StoryStep> story_steps(const std::string& markdown);

struct StoryResult {
  std::vector<std::string> differences;  // each with its line and both texts
  std::string updated;                   // the page, with what was printed
  std::size_t commands = 0;              // that were run
};

// Writes the files and runs the commands, each by a shell in `folder`, with noam first on the path and `$?` from the
// command before. `cd` leads to folders below `folder` only, for the commands and files after it. Two things may
// differ: times before a parenthesis that closes, as in `(0.2 s)`, and the size of a folder or file that a line begins
// with, as in `monday: 28 kB`.
StoryResult play_story(const std::string& markdown, const std::filesystem::path& folder);

// Every step of the page is as it is shown; files are announced; what `make` makes is a target of the Makefile; no
// other programs than `others` are shown; and at least `commands` commands are run. NOAM_UPDATE_GOLDEN=1 writes what is
// printed into the page.
void expect_story(const std::filesystem::path& page, const std::filesystem::path& folder, std::size_t commands = 1,
                  const std::vector<std::string>& others = {});

// The names that `make` knows.
std::vector<std::string> make_targets(const std::string& makefile);

}  // namespace noam::tests
