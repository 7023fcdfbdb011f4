#include "noam/cli/shell_line.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "noam/language/statements.h"

namespace noam::cli {

namespace {

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::size_t after_blanks(std::string_view line, std::size_t at) {
  while (at < line.size() && blank(line[at])) ++at;
  return at;
}

std::size_t end_of_word(std::string_view line, std::size_t at) {
  while (at < line.size() && !blank(line[at])) ++at;
  return at;
}

// Behind the quote that closes the one at `at`; nothing where there is none.
std::optional<std::size_t> end_of_quoted(std::string_view line, std::size_t at) {
  for (++at; at < line.size(); ++at) {
    if (line[at] == '"') return at + 1;
    if (line[at] == '\\') ++at;
  }
  return std::nullopt;
}

// Behind the bracket that closes the one at `at`. Which kind closes which is for the reader of the JSON to say.
std::optional<std::size_t> end_of_brackets(std::string_view line, std::size_t at) {
  std::size_t open = 0;
  while (at < line.size()) {
    const char c = line[at];
    if (c == '"') {
      const auto end = end_of_quoted(line, at);
      if (!end) return std::nullopt;
      at = *end;
      continue;
    }
    if (c == '[' || c == '{') ++open;
    if ((c == ']' || c == '}') && --open == 0) return at + 1;
    ++at;
  }
  return std::nullopt;
}

// Behind the single quote that closes the one at `at`; nothing where there is none.
std::optional<std::size_t> end_of_single_quoted(std::string_view line, std::size_t at) {
  const std::size_t end = line.find('\'', at + 1);
  return end == std::string_view::npos ? std::nullopt : std::optional(end + 1);
}

// Behind a value. Nothing where something is not closed.
std::optional<std::size_t> end_of_value(std::string_view line, std::size_t at) {
  if (at < line.size() && line[at] == '"') return end_of_quoted(line, at);
  if (at < line.size() && line[at] == '\'') return end_of_single_quoted(line, at);
  if (at < line.size() && (line[at] == '[' || line[at] == '{')) return end_of_brackets(line, at);
  return end_of_word(line, at);
}

void append_utf8(std::uint32_t code, std::string& out) {
  const auto byte = [&](std::uint32_t bits) { out += static_cast<char>(bits); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0U | (code >> 6U));
    byte(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    byte(0xE0U | (code >> 12U));
    byte(0x80U | ((code >> 6U) & 0x3FU));
    byte(0x80U | (code & 0x3FU));
  } else {
    byte(0xF0U | (code >> 18U));
    byte(0x80U | ((code >> 12U) & 0x3FU));
    byte(0x80U | ((code >> 6U) & 0x3FU));
    byte(0x80U | (code & 0x3FU));
  }
}

// The digits of `\u{…}`, from the brace on; `at` comes to stand on the last brace.
Result<std::uint32_t> read_code_point(std::string_view raw, std::size_t& at) {
  const Error wrong{R"(invalid escape sequence; a character is written `\u{1F600}`)"};
  const std::size_t end = raw.find('}', at);
  if (at >= raw.size() || raw[at] != '{' || end == std::string_view::npos || end == at + 1 || end > at + 7)
    return wrong;
  std::uint32_t code = 0;
  for (++at; at < end; ++at) {
    const std::size_t digit = std::string_view("0123456789abcdef").find(static_cast<char>(raw[at] | 0x20));
    if (digit == std::string_view::npos) return wrong;
    code = 16 * code + static_cast<std::uint32_t>(digit);
  }
  if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return wrong;
  return code;
}

// What stands between quotes, as in a text of the language.
Result<std::string> unquoted(std::string_view raw) {
  std::string out;
  for (std::size_t at = 1; at + 1 < raw.size(); ++at) {
    if (raw[at] != '\\') {
      out += raw[at];
      continue;
    }
    switch (raw[++at]) {
      case '"':
      case '\\':
        out += raw[at];
        break;
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'u': {
        NOAM_ASSIGN_OR_RETURN(const std::uint32_t code, read_code_point(raw, ++at));
        append_utf8(code, out);
        break;
      }
      default:
        return Error{
            fmt::format(R"(invalid escape sequence `\{}`; use `\"`, `\\`, `\n`, `\t` or `\u{{1F600}}`)", raw[at])};
    }
  }
  return out;
}

Error missing_blank(std::string_view line, std::size_t at) {
  return Error{fmt::format("missing blank before `{}`", line.substr(at, end_of_word(line, at) - at))};
}

// `'name=value'`
Result<TypedArgument> read_quoted_argument(std::string_view line, std::size_t& at) {
  const auto end = end_of_single_quoted(line, at);
  if (!end) return Error{"`'` is not closed"};
  if (*end < line.size() && !blank(line[*end])) return missing_blank(line, *end);
  const std::string_view held = line.substr(at + 1, *end - at - 2);
  const std::size_t sign = held.find('=');
  if (sign == std::string_view::npos) return Error{fmt::format("`{}` is not `name=value`", held)};
  at = *end;
  const std::string value(held.substr(sign + 1));
  return TypedArgument{std::string(held.substr(0, sign)), value, value};
}

Result<TypedArgument> read_argument(std::string_view line, std::size_t& at) {
  if (line[at] == '\'') return read_quoted_argument(line, at);
  const std::size_t word = end_of_word(line, at);
  const std::size_t sign = line.find('=', at);
  if (sign >= word) return Error{fmt::format("`{}` is not `name=value`", line.substr(at, word - at))};
  TypedArgument out;
  out.name = line.substr(at, sign - at);
  const std::size_t begin = sign + 1;
  const auto end = end_of_value(line, begin);
  if (!end)
    return Error{fmt::format("{}: `{}` is not closed{}", out.name, line[begin],
                             line[begin] == '"' ? "" : "; put a text that starts with it in double quotes")};
  if (*end < line.size() && !blank(line[*end]))
    return Error{fmt::format("{}: {}", out.name, missing_blank(line, *end).message)};
  out.raw = line.substr(begin, *end - begin);
  if (begin < line.size() && line[begin] == '\'') out.raw = out.raw.substr(1, out.raw.size() - 2);
  out.text = out.raw;
  if (begin < line.size() && line[begin] == '"') {
    NOAM_ASSIGN_OR_RETURN(out.text, unquoted(out.raw));
  }
  at = *end;
  return out;
}

// A text as it may be typed: in quotes where it has to be, or it was begun with one.
std::string typed(std::string_view text, bool quoted) {
  const bool plain = !text.empty() && text.find_first_of(" \t\r\n\"\\") == std::string_view::npos && text[0] != '[' &&
                     text[0] != '{' && text[0] != '\'';
  if (plain && !quoted) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n' || c == '\t') {
      out += c == '\n' ? "\\n" : "\\t";
      continue;
    }
    out += c;
  }
  return out + '"';
}

