#include <filesystem>

#include <gtest/gtest.h>

#include "tests/console_story.h"
#include "tests/support.h"

namespace noam::tests {

// A reader who does all that the page says, in an empty folder, sees all that it shows.
TEST(Tutorial, ShowsWhatAReaderSees) {
  const TemporaryFolder folder;
  expect_story(source_dir() / "docs/tutorial.md", folder.path(), 25);
}

TEST(Concepts, ShowsWhatAReaderSees) {
  const TemporaryFolder folder;
  expect_story(source_dir() / "docs/concepts.md", folder.path(), 12);
}

}  // namespace noam::tests
