#include "noam/server/service.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <random>

#include <fmt/format.h>

#include "noam/language/statements.h"
#include "noam/server/openapi.h"
#include "noam/server/url.h"

namespace noam::server {

namespace {

using Parameters = std::vector<std::pair<std::string, std::string>>;

// The type without its parameters: `application/json; charset=utf-8` is JSON.
std::string_view media_type(std::string_view text) {
  text = text.substr(0, text.find(';'));
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool is_json(std::string_view content_type) { return media_type(content_type) == "application/json"; }

bool is_lines(std::string_view content_type) {
  const std::string_view type = media_type(content_type);
  return type == "application/x-ndjson" || type == "application/jsonl" || type == "application/json";
}

Response not_allowed(std::string_view method, const std::string& allowed) {
  Response out = problem(405, "request", fmt::format("{} is not allowed here; use {}", method, allowed));
  out.headers.emplace_back("Allow", allowed);
  return out;
}

// In quotes or without.
std::optional<model::CommandId> read_id(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return model::parse_command_id(text);
}

model::CommandId new_id() {
  thread_local std::mt19937_64 random{std::random_device()()};
  return model::make_command_id(runtime::system_time(), random(), random());
}

// A failure, as JSON lines tell it.
Response failure(const std::string& code, const std::string& reason) {
  Response out = problem(status_of(code), code, reason);
  // Worth another try, unless somebody has to mend something first.
  if (code == "unknown" || code == "store") out.headers.emplace_back("Retry-After", "1");
  return out;
}

Response json(std::string body) {
  Response out;
  out.content_type = "application/json";
  out.body = std::move(body);
  return out;
}

}  // namespace

std::string cursor_name(const model::Query& query) {
  std::string name = "cursor";
  while (std::any_of(query.parameters.begin(), query.parameters.end(),
                     [&](const model::Parameter& one) { return one.name == name; }))
    name = "_" + name;
  return name;
}

Service::Service(runtime::Session& session) : session_(session), metrics_(session.model()) {
  const model::Model& model = session.model();
  // A store on other machines is always waited for.
  const bool near = !session.store().capabilities().shared;
  for (std::size_t i = 0; i < model.queries.size(); ++i) {
    const design::Plan& plan = session.program().queries[i];
    constexpr double few_rows = 100;
    quick_.push_back(near && !plan.scans && plan.rows <= few_rows);
    cursor_names_.push_back(cursor_name(model.queries[i]));
  }
  access_ = std::make_shared<const Access>(Access::open_to_all(model));
}

void Service::set_access(Access access) {
  auto made = std::make_shared<const Access>(std::move(access));
  const std::lock_guard lock(lock_);
  access_ = std::move(made);
  descriptions_.clear();
}

std::shared_ptr<const Access> Service::access() const {
  const std::lock_guard lock(lock_);
  return access_;
}

// --- Who asks --------------------------------------------------------------------------------------------------------

std::variant<const Caller*, Response> Service::caller_of(const Request& request, const Access& access) const {
  const auto unknown = [](const std::string& why) {
    Response out = problem(401, "request", why);
    out.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"noam\"");
    return out;
  };
  if (request.authorization.empty()) {
    const Caller& anybody = access.anybody();
    if (!anybody.rights.any()) return unknown("a token is needed: Authorization: Bearer TOKEN");
    return &anybody;
  }
  constexpr std::string_view scheme = "bearer ";
  std::string begin(request.authorization.substr(0, scheme.size()));
  std::transform(begin.begin(), begin.end(), begin.begin(), [](unsigned char c) { return std::tolower(c); });
  if (begin != scheme) return unknown("the header Authorization must be: Bearer TOKEN");
  // Without a file of tokens, any token is accepted.
  if (!access.is_restricted()) return &access.anybody();
  const Caller* const caller = access.caller(request.authorization.substr(scheme.size()));
  if (caller == nullptr) return unknown("the token is unknown");
  return caller;
}

// A name without its port: `localhost:8080`, `[::1]:8080`.
std::optional<Response> Service::refuse_host(const Request& request) const {
  if (hosts_.empty()) return std::nullopt;
  std::string name(request.host);
  const std::size_t bracket = name.rfind(']');
  const std::size_t colon = name.find(':', bracket == std::string::npos ? 0 : bracket);
  if (colon != std::string::npos) name.resize(colon);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (std::find(hosts_.begin(), hosts_.end(), name) != hosts_.end()) return std::nullopt;
  return problem(421, "request", "the header Host has a name that this server does not have; --host NAME adds one");
}

bool Service::may_run(const Caller& caller, const model::Query& query) const {
  return caller.rights.queries[static_cast<std::size_t>(&query - session_.model().queries.data())];
}

bool Service::may_run(const Caller& caller, const model::Command& command) const {
  return caller.rights.commands[static_cast<std::size_t>(&command - session_.model().commands.data())];
}

bool Service::may_run(const Caller& caller, std::string_view name) const {
  if (const model::Query* const query = find_query(name)) return may_run(caller, *query);
  if (const model::Command* const command = find_command(name)) return may_run(caller, *command);
  return true;  // there is nothing to run
}

Response Service::not_permitted(const Caller& caller, const Access& access, std::string_view what) {
  if (&caller != &access.anybody())
    return problem(403, "request", fmt::format("the token `{}` may not use `{}`", caller.name, what));
  Response out = problem(401, "request", fmt::format("`{}` needs a token: Authorization: Bearer TOKEN", what));
  out.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"noam\"");
  return out;
}