// The candidates that begin as the word does. A single one is complete, and the next word may follow.
Completion among(std::string_view line, std::size_t begin, std::vector<std::string> candidates, bool complete_words) {
  Completion out{begin, {}};
  for (std::string& candidate : candidates)
    if (candidate.starts_with(line.substr(begin))) out.candidates.push_back(std::move(candidate));
  if (complete_words && out.candidates.size() == 1) out.candidates[0] += ' ';
  return out;
}

Completion complete_dot_command(const model::Model& model, std::string_view line, std::size_t begin) {
  const std::size_t end = end_of_word(line, begin);
  std::vector<std::string> candidates;
  if (end == line.size()) {
    for (const DotCommandInfo& info : dot_commands()) candidates.emplace_back(info.name);
    return among(line, begin, std::move(candidates), true);
  }
  const std::size_t argument = after_blanks(line, end);
  for (const DotCommandInfo& info : dot_commands()) {
    if (info.name != line.substr(begin, end - begin)) continue;
    if (info.takes == Takes::Switch) candidates = {"off", "on"};
    if (info.takes == Takes::Statement)
      for (const std::string_view name : language::statement_names(model)) candidates.emplace_back(name);
    if (info.takes == Takes::RefreshedQuery)
      for (const model::Query& query : model.queries)
        if (query.refresh) candidates.push_back(query.name);
  }
  std::sort(candidates.begin(), candidates.end());
  return among(line, argument, std::move(candidates), false);
}

Completion complete_value(std::string_view line, std::size_t begin, const model::Type& type) {
  const bool quoted = begin < line.size() && line[begin] == '"';
  std::vector<std::string> candidates;
  if (type.kind == model::TypeKind::Enumeration)
    for (const std::string& name : type.names) candidates.push_back(typed(name, quoted));
  if (type.kind == model::TypeKind::Bool) candidates = {"false", "true"};
  return among(line, begin, std::move(candidates), true);
}

}  // namespace

Result<TypedStatement> read_statement(std::string_view line) {
  TypedStatement out;
  std::size_t at = after_blanks(line, 0);
  const std::size_t end = end_of_word(line, at);
  out.name = line.substr(at, end - at);
  for (at = after_blanks(line, end); at < line.size(); at = after_blanks(line, at)) {
    NOAM_ASSIGN_OR_RETURN(TypedArgument argument, read_argument(line, at));
    out.arguments.push_back(std::move(argument));
  }
  return out;
}

