#include "noam/targets/oracle_nosql/oracle_nosql.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "noam/schemas/keys.h"
#include "noam/targets/oracle_nosql/dialect.h"
#include "noam/targets/oracle_nosql/layout.h"
#include "noam/targets/oracle_nosql/pairs.h"
#include "noam/targets/oracle_nosql/types.h"
#include "noam/targets/ordered_bytes.h"
#include "noam/targets/readme.h"

namespace noam::targets::oracle_nosql {

namespace {

constexpr std::array limits = {
    // A primary key is one key of the store: oracle.kv.Key of the published source, MAX_KEY_LENGTH.
    Limit{LimitKind::KeyBytes, 32'767, true, "a primary key", "choose a shorter key"},
    // Oracle NoSQL Database Cloud Service, "Oracle NoSQL Database Cloud Limits": size of a primary key and of a row,
    // tables a tenancy, operations of one WriteMultiple.
    Limit{LimitKind::KeyBytes, 64, false, "a primary key in Oracle's cloud service", "choose a shorter key"},
    Limit{LimitKind::UnitBytes, 512e3, false, "a row in Oracle's cloud service",
          "store large collections with one entry per element: `entry rounds[*]`"},
    Limit{LimitKind::Tables, 30, false, "a tenancy of Oracle's cloud service", "drop copies that no statement needs",
          "tables"},
    Limit{LimitKind::TransactionEntries, 50, false, "a writeMultiple in Oracle's cloud service",
          "store fewer entries per block, or whole collections in one entry", "operations"},
};

std::string schema_of(const Layout& layout) {
  std::string out;
  for (const Table& table : layout.tables()) {
    std::vector<std::string> lines;
    const auto add = [&](const std::string& name, const std::string& type) {
      lines.push_back(fmt::format("  {} {}", name, type));
    };
    if (!table.child)
      for (const KeyColumn& column : table.block) add(column.name, column.type);
    if (!table.encoded.empty()) add(table.encoded, "STRING");
    for (const KeyColumn& column : table.key) add(column.name, column.type);
    for (const ValueColumn& column : table.values) add(column.name, column.type);
    for (const auto& [family, name] : table.markers) add(name, "BOOLEAN");
    if (!table.version.empty()) add(table.version, "LONG");
    std::vector<std::string> key;
    if (!table.child) {
      std::vector<std::string> shard;
      for (const KeyColumn& column : table.block) shard.push_back(column.name);
      key.push_back(fmt::format("SHARD({})", fmt::join(shard, ", ")));
    }
    if (table.encoded.empty())
      for (const KeyColumn& column : table.key) key.push_back(column.name);
    else
      key.push_back(table.encoded);
    lines.push_back(fmt::format("  PRIMARY KEY({})", fmt::join(key, ", ")));
    out += fmt::format("{}CREATE TABLE IF NOT EXISTS {} (\n{}\n);\n", out.empty() ? "" : "\n", table.name,
                       fmt::join(lines, ",\n"));
  }
  return out;
}

// Rows of one table. Where several families share a row, what each of them has of it.
class TableRows {
 public:
  TableRows(const Layout& layout, const Table& table, const design::Sample& sample)
      : layout_(layout), table_(table), sample_(sample) {}

  std::string write() {
    for (const FamilyOutline* family : table_.families)
      for (const design::SampleEntry& entry : sample_.families[family->index]) add(*family, entry);
    std::string out;
    for (const Row& row : rows_) {
      std::vector<std::string> names;
      std::vector<std::string> values;
      for (const auto& [name, value] : row) {
        names.push_back(name);
        values.push_back(value);
      }
      out += fmt::format("UPSERT INTO {} ({}) VALUES ({});\n", table_.name, fmt::join(names, ", "),
                         fmt::join(values, ", "));
    }
    return out;
  }

 private:
  using Row = std::vector<std::pair<std::string, std::string>>;

  void add(const FamilyOutline& family, const design::SampleEntry& entry) {
    Row& row = row_of(family, entry);
    for (const ValueColumn& column : table_.values) {
      if (column.family != &family) continue;
      const model::Datum& datum = entry.values[static_cast<std::size_t>(column.column - family.values.data())];
      if (!datum.absent())
        row.emplace_back(column.name, literal(layout_.outline().model(), column.column->type, datum));
    }
    if (const auto marker = layout_.marker(family)) row.emplace_back(*marker, "true");
    if (family.existence) row.emplace_back(table_.version, "1");
  }

  Row& row_of(const FamilyOutline& family, const design::SampleEntry& entry) {
    std::vector<model::Datum> key = entry.block;
    key.insert(key.end(), entry.key.begin(), entry.key.end());
    const auto [at, is_new] = places_.emplace(std::move(key), rows_.size());
    if (!is_new) return rows_[at->second];
    Row row;
    const auto part = [](const std::vector<Column>& columns, const KeyColumn& column) {
      return static_cast<std::size_t>(column.column - columns.data());
    };
    for (const KeyColumn& column : table_.block)
      row.emplace_back(column.name, layout_.key_literal(column, entry.block[part(table_.collection->block, column)]));
    if (!table_.encoded.empty()) row.emplace_back(table_.encoded, text_literal(Layout::encoded_key(family, entry.key)));
    for (const KeyColumn& column : table_.key)
      row.emplace_back(column.name, layout_.key_literal(column, entry.key[part(family.key, column)]));
    rows_.push_back(std::move(row));
    return rows_.back();
  }

  const Layout& layout_;
  const Table& table_;
  const design::Sample& sample_;
  std::vector<Row> rows_;
  std::map<std::vector<model::Datum>, std::size_t> places_;
};

std::string rows_of(const Layout& layout, const design::Sample& sample) {
  std::string out;
  for (const Table& table : layout.tables()) out += TableRows(layout, table, sample).write();
  return out;
}

std::string place_name(const Layout& layout, const FamilyOutline& family, const Column& column) {
  // Children have the block's key from their parent.
  const bool of_block = column.place.kind == design::Place::Kind::Block;
  const Table& table = of_block ? layout.root(family) : layout.table(family);
  std::vector<std::string> names;
  for (const auto* columns : {&table.block, &table.key})
    for (const KeyColumn& at : *columns)
      if (at.column == &column) names.push_back(at.name);
  for (const ValueColumn& at : table.values)
    if (at.column == &column) names.push_back(at.name);
  return fmt::format("`{}` of `{}`", fmt::join(names, "`, `"), table.name);
}

std::string files_section(bool data) {
  return std::string(
             "- `schema.ddl`: the tables, for `load -file schema.ddl` in the SQL shell. Running it again does no "
             "harm.\n"
             "- `statements.sql`: what every query and command sends, step by step, each with the declarations of its "
             "variables.\n"
             "  A variable has a `_` behind it (`$value_`) where the database keeps the name for itself (`$value`, "
             "`$key`, "
             "`$element`,\n"
             "  `$pos`).\n") +
         (data ? "- `data.sql`: the data, for `load -file data.sql` after the schema.\n"
                 "- `data.kv`: the same as keys and values (below).\n"
               : "") +
         "\nNothing of this was tried on a server: it was checked against Oracle's documentation (SQL Reference Guide) "
         "and "
         "the\ngrammar that Oracle publishes.\n";
}

std::string tables_section(const Layout& layout) {
  std::vector<std::vector<std::string>> rows;
  const auto names = [](const std::vector<KeyColumn>& columns) {
    std::vector<std::string> out;
    for (const KeyColumn& column : columns) out.push_back(fmt::format("`{}`", column.name));
    return fmt::format("{}", fmt::join(out, ", "));
  };
  for (const Table& table : layout.tables()) {
    std::vector<std::string> families;
    for (const FamilyOutline* family : table.families) families.push_back(fmt::format("`{}`", family->label));
    rows.push_back({fmt::format("`{}`", table.name), names(table.block),
                    table.encoded.empty() ? names(table.key) : fmt::format("`{}`: {}", table.encoded, names(table.key)),
                    fmt::format("{}", fmt::join(families, ", "))});
  }
  return markdown_table({"table", "shard key", "rest of the primary key", "families of the design"}, rows) +
         "\nA table with a dot in its name is a child of the one before the dot: its rows lie with their parent, and "
         "have its "
         "key.\n";
}

std::string types_section(const Layout& layout) {
  std::string out =
      R"(Ints are LONG, floats DOUBLE, decimals NUMBER, timestamps TIMESTAMP(3) and dates TIMESTAMP(0), both in UTC, bytes BINARY,
values RECORD, lists and sets ARRAY, maps MAP with the texts of their keys (ARRAY(RECORD(key_, value)) where a key has
several parts), JSON JSON. An enumeration is an ENUM, but a STRING in keys (an ENUM sorts by its place) or where its texts
are not names. A reference is the key it refers by. What is absent is NULL. Names that are keywords have a `_` behind them.

A primary key has no NULL: where a text in it may be absent, U+0001 stands for that, and a text that is empty or begins
with U+0001 has it twice before it. Texts in keys sort as modified UTF-8: as noam sorts them, but that characters beyond
U+FFFF come before those from U+E000 on.
)";
  if (std::any_of(layout.tables().begin(), layout.tables().end(), [](const Table& at) { return !at.encoded.empty(); }))
    out += R"(
Primary keys sort ascending. A key that is descending in all its parts is walked backwards (`ORDER BY … DESC`). Where
directions are mixed, or a type can't stand in a key, the key is `noam_key`: hexadecimal digits of bytes that sort as
the parts do, which stand beside it as columns. For a range, `$noam_key_from` are the digits of what is given, and
`$noam_key_to` these with a `g` behind them, or up to the bound. The bytes of a part:

)" + std::string(ordered_bytes_table);
  return out;
}

constexpr std::string_view writing_text =
    R"(Atomic is a statement, which changes one row. Parent and child rows of a block have one shard key, so one call of the API writes
several of them together or not at all: `writeMultiple` of the drivers, `TableAPI.execute` of the Java direct driver, at
most 50 operations in Oracle's cloud service.

`noam_version` counts the changes of an aggregate, 1 at its insert. Every write of an aggregate is conditional on it and
raises it by one: `UPDATE … WHERE … AND noam_version = $noam_version` answers 0 rows where somebody was faster. Where entries
lie in child tables, begin the call with the parent row, by `putIfVersion` with the version it was read with (or
`putIfAbsent` at the insert), and let a failure of it abort the call (`abortIfUnsuccessful`); then the children. So two writers
who touch different entries of one aggregate notice each other: the database itself has no notion of a block.

Blocks of other keys, and copies in other collections, follow with calls of their own: whoever writes must see to it.
`noam_due` is when an instance is due: whoever takes it away takes its copies, too, so tables have no TTL.
)";