std::string Service::description_for(const Caller& caller) {
  {
    const std::lock_guard lock(lock_);
    const auto found = descriptions_.find(caller.name);
    if (found != descriptions_.end()) return found->second;
  }
  std::string made = describe(session_, caller.rights).dump();
  const std::lock_guard lock(lock_);
  return descriptions_.try_emplace(caller.name, std::move(made)).first->second;
}

const model::Query* Service::find_query(std::string_view name) const {
  for (const model::Query& query : session_.model().queries)
    if (query.name == name) return &query;
  return nullptr;
}

const model::Command* Service::find_command(std::string_view name) const {
  for (const model::Command& command : session_.model().commands)
    if (command.name == name) return &command;
  return nullptr;
}

Response Service::no_statement(const std::string& name, std::string_view wanted) const {
  if (wanted == "query" && find_command(name) != nullptr)
    return problem(404, "request", fmt::format("`{}` is a command; use POST /c/{}", name, name));
  if (wanted == "command" && find_query(name) != nullptr)
    return problem(404, "request", fmt::format("`{}` is a query; use GET /q/{}", name, name));
  std::vector<std::string_view> names;
  if (wanted == "query")
    for (const model::Query& query : session_.model().queries) names.push_back(query.name);
  else
    for (const model::Command& command : session_.model().commands) names.push_back(command.name);
  return problem(404, "request",
                 fmt::format("no {} `{}`; {}", wanted, model::shortened(name),
                             language::remedy(name, names, "GET /openapi.json has the list")));
}

bool Service::is_batch(const Request& request) {
  return request.target.substr(0, request.target.find('?')) == "/batch";
}

std::variant<Service::Batch, Response> Service::begin_batch(const Request& request) const {
  if (auto refused = refuse_host(request)) return std::move(*refused);
  Batch out;
  out.access_ = access();
  auto caller = caller_of(request, *out.access_);
  if (auto* const refused = std::get_if<Response>(&caller)) return std::move(*refused);
  out.caller_ = std::get<const Caller*>(caller);
  if (request.method != "POST") return not_allowed(request.method, "POST");
  if (!is_lines(request.content_type))
    return problem(415, "request", "the body must be lines of JSON: Content-Type: application/x-ndjson");
  return out;
}

