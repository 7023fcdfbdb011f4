#include "tests/console_story.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "tests/support.h"

namespace noam::tests {

namespace fs = std::filesystem;

namespace {

using Lines = std::vector<std::string>;

// A stretch of lines of the page that may be a console or a file.
struct Block {
  std::string mark;  // what follows ```
  std::string indent;
  std::size_t begin = 0;
  std::size_t end = 0;
};

bool is_blank(const std::string& line) { return line.find_first_not_of(" \t") == std::string::npos; }

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> out;
  for (std::string word; stream >> word;) out.push_back(word);
  return out;
}

std::vector<Block> blocks_of(const Lines& lines) {
  const std::string four = "    ";
  std::vector<Block> out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("```")) {
      Block block{lines[i].substr(3), "", i + 1, i + 1};
      while (block.end < lines.size() && !lines[block.end].starts_with("```")) ++block.end;
      i = block.end;
      out.push_back(std::move(block));
    } else if (lines[i].starts_with(four) && (i == 0 || is_blank(lines[i - 1]))) {
      Block block{"", four, i, i};
      std::size_t next = i;
      for (; next < lines.size() && (lines[next].starts_with(four) || is_blank(lines[next])); ++next)
        if (!is_blank(lines[next])) block.end = next + 1;
      i = block.end - 1;
      out.push_back(std::move(block));
    }
  }
  return out;
}

// The folder that `cd` leads to from `from`, if it exists and is `top` or below it.
std::optional<fs::path> folder_below(const fs::path& top, const fs::path& from, const std::string& path) {
  const fs::path to = fs::weakly_canonical(from / path);
  const std::string way = to.lexically_relative(fs::weakly_canonical(top)).string();
  if (!fs::is_directory(to) || way.empty() || way.starts_with("..")) return std::nullopt;
  return to;
}

// What else than noam a page may run: programs that are everywhere, and touch nothing outside the folder of the story.
constexpr std::array runnable = {"noam", "cat", "cp", "echo", "head", "ls", "mkdir", "mv", "printf"};

// The word after which a here-document ends.
std::optional<std::string> document_end(const std::string& command) {
  static const std::regex here("<<'?([A-Za-z]+)'?");
  std::smatch found;
  if (!std::regex_search(command, found, here)) return std::nullopt;
  return found[1].str();
}

void classify(StoryStep& step) {
  const std::vector<std::string> words = words_of(step.text);
  if (words.empty()) return;
  if (words[0] == "make") {
    step.kind = StoryStep::Kind::Make;
    for (std::size_t i = 1; i < words.size() && words[i][0] != '#'; ++i)
      if (words[i].find('=') == std::string::npos) step.targets.push_back(words[i]);
  } else if (words[0] == "cd" && words.size() == 2) {
    step.kind = StoryStep::Kind::Folder;
    step.path = words[1];
  } else if (std::find(runnable.begin(), runnable.end(), words[0]) != runnable.end()) {
    step.kind = StoryStep::Kind::Command;
  }
}

void add_console(const Lines& lines, const Block& block, std::vector<StoryStep>& out) {
  const auto shown = [&](std::size_t i) {
    return is_blank(lines[i]) ? std::string() : lines[i].substr(block.indent.size());
  };
  for (std::size_t i = block.begin; i < block.end;) {
    if (!shown(i).starts_with("$ ")) {
      ++i;
      continue;
    }
    StoryStep step;
    step.line = i + 1;
    step.indent = block.indent;
    step.text = shown(i++).substr(2);
    while (i < block.end && (step.text.ends_with("|") || step.text.ends_with("\\"))) step.text += "\n" + shown(i++);
    if (const auto end = document_end(step.text)) {
      bool ended = false;
      for (; i < block.end && !ended; ++i) {
        step.text += "\n" + shown(i);
        ended = shown(i) == *end;
      }
    }
    step.begin = i;
    while (i < block.end && !shown(i).starts_with("$ ")) step.printed.push_back(shown(i++));
    while (!step.printed.empty() && step.printed.back().empty()) step.printed.pop_back();
    step.end = step.begin + step.printed.size();
    classify(step);
    out.push_back(std::move(step));
  }
}

// The paragraph above the line, which may be the very next one or behind an empty line.
bool announced_above(const Lines& lines, std::size_t fence, const std::string& name) {
  std::size_t end = fence;
  while (end > 0 && is_blank(lines[end - 1])) --end;
  for (std::size_t i = end; i > 0 && !is_blank(lines[i - 1]); --i)
    if (lines[i - 1].find("`" + name + "`") != std::string::npos) return true;
  return false;
}

std::string joined(const Lines& lines, std::size_t begin, std::size_t end) {
  std::string out;
  for (std::size_t i = begin; i < end; ++i) out += lines[i] + "\n";
  return out;
}

std::string steady(const std::string& line) {
  static const std::regex time("[0-9.]+ (µs|ms|s)\\)");
  static const std::regex size("^([^ ]+: )[0-9.]+ (B|kB|MB|GB)(?=[ ,]|$)");
  return std::regex_replace(std::regex_replace(line, time, "some time)"), size, "$1some bytes");
}

