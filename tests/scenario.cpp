#include "tests/scenario.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "noam/model/scalars.h"

namespace noam::tests {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

bool is_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

// `$a`, in a line or as a text inside JSON.
bool is_bound_name(std::string_view text) { return text.size() > 1 && text[0] == '$' && is_name(text.substr(1)); }

// Whatever an engine says can be shown.
template <typename Json>
std::string printed(const Json& json) {
  return json.dump();
}

// A line with those that go on with it.
struct Line {
  std::size_t number = 0;
  std::string text;
  bool after_empty = false;
};

std::vector<Line> lines_of(std::string_view text, std::vector<ScenarioError>& errors) {
  std::vector<Line> lines;
  bool after_empty = false;
  std::size_t number = 0;
  std::size_t last = 0;  // of the lines that are kept
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (std::all_of(line.begin(), line.end(), is_blank)) {
      after_empty = true;
      continue;
    }
    if (line[0] == '#') continue;
    if (!is_blank(line[0])) {
      lines.push_back({number, std::string(line), after_empty});
      last = number;
    } else if (lines.empty() || after_empty) {
      errors.push_back({number, "a line that begins with a blank goes on with the line before it, which is empty"});
    } else {
      // As many line ends as in the text, comments between them too, so that lines can be counted.
      lines.back().text.append(number - last, '\n').append(line);
      last = number;
    }
    after_empty = false;
  }
  return lines;
}

struct Token {
  std::size_t line = 0;
  std::string text;
};

// Where a JSON text that begins at `at` ends; the end of the line where it does not.
std::size_t end_of_quoted(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\')
      ++at;
    else if (text[at] == '"')
      return at + 1;
  }
  return text.size();
}

std::size_t end_of_brackets(std::string_view text, std::size_t at) {
  int depth = 0;
  while (at < text.size()) {
    if (text[at] == '"') {
      at = end_of_quoted(text, at);
      continue;
    }
    if (text[at] == '[' || text[at] == '{') ++depth;
    if (text[at] == ']' || text[at] == '}') --depth;
    ++at;
    if (depth == 0) return at;
  }
  return text.size();
}

