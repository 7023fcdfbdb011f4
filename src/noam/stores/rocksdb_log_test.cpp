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
  EXPECT_EQ(hidden_damage("", true), std::nullopt);
  EXPECT_EQ(hidden_damage(first + second + third, true), std::nullopt);
}

TEST(RocksdbLog, FindsNothingWhereTheLastRecordWasNotWrittenToItsEnd) {
  const std::string whole = first + second;
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(hidden_damage(whole.substr(0, size), true), std::nullopt) << size;
}

TEST(RocksdbLog, FindsALengthThatIsNotThatOfItsRecord) {
  const std::string whole = first + second + third;
  for (const std::size_t record : {std::size_t{0}, first.size(), first.size() + second.size()}) {
    std::string damaged = whole;
    damaged[record + 5] = '\x80';
    const HiddenDamage expected{HiddenDamage::Of::Length, record};
    EXPECT_EQ(hidden_damage(damaged, true), expected);
    damaged = whole;
    damaged[record + 4] = '\x7F';
    EXPECT_EQ(hidden_damage(damaged, true), expected);
    // RocksDB itself tells where a block is full.
    EXPECT_EQ(hidden_damage(damaged, false), std::nullopt);
  }
}

TEST(RocksdbLog, FindsATypeThatIsNotThatOfItsRecord) {
  const std::string whole = first + second + third;
  for (const std::size_t record : {std::size_t{0}, first.size(), first.size() + second.size()}) {
    for (char type = 5; type <= 8; ++type) {
      std::string damaged = whole;
      damaged[record + 6] = type;
      const HiddenDamage expected{HiddenDamage::Of::Type, record};
      EXPECT_EQ(hidden_damage(damaged, true), expected);
      // Where nothing tells what it was, it may be the end; but not before the last block.
      damaged[record] = static_cast<char>(damaged[record] ^ 1);
      EXPECT_EQ(hidden_damage(damaged, true), std::nullopt);
      EXPECT_EQ(hidden_damage(damaged, false), expected);
    }
  }
}

}  // namespace
}  // namespace noam::stores