std::string pairs_section(const Outline& outline, bool data) {
  std::vector<std::vector<std::string>> rows;
  for (const CollectionOutline& collection : outline.collections)
    for (const FamilyOutline& family : collection.families)
      rows.push_back({fmt::format("`{}`", pair_pattern(collection, family)), family.label});
  return fmt::format(
      R"(The same design without tables, as the key/value API has it: the major key is the collection and the block key, the minor
key the path of the entry, the value JSON. `multiGet` over a major key reads a block, `execute` writes pairs of one major key
together or not at all; begin it with `putIfVersion` of the pair that has the key of the aggregate.

{}
Characters that a URI's path does not take are `%XX`, as `Key.toString` writes them, a lone `-` is `%2D`, what is absent `%00`.
A reference is the key it refers by, without the name of its collection. Keys sort as texts: where order matters, use the tables.{}
)",
      markdown_table({"key", "entry"}, rows),
      data ? " `data.kv` has the data in this form: a key, a tab, a value a line." : "");
}

}  // namespace

const Capabilities capabilities{
    .atomic = "a row; by the API, all rows of one shard key: a block with its child rows",
    .conditional = "UPDATE and DELETE of a row with a condition; putIfVersion, putIfAbsent",
    .order = "primary keys, ascending; queries may walk them backwards",
    .counters = "UPDATE adds at the server; adding twice adds twice",
    .expiry = "TTL of rows, in hours or days; not used: what is copied elsewhere must go with the original",
    .limits = limits,
};
const std::span<const Option> options{};