// Words separated by blanks; what stands in quotes or brackets is not cut.
std::vector<Token> tokens_of(const Line& line) {
  std::vector<Token> tokens;
  const std::string_view text = line.text;
  std::size_t number = line.number;
  std::size_t at = 0;
  while (true) {
    for (; at < text.size() && is_blank(text[at]); ++at) number += text[at] == '\n' ? 1 : 0;
    if (at == text.size()) return tokens;
    const std::size_t begin = at;
    while (at < text.size() && !is_blank(text[at])) {
      if (text[at] == '"')
        at = end_of_quoted(text, at);
      else if (text[at] == '[' || text[at] == '{')
        at = end_of_brackets(text, at);
      else
        ++at;
    }
    tokens.push_back({number, std::string(text.substr(begin, at - begin))});
    number += static_cast<std::size_t>(std::count(tokens.back().text.begin(), tokens.back().text.end(), '\n'));
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) { lines_ = lines_of(text, out_.errors); }

  ParsedScenario parse() {
    while (at_ < lines_.size()) step();
    if (out_.scenario.model.empty() && out_.errors.empty()) error(1, "a scenario begins with `model <file>`");
    std::stable_sort(out_.errors.begin(), out_.errors.end(),
                     [](const ScenarioError& a, const ScenarioError& b) { return a.line < b.line; });
    return std::move(out_);
  }

 private:
  void error(std::size_t line, std::string message) { out_.errors.push_back({line, std::move(message)}); }

  // One line that is no row, and what belongs to it.
  void step() {
    const Line& line = lines_[at_++];
    std::vector<Token> tokens = tokens_of(line);
    const std::string word = tokens[0].text;
    if (word == "model") return model(line, tokens);
    if (out_.scenario.model.empty()) {
      error(line.number, "a scenario begins with `model <file>`");
      out_.scenario.model = "?";  // said once
    }
    if (word == "clock") return clock(line, tokens);
    if (!now_) {
      error(line.number, "`clock <timestamp>` comes before anything happens");
      now_ = 0;
    }
    if (word == "command" || word == "query" || word == "next") return statement(line, std::move(tokens));
    if (word == "refresh" || word == "expire") return task(line, tokens);
    error(line.number, fmt::format("`{}` begins no line: model, clock, command, query, next, refresh or expire", word));
  }

  void model(const Line& line, const std::vector<Token>& tokens) {
    if (tokens.size() != 2) return error(line.number, "`model` takes the file of the model");
    if (!out_.scenario.model.empty()) return error(line.number, "`model` stands once, at the beginning");
    out_.scenario.model = tokens[1].text;
  }

  void clock(const Line& line, const std::vector<Token>& tokens) {
    const auto time = tokens.size() == 2 ? model::parse_timestamp(tokens[1].text) : std::nullopt;
    if (!time) return error(line.number, "`clock` takes a timestamp such as 2026-03-01T10:00:00.000Z");
    if (now_ && *time < *now_) return error(line.number, "the clock does not go backwards");
    now_ = time;
    Step step;
    step.kind = StepKind::Clock;
    step.line = line.number;
    step.time = *time;
    out_.scenario.steps.push_back(std::move(step));
  }

  void task(const Line& line, const std::vector<Token>& tokens) {
    Step step;
    step.line = line.number;
    step.kind = tokens[0].text == "refresh" ? StepKind::Refresh : StepKind::Expire;
    const std::size_t size = step.kind == StepKind::Refresh ? 2 : 1;
    if (tokens.size() != size)
      return error(line.number, size == 2 ? "`refresh` takes the name of a query" : "`expire` stands alone");
    if (size == 2) step.name = tokens[1].text;
    out_.scenario.steps.push_back(std::move(step));
  }

  void statement(const Line& line, std::vector<Token> tokens) {
    Step step;
    step.line = line.number;
    step.parameters = Json::object();
    const auto dashes =
        std::find_if(tokens.begin(), tokens.end(), [](const Token& token) { return token.text == "----"; });
    std::vector<Token> answer(dashes, tokens.end());
    tokens.erase(dashes, tokens.end());

    if (tokens[0].text == "next") {
      step.kind = StepKind::Next;
      if (tokens.size() > 1) error(line.number, "`next` stands alone");
      if (!paged_)
        error(line.number, "`next` goes on with a query whose rows were said to be `and more`");
      else
        std::tie(step.name, step.parameters) = *paged_;
    } else {
      step.kind = tokens[0].text == "command" ? StepKind::Command : StepKind::Query;
      tokens.erase(tokens.begin());
      if (step.kind == StepKind::Command && !tokens.empty() && tokens[0].text[0] == '@') {
        step.id = tokens[0].text.substr(1);
        if (!is_name(step.id)) error(tokens[0].line, "`@` is followed by a name");
        tokens.erase(tokens.begin());
      }
      if (tokens.empty() || !is_name(tokens[0].text)) {
        error(line.number, "the name of a statement is missing");
      } else {
        step.name = tokens[0].text;
        for (std::size_t i = 1; i < tokens.size(); ++i) parameter(tokens[i], step);
      }
    }

    if (answer.empty() && at_ < lines_.size() && !lines_[at_].after_empty && lines_[at_].text.rfind("----", 0) == 0)
      answer = tokens_of(lines_[at_++]);
    if (answer.empty())
      error(line.number, "an answer must follow: `---- …`");
    else
      expected(answer, step);
    if (step.kind != StepKind::Command) {
      paged_.reset();
      if (step.expected.more) paged_.emplace(step.name, step.parameters);
    }
    out_.scenario.steps.push_back(std::move(step));
  }

  void parameter(const Token& token, Step& step) {
    const std::size_t equals = token.text.find('=');
    const std::string name = token.text.substr(0, equals);
    if (equals == std::string::npos || !is_name(name))
      return error(token.line, fmt::format("`{}` is no `parameter=value`", token.text));
    if (step.parameters.contains(name)) return error(token.line, fmt::format("`{}` is given twice", name));
    step.parameters[name] = value({token.line, token.text.substr(equals + 1)});
  }

  // The tokens from `----` on; rows are in the lines that follow.
  void expected(const std::vector<Token>& answer, Step& step) {
    const std::size_t line = answer[0].line;
    std::vector<std::string> words;
    for (std::size_t i = 1; i < answer.size(); ++i) words.push_back(answer[i].text);
    std::string all;
    for (const std::string& word : words) all += (all.empty() ? "" : " ") + word;
    const bool command = step.kind == StepKind::Command;
    ExpectedAnswer& out = step.expected;
    if (command && !words.empty() && words[0] == "applied") return applied(answer, out);
    if (words.size() == 2 && is_name(words[1]) && words[0] == (command ? "refused" : "error")) {
      out.kind = command ? AnswerKind::Refused : AnswerKind::Error;
      out.code = words[1];
      return;
    }
    out.kind = AnswerKind::Rows;
    out.ordered = all == "rows in order" || all == "rows in order and more";
    out.more = all == "rows in order and more";
    if (!command && (out.ordered || all == "rows")) return rows(line, out);
    if (!command && all == "no rows") return;
    error(line, fmt::format("`{}` is no answer of a {}", all, command ? "command" : "query"));
  }

  void applied(const std::vector<Token>& answer, ExpectedAnswer& out) {
    std::size_t i = 2;
    if (i < answer.size() && answer[i].text == "keys") {
      for (++i; i < answer.size() && (answer[i].text == "_" || is_bound_name(answer[i].text)); ++i) {
        out.keys.push_back(answer[i].text == "_" ? "" : answer[i].text.substr(1));
        if (!out.keys.back().empty()) bound_.insert(answer[i].text);
      }
      if (out.keys.empty()) return error(answer[0].line, "`keys` is followed by names such as $a, or _");
    }
    if (i + 1 < answer.size() && answer[i].text == "count") {
      out.count = model::parse_int(answer[i + 1].text);
      if (!out.count) return error(answer[i + 1].line, "`count` is followed by a number");
      i += 2;
    }
    if (i < answer.size())
      error(answer[i].line, fmt::format("`{}` does not belong here: applied [keys $a _ …] [count n]", answer[i].text));
  }

  void rows(std::size_t line, ExpectedAnswer& out) {
    bool header = true;
    for (; at_ < lines_.size() && !lines_[at_].after_empty; ++at_) {
      const std::vector<Token> cells = tokens_of(lines_[at_]);
      if (header) {
        for (const Token& cell : cells) {
          if (!is_name(cell.text)) error(cell.line, fmt::format("`{}` is no name of a column", cell.text));
          if (std::find(out.columns.begin(), out.columns.end(), cell.text) != out.columns.end())
            error(cell.line, fmt::format("the column `{}` stands twice", cell.text));
          out.columns.push_back(cell.text);
        }
        header = false;
        continue;
      }
      if (cells.size() != out.columns.size()) {
        error(lines_[at_].number, fmt::format("{} values for {} columns", cells.size(), out.columns.size()));
        continue;
      }
      Json row = Json::object();
      for (std::size_t i = 0; i < cells.size(); ++i) row[out.columns[i]] = value(cells[i]);
      out.rows.push_back(std::move(row));
    }
    if (header) return error(line, "the names of the columns are missing");
    if (out.rows.empty()) error(line, "no row follows: say `no rows`");
  }

  Json value(const Token& token) {
    const std::string& text = token.text;
    if (text == "absent") return nullptr;
    if (text == "null") error(token.line, "no value is written `absent`");
    if (text.empty()) error(token.line, "a value is missing; the empty text is written \"\"");
    if (!text.empty() && text[0] == '$' && !is_bound_name(text))
      error(token.line, fmt::format("`{}`: `$` is followed by a name", text));
    std::optional<Json> json = Json::read(text);
    if (!json) {
      if (text.find_first_of("\"[]{}") != std::string::npos) error(token.line, fmt::format("`{}` is no JSON", text));
      json = text;
    }
    bound_names(token.line, *json);
    return std::move(*json);
  }

  void bound_names(std::size_t line, const Json& json) {
    if (json.is_string() && is_bound_name(json.text()) && bound_.count(json.get<std::string>()) == 0)
      error(line, fmt::format("`{}` is bound nowhere above", json.get<std::string>()));
    if (json.is_structured())
      for (const Json& part : json) bound_names(line, part);
  }

  using Paged = std::pair<std::string, Json>;

  std::vector<Line> lines_;
  std::size_t at_ = 0;
  ParsedScenario out_;
  std::optional<std::int64_t> now_;
  std::set<std::string> bound_;  // with their $
  std::optional<Paged> paged_;   // what `next` goes on with
};

