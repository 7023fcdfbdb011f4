#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "noam/base/json.h"
#include "noam/base/json_text.h"
#include "noam/model/command_id.h"
#include "noam/model/model.h"
#include "noam/runtime/session.h"
#include "noam/server/http.h"

// The statements of a model as endpoints of HTTP (docs/http.md).
namespace noam::server {

// The parameter of a URL that has the place in the pages of a query: `cursor`, with underscores before it if the query
// has a parameter of that name.
std::string cursor_name(const model::Query& query);

// Safe to use from several threads.
class Service {
 public:
  // The session must outlive it.
  explicit Service(runtime::Session& session);

  // Carries the request out. What is wrong is in the response.
  [[nodiscard]] Response answer(const Request& request);

  // Lines of JSON, which are answered while they come, and not as one request.
  [[nodiscard]] static bool is_batch(const Request& request);
  // Nothing if it may begin; else the response.
  [[nodiscard]] static std::optional<Response> refuse_batch(const Request& request);
  [[nodiscard]] std::string answer_line(std::string_view line) { return session_.answer_line(line); }

  // Whether the request is answered without waiting for a disk or another machine, by a plan that looks up little.
  [[nodiscard]] bool is_quick(const Request& request) const;

 private:
  struct Asked {
    Json params = Json::object();
    std::vector<RoundedInteger> rounded;
    std::string cursor;
  };

  [[nodiscard]] const model::Query* find_query(std::string_view name) const;
  [[nodiscard]] const model::Command* find_command(std::string_view name) const;
  [[nodiscard]] Response no_statement(const std::string& name, std::string_view wanted) const;
  Response run_query(const Request& request, const model::Query& query,
                     const std::vector<std::pair<std::string, std::string>>& parameters);
  Response run_command(const Request& request, const model::Command& command,
                       const std::vector<std::pair<std::string, std::string>>& parameters);

  runtime::Session& session_;
  std::vector<bool> quick_;                // by query
  std::vector<std::string> cursor_names_;  // by query
  std::string description_;                // OpenAPI
};

}  // namespace noam::server
