#include "noam/stores/cassandra/values.h"

#include <string>

#include <gtest/gtest.h>

#include "noam/cql/cell.h"

namespace noam::stores::cassandra {
namespace {

using model::Datum;
using model::scalar;
using model::Type;
using model::TypeKind;

// An entity with a key of one part, and one with two; a value, and one that holds itself.
model::Model small_model() {
  model::Model model;
  const auto field = [](const char* name, Type type) {
    model::Field out;
    out.name = name;
    out.type = std::move(type);
    return out;
  };
  model::Entity user;
  user.name = "User";
  user.fields = {field("name", scalar(TypeKind::Text))};
  user.key = {0};
  model::Entity seat;
  seat.name = "Seat";
  seat.fields = {field("row", scalar(TypeKind::Int)), field("place", scalar(TypeKind::Text))};
  seat.key = {0, 1};
  model.entities = {user, seat};
  model::Value round;
  round.name = "Round";
  round.fields = {field("moves", scalar(TypeKind::Text)),
                  field("tags", model::collection_of(TypeKind::Set, scalar(TypeKind::Text))),
                  field("spell", model::optional(scalar(TypeKind::Int)))};
  model::Value tree;
  tree.name = "Tree";
  Type self;
  self.kind = TypeKind::Value;
  self.id = 1;
  tree.fields = {field("label", scalar(TypeKind::Text)), field("below", model::collection_of(TypeKind::List, self))};
  model.values = {round, tree};
  return model;
}

Type value_type(std::uint32_t id) {
  Type out;
  out.kind = TypeKind::Value;
  out.id = id;
  return out;
}

class ColumnValuesTest : public testing::Test {
 protected:
  // What comes back, as text where it does not.
  Datum there_and_back(const Type& type, const std::string& cql_type, const Datum& datum) {
    cql::Values written;
    const auto appended = values_.append(type, cql_type, datum, written);
    EXPECT_TRUE(appended) << appended.error().message;
    std::string_view bytes = written.bytes();
    const auto cell = cql::take_cell(bytes);
    EXPECT_TRUE(cell && bytes.empty());
    const auto read = values_.read(type, cql_type, *cell);
    EXPECT_TRUE(read) << read.error().message;
    return read ? *read : Datum();
  }

