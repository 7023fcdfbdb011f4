#include <filesystem>

#include <gtest/gtest.h>

#include "tests/console_story.h"
#include "tests/support.h"

namespace noam::tests {

// A reader who does all that docs/tutorial.md says, in an empty folder, sees all that it shows.
TEST(Tutorial, ShowsWhatAReaderSees) {
  const TemporaryFolder folder;
  expect_story(source_dir() / "docs/tutorial.md", folder.path(), 25);
}

}  // namespace noam::tests
