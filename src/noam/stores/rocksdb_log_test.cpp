#include "noam/stores/rocksdb_log.h"

#include <string>

#include <gtest/gtest.h>

namespace noam::stores {
namespace {

// Three records, behind each other.
const std::string first = std::string("\x85\xD9\x6F\x24\x05\x00\x01", 7) + "first";
const std::string second = std::string("\xCE\xA4\xC9\x59\x0A\x00\x01", 7) + "the second";
const std::string third = std::string("\xB8\x6D\x44\x4E\x01\x00\x01", 7) + "3";

TEST(RocksdbLog, FindsNothingWhereRecordsAreWhole) {
  EXPECT_EQ(mistaken_length(""), std::nullopt);
  EXPECT_EQ(mistaken_length(first + second + third), std::nullopt);
}

TEST(RocksdbLog, FindsNothingWhereTheLastRecordWasNotWrittenToItsEnd) {
  const std::string whole = first + second;
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(mistaken_length(whole.substr(0, size)), std::nullopt) << size;
}

TEST(RocksdbLog, FindsALengthThatIsNotThatOfItsRecord) {
  const std::string whole = first + second + third;
  for (const std::size_t record : {std::size_t{0}, first.size(), first.size() + second.size()}) {
    std::string damaged = whole;
    damaged[record + 5] = '\x80';
    EXPECT_EQ(mistaken_length(damaged), record);
    damaged = whole;
    damaged[record + 4] = '\x7F';
    EXPECT_EQ(mistaken_length(damaged), record);
  }
}

}  // namespace
}  // namespace noam::stores