Generated generate(const Outline& outline, const design::Sample* sample) {
  const Layout layout(outline);
  Generated out;
  out.files.push_back({"schema.ddl", schema_of(layout)});
  out.files.push_back({"statements.sql", print_statements(statements(outline), "# ", ";")});
  if (sample != nullptr) {
    out.files.push_back({"data.sql", rows_of(layout, *sample)});
    out.files.push_back({"data.kv", pairs_of(outline, *sample)});
  }
  const auto place = [&](const CollectionOutline&, const FamilyOutline& family, const Column& column) {
    return place_name(layout, family, column);
  };
  out.files.push_back(
      {"README.md", readme(outline, fmt::format("{} on Oracle NoSQL Database", outline.model().name), capabilities,
                           {{"Files", files_section(sample != nullptr)}, {"Tables", tables_section(layout)}}, place,
                           {{"Types", types_section(layout)},
                            {"Writing", std::string(writing_text)},
                            {"Keys and values", pairs_section(outline, sample != nullptr)}})});
  return out;
}

std::vector<Measure> measure(const Outline& outline) {
  const Layout layout(outline);
  std::vector<Measure> out;
  out.push_back({LimitKind::Tables, "the design", static_cast<double>(layout.tables().size())});
  for (const Table& table : layout.tables()) {
    double bytes = 0;
    for (const FamilyOutline* family : table.families) bytes += family->bytes;
    out.push_back({LimitKind::UnitBytes, fmt::format("a row of {}", table.name), bytes});
    double key = table.families.empty() ? 0 : key_bytes(outline.model(), table.families[0]->key);
    if (!table.encoded.empty()) key *= 2;  // hexadecimal digits
    key += key_bytes(outline.model(), table.collection->block);
    out.push_back({LimitKind::KeyBytes, fmt::format("a primary key of {}", table.name), key});
  }
  for (const CollectionOutline& collection : outline.collections) {
    double rows = 0;
    for (const FamilyOutline& family : collection.families)
      if (family.base && !family.existence && !family.one_a_block())
        rows += family.entries / std::max(collection.blocks, 1.0);
    if (rows > 0)
      out.push_back({LimitKind::TransactionEntries, fmt::format("a block of {}", collection.name), rows + 1});
  }
  return out;
}

std::vector<ListedStatement> statements(const Outline& outline) {
  const Layout layout(outline);
  return list_statements(outline, OracleDialect(layout));
}

}  // namespace noam::targets::oracle_nosql
