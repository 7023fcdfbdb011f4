#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "noam/base/json.h"
#include "noam/compile/compile.h"
#include "noam/language/codes.h"
#include "noam/language/source.h"
#include "noam/model/scalars.h"
#include "tests/reference/reference.h"

namespace noam::reference {

inline model::Model model_of(const std::string& text) {
  const auto model = compile_model(language::SourceFile("test.noam", "model test\n" + text));
  if (!model) throw std::runtime_error(model.error().message);
  return **model;
}

// A reference evaluator over a small model, and short words for what it answers.
class Session {
 public:
  explicit Session(const std::string& text) : engine_(model_of(text)) { at("2024-05-01T12:00:00Z"); }

  // Sets the clock.
  void at(const std::string& time) { engine_.set_time(*model::parse_timestamp(time)); }

  std::string answer(const std::string& name, const std::string& params = "{}", const std::string& id = "",
                     const std::string& cursor = "") {
    Json request = {{"run", name}, {"params", Json::parse(params)}};
    if (!id.empty()) request["id"] = id;
    if (!cursor.empty()) request["cursor"] = cursor;
    answer_ = engine_.answer(request);
    return answer_.dump();
  }

  // Of a command: `applied`, or the code of its refusal.
  std::string run(const std::string& name, const std::string& params = "{}", const std::string& id = "") {
    answer(name, params, id);
    if (answer_.contains("error")) return "error " + answer_["error"]["code"].get<std::string>();
    const std::string outcome = answer_["outcome"].get<std::string>();
    return outcome == "refused" ? answer_["code"].get<std::string>() : outcome;
  }

  // Of a query: its rows, or `error` and the code.
  std::string rows(const std::string& name, const std::string& params = "{}", const std::string& cursor = "") {
    answer(name, params, "", cursor);
    if (answer_.contains("error")) return "error " + answer_["error"]["code"].get<std::string>();
    return answer_["rows"].dump();
  }

  // Of the last answer.
  [[nodiscard]] std::string cursor() const { return answer_.value("cursor", ""); }
  [[nodiscard]] std::string key(std::size_t at = 0) const { return answer_["keys"][at].get<std::string>(); }
  [[nodiscard]] std::size_t keys() const { return answer_.contains("keys") ? answer_["keys"].size() : 0; }

  [[nodiscard]] std::string dump() const { return engine_.dump().dump(); }
  Reference& engine() { return engine_; }

 private:
  Reference engine_;
  Json answer_;
};

}  // namespace noam::reference
