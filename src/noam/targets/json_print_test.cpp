#include "noam/targets/json_print.h"

#include <gtest/gtest.h>

#include "noam/base/json.h"

namespace noam::targets {
namespace {

TEST(PrintJson, KeepsInALineWhatFits) {
  EXPECT_EQ(print_json(Json::parse(R"({"a":[1,"x"],"b":{}})")), R"({"a": [1, "x"], "b": {}})");
  EXPECT_EQ(print_json(Json("plain")), R"("plain")");
}

TEST(PrintJson, BreaksWhatDoesNot) {
  EXPECT_EQ(print_json(Json::parse(R"({"first":{"S":"mary"},"list":[1,2]})"), 20),
            "{\n  \"first\": {\n    \"S\": \"mary\"\n  },\n  \"list\": [1, 2]\n}");
}

}  // namespace
}  // namespace noam::targets
