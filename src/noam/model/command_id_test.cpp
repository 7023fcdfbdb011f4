#include "noam/model/command_id.h"

#include <cstdint>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "noam/model/datum.h"
#include "noam/model/scalars.h"

namespace noam::model {
namespace {

const CommandId id = parse_command_id("0198c1f2-7b1a-7cc0-8a3b-0123456789ab").value();

std::int64_t milliseconds_of_timeuuid(const std::string& sortable) {
  std::uint64_t time = 0;
  for (std::size_t i = 0; i < 8; ++i) time = (time << 8U) | static_cast<unsigned char>(sortable[i]);
  time &= (std::uint64_t{1} << 60U) - 1;
  return static_cast<std::int64_t>((time - 0x01B21DD213814000) / 10'000);
}

TEST(CommandId, IsReadAndPrinted) {
  EXPECT_EQ(id.text(), "0198c1f2-7b1a-7cc0-8a3b-0123456789ab");
  EXPECT_EQ(parse_command_id("0198C1F2-7B1A-7CC0-8A3B-0123456789AB"), id);
  EXPECT_EQ(print_timestamp(id.milliseconds()), "2025-08-19T10:49:10.682Z");
}

TEST(CommandId, IsOfVersion7) {
  for (const auto* text : {"", "x", "0198c1f2-7b1a-4cc0-8a3b-0123456789ab", "0198c1f2-7b1a-7cc0-0a3b-0123456789ab",
                           "0198c1f2-7b1a-7cc0-ca3b-0123456789ab", "0198c1f2-7b1a-7cc0-8a3b-0123456789a"}) {
    EXPECT_EQ(parse_command_id(text), std::nullopt) << text;
  }
}

TEST(CommandId, IsOfATimeThatIsATimestamp) {
  EXPECT_EQ(print_timestamp(last_command_time), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(parse_command_id("e677d21f-dbff-7000-8000-000000000000")->milliseconds(), last_command_time);
  EXPECT_EQ(parse_command_id("e677d21f-dc00-7000-8000-000000000000"), std::nullopt);
  EXPECT_EQ(parse_command_id("ffffffff-ffff-7fff-bfff-ffffffffffff"), std::nullopt);
}

TEST(CommandId, IsMadeOfATimeAndRandomBits) {
  const CommandId made = make_command_id(1'700'000'000'123, 0x0123'4567'89AB'CDEF, 0xFEDC'BA98'7654'3210);
  EXPECT_EQ(made.milliseconds(), 1'700'000'000'123);
  EXPECT_EQ(parse_command_id(made.text()), made);
  EXPECT_EQ(made.text(), "018bcfe5-687b-7def-bedc-ba9876543210");
  EXPECT_EQ(make_command_id(0, 0, 0).text(), "00000000-0000-7000-8000-000000000000");
}

TEST(CommandId, HasPartsOfItsTime) {
  std::set<std::string> parts = {id.text()};
  for (std::uint64_t n = 0; n < 1000; ++n) {
    const CommandId part = part_of(id, n);
    EXPECT_EQ(part.milliseconds(), id.milliseconds());
    EXPECT_EQ(parse_command_id(part.text()), part);
    EXPECT_EQ(part_of(id, n), part);
    parts.insert(part.text());
  }
  EXPECT_EQ(parts.size(), 1001U);
}

TEST(CommandId, MakesUuidsOfVersion8) {
  std::set<std::string> made;
  for (std::uint32_t change = 0; change < 100; ++change) {
    for (const std::uint32_t site : {0U, 1U, key_site(0), key_site(1)}) {
      const std::string uuid = generated_uuid(id, change, site);
      EXPECT_EQ(print_uuid(uuid)[14], '8');
      EXPECT_NE(std::string("89ab").find(print_uuid(uuid)[19]), std::string::npos);
      EXPECT_EQ(generated_uuid(id, change, site), uuid);
      made.insert(uuid);
    }
  }
  EXPECT_EQ(made.size(), 400U);
  EXPECT_NE(generated_uuid(part_of(id, 0), 0, 0), generated_uuid(id, 0, 0));
}

TEST(CommandId, MakesTimeuuidsOfItsTimeInTheOrderOfChanges) {
  std::string before;
  for (const std::uint32_t change : {0U, 1U, 2U, 255U, 256U, 70'000U, 0xFFFFFU, 0x100000U, 0x100001U, 0xFFFFFFFFU}) {
    const std::string made = generated_timeuuid(id, change, key_site(0));
    EXPECT_TRUE(is_timeuuid(from_sortable(made)));
    EXPECT_EQ(milliseconds_of_timeuuid(made), id.milliseconds());
    EXPECT_LT(before, made);
    EXPECT_EQ(generated_timeuuid(id, change, key_site(0)), made);
    EXPECT_NE(generated_timeuuid(id, change, key_site(1)), made);
    before = made;
  }
}

TEST(CommandId, MakesDifferentTimeuuidsForCommandsOfOneMillisecond) {
  std::set<std::string> made;
  for (std::uint64_t n = 0; n < 1000; ++n) {
    made.insert(generated_timeuuid(make_command_id(1'700'000'000'000, n, n * n), 0, key_site(0)));
  }
  EXPECT_EQ(made.size(), 1000U);
}

TEST(CommandId, MakesTextsOfDigitsAndSmallLetters) {
  const std::string made = generated_text(id, 0, 0, 10'000);
  EXPECT_EQ(made.size(), 10'000U);
  EXPECT_EQ(made.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz"), std::string::npos);
  EXPECT_EQ(std::set<char>(made.begin(), made.end()).size(), 36U);
  EXPECT_EQ(generated_text(id, 0, 0, 8), made.substr(0, 8));
  EXPECT_NE(generated_text(id, 0, 1, 8), made.substr(0, 8));
  EXPECT_NE(generated_text(id, 1, 0, 8), made.substr(0, 8));
  EXPECT_EQ(generated_text(id, 0, 0, 0), "");
  EXPECT_EQ(generated_text(id, 0, 0, -1), "");
}

// A repeat may come from another version of noam: these never change.
TEST(CommandId, MakesTheSameForEver) {
  EXPECT_EQ(part_of(id, 1).text(), "0198c1f2-7b1a-778d-a3d3-4757604545d2");
  EXPECT_EQ(print_uuid(generated_uuid(id, 1, 2)), "2f443f62-4d8c-8dc7-afd1-b91cb5418b73");
  EXPECT_EQ(print_uuid(from_sortable(generated_timeuuid(id, 1, key_site(2)))), "2369f1d0-7cea-11f0-8000-05f46472f38f");
  EXPECT_EQ(generated_text(id, 1, 2, 20), "tp3rsbk0zb2ekwos5sa1");
}

}  // namespace
}  // namespace noam::model
