// The description of the endpoints: complete, and without loose ends.

#include "noam/server/openapi.h"

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "noam/base/json.h"
#include "noam/server/service.h"
#include "noam/stores/memory.h"
#include "tests/compiled.h"
#include "tests/support.h"

namespace noam::tests {
namespace {

// Every `$ref` leads to something.
void check_references(const Json& document, const Json& part) {
  if (part.is_object()) {
    for (const auto& member : part.items()) {
      if (member.key() == "$ref") {
        const Json* at = &document;
        std::string path = member.value().get<std::string>().substr(2);
        while (at != nullptr && !path.empty()) {
          const std::string step = path.substr(0, path.find('/'));
          path.erase(0, std::min(step.size() + 1, path.size()));
          at = at->is_object() && at->contains(step) ? &at->at(step) : nullptr;
        }
        EXPECT_NE(at, nullptr) << member.value().dump();
      }
      check_references(document, member.value());
    }
  } else if (part.is_array()) {
    for (const Json& element : part) check_references(document, element);
  }
}

TEST(OpenApi, DescribesEveryStatement) {
  for (const char* folder : {"examples", "tests/models"}) {
    for (const auto& path : files_below(folder, ".noam")) {
      SCOPED_TRACE(path.string());
      const auto model = model_of_file(path);
      auto store = stores::open_memory_store();
      auto session = open_session(model, "eao", *store);
      ASSERT_TRUE(session) << session.error().message;
      const Json document = server::describe(**session, server::Access::open_to_all(*model).anybody().rights);
      EXPECT_EQ(document["openapi"], "3.1.0");
      check_references(document, document);
      std::set<std::string> ids;
      for (const model::Query& query : model->queries) {
        ASSERT_TRUE(document["paths"].contains("/q/" + query.name));
        const Json& both = document["paths"]["/q/" + query.name];
        EXPECT_EQ(both["get"]["parameters"].size(), query.parameters.size() + 1);
        EXPECT_EQ(both["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"].size(),
                  query.parameters.size());
        for (const char* method : {"get", "post"})
          EXPECT_TRUE(ids.insert(both[method]["operationId"].get<std::string>()).second);
      }
      for (const model::Command& command : model->commands) {
        ASSERT_TRUE(document["paths"].contains("/c/" + command.name));
        const Json& post = document["paths"]["/c/" + command.name]["post"];
        EXPECT_EQ(post["requestBody"]["content"]["application/json"]["schema"]["properties"].size(),
                  command.parameters.size());
        EXPECT_TRUE(ids.insert(post["operationId"].get<std::string>()).second) << command.name;
      }
    }
  }
}

TEST(OpenApi, IsServed) {
  auto store = stores::open_memory_store();
  auto session = open_session(model_of_file("examples/game/game.noam"), "eao", *store);
  ASSERT_TRUE(session);
  server::Service service(**session);
  server::Request request;
  request.method = "GET";
  request.target = "/openapi.json";
  const server::Response response = service.answer(request);
  EXPECT_EQ(response.status, 200);
  const server::Access all = server::Access::open_to_all((*session)->model());
  EXPECT_EQ(Json::parse(response.body), server::describe(**session, all.anybody().rights));
}

}  // namespace
}  // namespace noam::tests