class Runner {
 public:
  explicit Runner(Engine& engine) : engine_(engine) {}

  std::vector<ScenarioFailure> run(const Scenario& scenario) {
    for (const Step& step : scenario.steps) {
      switch (step.kind) {
        case StepKind::Clock:
          now_ = step.time;
          engine_.set_time(now_);
          break;
        case StepKind::Refresh:
          engine_.refresh(step.name);
          break;
        case StepKind::Expire:
          engine_.expire();
          break;
        case StepKind::Command:
          command(step);
          break;
        case StepKind::Query:
        case StepKind::Next:
          query(step);
          break;
      }
    }
    return std::move(failures_);
  }

 private:
  void command(const Step& step) {
    Json request{{"run", step.name}, {"params", with_keys(step.parameters)}};
    if (!step.id.empty()) request["id"] = command_id(step.id);
    const Json answer = engine_.answer(request);
    const ExpectedAnswer& expected = step.expected;
    if (expected.kind == AnswerKind::Refused) {
      if (text_member(answer, "outcome") != "refused" || text_member(answer, "code") != expected.code)
        fail(step, "refused " + expected.code, printed(answer));
      return;
    }
    const Json keys = answer.is_object() ? answer.value("keys", Json::array()) : Json::array();
    const Json count = answer.is_object() ? answer.value("count", Json()) : Json();
    bool holds = text_member(answer, "outcome") == "applied" && keys.size() == expected.keys.size() &&
                 count == (expected.count ? Json(*expected.count) : Json());
    for (std::size_t i = 0; holds && i < keys.size(); ++i)
      if (!expected.keys[i].empty()) holds = keys_.emplace("$" + expected.keys[i], keys[i]).first->second == keys[i];
    if (holds) return;
    std::string said = "applied";
    if (!expected.keys.empty()) said += " keys";
    for (const std::string& key : expected.keys) {
      const auto known = keys_.find("$" + key);
      said += key.empty() ? " _" : known == keys_.end() ? " $" + key : " " + printed(known->second);
    }
    if (expected.count) said += fmt::format(" count {}", *expected.count);
    fail(step, said, printed(answer));
  }

