#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "noam/base/result.h"
#include "noam/model/model.h"

// What is typed at the prompt of `noam shell`: how a line is cut, and how it may go on (docs/commands/shell.md).
namespace noam::cli {

// `name=value`. Of a value in double quotes `text` is what they hold, escapes worked out; `raw` is as it was typed. Of
// one in single quotes both are what they hold: there are no escapes.
struct TypedArgument {
  std::string name;
  std::string text;
  std::string raw;

  bool operator==(const TypedArgument&) const = default;
};

struct TypedStatement {
  std::string name;
  std::vector<TypedArgument> arguments;

  bool operator==(const TypedStatement&) const = default;
};

// A statement and its arguments, between blanks. A value in quotes, or one that begins with a bracket, up to the one
// that closes it, may hold blanks; so may an argument that stands in single quotes as a whole. The error is for a
// person.
Result<TypedStatement> read_statement(std::string_view line);

// A dot command and what follows it, without the blanks around: `.read my file` is `.read` and `my file`.
struct DotCommand {
  std::string name;  // with the dot
  std::string argument;

  bool operator==(const DotCommand&) const = default;
};
DotCommand read_dot_command(std::string_view line);

// What may be typed without a dot.
const std::vector<std::string_view>& shell_words();

// What a dot command takes.
enum class Takes : unsigned char { Nothing, Switch, Statement, RefreshedQuery, File };
struct DotCommandInfo {
  std::string_view name;
  Takes takes;
  std::string_view form;  // of the argument
  std::string_view help;
};
const std::vector<DotCommandInfo>& dot_commands();

// How the word at the end of a line may go on: each candidate takes the place of what stands from `begin` on. A single
// one ends with a blank where the word is complete.
struct Completion {
  std::size_t begin = 0;
  std::vector<std::string> candidates;

  bool operator==(const Completion&) const = default;
};
Completion complete(const model::Model& model, std::string_view line);

// What all of them begin with, cut between two characters.
std::string common_prefix(const std::vector<std::string>& candidates);

}  // namespace noam::cli
