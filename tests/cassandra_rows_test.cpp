// Entries as rows of Cassandra, and back, without a server: what the scenarios leave under every design.

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "noam/schemas/cassandra/tables.h"
#include "noam/schemas/outline.h"
#include "noam/stores/cassandra/partitions.h"
#include "noam/stores/cassandra/rows.h"
#include "noam/targets/cassandra/cassandra.h"
#include "tests/compiled.h"
#include "tests/outlined.h"
#include "tests/scenario.h"
#include "tests/session_engine.h"
#include "tests/support.h"

namespace noam::tests {
namespace {

using model::Datum;
using stores::cassandra::Bound;
using stores::cassandra::DesignTables;
using stores::cassandra::TableRows;
namespace db = stores::blocks;

// What a row has after statements that set columns, by the names of these.
class WrittenRow {
 public:
  void take(const Bound& statement) {
    const std::string& text = statement.text;
    std::vector<std::string> names;
    const auto add = [&](std::size_t from, std::size_t to, const std::string& between) {
      while (from < to) {
        const std::size_t end = std::min(text.find(between, from), to);
        names.push_back(text.substr(from, end - from));
        from = end + between.size();
      }
    };
    if (text.starts_with("INSERT")) {
      const std::size_t from = text.find('(') + 1;
      add(from, text.find(')', from), ", ");
    } else {
      const std::size_t set = text.find(" SET ") + 5;
      const std::size_t where = text.find(" WHERE ");
      const std::size_t condition = std::min(text.find(" IF "), text.size());
      add(set, where, ", ");
      add(where + 7, condition, " AND ");
      for (std::string& name : names) name = name.substr(0, name.find(" = ?"));
    }
    std::string_view bytes = statement.values.bytes();
    for (const std::string& name : names) {
      const auto cell = cql::take_cell(bytes);
      ASSERT_TRUE(cell) << text;
      values_[name] = cell->is_null() ? std::nullopt : std::optional(std::string(cell->bytes()));
    }
    EXPECT_LE(bytes.size(), 20U) << "all but a condition has a name: " << text;
    for (const auto& [name, value] : values_) places_.emplace(name, places_.size());
    cells_.assign(places_.size(), cql::Cell());
    for (const auto& [name, value] : values_)
      if (value) cells_[places_.at(name)] = cql::Cell(*value);
  }

  [[nodiscard]] stores::cassandra::Row row() const { return {places_, cells_}; }

