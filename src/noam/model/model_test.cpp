#include "noam/model/model.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "noam/model/estimates.h"
#include "noam/model/sample_for_tests.h"
#include "noam/model/scalars.h"
#include "noam/model/writing.h"

namespace noam::model {
namespace {

using namespace sample;

// Expressions over `blog` with the variables u, t, an instance without a name, and `for $line`.
class Writing : public testing::Test {
 protected:
  std::string text(const Expr& expr) const { return to_string(model, expr, variables, parameters); }
  Expr field(const Expr& of, std::uint32_t index) const { return field_of(model, of, index); }

  const Model model = blog();
  const Expr u = variable(0, reference(user));
  const Expr t = variable(1, reference(tweet));
  const Expr self = variable(2, reference(tweet));
  const Expr line = variable(3, value_type(0));
  const std::vector<Variable> variables = {variable_over("u", SourceKind::Entity, reference(user)),
                                           variable_over("t", SourceKind::Entity, reference(tweet)),
                                           variable_over("", SourceKind::Target, reference(tweet)),
                                           variable_over("line", SourceKind::Loop, value_type(0))};
  const std::vector<Parameter> parameters = {parameter_named("id", sample::text()),
                                             parameter_named("two words", integer())};
  const Expr a = number(1);
  const Expr b = number(2);
  const Expr c = number(3);
  const Expr yes = constant(scalar(TypeKind::Bool), true);
  const Expr no = constant(scalar(TypeKind::Bool), false);
};

TEST_F(Writing, WritesTypes) {
  const auto written = [&](const Type& type) { return to_string(model, type); };
  EXPECT_EQ(written(scalar(TypeKind::TimeUuid)), "timeuuid");
  EXPECT_EQ(written(optional(sample::text(8))), "text(8)?");
  EXPECT_EQ(written(reference(user)), "User");
  EXPECT_EQ(written(optional(reference(user))), "User?");
  EXPECT_EQ(written(value_type(0)), "Address");
  EXPECT_EQ(written(enumeration({"open", "pa\"id"})), R"("open" | "pa\"id")");
  EXPECT_EQ(written(optional(enumeration({"open", "paid"}))), R"(("open" | "paid")?)");
  EXPECT_EQ(written(collection_of(TypeKind::List, value_type(0))), "list<Address>");
  EXPECT_EQ(written(collection_of(TypeKind::Set, sample::text(3))), "set<text(3)>");
  EXPECT_EQ(written(map_of(reference(user), integer())), "map<User, int>");
  EXPECT_EQ(written(optional(row(TypeKind::Row, {"n", "at"}, {integer(), scalar(TypeKind::Timestamp)}))),
            "{ n: int, at: timestamp }?");
  EXPECT_EQ(written(row(TypeKind::Rows, {"n"}, {integer()})), "list<{ n: int }>");
}

TEST_F(Writing, WritesTheStatisticInsideAFieldsType) {
  Field about = sample::field("body", optional(sample::text()));
  about.about_bytes = 80;
  EXPECT_EQ(written_type(model, about), "text(~80)?");
  about.type = map_of(sample::text(), sample::text());
  EXPECT_EQ(written_type(model, about), "map<text, text(~80)>");
}

TEST_F(Writing, SaysUnknownOfWhatIsUnknown) {
  EXPECT_EQ(to_string(model, Type()), "unknown");
  EXPECT_EQ(to_string(model, scalar(TypeKind::List)), "list<unknown>");
  EXPECT_EQ(to_string(model, scalar(TypeKind::Map)), "map<unknown, unknown>");
  EXPECT_EQ(to_string(model, reference(EntityId{99})), "unknown");
  EXPECT_EQ(to_string(model, value_type(99)), "unknown");
  EXPECT_EQ(text(Expr()), "?");
  for (int kind = 0; kind <= static_cast<int>(ExprKind::Slot); ++kind) {
    Expr broken;
    broken.kind = static_cast<ExprKind>(kind);
    broken.index = 99;
    EXPECT_FALSE(text(broken).empty());
    broken.operands = {Expr(), Expr(), Expr(), Expr()};
    EXPECT_FALSE(text(broken).empty());
  }
  for (int function = 0; function <= static_cast<int>(Function::MapValues); ++function) {
    EXPECT_EQ(text(call(static_cast<Function>(function), {Expr()})).find("? ?"), std::string::npos);
    text(call(static_cast<Function>(function), {}));
    text(call(static_cast<Function>(function), {Expr(), Expr(), Expr(), Expr()}));
  }
}

TEST_F(Writing, QuotesNamesThatAreNoWords) {
  EXPECT_EQ(written_name("größe_2"), "größe_2");
  EXPECT_EQ(written_name("名前"), "名前");
  EXPECT_EQ(written_name("_x"), "_x");
  EXPECT_EQ(written_name("_"), "`_`");
  EXPECT_EQ(written_name("two words"), "`two words`");
  EXPECT_EQ(written_name("2nd"), "`2nd`");
  EXPECT_EQ(written_name("😀"), "`😀`");
  EXPECT_EQ(written_name(""), "``");
  EXPECT_EQ(written_name("a-b"), "`a-b`");
  EXPECT_EQ(text(parameter(1)), "$`two words`");
}

TEST_F(Writing, QuotesNamesThatWouldBeReadAsWords) {
  const std::vector<Variable> taken = {variable_over("not", SourceKind::Entity, reference(user)),
                                       variable_over("ABSENT", SourceKind::Entity, reference(user)),
                                       variable_over("Select", SourceKind::Entity, reference(user))};
  EXPECT_EQ(to_string(model, field(u, Username), taken, {}), "`not`.username");
  EXPECT_EQ(to_string(model, variable(1, reference(user)), taken, {}), "`ABSENT`");
  EXPECT_EQ(to_string(model, variable(2, reference(user)), taken, {}), "Select");
}

TEST_F(Writing, EscapesTexts) {
  EXPECT_EQ(written_text("a\"b\\c\nd\te\x01\x7f"), R"("a\"b\\c\nd\te\u{1}\u{7F}")");
  EXPECT_EQ(written_text("ε😀"), "\"ε😀\"");
  EXPECT_EQ(written_text("a\u0085\u202Eb"), R"("a\u{85}\u{202E}b")");
}

TEST_F(Writing, WritesDurationsInTheirLargestUnit) {
  EXPECT_EQ(written_duration(1), "1 minute");
  EXPECT_EQ(written_duration(90), "90 minutes");
  EXPECT_EQ(written_duration(60), "1 hour");
  EXPECT_EQ(written_duration(1440), "1 day");
  EXPECT_EQ(written_duration(10'080), "7 days");
  EXPECT_EQ(written_duration(0), "0 minutes");
}

TEST_F(Writing, WritesConstantsByTheirType) {
  EXPECT_EQ(text(number(-3)), "-3");
  EXPECT_EQ(text(yes), "true");
  EXPECT_EQ(text(constant(integer(), std::monostate())), "absent");
  EXPECT_EQ(text(constant(scalar(TypeKind::Float), 0.1)), "0.1");
  EXPECT_EQ(text(constant(scalar(TypeKind::Float), 1e21)), "1000000000000000000000");
  EXPECT_FALSE(text(constant(scalar(TypeKind::Float), std::numeric_limits<double>::denorm_min())).empty());
  EXPECT_NE(text(constant(scalar(TypeKind::Float), std::numeric_limits<double>::denorm_min())), "?");
  EXPECT_EQ(text(constant(scalar(TypeKind::Decimal), std::string("1.50"))), "1.50");
  EXPECT_EQ(text(words("it's")), "\"it's\"");
  EXPECT_EQ(text(constant(scalar(TypeKind::Timestamp), std::int64_t{0})), "timestamp \"1970-01-01T00:00:00.000Z\"");
  EXPECT_EQ(text(constant(scalar(TypeKind::Date), std::int64_t{-1})), "date \"1969-12-31\"");
  EXPECT_EQ(text(constant(scalar(TypeKind::Duration), std::int64_t{120})), "2 hours");
  EXPECT_EQ(text(constant(scalar(TypeKind::Bytes), std::string("f"))), "bytes \"Zg==\"");
  EXPECT_EQ(text(constant(scalar(TypeKind::Inet), std::string("\x01\x02\x03\x04"))), "inet \"1.2.3.4\"");
  EXPECT_EQ(text(constant(scalar(TypeKind::Uuid), std::string(16, '\0'))),
            "uuid \"00000000-0000-0000-0000-000000000000\"");
  EXPECT_EQ(text(constant(scalar(TypeKind::Json), std::string("{\"a\":1}"))), R"(json "{\"a\":1}")");
  // A reference is written as its key.
  EXPECT_EQ(text(constant(reference(user), std::string("mary"))), "\"mary\"");
  EXPECT_EQ(text(constant(reference(tweet), std::string(16, '\0'))), "uuid \"00000000-0000-0000-0000-000000000000\"");
}

TEST_F(Writing, WritesPaths) {
  EXPECT_EQ(text(u), "u");
  EXPECT_EQ(text(field(field(t, Author), Username)), "t.author.username");
  EXPECT_EQ(text(inverse_of(model, u, RoleAuthor)), "u.tweets");
  EXPECT_EQ(text(field(instance(user, {parameter(0)}), Username)), "User[$id].username");
  EXPECT_EQ(text(member(ExprKind::Refreshed, u, 0, scalar(TypeKind::Timestamp))), "u.refreshed");
  EXPECT_EQ(text(field(line, 1)), "$line.city");
  Expr element;
  element.kind = ExprKind::Element;
  element.operands = {field(u, Addresses), words("home")};
  element.type = value_type(0);
  EXPECT_EQ(text(field(element, 1)), "u.addresses[\"home\"].city");
  const Type refreshed = row(TypeKind::Row, {"username", "n"}, {sample::text(), integer()});
  EXPECT_EQ(text(member(ExprKind::Field, variable(0, refreshed), 1, integer())), "u.n");
}

TEST_F(Writing, LeavesOutTheInstanceThatHasNoName) {
  EXPECT_EQ(text(field(self, Content)), "content");
  EXPECT_EQ(to_string(model, field(u, Username), {}, {}), "username");
  const Scope scope{model, variables, parameters};
  EXPECT_EQ(written(scope, call(Function::Equal, {field(u, Username), field(field(t, Author), Username)}), 0),
            "username = t.author.username");
}

TEST_F(Writing, UsesAsFewParenthesesAsItCan) {
  const auto add = [](Expr x, Expr y) { return call(Function::Add, {std::move(x), std::move(y)}, integer()); };
  const auto subtract = [](Expr x, Expr y) {
    return call(Function::Subtract, {std::move(x), std::move(y)}, integer());
  };
  const auto multiply = [](Expr x, Expr y) {
    return call(Function::Multiply, {std::move(x), std::move(y)}, integer());
  };
  const auto coalesce = [](Expr x, Expr y) {
    return call(Function::Coalesce, {std::move(x), std::move(y)}, integer());
  };
  const auto both = [](Expr x, Expr y) { return call(Function::And, {std::move(x), std::move(y)}); };
  const auto either = [](Expr x, Expr y) { return call(Function::Or, {std::move(x), std::move(y)}); };
  const auto negated = [](Expr x) { return call(Function::Not, {std::move(x)}); };

  EXPECT_EQ(text(add(add(a, b), c)), "1 + 2 + 3");
  EXPECT_EQ(text(add(a, add(b, c))), "1 + (2 + 3)");
  EXPECT_EQ(text(subtract(a, subtract(b, c))), "1 - (2 - 3)");
  EXPECT_EQ(text(subtract(add(a, b), c)), "1 + 2 - 3");
  EXPECT_EQ(text(add(multiply(a, b), c)), "1 * 2 + 3");
  EXPECT_EQ(text(multiply(add(a, b), c)), "(1 + 2) * 3");
  EXPECT_EQ(text(multiply(a, call(Function::Negate, {add(b, c)}, integer()))), "1 * -(2 + 3)");
  EXPECT_EQ(text(subtract(a, number(-2))), "1 - -2");
  EXPECT_EQ(text(coalesce(a, coalesce(b, c))), "1 ?? 2 ?? 3");
  EXPECT_EQ(text(coalesce(coalesce(a, b), c)), "(1 ?? 2) ?? 3");
  EXPECT_EQ(text(add(coalesce(a, b), c)), "(1 ?? 2) + 3");
  EXPECT_EQ(text(coalesce(add(a, b), c)), "1 + 2 ?? 3");
  EXPECT_EQ(text(either(both(yes, no), yes)), "true and false or true");
  EXPECT_EQ(text(both(either(yes, no), yes)), "(true or false) and true");
  EXPECT_EQ(text(both(yes, both(no, yes))), "true and false and true");
  EXPECT_EQ(text(call(Function::And, {yes, no, yes})), "true and false and true");
  EXPECT_EQ(text(negated(both(yes, no))), "not (true and false)");
  EXPECT_EQ(text(both(negated(yes), negated(negated(no)))), "not true and not not false");
  EXPECT_EQ(text(call(Function::Equal, {call(Function::Equal, {a, b}), yes})), "(1 = 2) = true");
  EXPECT_EQ(text(call(Function::Less, {coalesce(a, b), c})), "1 ?? 2 < 3");
  EXPECT_EQ(text(negated(call(Function::Less, {a, b}))), "not 1 < 2");
}

TEST_F(Writing, WritesPredicates) {
  const Expr content = field(t, Content);
  EXPECT_EQ(text(call(Function::Not, {call(Function::Equal, {content, words("")})})), "t.content != \"\"");
  EXPECT_EQ(text(call(Function::Not, {call(Function::In, {content, parameter(0)})})), "t.content not in $id");
  EXPECT_EQ(text(call(Function::Not, {call(Function::IsAbsent, {content})})), "t.content is not absent");
  EXPECT_EQ(text(call(Function::IsAbsent, {content})), "t.content is absent");
  EXPECT_EQ(text(call(Function::Between, {a, b, call(Function::Add, {b, c}, integer())})), "1 between 2 and 2 + 3");
  EXPECT_EQ(text(call(Function::And, {call(Function::Between, {a, b, c}), yes})), "1 between 2 and 3 and true");
  EXPECT_EQ(text(call(Function::ContainsAll, {content, parameter(0)})), "t.content contains all $id");
  EXPECT_EQ(text(call(Function::ContainsAny, {content, parameter(0)})), "t.content contains any $id");
  EXPECT_EQ(text(call(Function::StartsWith, {content, parameter(0)})), "t.content starts with $id");
  EXPECT_EQ(text(call(Function::Contains, {field(u, Follows), t})), "u.follows contains t");
}

TEST_F(Writing, WritesCallsAndFolds) {
  EXPECT_EQ(text(call(Function::Hour, {field(t, At)})), "hour(t.at)");
  EXPECT_EQ(text(call(Function::Now, {})), "now()");
  EXPECT_EQ(text(call(Function::MakeUuid, {})), "uuid()");
  EXPECT_EQ(text(call(Function::RandomText, {number(8)})), "random_text(8)");
  EXPECT_EQ(text(call(Function::Greatest, {a, call(Function::Add, {b, c}, integer())})), "greatest(1, 2 + 3)");
  EXPECT_EQ(text(call(Function::MapKey, {u})), "key(u)");
  EXPECT_EQ(text(call(Function::Shard, {field(t, Id), number(16)})), "shard(t.id, 16)");
  EXPECT_EQ(text(call(Function::ToDecimal, {call(Function::Add, {a, b}, integer())})), "1 + 2");
  EXPECT_EQ(text(fold(Fold::Count, {})), "count(*)");
  EXPECT_EQ(text(fold(Fold::Avg, {a})), "avg(1)");
  Expr distinct = fold(Fold::Count, {field(t, Author)});
  distinct.distinct = true;
  EXPECT_EQ(text(distinct), "count(distinct t.author)");
  EXPECT_EQ(text(count_of(field(u, Follows))), "count(u.follows)");
}

TEST_F(Writing, WritesCollectionsAndValues) {
  Expr list;
  list.kind = ExprKind::List;
  EXPECT_EQ(text(list), "{}");
  list.operands = {a, b};
  EXPECT_EQ(text(list), "[1, 2]");
  Expr map;
  map.kind = ExprKind::Map;
  EXPECT_EQ(text(map), "{}");
  map.operands = {words("a"), a, words("b"), b};
  EXPECT_EQ(text(map), R"({ "a": 1, "b": 2 })");
  Expr record;
  record.kind = ExprKind::Record;
  record.type = value_type(0);
  record.operands = {words("High St"), parameter(0), constant(sample::text(), std::monostate())};
  EXPECT_EQ(text(record), R"({ street: "High St", city: $id })");
}

TEST_F(Writing, WritesSelects) {
  Select select;
  select.from = {1};
  select.columns = {column("at", field(t, At)), column("count", fold(Fold::Count, {})),
                    column("n", count_of(inverse_of(model, t, RoleTweet)))};
  select.where = call(Function::Equal, {field(t, Author), u});
  select.group_by = {field(t, At)};
  Expr by_column;
  by_column.kind = ExprKind::Column;
  by_column.index = 2;
  select.order_by = {OrderTerm{by_column, true}, OrderTerm{field(t, At), false}};
  select.limit = number(1);
  const Expr expr = nested(select, row(TypeKind::Row, {}, {}));
  EXPECT_EQ(text(expr),
            "(select t.at, count(*), count(t.visits) as n from Tweet t where t.author = u group by t.at "
            "order by n desc, t.at limit 1)");
  EXPECT_EQ(text(count_of(expr)).substr(0, 15), "count((select t");
}

TEST_F(Writing, WritesSources) {
  std::vector<Variable> all = {variable_over("u", SourceKind::Entity, reference(user)),
                               variable_over("a", SourceKind::Path, reference(user), field(u, Follows)),
                               variable_over("b", SourceKind::References, reference(user), field(u, Follows)),
                               variable_over("w", SourceKind::Words, sample::text(), field(u, Username)),
                               variable_over("c", SourceKind::Instance, reference(user),
                                             instance(user, {parameter(0)})),
                               variable_over("d", SourceKind::Instance, reference(user), variable(2, reference(user)))};
  const Scope scope{model, all, parameters};
  EXPECT_EQ(written_sources(scope, {0, 1, 2}), "User u, u.follows a, references(u.follows) b");
  EXPECT_EQ(written_sources(scope, {3, 4, 5}), "words(u.username) w, User[$id] c, User[b] d");
}

TEST_F(Writing, WritesWhatOnlyPlansHave) {
  Expr slot;
  slot.kind = ExprKind::Slot;
  slot.index = 3;
  EXPECT_EQ(text(call(Function::Union, {field(u, Follows), slot})), "union(u.follows, #3)");
  EXPECT_EQ(text(call(Function::MapValues, {field(u, Addresses)})), "values(u.addresses)");
}

TEST_F(Writing, WritesWholeAggregates) {
  Select select;
  select.distinct = true;
  select.from = {0};
  Column whole = column("u", u);
  whole.aggregate = true;
  whole.without = {Follows, Addresses};
  select.columns = {whole};
  const Scope scope{model, variables, parameters};
  EXPECT_EQ(written(scope, select), "select distinct u without follows, addresses from User u");
}

TEST(Expr, IsTheSameWhereverItWasWritten) {
  const Model model = blog();
  const auto make = [&](Span span) {
    Select select;
    select.from = {0};
    select.span = span;
    select.columns = {column("id", field_of(model, variable(0, reference(tweet)), Id))};
    select.columns[0].span = span;
    select.columns[0].expr.operands[0].span = span;
    select.where = call(Function::Equal, {number(1), number(2)});
    select.where->span = span;
    select.order_by = {OrderTerm{number(3), true}};
    Expr expr = nested(select, Type());
    expr.span = span;
    return expr;
  };
  const Expr here = make({1, 2});
  Expr there = make({3, 4});
  EXPECT_TRUE(same(here, there));
  EXPECT_FALSE(here == there);
  EXPECT_TRUE(here == make({1, 2}));
  there.select[0].order_by[0].descending = false;
  EXPECT_FALSE(same(here, there));
  there = make({3, 4});
  there.select[0].where->operands[1] = number(5);
  EXPECT_FALSE(same(here, there));
  there = make({3, 4});
  there.select[0].limit = number(1);
  EXPECT_FALSE(same(here, there));
  there = make({3, 4});
  there.select[0].columns.push_back(there.select[0].columns[0]);
  EXPECT_FALSE(same(here, there));
}

TEST(Model, IsEqualToItsCopy) {
  const Model model = whole_blog();
  Model other = whole_blog();
  EXPECT_EQ(model, other);
  other.queries[0].select.columns[0].expr.operands[0].index = 7;
  EXPECT_NE(model, other);
}

TEST(AverageBytes, FollowTypesAndStatistics) {
  const Model model = blog();
  const auto bytes = [&](const Type& type) { return average_bytes(model, field("f", type)); };
  EXPECT_EQ(bytes(scalar(TypeKind::Bool)), 1);
  EXPECT_EQ(bytes(integer()), 8);
  EXPECT_EQ(bytes(text()), 20);
  EXPECT_EQ(bytes(text(8)), 8);
  EXPECT_EQ(bytes(text(500)), 20);
  EXPECT_EQ(bytes(enumeration({"a", "abc"})), 2);
  EXPECT_EQ(bytes(reference(user)), 20);
  EXPECT_EQ(bytes(reference(tweet)), 16);
  EXPECT_EQ(bytes(value_type(0)), 60);
  EXPECT_EQ(bytes(Type()), 0);
  EXPECT_EQ(bytes(reference(EntityId{99})), 0);
  EXPECT_EQ(bytes(value_type(99)), 0);
  Field tags = field("tags", collection_of(TypeKind::Set, text()));
  EXPECT_EQ(average_bytes(model, tags), 200);
  tags.statistic.count = 4;
  tags.about_bytes = 6;
  EXPECT_EQ(average_bytes(model, tags), 24);
  EXPECT_EQ(average_bytes(model, model.entities[0].fields[Addresses]), 2 * (20 + 60));
  EXPECT_EQ(average_bytes(model, model.entities[1]), 16 + 20 + 8 + 120 + 4.5);
}

TEST(AverageBytes, EndWhereTypesGoInCircles) {
  Model model = blog();
  model.values[0].fields[0].type = value_type(0);
  model.entities[0].fields[Username].type = reference(user);
  EXPECT_TRUE(std::isfinite(average_bytes(model, model.entities[0])));
}

TEST(Estimates, AreWrittenOrDerived) {
  const Model model = blog();
  EXPECT_EQ(instances(model, user), (Estimate{1'000'000, false}));
  EXPECT_EQ(instances(model, visit), (Estimate{150'000'000, true}));
  EXPECT_EQ(forward_fan_out(model, model.roles[RoleFollows]), (Estimate{50, false}));
  EXPECT_EQ(backward_fan_out(model, model.roles[RoleFollows]), (Estimate{50, true}));
  EXPECT_EQ(forward_fan_out(model, model.roles[RoleAuthor]), (Estimate{1, false}));
  EXPECT_EQ(backward_fan_out(model, model.roles[RoleAuthor]), (Estimate{50, false}));
}

TEST(Estimates, AreNothingWhereNothingWasWritten) {
  Model model = blog();
  for (auto& entity : model.entities) entity.statistic = {};
  for (auto& role : model.roles) role.backward = {};
  EXPECT_EQ(instances(model, visit), std::nullopt);
  EXPECT_EQ(backward_fan_out(model, model.roles[RoleAuthor]), std::nullopt);
  // A circle that says nothing of where to begin.
  model.roles[RoleFollows].backward.count = 3;
  EXPECT_EQ(instances(model, user), std::nullopt);
}

TEST(Estimates, AskEachEntityOnce) {
  // Two ways from each to the next: 2^60 ways in all, and none leads to a figure.
  Model model;
  for (std::uint32_t i = 0; i <= 60; ++i) {
    model.entities.emplace_back();
    for (int way = 0; i < 60 && way < 2; ++way) {
      model.entities[i].fields.push_back(field("next", reference(EntityId{i + 1})));
      Role role;
      role.from = EntityId{i};
      role.to = EntityId{i + 1};
      role.backward.count = 2;
      model.roles.push_back(role);
    }
  }
  EXPECT_EQ(instances(model, EntityId{0}), std::nullopt);
  model.entities[3].statistic.count = 10;
  EXPECT_EQ(instances(model, EntityId{0}), (Estimate{80, true}));
}

TEST(Estimates, OfASymmetricRoleAreTheSameBothWays) {
  Model model = blog();
  model.roles[RoleFollows].symmetric = true;
  EXPECT_EQ(backward_fan_out(model, model.roles[RoleFollows]), (Estimate{50, false}));
}

}  // namespace
}  // namespace noam::model
