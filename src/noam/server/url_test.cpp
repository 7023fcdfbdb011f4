#include "noam/server/url.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace noam::server {
namespace {

using Parameters = std::vector<std::pair<std::string, std::string>>;

TEST(Url, HasSegmentsAndParameters) {
  const auto target = parse_target("/q/newest%20posts?name=ann&text=two+words%2B1&empty=&alone&&tags=%5B%22a%22%5D");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, (std::vector<std::string>{"q", "newest posts"}));
  EXPECT_EQ(target->parameters,
            (Parameters{{"name", "ann"}, {"text", "two words+1"}, {"empty", ""}, {"alone", ""}, {"tags", R"(["a"])"}}));
}

TEST(Url, TakesAPlusInAPathForItself) {
  EXPECT_EQ(parse_target("/q/a+b")->path[1], "a+b");
  EXPECT_TRUE(parse_target("/q/a")->parameters.empty());
  EXPECT_EQ(parse_target("/")->path, (std::vector<std::string>{""}));
}

TEST(Url, RefusesWrongEscapes) {
  for (const char* wrong : {"/q/%", "/q/%4", "/q/%zz", "/q/a?x=%g0", "/q/a?x=%+1", "q/a", ""})
    EXPECT_FALSE(parse_target(wrong)) << wrong;
}

TEST(Url, OfWhatWasEscapedIsTheSame) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const auto target = parse_target("/q/" + escaped(all) + "?a=" + escaped(all));
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path[1], all);
  EXPECT_EQ(target->parameters[0].second, all);
}

}  // namespace
}  // namespace noam::server
