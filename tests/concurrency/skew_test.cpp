// Two commands each of which may run alone, but not both: neither writes what the other reads. Only one of them is ever
// applied, also where what they touch lies in entries or blocks of its own.

#include <atomic>
#include <functional>

#include <gtest/gtest.h>

#include "tests/compiled.h"
#include "tests/concurrency/database.h"

namespace noam::tests::concurrency {
namespace {

const char* const ward = R"(
model ward

entity Shift {
  id: int key
  first: bool
  second: bool
  nurses: set<text>
  beds: map<text, int>
  calls: list<int>
  least: int = 0
}
entity Pair {
  id: int key
  left: int
  right: int
  require left + right >= 1
}
entity Doctor { id: int key   ward: int   on: bool }
entity Booking { id: uuid key auto   room: int   who: text }
entity Room { id: int key   keeper: Doctor? inverse rooms }

command start($id: int) {
  insert Shift { id: $id, first: true, second: true }
  add "a" to Shift[$id].nurses   add "b" to Shift[$id].nurses
  put "x": 1 into Shift[$id].beds   put "y": 1 into Shift[$id].beds
  append 1 to Shift[$id].calls   append 1 to Shift[$id].calls
  insert Pair { id: $id, left: 1, right: 1 }
  insert Doctor { id: $id * 2, ward: $id, on: true }
  insert Doctor { id: $id * 2 + 1, ward: $id, on: true }
  insert Room { id: $id }
}

command first_leaves($id) { require Shift[$id].second   update Shift[$id] { first: false } }
command second_leaves($id) { require Shift[$id].first   update Shift[$id] { second: false } }

command left_falls($id) { update Pair[$id] { left: left - 1 } }
command right_falls($id) { update Pair[$id] { right: right - 1 } }

command nurse_leaves($id, $who) { require count(Shift[$id].nurses) >= 2   remove $who from Shift[$id].nurses }
command bed_goes($id, $bed) { require count(Shift[$id].beds) >= 2   remove key $bed from Shift[$id].beds }
command bed_is_full($id, $bed, $other) { require Shift[$id].beds[$other] = 1   update Shift[$id] { beds[$bed]: 0 } }
command call_ends($id, $at, $other) { require Shift[$id].calls[$other] = 1   update Shift[$id] { calls[$at]: 0 } }
command bed_for_nurse($id) { require Shift[$id].nurses contains "a"   remove key "x" from Shift[$id].beds }
command nurse_for_bed($id) { require count(Shift[$id].beds) = 2   remove "a" from Shift[$id].nurses }

command doctor_leaves($id, $other) { require Doctor[$other].on   update Doctor[$id] { on: false } }
command doctor_of_ward_leaves($id, $ward) {
  require (select count(*) from Doctor d where d.ward = $ward and d.on) >= 2
  update Doctor[$id] { on: false }
}
command book($room, $who) {
  require (select count(*) from Booking b where b.room = $room) = 0
  insert Booking { room: $room, who: $who }
}
command keep($room, $doctor) {
  require (select count(*) from Doctor[$doctor] d) = 1
  update Room[$room] { keeper: $doctor }
}
command dismiss($doctor) {
  require (select count(*) from Doctor[$doctor] d, d.rooms r) = 0
  delete Doctor[$doctor]
}

query shift($id) { select s from Shift s where s.id = $id }
query pair($id) { select p.left, p.right from Pair p where p.id = $id }
query doctors($ward) { select d.id, d.on from Doctor d where d.ward = $ward }
query bookings($room) { select b.who from Booking b where b.room = $room }
query rooms_of($doctor) { select r.id from Doctor d, d.rooms r where d.id = $doctor }
query room($id) { select r.keeper, r.keeper.ward as ward from Room r where r.id = $id }

// Every field in an entry of its own, collections element by element.
design elements {
  collection shifts of Shift s by id {
    entry first   entry second   entry nurses[*]   entry beds[*]   entry calls[*]   entry least
  }
  collection pairs of Pair p by id { entry left   entry right }
  collection on_duty of Doctor d by d.ward as ward {
    copy [d.id] where d.on
    copy numbers: count(*) as n where d.on
  }
  collection bookings of Booking b by b.room as room { copy [b.id]: b.who   copy numbers: count(*) as n }
}

// In blocks of its own, even.
design blocks {
  collection firsts of Shift s by id { entry first   entry least }
  collection seconds of Shift s by id { entry second }
  collection nurses of Shift s by id { entry nurses[*] }
  collection beds of Shift s, s.beds b by s.id, key(b) { entry ε: b }
  collection calls of Shift s, s.calls c by s.id, position(c) { entry ε: c }
  collection lefts of Pair p by id { entry left }
  collection rights of Pair p by id { entry right }
  rest normalized
}
)";

class Skew : public ::testing::TestWithParam<const char*> {
 protected:
  static constexpr int rounds = rounds_of(25);

