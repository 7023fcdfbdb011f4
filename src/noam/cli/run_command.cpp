#include "noam/cli/run_command.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "noam/base/json_text.h"
#include "noam/cli/answers.h"
#include "noam/cli/files.h"
#include "noam/cli/lines.h"
#include "noam/cli/report.h"
#include "noam/language/statements.h"
#include "noam/model/datum_json.h"
#include "noam/model/json_text.h"

namespace noam::cli {

namespace {

// The member `params` of the request: each parameter once, whether from `--params` or as `name=value`.
Result<Json> read_params(const model::Model& model, const language::Statement& statement, const RunOptions& options) {
  Json params = Json::object();
  if (options.params) {
    auto given = parse_json(*options.params);
    if (!given || !given->json.is_object())
      return Error{R"(--params must be a JSON object, for example '{"name": "value"}')"};
    for (const auto& member : given->json.items()) {
      const model::Parameter* parameter = language::find_parameter(statement, member.key());
      if (parameter == nullptr) return language::no_parameter(statement, member.key());
      if (const auto wrong =
              model::refuse_rounded(model, parameter->type, given->rounded, {parameter->name}, parameter->name))
        return Error{wrong->reason};
    }
    params = std::move(given->json);
  }
  for (const std::string& argument : options.arguments) {
    const std::size_t sign = argument.find('=');
    if (sign == std::string::npos) return Error{fmt::format("`{}` is not `name=value`", argument)};
    NOAM_RETURN_IF_ERROR(
        language::add_argument(model, statement, argument.substr(0, sign), argument.substr(sign + 1), params));
  }
  return params;
}

int run_one(runtime::Session& session, const RunOptions& options) {
  const model::Model& model = session.model();
  const std::string all = fmt::format("run `noam show {}` for the list", options.opening.path);
  if (options.statement.empty())
    return complain(fmt::format("no query or command given; {}; or use --batch",
                                language::remedy({}, language::statement_names(model), all)));
  const auto statement = language::find_statement(model, options.statement, all);
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

  Json answer = session.answer(request);
  const int code = exit_code(answer);
  if (options.json) return deliver(answer.dump() + "\n", code);
  language::add_example(model, *statement, request["params"], answer);
  if (answer.contains("error")) {
    complain(error_text(answer));
    return code;
  }
  if (answer.contains("outcome"))
    return deliver(outcome_text(answer) +
                       (code == exit_unknown ? "repeat it with the same --id: it is never applied twice\n" : ""),
                   code);
  std::string out = rows_text(statement->query->row, answer["rows"]);
  if (answer.contains("cursor")) out += fmt::format("more rows: --cursor {}\n", answer["cursor"].get<std::string>());
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
        return complain(fmt::format("standard input: cannot be read: {}", std::strerror(errno)));
      case LineKind::End:
        return exit_fine;
    }
    answer += '\n';
    if (const auto written = write_output(answer); !written) return complain(written.error().message);
  }
}

}  // namespace

int exit_code(const Json& answer) {
  if (answer.contains("error")) {
    const auto& code = answer["error"]["code"];
    return code == "overflow" || code == "broken" ? exit_refused : exit_wrong_use;
  }
  if (!answer.contains("outcome") || answer["outcome"] == "applied") return exit_fine;
  if (answer["outcome"] != "refused") return exit_unknown;
  return answer["code"] == stores::store_code ? exit_wrong_use : exit_refused;
}

Command add_run_command(CommandLine& line, RunOptions& options) {
  Command command = line.add_command("run", "Run a query or a command of a model, or a batch of them");
  add_opening_options(command, options.opening);
  command.add_option("STATEMENT", options.statement, "Query or command to run");
  command.add_option("PARAMETERS", options.arguments,
                     "Parameters as name=value. Texts, numbers, times, uuids and the like are written without quotes, "
                     "other types as JSON. A parameter that is not given is absent");
  command.add_option("--params", options.params, R"(Parameters as JSON: '{"name": "value"}')");
  command.add_option("--id", options.id,
                     "Command id, a UUIDv7. A command repeated with its id is applied once and gets the same answer");
  command.add_option("--cursor", options.cursor, "For a query: return the page after this cursor");
  command.add_option("--after", options.after,
                     "First run the requests of this file, JSON lines as for --batch; `-` for standard input");
  command.add_flag("--json", options.json, "Print the answer as a line of JSON (docs/json.md)");
  command.add_flag("--batch", options.batch,
                   "Read requests from standard input, one per line; print the answers in order, one per line, each "
                   "without delay (docs/json.md)");
  command
      .add_option("--reads", options.reads,
                  "On a store on servers, exact: a query that reads several blocks looks again whether they are of one "
                  "moment; fast: it does not. Default: exact")
      .one_of({"exact", "fast"});
  command.add_flag("--trace", options.opening.trace,
                   "On a store on servers, print the requests and what the servers did for them on standard error");
  command.footer(
      "Rows are printed as a table; if it is too wide, one value per line. `-` is an absent value.\n"
      "`name=null` is the text `null` if the parameter is a text, otherwise absent; `name=` is the empty text.\n"
      "On `memory:` every run starts with an empty store: use --batch to run several statements, or --after to run\n"
      "requests first.\n"
      "Exit codes: 0 applied or answered (with --batch: all lines were answered, whatever the answers); 1 the model\n"
      "has errors; 2 usage error (files, arguments, stores); 3 refused; 4 unknown: repeat it with the same --id.\n"
      "Example: noam run game.noam new_player username=mary first_name=Mary last_name=Wilson\n"
      "         noam run game.noam --batch < requests.jsonl\n"
      "More:    docs/commands/run.md");
  return command;
}

int run_statements(const RunOptions& options) {
  // If the reader of the answers goes away, writing fails and the error is reported.
  std::signal(SIGPIPE, SIG_IGN);
  if (options.batch) {
    if (!options.statement.empty() || options.params || options.id || options.cursor || !options.after.empty())
      return complain("--batch reads the statements from standard input: give none on the command line");
    if (options.opening.path == "-")
      return complain("--batch reads the requests from standard input: the model must be a file");
  }
  if (options.after == "-" && options.opening.path == "-")
    return complain("standard input cannot be both the model and the requests");
  OpeningOptions opening = options.opening;
  if (!options.after.empty()) opening.otherwise = "memory:";
  runtime::SessionOptions session_options;
  if (options.reads == "fast") session_options.reads = runtime::Reads::Fast;
  const Opened opened = open_model(opening, std::move(session_options));
  if (!opened.session) return opened.code;
  return options.batch ? run_batch(*opened.session) : run_one(*opened.session, options);
}

}  // namespace noam::cli