std::string Service::answer_line(const Batch& batch, std::string_view line) {
  const auto began = std::chrono::steady_clock::now();
  const auto error = [](const std::string& reason) {
    return Json{{"error", {{"code", "request"}, {"reason", reason}}}}.dump();
  };
  const auto request = parse_json(line);
  if (!request) return error("invalid JSON: " + request.error().message);
  std::string name;
  if (request->json.is_object() && request->json.contains("run") && request->json["run"].is_string())
    name = request->json["run"].text();
  if (!may_run(*batch.caller_, name)) return error(fmt::format("`{}` may not use `{}`", batch.caller_->name, name));
  const Json answer = session_.answer(request->json, request->rounded);
  std::string code;
  if (answer.contains("error"))
    code = answer["error"]["code"].text();
  else if (answer.contains("outcome") && answer["outcome"] != "applied")
    code = answer["outcome"] == "refused" ? answer["code"].text() : "unknown";
  metrics_.count(name, code, std::chrono::steady_clock::now() - began);
  return answer.dump();
}

bool Service::is_quick(const Request& request) const {
  constexpr std::string_view queries = "/q/";
  if (request.target.starts_with("/c/")) return false;
  if (!request.target.starts_with(queries)) return true;
  const std::string_view name = request.target.substr(queries.size(), request.target.find('?') - queries.size());
  const model::Query* const query = find_query(name);
  return query == nullptr || quick_[static_cast<std::size_t>(query - session_.model().queries.data())];
}

Response Service::answer(const Request& request) {
  const auto began = std::chrono::steady_clock::now();
  Response out = decide(request);
  if (out.statement.empty())
    metrics_.count_other(out.status);
  else
    metrics_.count(out.statement, out.code, std::chrono::steady_clock::now() - began);
  return out;
}

Response Service::decide(const Request& request) {
  const auto target = parse_target(request.target);
  if (!target) return problem(400, "request", target.error().message);
  const bool reads = request.method == "GET" || request.method == "HEAD";
  // Whoever watches the server has no token, and may call it by its address.
  if (target->path.size() == 1 && (target->path[0] == "healthz" || target->path[0] == "readyz"))
    return reads ? json(R"({"status":"ok"})") : not_allowed(request.method, "GET, HEAD");
  if (auto refused = refuse_host(request)) return std::move(*refused);
  const auto who_may = access();
  auto caller = caller_of(request, *who_may);
  if (auto* const refused = std::get_if<Response>(&caller)) return std::move(*refused);
  return answer(request, *target, *std::get<const Caller*>(caller), *who_may);
}

Response Service::answer(const Request& request, const Target& target, const Caller& caller, const Access& access) {
  const std::vector<std::string>& path = target.path;
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (path.size() == 2 && path[0] == "q") {
    const model::Query* const query = find_query(path[1]);
    if (query == nullptr) return no_statement(path[1], "query");
    if (!may_run(caller, *query)) return not_permitted(caller, access, query->name);
    if (!reads && request.method != "POST") return not_allowed(request.method, "GET, HEAD, POST");
    Response out = run_query(request, *query, target.parameters);
    out.statement = query->name;
    return out;
  }
  if (path.size() == 2 && path[0] == "c") {
    const model::Command* const command = find_command(path[1]);
    if (command == nullptr) return no_statement(path[1], "command");
    if (!may_run(caller, *command)) return not_permitted(caller, access, command->name);
    if (request.method != "POST") return not_allowed(request.method, "POST");
    Response out = run_command(request, *command, target.parameters);
    out.statement = command->name;
    return out;
  }
  if (path.size() == 1 && path[0] == "openapi.json")
    return reads ? json(description_for(caller)) : not_allowed(request.method, "GET, HEAD");
  if (path.size() == 1 && path[0] == "metrics") {
    if (!caller.rights.metrics && !caller.rights.admin) return not_permitted(caller, access, "/metrics");
    if (!reads) return not_allowed(request.method, "GET, HEAD");
    Response out;
    out.content_type = "text/plain; version=0.0.4; charset=utf-8";
    out.body = metrics_.text(session_);
    return out;
  }
  return problem(404, "request", "no such page; GET /openapi.json describes those there are");
}

