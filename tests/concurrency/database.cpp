#include "tests/concurrency/database.h"

#include <cstdlib>
#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "noam/language/diagnostics.h"
#include "noam/language/source.h"
#include "noam/model/command_id.h"
#include "tests/compiled.h"
#include "tests/temporary_store.h"

namespace noam::tests::concurrency {

std::uint64_t run_seed() {
  if (const char* given = std::getenv("NOAM_SEED")) return std::strtoull(given, nullptr, 10);
  return std::random_device{}();
}

std::string command_id(std::uint64_t run, std::uint64_t n) {
  return model::make_command_id(start_time, run, (run << 20U) + n).text();
}

Json request(const std::string& name, Json params, const std::string& id) {
  Json out = {{"run", name}, {"params", std::move(params)}};
  if (!id.empty()) out["id"] = id;
  return out;
}

Database::Database(const std::shared_ptr<const model::Model>& model, const std::string& design)
    : Database(model, design, open_test_store()) {}

Database::Database(const std::shared_ptr<const model::Model>& model, const std::string& design,
                   std::unique_ptr<stores::Store> store)
    : store_(std::move(store)) {
  runtime::SessionOptions options;
  options.clock = [this] { return time_.load(); };
  auto session = open_session(model, design, store_, std::move(options));
  if (session)
    session_ = std::move(*session);
  else
    ADD_FAILURE() << design << ": " << session.error().message;
}

std::string Database::run(const std::string& name, const Json& params, const std::string& id) {
  const Json answer = this->answer(request(name, params, id));
  if (!answer.contains("outcome")) return answer.dump();
  const std::string outcome = answer["outcome"].get<std::string>();
  return outcome == "refused" ? answer["code"].get<std::string>() : outcome;
}

Json Database::rows(const std::string& name, const Json& params) {
  Json answer = this->answer(request(name, params));
  if (answer.contains("rows")) return std::move(answer["rows"]);
  ADD_FAILURE() << name << " " << params.dump() << ": " << answer.dump();
  return Json::array();
}

std::size_t Database::entries(std::uint32_t family) {
  std::size_t count = 0;
  std::string after;
  do {
    const auto page = store_.scan(family, after, nullptr, stores::no_deadline);
    if (!page) {
      ADD_FAILURE() << page.error().message;
      break;
    }
    count += page->items.size();
    after = page->next;
  } while (!after.empty());
  return count;
}

std::string Database::differences() {
  const auto found = session_->verify();
  if (!found) return found.error().message;
  std::string text;
  for (const runtime::Difference& difference : found->differences)
    text += difference.collection + ": " + difference.what + "\n";
  return text;
}

}  // namespace noam::tests::concurrency
