#include "tests/concurrency/interleaving.h"

#include <cstddef>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "noam/runtime/session.h"
#include "tests/compiled.h"
#include "tests/concurrency/database.h"
#include "tests/property/compare.h"
#include "tests/reference/reference.h"
#include "tests/temporary_store.h"

namespace noam::tests::concurrency {

namespace {

const char* const desk = R"(
model desk

entity Account { id: int key   amount: int   team: int   require amount >= 0 }
entity Shift { id: int key   first: bool   second: bool }
entity Booking { id: uuid key auto   room: int   who: text }
entity Album { id: int key   title: text }
entity Photo { id: int key   album: Album owner inverse photos   likes: int = 0 }
entity Note { id: int key   at: timestamp   text: text   ttl 10 minutes from at }
entity Person { id: int key   friends: set<Person> inverse friends }

command open($id, $amount, $team) { insert Account { id: $id, amount: $amount, team: $team } }
command deposit($id, $by) { update Account[$id] { amount: amount + $by } }
command transfer($from, $to, $by) {
  update Account[$from] { amount: amount - $by }
  update Account[$to] { amount: amount + $by }
}
command open_with_half($id, $other, $team) {
  insert Account { id: $id, amount: Account[$other].amount, team: $team }
  update Account[$other] { amount: 0 }
}
command move($id, $team) { update Account[$id] { team: $team } }
command close($id) { delete Account[$id] }
command raise($team) { update Account a where a.team = $team { amount: a.amount + 1 } }
command close_all($team) { delete Account a where a.team = $team }
command open_richest($id, $team) {
  insert Account { id: $id, amount: (select max(a.amount) from Account a), team: $team }
}

command start($id) { insert Shift { id: $id, first: true, second: true } }
command first_leaves($id) { require Shift[$id].second   update Shift[$id] { first: false } }
command second_leaves($id) { require Shift[$id].first   update Shift[$id] { second: false } }

command book($room, $who) {
  require (select count(*) from Booking b where b.room = $room) = 0
  insert Booking { room: $room, who: $who }
}
command book_anything($room, $who) {
  require (select count(*) from Booking b) < 2
  insert Booking { room: $room, who: $who }
}

command make_album($id, $title) { put Album { id: $id, title: $title } }
command drop_album($id) { delete Album[$id] }
command take($id, $album) { insert Photo { id: $id, album: $album } }
command like($id) { update Photo[$id] { likes: likes + 1 } }
command move_photo($id, $album) { update Photo[$id] { album: $album } }

command note($id, $at, $text) { put Note { id: $id, at: $at, text: $text } }
command meet($id) { insert Person { id: $id } }
command befriend($id, $other) { add $other to Person[$id].friends }
command leave($id, $other) { remove $other from Person[$id].friends }

query accounts { select a.id, a.amount, a.team from Account a order by a.id }
query total { select sum(a.amount) as amount, count(*) as n from Account a }
query teams { select a.team, count(*) as n, sum(a.amount) as amount, min(a.amount) as least from Account a group by a.team }
query richest { select a.id, a.amount from Account a order by a.amount desc limit 2 }
query shifts { select s.id, s.first, s.second from Shift s }
query bookings { select b.room, b.who from Booking b }
query albums { select a.id, a.title, count(a.photos) as photos from Album a }
query photos { select p.id, p.likes, a.title from Photo p, p.album a }
query all_photos { select p.id, p.album from Photo p }
query notes { select n.id, n.text from Note n }
query friends { select p.id, p.friends from Person p }

// With copies of everything that is asked.
design kept {
  collection teams of Account a by a.team as team { copy ε: count(*) as n, sum(a.amount) as amount, min(a.amount) as least }
  collection richest of Account a by "all" as list { copy [a.amount desc, a.id] limit 3 }
  collection shown of Photo p, p.album a by a.id as album { copy [p.id]: p.likes, a.title }
  collection rooms of Booking b by b.room as room { copy ε: count(*) as n }
}
)";

constexpr std::int64_t later = start_time + 30 * 60'000;  // than what was done before
const char* const start_text = "2023-11-14T22:13:20.000Z";
const char* const later_text = "2023-11-14T22:43:20.000Z";

// Before one of the calls to the store, something else happens.
class InterleavedStore : public stores::Store {
 public:
  explicit InterleavedStore(stores::Store& behind) : behind_(behind) {}