  const model::Model model_ = small_model();
  const ColumnValues values_{model_};
};

TEST_F(ColumnValuesTest, ComeBackAsTheyWere) {
  const struct {
    Type type;
    const char* cql;
    std::vector<Datum> all;
  } cases[] = {
      {scalar(TypeKind::Bool), "boolean", {false, true}},
      {scalar(TypeKind::Int), "bigint", {0, -1, INT64_MIN, INT64_MAX}},
      {scalar(TypeKind::Float), "double", {0.0, -1.5, 1e-300, 1e308}},
      {scalar(TypeKind::Decimal),
       "decimal",
       {*model::Decimal::parse("0"), *model::Decimal::parse("-12.5"), *model::Decimal::parse("1e34"),
        *model::Decimal::parse("1234567890123456789012345678901234")}},
      {scalar(TypeKind::Text), "text", {"", "a", "\xC3\xA9"}},
      {scalar(TypeKind::Bytes), "blob", {"", std::string("\0\xFF", 2)}},
      {scalar(TypeKind::Timestamp), "timestamp", {-62'135'596'800'000, -1, 0, 253'402'300'799'999}},
      {scalar(TypeKind::Date), "date", {-719'162, -1, 0, 2'932'896}},
      {scalar(TypeKind::Uuid), "uuid", {std::string(16, '\0'), std::string(16, '\xFF')}},
      {scalar(TypeKind::TimeUuid), "timeuuid", {std::string("\x11\xEF\x1A\x2B\x00\x01\x02\x03\x80\1\2\3\4\5\6\7", 16)}},
      {scalar(TypeKind::Inet), "inet", {std::string("\4\x7F\0\0\1", 5), "\6" + std::string(16, '\1')}},
      {model::reference(model::EntityId{0}), "text", {"ann"}},
      {model::reference(model::EntityId{1}), "frozen<tuple<bigint, text>>", {Datum::List{3, "e"}}},
      {model::collection_of(TypeKind::List, scalar(TypeKind::Int)),
       "list<bigint>",
       {Datum::List{}, Datum::List{2, 1, 2}}},
      {model::collection_of(TypeKind::Set, scalar(TypeKind::Uuid)),
       "set<uuid>",
       {Datum::List{std::string(16, '\x10'), std::string(16, '\x20')}}},
      {value_type(0),
       "frozen<round>",
       {Datum::List{"e4", Datum::List{}, Datum()}, Datum::List{"e4", Datum::List{"a", "b"}, 7}}},
      {value_type(1), "text", {Datum::List{"root", Datum::List{Datum::List{"leaf", Datum::List{}}}}}},
  };
  for (const auto& one : cases) {
    for (const Datum& datum : one.all) EXPECT_EQ(there_and_back(one.type, one.cql, datum), datum) << one.cql;
    EXPECT_TRUE(there_and_back(model::optional(one.type), one.cql, Datum()).absent()) << one.cql;
  }
}

TEST_F(ColumnValuesTest, TakesNullForAnEmptyCollection) {
  const Type list = model::collection_of(TypeKind::List, scalar(TypeKind::Int));
  EXPECT_EQ(*values_.read(list, "list<bigint>", cql::Cell()), Datum(Datum::List()));
  EXPECT_TRUE(values_.read(model::optional(list), "list<bigint>", cql::Cell())->absent());
}

TEST_F(ColumnValuesTest, SortsWhatCassandraOrdersOtherwise) {
  // As Cassandra gives a set of uuids: by their versions first.
  const std::string first = "\x20" + std::string(15, '\1');
  const std::string second = "\x10" + std::string(15, '\2');
  cql::Values elements;
  elements.blob(first).blob(second);
  cql::Values set;
  set.list(elements);
  std::string_view bytes = set.bytes();
  const auto cell = cql::take_cell(bytes);
  const Type type = model::collection_of(TypeKind::Set, scalar(TypeKind::Uuid));
  EXPECT_EQ(*values_.read(type, "set<uuid>", *cell), Datum(Datum::List{second, first}));
}

TEST_F(ColumnValuesTest, FitIntoTypesThatADesignAsksFor) {
  for (const std::int64_t number : {-128, 0, 127})
    EXPECT_EQ(there_and_back(scalar(TypeKind::Int), "tinyint", number), Datum(number));
  EXPECT_EQ(there_and_back(scalar(TypeKind::Int), "int", INT32_MIN), Datum(INT32_MIN));
  EXPECT_EQ(there_and_back(scalar(TypeKind::Timestamp), "timeuuid", 1'709'251'199'999), Datum(1'709'251'199'999));
  EXPECT_EQ(there_and_back(scalar(TypeKind::Int), "text", 42), Datum(42));
  cql::Values out;
  const auto refused = values_.append(scalar(TypeKind::Int), "tinyint", 128, out);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "limit");
  EXPECT_EQ(refused.error().message, "128 does not fit into a column of type tinyint");
}

// Somebody damaged what is stored, or a store is asked to.
TEST_F(ColumnValuesTest, SayWhatDoesNotFit) {
  cql::Values out;
  EXPECT_FALSE(values_.append(scalar(TypeKind::Int), "bigint", "text", out));
  EXPECT_FALSE(values_.append(scalar(TypeKind::Uuid), "uuid", "short", out));
  EXPECT_FALSE(values_.append(value_type(0), "frozen<round>", Datum::List{1}, out));
  EXPECT_FALSE(values_.read(scalar(TypeKind::Int), "bigint", cql::Cell("123")));
  EXPECT_FALSE(values_.read(scalar(TypeKind::Bool), "boolean", cql::Cell("")));
}

}  // namespace
}  // namespace noam::stores::cassandra
