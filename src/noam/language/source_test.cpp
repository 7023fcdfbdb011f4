#include "noam/language/source.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace noam::language {
namespace {

TEST(SourceFile, CountsLinesAndColumnsFromOne) {
  const SourceFile file("shop.noam", "entity A\nentity B\n");
  EXPECT_EQ(file.position(0), (Position{1, 1}));
  EXPECT_EQ(file.position(8), (Position{1, 9}));  // the line break belongs to its line
  EXPECT_EQ(file.position(9), (Position{2, 1}));
  EXPECT_EQ(file.position(16), (Position{2, 8}));
  EXPECT_EQ(file.position(18), (Position{3, 1}));
  EXPECT_EQ(file.position(1000), (Position{3, 1}));
  EXPECT_EQ(file.line_count(), 3U);
}

TEST(SourceFile, CountsCodePointsAndNotBytes) {
  const SourceFile file("shop.noam", "größe ε😀x");
  EXPECT_EQ(file.position(static_cast<std::uint32_t>(file.text().find('x'))).column, 9U);
}

TEST(SourceFile, FindsColumnsFarInsideALongLine) {
  std::string text = "first\n";
  for (int i = 0; i < 10'000; ++i) text += "ä-";
  const SourceFile file("long.noam", text);
  EXPECT_EQ(file.position(6), (Position{2, 1}));
  for (const std::uint32_t pair : {1U, 341U, 342U, 5000U, 9999U}) {
    EXPECT_EQ(file.position(6 + pair * 3), (Position{2, 1 + pair * 2}));
    EXPECT_EQ(file.position(6 + pair * 3 + 2), (Position{2, 2 + pair * 2}));
  }
}

TEST(SourceFile, GivesLinesWithoutTheirBreaks) {
  const SourceFile file("shop.noam", "one\r\ntwo\n\nfour\r");
  EXPECT_EQ(file.line(1), "one");
  EXPECT_EQ(file.line(2), "two");
  EXPECT_EQ(file.line(3), "");
  EXPECT_EQ(file.line(4), "four\r");
  EXPECT_EQ(file.line_start(4), 10U);
}

TEST(SourceFile, CutsSpansToTheText) {
  const SourceFile file("shop.noam", "entity");
  EXPECT_EQ(file.text({2, 4}), "ti");
  EXPECT_EQ(file.text({4, 100}), "ty");
  EXPECT_EQ(file.text({50, 100}), "");
}

class ReadSource : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "noam-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const char* name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
};

TEST_F(ReadSource, ReadsAFileAsItLies) {
  std::ofstream(path("a.noam"), std::ios::binary) << "model a\r\n" << std::string(1, '\0') << "\xff";
  const auto source = read_source(path("a.noam"));
  ASSERT_TRUE(source);
  EXPECT_EQ(source.value().text(), std::string_view("model a\r\n\0\xff", 11));
  EXPECT_EQ(source.value().name(), path("a.noam"));
}

TEST_F(ReadSource, SaysInOneLineWhyItCannot) {
  EXPECT_EQ(read_source(path("none.noam")).error().message, path("none.noam") + ": no such file");
  std::ofstream(path("file")) << "x";
  EXPECT_EQ(read_source(path("file") + "/a.noam").error().message, path("file") + "/a.noam: no such file");
  EXPECT_EQ(read_source(path("")).error().message, path("") + ": a directory, not a file");

  std::ofstream(path("large.noam")) << "model large";
  std::filesystem::resize_file(path("large.noam"), max_source_bytes + 1);
  EXPECT_EQ(read_source(path("large.noam")).error().message, path("large.noam") + ": larger than the limit of 64 MiB");

  std::ofstream(path("secret.noam")) << "model secret";
  ASSERT_EQ(chmod(path("secret.noam").c_str(), 0), 0);
  if (geteuid() != 0) {  // the superuser may read everything
    EXPECT_EQ(read_source(path("secret.noam")).error().message, path("secret.noam") + ": no permission to read it");
  }
}

TEST_F(ReadSource, ReadsWhatHasNoSize) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const pid_t writer = fork();
  ASSERT_GE(writer, 0);
  if (writer == 0) {
    std::ofstream(path("pipe")) << std::string(100'000, 'x');
    _exit(0);
  }
  const auto source = read_source(path("pipe"));
  ASSERT_TRUE(source);
  EXPECT_EQ(source.value().text().size(), 100'000U);
}

}  // namespace
}  // namespace noam::language