  void interleave(std::size_t before_call, std::function<void()> meanwhile) {
    calls_left_ = before_call;
    meanwhile_ = std::move(meanwhile);
  }
  // It happened.
  [[nodiscard]] bool interleaved() const { return !meanwhile_; }

  [[nodiscard]] const stores::Capabilities& capabilities() const override { return behind_.capabilities(); }
  Result<void> deploy(const stores::Blueprint& blueprint) override { return behind_.deploy(blueprint); }
  [[nodiscard]] std::optional<stores::Deployment> deployment() const override { return behind_.deployment(); }
  std::unique_ptr<stores::Snapshot> snapshot(stores::Use use) override {
    call();
    return behind_.snapshot(use);
  }
  Result<void> read(std::span<const stores::ReadRequest> requests, const stores::Snapshot* at, stores::Deadline by,
                    stores::Answers& out) override {
    call();
    return behind_.read(requests, at, by, out);
  }
  Result<stores::Committed> commit(const stores::WriteBatch& batch, stores::Deadline by) override {
    call();
    return behind_.commit(batch, by);
  }
  Result<stores::ScanPage> scan(std::uint32_t family, const std::string& after, const stores::Snapshot* at,
                                stores::Deadline by) override {
    call();
    return behind_.scan(family, after, at, by);
  }

 private:
  void call() {
    if (!meanwhile_ || calls_left_-- > 0) return;
    std::exchange(meanwhile_, nullptr)();
  }

  stores::Store& behind_;
  std::size_t calls_left_ = 0;
  std::function<void()> meanwhile_;
};

using Session = std::unique_ptr<runtime::Session>;

Result<Session> open(const std::shared_ptr<const model::Model>& model, const std::string& design, stores::Store& store,
                     const std::int64_t& time) {
  runtime::SessionOptions options;
  options.clock = [&time] { return time; };
  return open_session(model, design, store, std::move(options));
}

// What both were told, and the answers to all queries.
struct History {
  Json first;
  Json other;
  std::vector<Json> answers;
};

std::vector<Json> questions(const model::Model& model) {
  std::vector<Json> out;
  for (const model::Query& query : model.queries) out.push_back(request(query.name));
  return out;
}

History serial(const model::Model& model, const Interleaving& one, bool first_first) {
  reference::Reference engine(model);
  engine.set_time(start_time);
  for (const Json& request : one.before) engine.answer(request);
  engine.set_time(later);
  History out;
  const auto first = [&] {
    if (one.first.is_null())
      engine.expire();
    else
      out.first = engine.answer(one.first);
  };
  if (first_first) first();
  out.other = engine.answer(one.other);
  if (!first_first) first();
  for (const Json& question : questions(model)) out.answers.push_back(engine.answer(question));
  return out;
}

std::optional<std::string> difference(const model::Model& model, const Interleaving& one, const History& found,
                                      const History& expected) {
  if (!one.first.is_null())
    if (auto told = property::difference(model, one.first, found.first, expected.first)) return "first: " + *told;
  if (auto told = property::difference(model, one.other, found.other, expected.other)) return "other: " + *told;
  const std::vector<Json> asked = questions(model);
  for (std::size_t i = 0; i < asked.size(); ++i)
    if (auto told = property::difference(model, asked[i], found.answers[i], expected.answers[i]))
      return asked[i]["run"].get<std::string>() + ": " + *told;
  return std::nullopt;
}

}  // namespace