DotCommand read_dot_command(std::string_view line) {
  const std::size_t begin = after_blanks(line, 0);
  const std::size_t end = end_of_word(line, begin);
  const std::size_t argument = after_blanks(line, end);
  std::size_t last = line.size();
  while (last > argument && blank(line[last - 1])) --last;
  return {std::string(line.substr(begin, end - begin)), std::string(line.substr(argument, last - argument))};
}

const std::vector<std::string_view>& shell_words() {
  static const std::vector<std::string_view> all = {"exit", "help", "quit"};
  return all;
}

const std::vector<DotCommandInfo>& dot_commands() {
  static const std::vector<DotCommandInfo> all = {
      {".design", Takes::Nothing, "", "print the design of the store"},
      {".explain", Takes::Statement, "STATEMENT", "print the plan of a statement"},
      {".help", Takes::Nothing, "", "print this help; also `help`"},
      {".json", Takes::Switch, "on|off", "print answers as lines of JSON"},
      {".next", Takes::Nothing, "", "print the next page of the last query"},
      {".quit", Takes::Nothing, "", "leave the shell; also `quit`, `exit` and Ctrl-D"},
      {".read", Takes::File, "FILE", "run the lines of a file"},
      {".refresh", Takes::RefreshedQuery, "QUERY", "run a refreshed query now"},
      {".show", Takes::Statement, "STATEMENT", "print a statement with its types"},
      {".statements", Takes::Nothing, "", "list all statements with their parameters"},
      {".sweep", Takes::Nothing, "", "delete instances past their ttl"},
      {".timing", Takes::Switch, "on|off", "print the time that each answer took"},
      {".verify", Takes::Nothing, "", "compare every copy with its base data"},
      {".wide", Takes::Switch, "on|off", "print wide tables in full; off: one value per line if a table does not fit"},
  };
  return all;
}

Completion complete(const model::Model& model, std::string_view line) {
  const std::size_t begin = after_blanks(line, 0);
  if (begin < line.size() && line[begin] == '.') return complete_dot_command(model, line, begin);
  if (begin < line.size() && line[begin] == '{') return {line.size(), {}};
  const std::size_t end = end_of_word(line, begin);
  std::vector<std::string> candidates;
  if (end == line.size()) {
    for (const std::string_view name : language::statement_names(model)) candidates.emplace_back(name);
    std::sort(candidates.begin(), candidates.end());
    return among(line, begin, std::move(candidates), true);
  }
  const auto statement = language::find_statement(model, line.substr(begin, end - begin), "");
  if (!statement) return {line.size(), {}};
  std::vector<std::string> given;
  std::size_t at = after_blanks(line, end);
  while (at < line.size()) {
    const std::size_t word = end_of_word(line, at);
    const std::size_t sign = line.find('=', at);
    if (sign >= word) {
      if (word == line.size()) break;  // a name that has only begun
      at = after_blanks(line, word);
      continue;
    }
    const std::string name(line.substr(at, sign - at));
    const auto value_end = end_of_value(line, sign + 1);
    if (!value_end || *value_end == line.size()) {
      const model::Parameter* parameter = language::find_parameter(*statement, name);
      return parameter == nullptr ? Completion{line.size(), {}} : complete_value(line, sign + 1, parameter->type);
    }
    given.push_back(name);
    // What stuck to the value belongs to nothing.
    at = after_blanks(line, end_of_word(line, *value_end));
  }
  for (const model::Parameter& parameter : *statement->parameters)
    if (std::find(given.begin(), given.end(), parameter.name) == given.end())
      candidates.push_back(parameter.name + "=");
  return among(line, at, std::move(candidates), false);
}

std::string common_prefix(const std::vector<std::string>& candidates) {
  if (candidates.empty()) return {};
  std::size_t length = candidates[0].size();
  for (const std::string& candidate : candidates) {
    const auto ends = std::mismatch(candidates[0].begin(), candidates[0].end(), candidate.begin(), candidate.end());
    length = std::min(length, static_cast<std::size_t>(ends.first - candidates[0].begin()));
  }
  // Not into a character of several bytes.
  while (length > 0 && length < candidates[0].size() &&
         (static_cast<unsigned char>(candidates[0][length]) & 0xC0U) == 0x80U)
    --length;
  return candidates[0].substr(0, length);
}

}  // namespace noam::cli
