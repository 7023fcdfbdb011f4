// The chapter "References" of what a program means, sentence by sentence.
#include "tests/reference/session.h"

namespace noam::reference {

namespace {

// Users that follow each other and write, some of whom do not exist.
constexpr const char* blog =
    "entity User { name: text key  age: int?  follows: set<User> inverse followers  best: User? }"
    "entity Post { id: int key  author: User? inverse posts  tags: list<text>  likes: list<User> inverse liked"
    "  votes: map<User, int> inverse voted  by_place: map<int, User> inverse placed }"
    "command user($name, $age, $follows) { insert User { name: $name, age: $age, follows: $follows } }"
    "command post($id, $author, $likes) { insert Post { id: $id, author: $author, likes: $likes } }"
    "command best($name, $best) { update User[$name] { best: $best } }"
    "command drop($name) { delete User[$name] }"
    "command drop_post($id) { delete Post[$id] }"
    "command vote($id, $u, $n) { put $u: $n into Post[$id].votes }"
    "command place($id, $n, $u) { put $n: $u into Post[$id].by_place }";

class Blog : public Session {
 public:
  explicit Blog(const std::string& queries) : Session(blog + queries) {
    run("user", R"({"name":"ann","age":30,"follows":["bob","ghost"]})");
    run("user", R"({"name":"bob","follows":["ann"]})");
    run("user", R"({"name":"cid","age":50,"follows":["ann","bob"]})");
    run("post", R"({"id":1,"author":"ann","likes":["bob","ghost","bob"]})");
    run("post", R"({"id":2,"author":"ghost","likes":[]})");
    run("post", R"({"id":3,"likes":["ann"]})");
    run("post", R"({"id":4,"author":"ann","likes":["cid"]})");
  }
};

}  // namespace

// "A reference is a value, the target's key, kept by the aggregate that declares it; it compares and orders as that
// key."
TEST(References, AReferenceIsItsTargetsKeyAndOrdersAsIt) {
  Blog s(
      "query q { select p.id, p.author from Post p order by p.author desc, p.id }"
      "query less($u) { select p.id from Post p where p.author < $u order by p.id }"
      "query distinct_ { select distinct p.author from Post p order by p.author }");
  EXPECT_EQ(s.rows("q"),
            R"([{"id":2,"author":"ghost"},{"id":1,"author":"ann"},{"id":4,"author":"ann"},{"id":3,"author":null}])");
  EXPECT_EQ(s.rows("less", R"({"u":"b"})"), R"([{"id":1},{"id":4}])");
  EXPECT_EQ(s.rows("distinct_"), R"([{"author":null},{"author":"ann"},{"author":"ghost"}])");
}

// "`inverse` only names the way back; as a value it is the set of the keys of the aggregates that refer, each once."
TEST(References, AnInverseIsTheSetOfThoseThatReferEachOnce) {
  Blog s(
      "query posts { select u.name, u.posts from User u order by u.name }"
      "query liked { select u.name, u.liked from User u order by u.name }"
      "query followers { select u.followers from User[\"ann\"] u }"
      "query voted { select u.voted, u.placed from User[\"ann\"] u }");
  EXPECT_EQ(s.rows("posts"), R"([{"name":"ann","posts":[1,4]},{"name":"bob","posts":[]},{"name":"cid","posts":[]}])");
  EXPECT_EQ(s.rows("liked"), R"([{"name":"ann","liked":[3]},{"name":"bob","liked":[1]},{"name":"cid","liked":[4]}])");
  EXPECT_EQ(s.rows("followers"), R"([{"followers":["bob","cid"]}])");
  // Of maps the keys refer, or else the values.
  s.run("vote", R"({"id":2,"u":"ann","n":5})");
  s.run("place", R"({"id":3,"n":1,"u":"ann"})");
  EXPECT_EQ(s.rows("voted"), R"([{"voted":[2],"placed":[3]}])");
}

// "1. Reading it is reading that key: `t.author`, `t.author.username` (a part of the key), `=`, `in`, `contains`,
// `select u.follows`, and `count(u.follows)` never ask whether the target exists."
TEST(References, ReadingAReferenceNeverAsksWhetherTheTargetExists) {
  Blog s(
      "query read { select p.author, p.author.name as name from Post p where p.id = 2 }"
      "query equal { select p.id from Post p where p.author = \"ghost\" }"
      "query in_ { select p.id from Post p where p.author in [\"ghost\", \"x\"] }"
      "query contains_ { select u.name from User u where u.follows contains \"ghost\" }"
      "query follows { select u.follows from User[\"ann\"] u }"
      "query count_ { select count(u.follows) as n from User[\"ann\"] u }");
  EXPECT_EQ(s.rows("read"), R"([{"author":"ghost","name":"ghost"}])");
  EXPECT_EQ(s.rows("equal"), R"([{"id":2}])");
  EXPECT_EQ(s.rows("in_"), R"([{"id":2}])");
  EXPECT_EQ(s.rows("contains_"), R"([{"name":"ann"}])");
  EXPECT_EQ(s.rows("follows"), R"([{"follows":["bob","ghost"]}])");
  EXPECT_EQ(s.rows("count_"), R"([{"n":2}])");
}

// "`count(u.followers)` counts the aggregates that refer to u."
TEST(References, CountingAWayBackCountsTheAggregatesThatRefer) {
  Blog s("query q { select u.name, count(u.liked) as n from User u order by u.name }");
  EXPECT_EQ(s.rows("q"), R"([{"name":"ann","n":1},{"name":"bob","n":1},{"name":"cid","n":1}])");  // bob twice in one
  s.run("drop_post", R"({"id":1})");
  EXPECT_EQ(s.rows("q"), R"([{"name":"ann","n":1},{"name":"bob","n":0},{"name":"cid","n":1}])");
}

// "2. A path to a field that is not in the key, through an absent or dangling reference, is absent, a collection or
// inverse is empty; the row stays."
TEST(References, APathBehindADanglingReferenceIsAbsentAndTheRowStays) {
  Blog s(
      "query age { select p.id, p.author.age as age from Post p order by p.id }"
      "query follows { select p.id, p.author.follows as f, p.author.posts as ps, count(p.author.posts) as n"
      "  from Post p order by p.id }"
      "query far { select p.author.best.age as age, p.author.best.name as name from Post p where p.id in [1, 2]"
      "  order by p.id }"
      "query ghost { select User[\"ghost\"].age as age, count(User[\"ghost\"].posts) as n from Post[1] p }");
  EXPECT_EQ(s.rows("age"), R"([{"id":1,"age":30},{"id":2,"age":null},{"id":3,"age":null},{"id":4,"age":30}])");
  EXPECT_EQ(s.rows("follows"), R"([{"id":1,"f":["bob","ghost"],"ps":[1,4],"n":2},{"id":2,"f":[],"ps":[],"n":0},)"
                               R"({"id":3,"f":[],"ps":[],"n":0},{"id":4,"f":["bob","ghost"],"ps":[1,4],"n":2}])");
  s.run("best", R"({"name":"ann","best":"ghost"})");
  EXPECT_EQ(s.rows("far"), R"([{"age":null,"name":"ghost"},{"age":null,"name":null}])");
  EXPECT_EQ(s.rows("ghost"), R"([{"age":null,"n":0}])");
}

// "3. A binding in `from` (`u.follows a`, `t.author a`, `User[$u] u`) sees existing targets only."
TEST(References, ABindingSeesExistingTargetsOnly) {
  Blog s(
      "query set_ { select a.name from User[\"ann\"] u, u.follows a }"
      "query one { select p.id, a.name from Post p, p.author a order by p.id }"
      "query list_ { select position(l) as i, l.name from Post[1] p, p.likes l order by i }"
      "query instance($u) { select u.name from User[$u] u }"
      "query back { select p.id from User u, u.posts p where u.name = \"ann\" order by p.id }"
      "query map_ { select key(v) as k, v.name from Post[1] p, p.by_place v order by key(v) }"
      "query keys_ { select key(v) as k, v as n from Post[1] p, p.votes v order by k }");
  EXPECT_EQ(s.rows("set_"), R"([{"name":"bob"}])");
  EXPECT_EQ(s.rows("one"), R"([{"id":1,"name":"ann"},{"id":4,"name":"ann"}])");
  EXPECT_EQ(s.rows("list_"), R"([{"i":0,"name":"bob"},{"i":2,"name":"bob"}])");  // the position in what is kept
  EXPECT_EQ(s.rows("instance", R"({"u":"bob"})"), R"([{"name":"bob"}])");
  EXPECT_EQ(s.rows("instance", R"({"u":"ghost"})"), "[]");
  EXPECT_EQ(s.rows("back"), R"([{"id":1},{"id":4}])");
  s.run("place", R"({"id":1,"n":5,"u":"ghost"})");
  s.run("place", R"({"id":1,"n":6,"u":"bob"})");
  EXPECT_EQ(s.rows("map_"), R"([{"k":6,"name":"bob"}])");
  // The variable is the value; a key that refers is only read.
  s.run("vote", R"({"id":1,"u":"ghost","n":1})");
  EXPECT_EQ(s.rows("keys_"), R"([{"k":"ghost","n":1}])");
}

// "Steps before the last of a longer path are to-one, their targets must exist, and they add no keys to the order."
TEST(References, TheStepsOfALongerPathExistAndAddNoKeys) {
  Session s(
      "entity Team { id: int key lead: Person? } entity Person { id: int key team: Team inverse members }"
      "entity Slot { team: Team day: int key (team, day) } entity Use { id: int key slot: Slot }"
      "command team($id, $lead) { insert Team { id: $id, lead: $lead } }"
      "command person($id, $team) { insert Person { id: $id, team: $team } }"
      "command slot($t, $d) { insert Slot { team: $t, day: $d } }"
      "command use($id, $s) { insert Use { id: $id, slot: $s } }"
      "query mates { select p.id, m.id as mate from Person p, p.team.members m order by p.id desc limit 9 }"
      "query leads { select p.id, l.id as lead from Person p, p.team.lead l order by p.id }"
      "query teams { select u.id, t.id as team from Use u, u.slot.team t order by u.id }"
      "query team_keys { select u.id, u.slot.team as team from Use u order by u.id }");
  s.run("team", R"({"id":1,"lead":11})");
  s.run("person", R"({"id":10,"team":1})");
  s.run("person", R"({"id":11,"team":1})");
  s.run("person", R"({"id":12,"team":2})");  // no such team
  EXPECT_EQ(s.rows("mates"), R"([{"id":11,"mate":11},{"id":11,"mate":10},{"id":10,"mate":11},{"id":10,"mate":10}])");
  EXPECT_EQ(s.rows("leads"), R"([{"id":10,"lead":11},{"id":11,"lead":11}])");
  // `u.slot.team` is a part of the key of the slot, which is read in any case; as a path in `from` the slot must exist.
  s.run("use", R"({"id":5,"s":[1,1]})");
  s.run("use", R"({"id":6,"s":[1,2]})");
  s.run("slot", R"({"t":1,"d":2})");
  EXPECT_EQ(s.rows("team_keys"), R"([{"id":5,"team":1},{"id":6,"team":1}])");
  EXPECT_EQ(s.rows("teams"), R"([{"id":6,"team":1}])");
}

// "So deleting an entity hides what is reached through it, and inserting one reveals what already referred to it;
// copies and folds follow both."
TEST(References, DeletingHidesAndInsertingReveals) {
  Blog s(
      "query posts { select p.id from User u, u.posts p where u.name = \"ann\" order by p.id }"
      "query n { select a.name, count(*) as n from Post p, p.author a group by a order by a }");
  EXPECT_EQ(s.rows("n"), R"([{"name":"ann","n":2}])");
  s.run("drop", R"({"name":"ann"})");
  EXPECT_EQ(s.rows("posts"), "[]");
  EXPECT_EQ(s.rows("n"), "[]");
  s.run("user", R"({"name":"ann","follows":[]})");
  s.run("user", R"({"name":"ghost","follows":[]})");
  EXPECT_EQ(s.rows("posts"), R"([{"id":1},{"id":4}])");
  EXPECT_EQ(s.rows("n"), R"([{"name":"ann","n":2},{"name":"ghost","n":1}])");
}

namespace {

constexpr const char* shop =
    "entity Url { short: text key hits: int = 0 }"
    "entity Visit { id: int key url: Url owner inverse visits note: text? }"
    "entity Mark { id: int key visit: Visit owner inverse marks } command url($k) { insert Url { short: $k } }"
    "command put_url($k) { put Url { short: $k, hits: 9 } }"
    "command visit($id, $url) { insert Visit { id: $id, url: $url } }"
    "command put_visit($id, $url) { put Visit { id: $id, url: $url } }"
    "command mark($id, $visit) { insert Mark { id: $id, visit: $visit } }"
    "command move($id, $url) { update Visit[$id] { url: $url } }"
    "command note($id) { update Visit[$id] { note: \"n\" } } command drop($k) { delete Url[$k] }"
    "command drop_visit($id) { delete Visit[$id] }"
    "command renew($k, $id) { delete Url[$k] insert Url { short: $k } insert Visit { id: $id, url: $k } }"
    "query all_ { select v.id, v.url from Visit v order by v.id }"
    "query marks { select m.id from Mark m order by m.id } query urls { select u from Url u order by u }";

}  // namespace

// "4. Composition: […] Inserting it, or moving it to another owner, where the owner is absent is refused"
TEST(References, APartNeedsItsOwner) {
  Session s(shop);
  EXPECT_EQ(s.run("visit", R"({"id":1,"url":"a"})"), "owner");
  EXPECT_EQ(s.run("put_visit", R"({"id":1,"url":"a"})"), "owner");
  s.run("url", R"({"k":"a"})");
  EXPECT_EQ(s.run("visit", R"({"id":1,"url":"a"})"), "applied");
  EXPECT_EQ(s.run("move", R"({"id":1,"url":"b"})"), "owner");
  s.run("url", R"({"k":"b"})");
  EXPECT_EQ(s.run("move", R"({"id":1,"url":"b"})"), "applied");
  EXPECT_EQ(s.run("move", R"({"id":1,"url":"b"})"), "applied");
  EXPECT_EQ(s.run("note", R"({"id":1})"), "applied");
  EXPECT_EQ(s.rows("all_"), R"([{"id":1,"url":"b"}])");
}

// "it belongs to the incarnation of the owner that it saw; deleting the owner deletes its parts, and theirs, and the
// same key inserted again starts from nothing"
TEST(References, DeletingTheOwnerDeletesItsPartsAndTheirs) {
  Session s(shop);
  s.run("url", R"({"k":"a"})");
  s.run("url", R"({"k":"b"})");
  s.run("visit", R"({"id":1,"url":"a"})");
  s.run("visit", R"({"id":2,"url":"b"})");
  s.run("mark", R"({"id":7,"visit":1})");
  s.run("mark", R"({"id":8,"visit":2})");
  EXPECT_EQ(s.run("drop", R"({"k":"a"})"), "applied");
  EXPECT_EQ(s.rows("all_"), R"([{"id":2,"url":"b"}])");
  EXPECT_EQ(s.rows("marks"), R"([{"id":8}])");
  s.run("url", R"({"k":"a"})");
  EXPECT_EQ(s.rows("all_"), R"([{"id":2,"url":"b"}])");
  EXPECT_EQ(s.run("mark", R"({"id":7,"visit":1})"), "owner");
  // Within one command, too: the new part belongs to the new owner.
  EXPECT_EQ(s.run("renew", R"({"k":"b","id":3})"), "applied");
  EXPECT_EQ(s.rows("all_"), R"([{"id":3,"url":"b"}])");
  EXPECT_EQ(s.rows("marks"), "[]");
}

// "`put` on an owner keeps its parts"
TEST(References, PutOnAnOwnerKeepsItsParts) {
  Session s(shop);
  s.run("url", R"({"k":"a"})");
  s.run("visit", R"({"id":1,"url":"a"})");
  EXPECT_EQ(s.run("put_url", R"({"k":"a"})"), "applied");
  EXPECT_EQ(s.rows("urls"), R"([{"u":{"short":"a","hits":9}}])");
  EXPECT_EQ(s.rows("all_"), R"([{"id":1,"url":"a"}])");
}

// "Several owners are allowed, also in a circle (deleting one deletes all); an owner of the same entity may be optional
// (absent: a root)"
TEST(References, APartMayHaveSeveralOwnersAndAnyOfThemTakesItAlong) {
  Session s(
      "entity A { id: int key } entity B { id: int key }"
      "entity P { id: int key  a: A owner inverse ps  b: B owner inverse ps }"
      "command a($id) { insert A { id: $id } } command b($id) { insert B { id: $id } }"
      "command p($id, $a, $b) { insert P { id: $id, a: $a, b: $b } }"
      "command drop_a($id) { delete A[$id] } command drop_b($id) { delete B[$id] }"
      "query q { select p.id from P p order by p.id }");
  s.run("a", R"({"id":1})");
  s.run("a", R"({"id":2})");
  s.run("b", R"({"id":1})");
  EXPECT_EQ(s.run("p", R"({"id":1,"a":1,"b":2})"), "owner");
  for (const char* p : {R"({"id":1,"a":1,"b":1})", R"({"id":2,"a":2,"b":1})"}) EXPECT_EQ(s.run("p", p), "applied");
  s.run("drop_a", R"({"id":1})");
  EXPECT_EQ(s.rows("q"), R"([{"id":2}])");
  s.run("drop_b", R"({"id":1})");
  EXPECT_EQ(s.rows("q"), "[]");
}

TEST(References, OwnersInACircleGoTogether) {
  Session s(
      "entity N { id: int key  up: N? owner inverse downs }"
      "command n($id, $up) { insert N { id: $id, up: $up } } command move($id, $up) { update N[$id] { up: $up } }"
      "command drop($id) { delete N[$id] } query q { select n.id, n.up from N n order by n.id }");
  EXPECT_EQ(s.run("n", R"({"id":1})"), "applied");  // a root
  EXPECT_EQ(s.run("n", R"({"id":2,"up":1})"), "applied");
  EXPECT_EQ(s.run("n", R"({"id":3,"up":2})"), "applied");
  EXPECT_EQ(s.run("n", R"({"id":4})"), "applied");
  EXPECT_EQ(s.run("n", R"({"id":5,"up":5})"), "owner");  // it is not there yet
  EXPECT_EQ(s.run("move", R"({"id":1,"up":3})"), "applied");
  EXPECT_EQ(s.run("move", R"({"id":4,"up":4})"), "applied");
  EXPECT_EQ(s.rows("q"), R"([{"id":1,"up":3},{"id":2,"up":1},{"id":3,"up":2},{"id":4,"up":4}])");
  EXPECT_EQ(s.run("drop", R"({"id":2})"), "applied");
  EXPECT_EQ(s.rows("q"), R"([{"id":4,"up":4}])");
  EXPECT_EQ(s.run("drop", R"({"id":4})"), "applied");
  EXPECT_EQ(s.rows("q"), "[]");
}

namespace {

constexpr const char* friends =
    "entity U { id: int key  age: int = 1  friends: set<U> inverse friends  require count(friends) < 4 }"
    "command u($id, $friends) { insert U { id: $id, friends: $friends } }"
    "command put_u($id, $friends) { put U { id: $id, friends: $friends } }"
    "command set_($id, $friends) { update U[$id] { friends: $friends } }"
    "command add_($id, $f) { add $f to U[$id].friends } command remove_($id, $f) { remove $f from U[$id].friends }"
    "command remove_all($id, $fs) { remove all $fs from U[$id].friends }"
    "command remove_where($id, $age) { remove f from U[$id].friends f where f.age = $age }"
    "command remove_lost($id) { remove f from U[$id].friends f where f.age is absent }"
    "command drop($id) { delete U[$id] }"
    "command bulk { update U u where count(u.friends) = 0 { age: 7 } }"
    "query f($id) { select u.friends, count(u.friends) as n from U[$id] u } query whole($id) { select u from U[$id] u }"
    "query bound($id) { select f.id from U[$id] u, u.friends f order by f.id }"
    "query has($f) { select u.id from U u where u.friends contains $f order by u.id }";

}  // namespace

// "5. Symmetric (`friends: set<User> inverse friends`): x.friends is what x keeps and the existing y that keep x"
TEST(References, ASymmetricRoleIsTheUnionOfBothSides) {
  Session s(friends);
  s.run("u", R"({"id":1,"friends":[2,9]})");
  EXPECT_EQ(s.rows("f", R"({"id":1})"), R"([{"friends":[2,9],"n":2}])");  // what x keeps, existing or not
  s.run("u", R"({"id":2,"friends":[]})");
  s.run("u", R"({"id":3,"friends":[1]})");
  EXPECT_EQ(s.rows("f", R"({"id":1})"), R"([{"friends":[2,3,9],"n":3}])");
  EXPECT_EQ(s.rows("f", R"({"id":2})"), R"([{"friends":[1],"n":1}])");
  EXPECT_EQ(s.rows("bound", R"({"id":1})"), R"([{"id":2},{"id":3}])");
  EXPECT_EQ(s.rows("has", R"({"f":1})"), R"([{"id":2},{"id":3}])");
  s.run("drop", R"({"id":3})");
  EXPECT_EQ(s.rows("f", R"({"id":1})"), R"([{"friends":[2,9],"n":2}])");
}

// "`select` shows the union"
TEST(References, TheAggregateShowsTheUnion) {
  Session s(friends);
  s.run("u", R"({"id":1,"friends":[]})");
  s.run("u", R"({"id":2,"friends":[1]})");
  EXPECT_EQ(s.rows("whole", R"({"id":1})"), R"([{"u":{"id":1,"age":1,"friends":[2]}}])");
}

// "`insert`, `put`, assignment and `add` write x"
TEST(References, WritingASymmetricRoleWritesOneSide) {
  Session s(friends);
  s.run("u", R"({"id":1,"friends":[2]})");
  s.run("u", R"({"id":2,"friends":[]})");
  s.run("add_", R"({"id":2,"f":1})");  // there already by the other side, and kept all the same
  EXPECT_EQ(s.dump(), R"({"U":[[1,{"id":1,"age":1,"friends":[2]}],[2,{"id":2,"age":1,"friends":[1]}]]})");
  s.run("set_", R"({"id":1,"friends":[]})");
  EXPECT_EQ(s.rows("f", R"({"id":1})"), R"([{"friends":[2],"n":1}])");  // 2 still keeps 1
  s.run("put_u", R"({"id":2,"friends":[3]})");
  EXPECT_EQ(s.rows("f", R"({"id":1})"), R"([{"friends":[],"n":0}])");
  EXPECT_EQ(s.dump(), R"({"U":[[1,{"id":1,"age":1,"friends":[]}],[2,{"id":2,"age":1,"friends":[3]}]]})");
}

// "`remove`, also with `where`, works on the union and changes both sides"
TEST(References, RemovingFromASymmetricRoleChangesBothSides) {
  Session s(friends);
  s.run("u", R"({"id":1,"friends":[2,3,9]})");
  s.run("u", R"({"id":2,"friends":[1]})");
  s.run("u", R"({"id":3,"friends":[]})");
  s.run("u", R"({"id":4,"friends":[1]})");
  EXPECT_EQ(s.run("remove_", R"({"id":1,"f":2})"), "applied");
  EXPECT_EQ(s.rows("f", R"({"id":1})"), R"([{"friends":[3,4,9],"n":3}])");
  EXPECT_EQ(s.rows("f", R"({"id":2})"), R"([{"friends":[],"n":0}])");
  EXPECT_EQ(s.run("remove_", R"({"id":3,"f":1})"), "applied");  // 3 keeps nothing: it goes on the other side
  EXPECT_EQ(s.rows("f", R"({"id":1})"), R"([{"friends":[4,9],"n":2}])");
  EXPECT_EQ(s.run("remove_where", R"({"id":1,"age":1})"), "applied");
  EXPECT_EQ(s.rows("f", R"({"id":1})"), R"([{"friends":[9],"n":1}])");
  EXPECT_EQ(s.rows("f", R"({"id":4})"), R"([{"friends":[],"n":0}])");
  // `remove … where` looks at all elements, also at those that lead nowhere.
  EXPECT_EQ(s.run("remove_lost", R"({"id":1})"), "applied");
  EXPECT_EQ(s.rows("f", R"({"id":1})"), R"([{"friends":[],"n":0}])");
  EXPECT_EQ(s.run("set_", R"({"id":4,"friends":[1,2]})"), "applied");
  EXPECT_EQ(s.run("remove_all", R"({"id":1,"fs":[4,5]})"), "applied");
  EXPECT_EQ(s.rows("f", R"({"id":4})"), R"([{"friends":[2],"n":1}])");
}

// Conditions that "read own fields only" read what the aggregate keeps.
TEST(References, ConditionsOnOwnFieldsReadWhatIsKept) {
  Session s(friends);
  s.run("u", R"({"id":1,"friends":[]})");
  for (int i = 2; i <= 6; ++i) EXPECT_EQ(s.run("u", "{\"id\":" + std::to_string(i) + ",\"friends\":[1]}"), "applied");
  EXPECT_EQ(s.rows("f", R"({"id":1})"), R"([{"friends":[2,3,4,5,6],"n":5}])");
  EXPECT_EQ(s.run("set_", R"({"id":1,"friends":[2,3,4]})"), "applied");
  EXPECT_EQ(s.run("add_", R"({"id":1,"f":5})"), "require");
  EXPECT_EQ(s.run("set_", R"({"id":1,"friends":[]})"), "applied");
  EXPECT_EQ(s.answer("bulk"), R"({"outcome":"applied","count":1})");  // 1 keeps no friends
}

}  // namespace noam::reference