std::shared_ptr<const model::Model> interleaved_model() { return model_of(desk); }

const std::vector<Interleaving>& interleavings() {
  static const std::vector<Interleaving> all = [] {
    std::vector<Interleaving> out;
    std::uint64_t ids = 0;
    const auto with_id = [&](Json request) {
      request["id"] = command_id(9, ++ids);
      return request;
    };
    const auto account = [](int id, int amount, int team) {
      return request("open", {{"id", id}, {"amount", amount}, {"team", team}});
    };
    const std::vector<Json> accounts = {account(1, 10, 1), account(2, 20, 1), account(3, 30, 2), account(4, 40, 2)};
    const auto add = [&](const char* name, const std::vector<Json>& before, const Json& first, const Json& other) {
      Interleaving one{name, {}, nullptr, with_id(other)};
      if (!first.is_null()) one.first = first.contains("id") ? first : with_id(first);
      for (const Json& request : before) one.before.push_back(with_id(request));
      out.push_back(std::move(one));
    };
    const auto ask = [&](const char* name, const std::vector<Json>& before, const char* query, const Json& other) {
      Interleaving one{name, {}, request(query), with_id(other)};
      for (const Json& request : before) one.before.push_back(with_id(request));
      out.push_back(std::move(one));
    };
    const Json deposit = request("deposit", {{"id", 1}, {"by", 5}});
    const Json transfer = request("transfer", {{"from", 1}, {"to", 3}, {"by", 7}});
    add("two deposits", accounts, deposit, request("deposit", {{"id", 1}, {"by", 100}}));
    add("the last of it is spent twice", accounts, request("deposit", {{"id", 1}, {"by", -10}}), transfer);
    add("opposite transfers", accounts, transfer, request("transfer", {{"from", 3}, {"to", 1}, {"by", 30}}));
    add("the same key inserted", accounts, account(5, 50, 3), account(5, 51, 4));
    add("the first and the second of a team", accounts, account(5, 50, 3), account(6, 60, 3));
    add("a deposit to what goes", accounts, deposit, request("close", {{"id", 1}}));
    add("a copy of what changes", accounts, request("open_with_half", {{"id", 5}, {"other", 1}, {"team", 2}}), deposit);
    add("a maximum and a greater one", accounts, request("open_richest", {{"id", 5}, {"team", 3}}), account(6, 60, 3));
    add("a maximum that grows", accounts, request("open_richest", {{"id", 5}, {"team", 3}}),
        request("deposit", {{"id", 4}, {"by", 5}}));
    add("the richest go", accounts, request("close", {{"id", 4}}), request("close", {{"id", 3}}));
    add("two moves", accounts, request("move", {{"id", 1}, {"team", 2}}), request("move", {{"id", 1}, {"team", 3}}));
    add("a team is emptied", accounts, request("move", {{"id", 1}, {"team", 2}}), request("close", {{"id", 2}}));
    add("one of those that are raised moves", accounts, request("raise", {{"team", 1}}),
        request("move", {{"id", 2}, {"team", 2}}));
    add("one of those that are closed moves", accounts, request("close_all", {{"team", 1}}),
        request("move", {{"id", 2}, {"team", 2}}));
    Json repeated = with_id(deposit);
    add("the same command twice", accounts, repeated, deposit);
    out.back().other = repeated;
    const Json start = request("start", {{"id", 1}});
    add("only one of two may leave", {start}, request("first_leaves", {{"id", 1}}),
        request("second_leaves", {{"id", 1}}));
    add("a room booked twice", {start}, request("book", {{"room", 1}, {"who", "ann"}}),
        request("book", {{"room", 1}, {"who", "bob"}}));
    add("the last room of all", {request("book", {{"room", 1}, {"who", "ann"}})},
        request("book_anything", {{"room", 2}, {"who", "bob"}}),
        request("book_anything", {{"room", 3}, {"who", "cy"}}));
    const std::vector<Json> albums = {request("make_album", {{"id", 1}, {"title", "one"}}),
                                      request("make_album", {{"id", 2}, {"title", "two"}}),
                                      request("take", {{"id", 1}, {"album", 1}})};
    const Json drop = request("drop_album", {{"id", 1}});
    add("a photo for an album that goes", albums, request("take", {{"id", 2}, {"album", 1}}), drop);
    add("an album goes that gets a photo", albums, drop, request("take", {{"id", 2}, {"album", 1}}));
    add("a photo moves to an album that goes", albums, request("move_photo", {{"id", 1}, {"album", 2}}),
        request("drop_album", {{"id", 2}}));
    add("a photo moves from an album that goes", albums, drop, request("move_photo", {{"id", 1}, {"album", 2}}));
    add("a photo for an album that is renamed", albums, request("take", {{"id", 2}, {"album", 1}}),
        request("make_album", {{"id", 1}, {"title", "uno"}}));
    add("an album is renamed that gets a photo", albums, request("make_album", {{"id", 1}, {"title", "uno"}}),
        request("take", {{"id", 2}, {"album", 1}}));
    add("a like of a photo that moves", albums, request("like", {{"id", 1}}),
        request("move_photo", {{"id", 1}, {"album", 2}}));
    const auto note = [](const char* at, const char* text) {
      return request("note", {{"id", 1}, {"at", at}, {"text", text}});
    };
    add("what is due is written anew", {note(start_text, "old")}, nullptr, note(later_text, "new"));
    const std::vector<Json> people = {request("meet", {{"id", 1}}), request("meet", {{"id", 2}}),
                                      request("befriend", {{"id", 1}, {"other", 2}})};
    add("a friendship ends that is made again", people, request("leave", {{"id", 2}, {"other", 1}}),
        request("befriend", {{"id", 2}, {"other", 1}}));
    ask("a transfer seen", accounts, "accounts", transfer);
    ask("a transfer seen in the whole", accounts, "total", transfer);
    ask("a move seen", accounts, "teams", request("move", {{"id", 1}, {"team", 2}}));
    ask("a photo and its album seen", albums, "photos", drop);
    ask("albums and their photos seen", albums, "albums", request("move_photo", {{"id", 1}, {"album", 2}}));
    return out;
  }();
  return all;
}