  void query(const Step& step) {
    Json request{{"run", step.name}, {"params", with_keys(step.parameters)}};
    if (step.kind == StepKind::Next) {
      if (cursor_.is_null()) return fail(step, "a further page", "the page before had no cursor");
      request["cursor"] = cursor_;
    }
    const Json answer = engine_.answer(request);
    cursor_ = answer.is_object() ? answer.value("cursor", Json()) : Json();
    const ExpectedAnswer& expected = step.expected;
    if (expected.kind == AnswerKind::Error) {
      if (!answer.is_object() || !answer.contains("error") || text_member(answer.at("error"), "code") != expected.code)
        fail(step, "error " + expected.code, printed(answer));
      return;
    }
    if (!answer.is_object() || !answer.contains("rows") || !answer.at("rows").is_array())
      return fail(step, "rows", printed(answer));
    std::vector<std::string> wanted = lines(with_keys(expected.rows));
    std::vector<std::string> found = lines(answer.at("rows"));
    if (!expected.ordered) {
      std::sort(wanted.begin(), wanted.end());
      std::sort(found.begin(), found.end());
    }
    if (wanted != found) return fail(step, joined(wanted), joined(found));
    if (expected.more != !cursor_.is_null())
      fail(step, expected.more ? "rows and a cursor" : "rows without a cursor",
           "the rows, and cursor " + printed(cursor_));
  }

  // Rows as lines that are equal where the rows are: the order of members means nothing, nor does how a number is
  // written (1.0 and 1).
  static std::vector<std::string> lines(const Json& rows) {
    std::vector<std::string> out;
    for (const Json& row : rows) out.push_back(printed(with_plain_numbers(sorted(row))));
    return out;
  }

  static Json with_plain_numbers(Json json) {
    if (json.is_number_float()) {
      const double number = json.get<double>();
      if (number == static_cast<double>(static_cast<std::int64_t>(std::clamp(number, -1e15, 1e15))))
        return static_cast<std::int64_t>(number);
    }
    if (json.is_structured())
      for (Json& part : json) part = with_plain_numbers(std::move(part));
    return json;
  }

  static std::string joined(const std::vector<std::string>& lines) {
    if (lines.empty()) return "no rows";
    std::string out;
    for (const std::string& line : lines) out += "\n    " + line;
    return out;
  }