Lines steady(const Lines& lines) {
  Lines out;
  for (const std::string& line : lines) out.push_back(steady(line));
  return out;
}

Lines printed_by(const std::string& command, const fs::path& folder, int& code) {
  const std::string path = fs::path(noam_program()).parent_path().string();
  const std::string shell = fmt::format(
      "cd '{}' && unset NOAM_STORE && export NOAM_HISTORY= NO_COLOR=1 LC_ALL=C.UTF-8 PATH='{}':\"$PATH\" && exec 2>&1\n"
      "(exit {})\n{}\n",
      folder.string(), path, code, command);
  const ProgramRun run = run_program({"sh", "-c", shell});
  code = run.code;
  Lines out = lines_of(run.out);
  while (!out.empty() && out.back().empty()) out.pop_back();
  return out;
}

}  // namespace

std::vector<StoryStep> story_steps(const std::string& markdown) {
  const Lines lines = lines_of(markdown);
  std::vector<StoryStep> out;
  std::map<std::string, std::string> files;
  for (const Block& block : blocks_of(lines)) {
    const std::vector<std::string> words = words_of(block.mark);
    const bool is_file = !words.empty() && words.back().starts_with("file=");
    if (!is_file) {
      if (words.empty() || words[0] == "console") add_console(lines, block, out);
      continue;
    }
    StoryStep step;
    step.kind = StoryStep::Kind::File;
    step.line = block.begin;
    step.path = words.back().substr(5);
    step.announced = announced_above(lines, block.begin - 1, step.path);
    const auto has = [&](const char* word) { return std::find(words.begin(), words.end(), word) != words.end(); };
    std::string& kept = files[step.path];
    const std::string text = joined(lines, block.begin, block.end);
    step.text = has("continues") || has("wrong") ? kept + text : text;
    if (!has("wrong")) kept = step.text;
    out.push_back(std::move(step));
  }
  return out;
}

StoryResult play_story(const std::string& markdown, const fs::path& folder) {
  StoryResult out;
  const Lines lines = lines_of(markdown);
  std::size_t copied = 0;  // lines of the page that are in `updated`
  int code = 0;
  fs::path here = folder;
  for (const StoryStep& step : story_steps(markdown)) {
    if (step.kind == StoryStep::Kind::File) {
      fs::create_directories((here / step.path).parent_path());
      write_file(here / step.path, step.text);
    }
    if (step.kind == StoryStep::Kind::Folder) {
      const auto to = folder_below(folder, here, step.path);
      if (to)
        here = *to;
      else
        out.differences.push_back(fmt::format("line {}: $ {}\nno such folder in the story\n", step.line, step.text));
    }
    if (step.kind != StoryStep::Kind::Command) continue;
    ++out.commands;
    const Lines printed = printed_by(step.text, here, code);
    if (steady(printed) == steady(step.printed)) continue;
    out.differences.push_back(fmt::format("line {}: $ {}\nshown:\n{}printed:\n{}", step.line, step.text,
                                          joined(step.printed, 0, step.printed.size()),
                                          joined(printed, 0, printed.size())));
    out.updated += joined(lines, copied, step.begin);
    for (const std::string& line : printed) out.updated += line.empty() ? "\n" : step.indent + line + "\n";
    copied = step.end;
  }
  out.updated += joined(lines, copied, lines.size());
  return out;
}

std::vector<std::string> make_targets(const std::string& makefile) {
  std::vector<std::string> out;
  static const std::regex rule("^([a-z][a-z-]*):");
  for (const std::string& line : lines_of(makefile)) {
    std::smatch found;
    if (std::regex_search(line, found, rule)) out.push_back(found[1]);
  }
  return out;
}

void expect_story(const fs::path& page, const fs::path& folder, std::size_t commands, const Lines& others) {
  const std::string markdown = read_file(page);
  const std::string name = page.filename().string();
  const Lines known = make_targets(read_file(source_dir() / "Makefile"));
  const auto contains = [](const Lines& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  for (const StoryStep& step : story_steps(markdown)) {
    SCOPED_TRACE(fmt::format("{}:{}", name, step.line));
    EXPECT_TRUE(step.kind != StoryStep::Kind::File || step.announced) << "the text above does not name " << step.path;
    EXPECT_TRUE(step.kind != StoryStep::Kind::Other || contains(others, words_of(step.text + " ?")[0])) << step.text;
    for (const std::string& target : step.targets)
      EXPECT_TRUE(contains(known, target)) << "the Makefile has no target " << target;
  }
  const StoryResult result = play_story(markdown, folder);
  EXPECT_GE(result.commands, commands) << name;
  if (std::getenv("NOAM_UPDATE_GOLDEN") != nullptr) {
    if (!result.differences.empty()) write_file(page, result.updated);
    return;
  }
  for (const std::string& difference : result.differences) ADD_FAILURE() << name << ", " << difference;
}

}  // namespace noam::tests