  // In each round all threads begin at once, the even ones with one request and the odd ones with the other. What was
  // applied in each round, as `left` and `right`; every refusal has this code.
  void race(const std::function<Json(int)>& left, const std::function<Json(int)>& right, const std::string& code) {
    // More rounds where nobody came between anybody: then they have shown nothing.
    constexpr int most = 40 * rounds;
    for (int round = 0; round < rounds || (database.store().conflicts() == 0 && round < most); ++round) {
      ASSERT_EQ(database.run("start", {{"id", round}}), "applied");
      const Json requests[] = {left(round), right(round)};
      std::atomic<int> applied[2] = {0, 0};
      Findings findings;
      in_threads(thread_count, [&](int thread) {
        const auto side = static_cast<std::size_t>(thread % 2);
        const Json answer = database.answer(requests[side]);
        if (answer.value("outcome", "") == "applied")
          ++applied[side];
        else if (answer.value("code", "") != code)
          findings.add(answer.dump());
      });
      ASSERT_EQ(findings.text(), "");
      // One side wins, and the other is refused whenever it asks.
      ASSERT_NE(applied[0] > 0, applied[1] > 0) << "round " << round << ": " << requests[0].dump() << " " << applied[0]
                                                << " times, " << requests[1].dump() << " " << applied[1] << " times";
    }
    EXPECT_EQ(database.differences(), "");
    EXPECT_GT(database.store().conflicts(), 0);
  }

  Database database{model_of(ward), GetParam()};
};

TEST_P(Skew, OfTwoFields) {
  race(
      [](int id) {
        return request("first_leaves", {{"id", id}});
      },
      [](int id) {
        return request("second_leaves", {{"id", id}});
      },
      "require");
}

TEST_P(Skew, UnderTheConditionOfAnEntity) {
  race(
      [](int id) {
        return request("left_falls", {{"id", id}});
      },
      [](int id) {
        return request("right_falls", {{"id", id}});
      },
      "require");
}

TEST_P(Skew, OfElementsOfASet) {
  // The same element twice is no change, and so applied; but then only as long as both were there.
  race(
      [](int id) {
        return request("nurse_leaves", {{"id", id}, {"who", "a"}});
      },
      [](int id) {
        return request("nurse_leaves", {{"id", id}, {"who", "b"}});
      },
      "require");
}

TEST_P(Skew, OfKeysOfAMap) {
  race(
      [](int id) {
        return request("bed_goes", {{"id", id}, {"bed", "x"}});
      },
      [](int id) {
        return request("bed_goes", {{"id", id}, {"bed", "y"}});
      },
      "require");
}

TEST_P(Skew, OfValuesOfAMap) {
  race(
      [](int id) {
        return request("bed_is_full", {{"id", id}, {"bed", "x"}, {"other", "y"}});
      },
      [](int id) {
        return request("bed_is_full", {{"id", id}, {"bed", "y"}, {"other", "x"}});
      },
      "require");
}

TEST_P(Skew, OfPositionsOfAList) {
  race(
      [](int id) {
        return request("call_ends", {{"id", id}, {"at", 0}, {"other", 1}});
      },
      [](int id) {
        return request("call_ends", {{"id", id}, {"at", 1}, {"other", 0}});
      },
      "require");
}

TEST_P(Skew, OfTwoCollections) {
  race(
      [](int id) {
        return request("bed_for_nurse", {{"id", id}});
      },
      [](int id) {
        return request("nurse_for_bed", {{"id", id}});
      },
      "require");
}

TEST_P(Skew, OfTwoAggregates) {
  race(
      [](int id) {
        return request("doctor_leaves", {{"id", id * 2}, {"other", id * 2 + 1}});
      },
      [](int id) {
        return request("doctor_leaves", {{"id", id * 2 + 1}, {"other", id * 2}});
      },
      "require");
}

TEST_P(Skew, OfACountOverAggregates) {
  race(
      [](int id) {
        return request("doctor_of_ward_leaves", {{"id", id * 2}, {"ward", id}});
      },
      [](int id) {
        return request("doctor_of_ward_leaves", {{"id", id * 2 + 1}, {"ward", id}});
      },
      "require");
}

// What was not there is a thing read, too.
TEST_P(Skew, OfWhatIsNotThereYet) {
  race(
      [](int id) {
        return request("book", {{"room", id}, {"who", "ann"}});
      },
      [](int id) {
        return request("book", {{"room", id}, {"who", "bob"}});
      },
      "require");
  for (int room = 0; room < rounds; ++room) EXPECT_EQ(database.rows("bookings", {{"room", room}}).size(), 1U);
}

// A reference to what goes at the same moment.
TEST_P(Skew, OfAReferenceAndItsTarget) {
  race(
      [](int id) {
        return request("keep", {{"room", id}, {"doctor", id * 2}});
      },
      [](int id) {
        return request("dismiss", {{"doctor", id * 2}});
      },
      "require");
}

INSTANTIATE_TEST_SUITE_P(Designs, Skew, ::testing::Values("eao", "etf", "normalized", "elements", "blocks"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace noam::tests::concurrency