  Json with_keys(Json json) const {
    if (json.is_string()) {
      const auto known = keys_.find(json.text());
      if (known != keys_.end()) return known->second;
    }
    if (json.is_structured())
      for (Json& part : json) part = with_keys(std::move(part));
    return json;
  }

  static std::string text_member(const Json& json, const char* name) {
    return json.is_object() && json.contains(name) && json.at(name).is_string() ? json.at(name).get<std::string>() : "";
  }

  // A UUIDv7 with the time of the clock; each name another.
  const std::string& command_id(const std::string& name) {
    const auto known = ids_.find(name);
    if (known != ids_.end()) return known->second;
    const auto time = static_cast<std::uint64_t>(now_);
    return ids_
        .emplace(name, fmt::format("{:08x}-{:04x}-7000-8000-{:012x}", time >> 16U, time & 0xffffU, ids_.size() + 1))
        .first->second;
  }

  void fail(const Step& step, std::string expected, std::string found) {
    std::string statement = step.name;
    if (!step.parameters.empty()) statement += " " + printed(step.parameters);
    failures_.push_back({step.line, std::move(statement), std::move(expected), std::move(found)});
  }

  Engine& engine_;
  std::int64_t now_ = 0;
  std::map<std::string, Json> keys_;  // by `$name`
  std::map<std::string, std::string> ids_;
  Json cursor_;
  std::vector<ScenarioFailure> failures_;
};

template <typename Named>
const Named* named(const std::vector<Named>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Named& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

std::size_t Scenario::questions() const {
  return static_cast<std::size_t>(std::count_if(steps.begin(), steps.end(), [](const Step& step) {
    return step.kind == StepKind::Query || step.kind == StepKind::Next;
  }));
}

ParsedScenario parse_scenario(std::string_view text) { return Parser(text).parse(); }

std::vector<ScenarioError> contradictions(const Scenario& scenario, const model::Model& model) {
  std::vector<ScenarioError> errors;
  for (const Step& step : scenario.steps) {
    const bool asks = step.kind == StepKind::Query || step.kind == StepKind::Next || step.kind == StepKind::Refresh;
    const model::Query* query = asks ? named(model.queries, step.name) : nullptr;
    const model::Command* command = step.kind == StepKind::Command ? named(model.commands, step.name) : nullptr;
    if (asks && query == nullptr) errors.push_back({step.line, fmt::format("no query `{}`", step.name)});
    if (step.kind == StepKind::Command && command == nullptr)
      errors.push_back({step.line, fmt::format("no command `{}`", step.name)});
    if (step.kind == StepKind::Refresh && query != nullptr && !query->refresh)
      errors.push_back({step.line, fmt::format("`{}` is not refreshed", step.name)});
    if ((query == nullptr && command == nullptr) || step.kind == StepKind::Refresh) continue;
    for (const auto& parameter : step.parameters.items())
      if (named(query != nullptr ? query->parameters : command->parameters, parameter.key()) == nullptr)
        errors.push_back({step.line, fmt::format("`{}` has no parameter `{}`", step.name, parameter.key())});
    if (query == nullptr || step.expected.kind != AnswerKind::Rows || step.expected.columns.empty()) continue;
    std::vector<std::string> columns = step.expected.columns;
    std::vector<std::string> all = query->row.names;
    std::sort(columns.begin(), columns.end());
    std::sort(all.begin(), all.end());
    if (columns != all)
      errors.push_back(
          {step.line, fmt::format("the columns of `{}` are {}", step.name, fmt::join(query->row.names, ", "))});
    const bool ordered = !query->select.order_by.empty() || query->select.limit;
    if (ordered != step.expected.ordered)
      errors.push_back(
          {step.line, fmt::format("the rows of `{}` come {}", step.name, ordered ? "in order" : "in any order")});
  }
  return errors;
}

std::vector<ScenarioFailure> run_scenario(const Scenario& scenario, Engine& engine) {
  return Runner(engine).run(scenario);
}

std::string to_string(const std::string& file, const ScenarioError& error) {
  return fmt::format("{}:{}: {}", file, error.line, error.message);
}

std::string to_string(const std::string& file, const ScenarioFailure& failure) {
  return fmt::format("{}:{}: {}\n  expected: {}\n  found: {}", file, failure.line, failure.statement, failure.expected,
                     failure.found);
}

}  // namespace noam::tests
