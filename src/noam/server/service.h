#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "noam/base/json.h"
#include "noam/base/json_text.h"
#include "noam/model/command_id.h"
#include "noam/model/model.h"
#include "noam/runtime/session.h"
#include "noam/server/access.h"
#include "noam/server/http.h"
#include "noam/server/metrics.h"
#include "noam/server/url.h"

// The statements of a model as endpoints of HTTP (docs/http.md).
namespace noam::server {

// The parameter of a URL that has the place in the pages of a query: `cursor`, with underscores before it if the query
// has a parameter of that name.
std::string cursor_name(const model::Query& query);

// Safe to use from several threads.
class Service {
 public:
  // The session must outlive it. Everybody may do everything, under any name of this machine.
  explicit Service(runtime::Session& session);

  // From now on: who may do what.
  void set_access(Access access);
  // The names that this machine may be called by; none: any. A page of another site that calls it by a name of its own
  // is refused so.
  void set_hosts(std::vector<std::string> hosts) { hosts_ = std::move(hosts); }

  // Carries the request out. What is wrong is in the response.
  [[nodiscard]] Response answer(const Request& request);

  // Lines of JSON, which are answered while they come, and not as one request.
  [[nodiscard]] static bool is_batch(const Request& request);
  class Batch {
   private:
    friend class Service;
    std::shared_ptr<const Access> access_;
    const Caller* caller_ = nullptr;
  };
  // Who sends it; or the response, if it must not begin.
  [[nodiscard]] std::variant<Batch, Response> begin_batch(const Request& request) const;
  [[nodiscard]] std::string answer_line(const Batch& batch, std::string_view line);

  // Whether the request is answered without waiting for a disk or another machine, by a plan that looks up little.
  [[nodiscard]] bool is_quick(const Request& request) const;

 private:
  struct Asked {
    Json params = Json::object();
    std::vector<RoundedInteger> rounded;
    std::string cursor;
  };

  // Who asks, as long as the access lives. Or the response to somebody unknown.
  [[nodiscard]] std::variant<const Caller*, Response> caller_of(const Request& request, const Access& access) const;
  [[nodiscard]] std::shared_ptr<const Access> access() const;
  [[nodiscard]] std::optional<Response> refuse_host(const Request& request) const;
  [[nodiscard]] bool may_run(const Caller& caller, const model::Query& query) const;
  [[nodiscard]] bool may_run(const Caller& caller, const model::Command& command) const;
  [[nodiscard]] bool may_run(const Caller& caller, std::string_view name) const;
  [[nodiscard]] static Response not_permitted(const Caller& caller, const Access& access, std::string_view what);
  std::string description_for(const Caller& caller);
  Response decide(const Request& request);
  Response answer(const Request& request, const Target& target, const Caller& caller, const Access& access);
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
  std::vector<std::string> hosts_;
  Metrics metrics_;
  mutable std::mutex lock_;
  std::shared_ptr<const Access> access_;
  std::map<std::string, std::string> descriptions_;  // OpenAPI, by caller
};

}  // namespace noam::server