std::optional<std::string> disorder(const std::shared_ptr<const model::Model>& model, const Interleaving& one,
                                    const std::string& design) {
  const History first_first = serial(*model, one, true);
  const History other_first = serial(*model, one, false);
  for (std::size_t call = 0;; ++call) {
    const auto behind = open_test_store();
    InterleavedStore store(*behind);
    std::int64_t time = start_time;
    const auto first = open(model, design, store, time);
    const auto other = open(model, design, *behind, time);
    if (!first) return first.error().message;
    if (!other) return other.error().message;
    for (const Json& request : one.before) (*first)->answer(request);
    time = later;
    History found;
    store.interleave(call, [&] { found.other = (*other)->answer(one.other); });
    if (one.first.is_null()) {
      if (const auto swept = (*first)->sweep(); !swept) return swept.error().message;
    } else {
      found.first = (*first)->answer(one.first);
    }
    if (!store.interleaved()) return std::nullopt;
    for (const Json& question : questions(*model)) found.answers.push_back((*other)->answer(question));
    const auto unlike_one = difference(*model, one, found, first_first);
    const auto unlike_other = difference(*model, one, found, other_first);
    if (unlike_one && unlike_other) return fmt::format("before call {}: {}\nand {}", call, *unlike_one, *unlike_other);
    const auto verified = (*other)->verify();
    if (!verified) return verified.error().message;
    for (const runtime::Difference& wrong : verified->differences)
      return fmt::format("before call {}: {}: {}", call, wrong.collection, wrong.what);
  }
}

}  // namespace noam::tests::concurrency