 private:
  std::map<std::string, std::optional<std::string>> values_;
  std::map<std::string, std::size_t> places_;
  std::vector<cql::Cell> cells_;
};

const TableRows& of(const DesignTables& tables, std::uint32_t family) { return tables.table(tables.part_of(family)); }

std::size_t check_family(const DesignTables& tables, stores::Store& store, std::uint32_t collection,
                         std::uint32_t family) {
  std::size_t entries = 0;
  std::string after;
  do {
    auto page = store.scan(family, after, nullptr, stores::no_deadline);
    if (!page) {
      ADD_FAILURE() << page.error().message;
      break;
    }
    for (const auto& item : page->items) {
      const TableRows& rows = of(tables, family);
      db::UnitWrite write{{0, item.block}, db::UnitWrite::Sequence{7}, {}, std::nullopt};
      write.changes = {stores::Put{{{collection, item.block}, family, item.entry.key}, item.entry.columns}};
      write.head = db::Head{3, 8, {1, 2, 3}, "hold", "last", "done", "guards"};
      const auto statements = rows.write(write);
      if (!statements) {
        ADD_FAILURE() << statements.error().message;
        continue;
      }
      WrittenRow written;
      for (const Bound& statement : *statements) written.take(statement);
      const auto row = written.row();
      const auto head = rows.head_of(row);
      const auto block = rows.block_of(row);
      const auto entry = rows.entry_of(family, row);
      EXPECT_TRUE(head && *head == *write.head);
      EXPECT_TRUE(block && *block == item.block) << rows.qualified();
      EXPECT_TRUE(entry && *entry && **entry == item.entry)
          << rows.qualified() << (entry ? "" : ": " + entry.error().message);
      EXPECT_TRUE(rows.has_entry(row));
      // In bulk, the same is written without a condition, and gives way to all that has one.
      const auto filled = rows.fill(write);
      if (!filled || filled->size() != statements->size()) {
        ADD_FAILURE() << rows.qualified();
        continue;
      }
      WrittenRow plain;
      for (const Bound& statement : *filled) {
        EXPECT_EQ(statement.text.find(" IF "), std::string::npos) << statement.text;
        EXPECT_NE(statement.text.find(" USING TIMESTAMP 1"), std::string::npos) << statement.text;
        plain.take(statement);
      }
      const auto again = rows.entry_of(family, plain.row());
      EXPECT_TRUE(again && *again && **again == item.entry) << rows.qualified();
      ++entries;
    }
    after = page->next;
  } while (!after.empty());
  return entries;
}

}  // namespace

TEST(CassandraRows, GiveTheEntriesThatTheyWereMadeOf) {
  std::size_t entries = 0;
  for (const auto& path : files_below("tests/scenarios", ".scenario")) {
    const ParsedScenario parsed = parse_scenario(read_file(path));
    const ModelPointer model = model_of_file(parsed.scenario.model);
    for (const std::string& design : strategies_of(*model)) {
      SCOPED_TRACE(path.filename().string() + " under " + design);
      SessionEngine engine(*model, design);
      run_scenario(parsed.scenario, engine);
      const design::Program& program = engine.session().program();
      const DesignTables tables("k", {program.design, *program.model});
      for (std::uint32_t f = 0; f < program.design.families.size(); ++f) {
        // Native counters are not written in commits.
        if (of(tables, f).table().counters) continue;
        entries += check_family(tables, engine.store(), program.design.families[f].collection, f);
      }
    }
  }
  EXPECT_GT(entries, 1'000U);
}

// Byte for byte, but for the keyspace before the names.
TEST(CassandraTables, OfAStoreAreThoseThatGeneratePrints) {
  std::size_t designs = 0;
  for (const auto& path : files_below("examples", ".noam")) {
    const ModelPointer model = model_of_file(path.lexically_relative(source_dir()));
    for (const std::string& design : strategies_of(*model)) {
      SCOPED_TRACE(path.filename().string() + " under " + design);
      const design::Program program = program_of(model, design);
      const DesignTables tables("k", {program.design, *program.model});
      std::string made;
      for (std::string statement : tables.statements()) {
        for (const std::string begin : {"CREATE TABLE IF NOT EXISTS ", "CREATE TYPE IF NOT EXISTS "})
          if (statement.starts_with(begin + "k.")) statement.erase(begin.size(), 2);
        made += "\n" + statement;
      }
      const std::string printed =
          file_of(targets::cassandra::generate(targets::outline(program), nullptr), "schema.cql");
      EXPECT_EQ(printed.substr(std::min(printed.find("\n\nCREATE T"), printed.size() - 1) + 1), made);
      ++designs;
    }
  }
  EXPECT_GT(designs, 20U);
}

// A kept sum is exact: on the way, it may be larger than an int.
TEST(CassandraRows, HaveRoomForSumsOfInts) {
  const ModelPointer model = model_of(R"(
    model m
    entity Box { name: text key }
    entity Item { id: int key  box: Box inverse items  n: int }
    command make($name) { insert Box { name: $name } }
    command fill($id, $box, $n) { insert Item { id: $id, box: $box, n: $n } }
    query total($name) { select (select sum(i.n) from b.items i) as n from Box b where b.name = $name }
    design kept { collection boxes of Box b by name { copy total: sum(i.n) as n from b.items i } }
  )");
  SessionEngine engine(*model, "kept");
  engine.answer({{"run", "make"}, {"params", {{"name", "a"}}}});
  for (int id = 0; id < 3; ++id)
    engine.answer({{"run", "fill"}, {"params", {{"id", id}, {"box", "a"}, {"n", INT64_MAX}}}});
  const design::Program& program = engine.session().program();
  const DesignTables tables("k", {program.design, *program.model});
  for (std::uint32_t f = 0; f < program.design.families.size(); ++f)
    check_family(tables, engine.store(), program.design.families[f].collection, f);
}

namespace {

const char* const shop = R"(
model shop
entity Order { id: uuid key  customer: text  placed: timestamp  note: text? }
query of($c) { select o.id, o.note from Order o where o.customer = $c order by o.placed desc, o.id }
design d {
  collection orders of Order o by id { entry ε: * }
  collection by_customer of Order o by o.customer as customer { copy [o.placed desc, o.id]: o.note }
}
)";

}  // namespace

TEST(CassandraRows, KeepTheOrderOfKeysAndTheHead) {
  const design::Program program = program_of(model_of(shop), "d");
  const DesignTables tables("k", {program.design, *program.model});
  std::uint32_t family = 0;
  while (of(tables, family).table().name != "by_customer") ++family;
  const auto ranges =
      of(tables, family)
          .select_rows(
              {"ann"},
              {.family = family, .from = {{5, std::string(16, '\1')}, false}, .to = {}, .reverse = false, .limit = 3});
  ASSERT_TRUE(ranges);
  std::string texts;
  for (const Bound& range : *ranges) texts += range.text + "\n";
  // Behind a key of two parts: the rest of its first part, and what follows. Uuids lie in bytes of noam's order.
  EXPECT_EQ(texts,
            "SELECT placed, id_order, note, noam_version, noam_sequence, noam_tx FROM k.by_customer "
            "WHERE customer = ? AND placed = ? AND id_order > ? LIMIT ?\n"
            "SELECT placed, id_order, note, noam_version, noam_sequence, noam_tx FROM k.by_customer "
            "WHERE customer = ? AND placed < ? LIMIT ?\n");
  db::UnitWrite write{{0, {"ann"}}, db::UnitWrite::Held{{1}}, {}, std::nullopt};
  write.head = db::Head{1, 2, {}, {}, {}, {}, {}};
  write.changes = {stores::Put{{{0, {"ann"}}, family, {5, std::string(16, '\1')}}, {Datum()}},
                   stores::Delete{{{0, {"ann"}}, family, {6, std::string(16, '\1')}}}};
  const auto statements = of(tables, family).write(write);
  ASSERT_TRUE(statements);
  texts.clear();
  for (const Bound& statement : *statements) texts += statement.text + "\n";
  EXPECT_EQ(texts,
            "UPDATE k.by_customer SET noam_version = ?, noam_sequence = ?, noam_tx = ?, noam_hold = ?, noam_last = ?, "
            "noam_done = ?, noam_guards = ? WHERE customer = ? IF noam_tx = ?\n"
            "INSERT INTO k.by_customer (customer, placed, id_order, id, note) VALUES (?, ?, ?, ?, ?)\n"
            "DELETE FROM k.by_customer WHERE customer = ? AND placed = ? AND id_order = ?\n");
}

// Keys that nothing has must not be taken for those that something has.
TEST(CassandraRows, NeverTakeAnAbsentKeyForAnother) {
  const design::Program program = program_of(model_of(R"(
model counted
entity Thing { n: int key  group: int  other: int? }
query of_group($g) { select t.n from Thing t where t.group = $g order by t.other, t.n }
design d {
  collection things of Thing t by n { entry ε: * }
  collection groups of Thing t by t.group as group { copy [t.other as other, t.n as n] }
}
)"),
                                             "d");
  const DesignTables tables("k", {program.design, *program.model});
  std::uint32_t things = 0;
  while (of(tables, things).table().name != "things") ++things;
  std::uint32_t groups = 0;
  while (of(tables, groups).table().name != "groups") ++groups;
  EXPECT_TRUE(of(tables, things).can_be({0}));
  EXPECT_FALSE(of(tables, things).can_be({Datum()}));
  const auto ranges = [&](stores::Bound from, stores::Bound to) {
    std::string out;
    const auto bounds =
        of(tables, groups)
            .select_rows(
                {1}, {.family = groups, .from = std::move(from), .to = std::move(to), .reverse = false, .limit = 0});
    for (const Bound& bound : *bounds) out += bound.text.substr(bound.text.find(" WHERE ")) + "\n";
    return out;
  };
  // No `n` is absent, so there is nothing at it, and all is behind it; `other` may be.
  EXPECT_EQ(ranges({{5, Datum()}, true}, {{5, Datum()}, true}), "");
  EXPECT_EQ(ranges({{5, Datum()}, true}, {{5}, true}), " WHERE group = ? AND has_other = ? AND other = ?\n");
  EXPECT_EQ(ranges({{Datum()}, true}, {{Datum()}, true}), " WHERE group = ? AND has_other = ? AND other = ?\n");
}

}  // namespace noam::tests
