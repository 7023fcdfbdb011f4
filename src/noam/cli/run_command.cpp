#include "noam/cli/run_command.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "noam/cli/files.h"
#include "noam/cli/lines.h"
#include "noam/cli/report.h"
#include "noam/language/suggest.h"
#include "noam/model/command_id.h"
#include "noam/model/json_text.h"
#include "noam/model/layout.h"
#include "noam/model/scalars.h"

namespace noam::cli {

namespace {

using Json = nlohmann::ordered_json;
using model::TypeKind;

// A query or a command of the model.
struct Statement {
  const model::Query* query = nullptr;
  const std::vector<model::Parameter>* parameters = nullptr;
};

std::vector<std::string_view> statement_names(const model::Model& model) {
  std::vector<std::string_view> names;
  for (const model::Query& query : model.queries) names.push_back(query.name);
  for (const model::Command& command : model.commands) names.push_back(command.name);
  return names;
}

// `did you mean …?`, or all of them where they are few.
std::string remedy(std::string_view name, const std::vector<std::string_view>& names, std::string_view otherwise) {
  constexpr std::size_t few = 12;
  if (const auto near = language::closest(name, names)) return fmt::format("did you mean `{}`?", *near);
  if (names.empty()) return "there is none";
  return names.size() <= few ? fmt::format("there is {}", fmt::join(names, ", ")) : std::string(otherwise);
}

Result<Statement> find_statement(const model::Model& model, const RunOptions& options) {
  for (const model::Query& query : model.queries)
    if (query.name == options.statement) return Statement{&query, &query.parameters};
  for (const model::Command& command : model.commands)
    if (command.name == options.statement) return Statement{nullptr, &command.parameters};
  const std::string all = fmt::format("`noam show {}` lists them", options.opening.path);
  if (options.statement.empty())
    return Error{fmt::format("which query or command? {}; or --batch", remedy({}, statement_names(model), all))};
  return Error{fmt::format("no query or command `{}`; {}", options.statement,
                           remedy(options.statement, statement_names(model), all))};
}

const model::Parameter* find_parameter(const std::vector<model::Parameter>& parameters, std::string_view name) {
  for (const model::Parameter& parameter : parameters)
    if (parameter.name == name) return &parameter;
  return nullptr;
}

Error no_parameter(const RunOptions& options, const Statement& statement, std::string_view name) {
  std::vector<std::string_view> names;
  for (const model::Parameter& parameter : *statement.parameters) names.push_back(parameter.name);
  return Error{fmt::format("`{}` has no parameter `{}`; {}", options.statement, name,
                           remedy(name, names, "`noam show` lists them"))};
}

// The member `params` of the request: each parameter once, whether from `--params` or as `name=value`.
Result<Json> read_params(const model::Model& model, const Statement& statement, const RunOptions& options) {
  Json params = Json::object();
  if (options.params) {
    auto given = model::parse_json(*options.params);
    if (!given || !given->json.is_object()) return Error{R"(--params is a JSON object, as '{"name": "value"}')"};
    for (const auto& member : given->json.items()) {
      const model::Parameter* parameter = find_parameter(*statement.parameters, member.key());
      if (parameter == nullptr) return no_parameter(options, statement, member.key());
      if (const auto wrong =
              model::refuse_rounded(model, parameter->type, given->rounded, {parameter->name}, parameter->name))
        return Error{wrong->reason};
    }
    params = std::move(given->json);
  }
  for (const std::string& argument : options.arguments) {
    const std::size_t sign = argument.find('=');
    if (sign == std::string::npos) return Error{fmt::format("`{}` is not `name=value`", argument)};
    const std::string name = argument.substr(0, sign);
    const model::Parameter* parameter = find_parameter(*statement.parameters, name);
    if (parameter == nullptr) return no_parameter(options, statement, name);
    if (params.contains(name)) return Error{fmt::format("`{}` is given twice", name)};
    auto value = read_argument(model, parameter->type, argument.substr(sign + 1));
    if (!value) return Error{fmt::format("{}: {}", name, value.error().message)};
    params[name] = std::move(*value);
  }
  return params;
}

// As it stands on a terminal: nothing in it moves the cursor.
std::string visible(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\u{:04x}", byte);
    } else if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {
      out += fmt::format("\\u{:04x}", next);
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string cell_text(const model::Type& type, const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_string() && type.kind != TypeKind::Json) return visible(value.get_ref<const std::string&>());
  return visible(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// `applied, key …`, `refused: … [code]`
std::string outcome_text(const Json& answer) {
  const std::string outcome = answer["outcome"].get<std::string>();
  if (outcome == "refused")
    return fmt::format("refused: {} [{}]\n", visible(answer["reason"].get<std::string>()),
                       answer["code"].get<std::string>());
  if (outcome == "unknown")
    return fmt::format("unknown: {}\nrepeat it with the same --id: it never applies twice\n",
                       visible(answer["reason"].get<std::string>()));
  std::string out = outcome;
  if (answer.contains("keys")) {
    out += answer["keys"].size() == 1 ? ", key" : ", keys";
    for (std::size_t i = 0; i < answer["keys"].size(); ++i)
      out += (i == 0 ? " " : ", ") + cell_text({}, answer["keys"][i]);
  }
  if (answer.contains("count")) out += fmt::format(", {} changed", answer["count"].get<std::int64_t>());
  return out + "\n";
}

int run_one(runtime::Session& session, const RunOptions& options) {
  const model::Model& model = session.model();
  const auto statement = find_statement(model, options);
  if (!statement) return complain(statement.error().message);
  auto params = read_params(model, *statement, options);
  if (!params) return complain(params.error().message);
  Json request{{"run", options.statement}, {"params", std::move(*params)}};
  if (options.id) request["id"] = *options.id;
  if (options.cursor) request["cursor"] = *options.cursor;

  if (!options.after.empty()) {
    const auto before = answer_file(session, options.after);
    if (!before) return complain(before.error().message);
    if (before->refused + before->unknown + before->errors > 0)
      complain(fmt::format("{}: {}", options.after == "-" ? "<stdin>" : options.after, answered_text(*before)));
  }

  const Json answer = session.answer(request);
  const int code = exit_code(answer);
  if (options.json) return deliver(answer.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n", code);
  if (answer.contains("error")) {
    complain(fmt::format("{} [{}]", visible(answer["error"]["reason"].get<std::string>()),
                         answer["error"]["code"].get<std::string>()));
    return code;
  }
  if (answer.contains("outcome")) return deliver(outcome_text(answer), code);
  std::string out = rows_text(statement->query->row, answer["rows"]);
  if (answer.contains("cursor"))
    out += fmt::format("there is more: --cursor {}\n", answer["cursor"].get<std::string>());
  return deliver(out, code);
}

int run_batch(runtime::Session& session) {
  LineReader reader(STDIN_FILENO);
  std::string line;
  while (true) {
    std::string answer;
    switch (reader.next(line)) {
      case LineKind::Line:
        answer = answer_request(session, line);
        break;
      case LineKind::TooLong:
        answer = answer_too_long();
        break;
      case LineKind::Failed:
        return complain(fmt::format("standard input: can't be read: {}", std::strerror(errno)));
      case LineKind::End:
        return exit_fine;
    }
    answer += '\n';
    if (const auto written = write_output(answer); !written) return complain(written.error().message);
  }
}

// `name  value`, a line each.
std::string record_text(const std::vector<std::string>& names, const std::vector<std::string>& cells) {
  std::size_t width = 0;
  for (const std::string& name : names) width = std::max(width, model::display_width(name));
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i)
    out += fmt::format("{}  {}\n", model::pad_right(names[i], width), cells[i]);
  return out;
}

}  // namespace

Result<Json> read_argument(const model::Model& model, const model::Type& type, const std::string& text) {
  switch (type.kind) {
    case TypeKind::Text:
    case TypeKind::Enumeration:
      return Json(text);
    case TypeKind::Reference: {
      const model::Entity& entity = model.entity(type.entity());
      if (entity.key.size() == 1) return read_argument(model, entity.fields[entity.key[0]].type, text);
      break;
    }
    case TypeKind::Int:
      if (const auto number = model::parse_int(text)) return Json(*number);
      break;
    case TypeKind::Float:
      if (const auto number = model::parse_float(text)) return Json(*number);
      break;
    default:
      break;
  }
  model::Type required = type;
  required.optional = false;
  if (text.empty())
    return Error{fmt::format("a value is missing; {} is no text, so nothing is no value", to_string(model, required))};
  auto read = model::parse_json(text);
  if (read)
    if (const auto wrong = model::refuse_rounded(model, type, read->rounded, {}, {})) return Error{wrong->reason};
  Json* const json = read ? &read->json : nullptr;
  switch (type.kind) {
    case TypeKind::Bool:
    case TypeKind::Int:
    case TypeKind::Float:
      return json != nullptr ? std::move(*json) : Json(text);
    case TypeKind::Json:
    case TypeKind::Reference:
    case TypeKind::Value:
    case TypeKind::List:
    case TypeKind::Set:
    case TypeKind::Map:
      if (json == nullptr)
        return Error{fmt::format("{} is given as JSON, and this is none", to_string(model, required))};
      return std::move(*json);
    default:
      // A string in JSON, with its quotes or without. What else JSON may be (1234 and true are base64) is that, too.
      return json != nullptr && (json->is_string() || json->is_null()) ? std::move(*json) : Json(text);
  }
}

int exit_code(const Json& answer) {
  if (answer.contains("error")) return answer["error"]["code"] == "overflow" ? exit_refused : exit_wrong_use;
  if (!answer.contains("outcome") || answer["outcome"] == "applied") return exit_fine;
  return answer["outcome"] == "refused" ? exit_refused : exit_unknown;
}

std::string rows_text(const model::Type& row, const Json& rows) {
  // A single aggregate is its fields.
  const bool aggregate = row.arguments.size() == 1 && row.arguments[0].kind == TypeKind::Row;
  const model::Type& shown = aggregate ? row.arguments[0] : row;
  std::vector<bool> right;
  for (const model::Type& type : shown.arguments) right.push_back(type.is_number());
  model::Table table(right, std::string::npos);
  table.add(shown.names);
  std::vector<std::vector<std::string>> all;
  for (const Json& item : rows) {
    const Json& object = aggregate ? item[row.names[0]] : item;
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < shown.names.size(); ++i)
      cells.push_back(cell_text(shown.arguments[i], object.is_object() ? object[shown.names[i]] : Json()));
    table.add(cells);
    all.push_back(std::move(cells));
  }
  std::string count = fmt::format("({})\n", model::counted(all.size(), "row", "rows"));
  if (all.empty()) return count;
  std::string out = table.print(0);
  std::size_t widest = 0;
  for (std::size_t begin = 0; begin < out.size();) {
    const std::size_t end = out.find('\n', begin);
    widest = std::max(widest, model::display_width(std::string_view(out).substr(begin, end - begin)));
    begin = end + 1;
  }
  if (widest > model::page_width) {
    out.clear();
    for (const auto& cells : all) out += (out.empty() ? "" : "\n") + record_text(shown.names, cells);
  }
  return out + count;
}

CLI::App* add_run_command(CLI::App& app, RunOptions& options) {
  CLI::App* command = app.add_subcommand("run", "Run a query or a command of a model, or many of them");
  add_opening_options(*command, options.opening);
  command->add_option("STATEMENT", options.statement, "The query or command");
  command->add_option("PARAMETERS", options.arguments,
                      "Its parameters as name=value: texts as they are, numbers, times, uuids and the like without "
                      "quotes, everything else as JSON. A parameter left out is absent");
  command->add_option("--params", options.params, R"(Its parameters as JSON: '{"name": "value"}')");
  command->add_option("--id", options.id,
                      "Of a command: a UUIDv7. A repeat with the same id is not applied twice, but answered alike");
  command->add_option("--cursor", options.cursor, "Of a query: the page after the one that ended with this cursor");
  command->add_option(
      "--after", options.after,
      "First run the requests of this file, lines of JSON as --batch takes them; `-` is standard input");
  command->add_flag("--json", options.json, "The answer as a line of JSON (docs/json.md)");
  command->add_flag("--batch", options.batch,
                    "Requests from standard input, one a line; answers on standard output, one a line, in order, each "
                    "written at once (docs/json.md)");
  command->footer(
      "Rows are printed as a table, or where that is too wide one value a line; `-` stands for an absent value.\n"
      "`name=null` is the text `null` where the parameter is a text, else absent; `name=` is the empty text.\n"
      "On `memory:` every run begins with nothing: use --batch to run statements one after another,\n"
      "or --after to run one on what others left.\n"
      "Exit codes: 0 applied or answered (with --batch: all lines are answered, whatever the answers); 1 the model is\n"
      "wrong; 2 wrong use: files, arguments, stores; 3 refused; 4 unknown: repeat it with the same --id.\n"
      "Example: noam run game.noam new_player username=mary first_name=Mary last_name=Wilson\n"
      "         noam run game.noam --batch < requests.jsonl\n"
      "More:    docs/run.md");
  return command;
}

int run_statements(const RunOptions& options) {
  // Who reads the answers may go: then writing fails, and that is said.
  std::signal(SIGPIPE, SIG_IGN);
  if (options.batch) {
    if (!options.statement.empty() || options.params || options.id || options.cursor || !options.after.empty())
      return complain("with --batch the statements come from standard input, none from the command line");
    if (options.opening.path == "-") return complain("with --batch standard input has the requests, not the model");
  }
  if (options.after == "-" && options.opening.path == "-")
    return complain("standard input is the model or the requests, not both");
  const Opened opened = open_model(options.opening);
  if (!opened.session) return opened.code;
  return options.batch ? run_batch(*opened.session) : run_one(*opened.session, options);
}

}  // namespace noam::cli