namespace {

// The parameters of a statement in the body, which is an object.
Result<JsonText> read_body(const Request& request) {
  auto body = parse_json(request.body);
  if (!body) return Error{"the body is no valid JSON: " + body.error().message};
  if (!body->json.is_object()) return Error{"the body must be an object with the parameters"};
  // As they lie in a request of a session.
  for (RoundedInteger& one : body->rounded) one.path.insert(one.path.begin(), std::string("params"));
  return body;
}

Response not_json() {
  return problem(415, "request", "the body must be an object of JSON: Content-Type: application/json");
}

}  // namespace

Response Service::run_query(const Request& request, const model::Query& query, const Parameters& parameters) {
  const model::Model& model = session_.model();
  const std::string& cursor_name = cursor_names_[static_cast<std::size_t>(&query - model.queries.data())];
  const language::Statement statement{query.name, &query, &query.parameters};
  const bool posted = request.method == "POST";
  Asked asked;
  if (posted) {
    if (!is_json(request.content_type)) return not_json();
    auto body = read_body(request);
    if (!body) return problem(400, "request", body.error().message);
    asked.params = std::move(body->json);
    asked.rounded = std::move(body->rounded);
  }
  for (const auto& [name, value] : parameters) {
    if (name == cursor_name) {
      if (!asked.cursor.empty()) return problem(400, "request", fmt::format("`{}` is given twice", name));
      if (value.empty()) return problem(400, "request", fmt::format("`{}` must not be empty", name));
      asked.cursor = value;
      continue;
    }
    if (posted) return problem(400, "request", "the parameters of a POST are in its body, not in the URL");
    const bool known = language::find_parameter(statement, name) != nullptr;
    const auto added = language::add_argument(model, statement, name, value, asked.params);
    if (!added)
      return known && !asked.params.contains(name) ? failure("value", added.error().message)
                                                   : problem(400, "request", added.error().message);
  }
  Json line{{"run", query.name}, {"params", std::move(asked.params)}};
  if (!asked.cursor.empty()) line["cursor"] = asked.cursor;
  Json answer = session_.answer(line, asked.rounded);
  if (answer.contains("error"))
    return failure(answer["error"]["code"].get<std::string>(), answer["error"]["reason"].get<std::string>());
  Response out;
  out.content_type = "application/json";
  if (answer.contains("cursor")) {
    std::string next = fmt::format("/q/{}?", escaped(query.name));
    if (!posted)
      for (const auto& [name, value] : parameters)
        if (name != cursor_name) next += fmt::format("{}={}&", escaped(name), escaped(value));
    next += fmt::format("{}={}", cursor_name, escaped(answer["cursor"].text()));
    out.headers.emplace_back("Link", fmt::format("<{}>; rel=\"next\"", next));
  }
  out.body = answer.dump();
  return out;
}

Response Service::run_command(const Request& request, const model::Command& command, const Parameters& parameters) {
  if (!is_json(request.content_type)) return not_json();
  if (!parameters.empty())
    return problem(400, "request", "the parameters of a command are in its body, not in the URL");
  std::optional<model::CommandId> id;
  if (request.idempotency_key.empty()) {
    id = new_id();
  } else {
    id = read_id(request.idempotency_key);
    if (!id)
      return problem(400, "request", "the header Idempotency-Key must be a UUIDv7 with a time up to the year 9999");
  }
  auto body = read_body(request);
  if (!body) return problem(400, "request", body.error().message);
  const Json line{{"run", command.name}, {"params", std::move(body->json)}, {"id", id->text()}};
  const Json answer = session_.answer(line, body->rounded);
  const auto respond = [&]() -> Response {
    if (answer.contains("error"))
      return failure(answer["error"]["code"].get<std::string>(), answer["error"]["reason"].get<std::string>());
    const std::string outcome = answer["outcome"].get<std::string>();
    if (outcome == "unknown") return failure("unknown", answer["reason"].get<std::string>());
    if (outcome == "refused") return failure(answer["code"].get<std::string>(), answer["reason"].get<std::string>());
    Response out;
    out.content_type = "application/json";
    out.body = answer.dump();
    return out;
  };
  Response out = respond();
  out.headers.emplace_back("Idempotency-Key", id->text());
  return out;
}

}  // namespace noam::server
