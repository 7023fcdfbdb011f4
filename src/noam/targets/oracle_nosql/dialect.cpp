#include "noam/targets/oracle_nosql/dialect.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>

#include "noam/model/datum.h"
#include "noam/schemas/plain.h"
#include "noam/targets/oracle_nosql/types.h"

namespace noam::targets::oracle_nosql {

namespace {

// `$value`, `$key`, `$element` and `$pos` are not to be declared (SQL Reference Guide, "Variable Declaration"). No
// column is called `key`, a keyword.
std::string variable(const std::string& name) {
  constexpr std::array<std::string_view, 3> taken = {"value", "element", "pos"};
  std::string word = name.substr(0, name.find_last_not_of('_') + 1);
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  // So `value_` is another one than `value`.
  return std::find(taken.begin(), taken.end(), word) == taken.end() ? "$" + name : fmt::format("${}_", name);
}

// The type of a variable; UUID is a property of columns.
std::string variable_type(const std::string& column_type) {
  return column_type == "STRING AS UUID" ? "STRING" : column_type;
}

// A statement under way: what it declares, and its text.
class Statement {
 public:
  explicit Statement(const Layout& layout) : layout_(layout) {}

  std::string use(const std::string& name, const std::string& type) {
    std::string at = variable(name);
    if (declared_.insert(at).second) declarations_ += fmt::format(" {} {};", at, variable_type(type));
    return at;
  }

  // A column of a key: what it is compared with.
  std::string use(const KeyColumn& column, const std::string& end = {}) {
    if (!column.column->constant) return use(column.name + end, column.type);
    const Column& part = *column.column;
    return layout_.key_literal(column, model::from_literal(part.type, *part.constant));
  }

  void add(std::string_view text) { text_ += text; }

  [[nodiscard]] std::string text() const {
    return declarations_.empty() ? text_ : fmt::format("DECLARE{}\n{}", declarations_, text_);
  }

 private:
  const Layout& layout_;
  std::string declarations_;
  std::set<std::string> declared_;
  std::string text_;
};

const char* end_of(const Write* write, const KeyColumn& column) {
  return write == nullptr ? "" : write->end_of(*column.column);
}

std::vector<std::string> block_terms(const Table& table, Statement& statement, const Write* write = nullptr) {
  std::vector<std::string> out;
  for (const KeyColumn& column : table.block)
    out.push_back(fmt::format("{} = {}", column.name, statement.use(column, end_of(write, column))));
  return out;
}

// Without a write, of a read.
std::vector<std::string> key_terms(const Table& table, Statement& statement, const Write* write = nullptr) {
  std::vector<std::string> out = block_terms(table, statement, write);
  if (!table.encoded.empty()) {
    const std::string end = write == nullptr ? "" : write->end();
    out.push_back(fmt::format("{} = {}", table.encoded, statement.use(table.encoded + end, "STRING")));
    return out;
  }
  for (const KeyColumn& column : table.key)
    out.push_back(fmt::format("{} = {}", column.name, statement.use(column, end_of(write, column))));
  return out;
}

void add_where(const std::vector<std::string>& terms, Statement& statement) {
  if (!terms.empty()) statement.add(fmt::format("\nWHERE {}", fmt::join(terms, " AND ")));
}

std::vector<std::string> selected(const Layout& layout, const Read& read) {
  const Table& table = layout.table(*read.family);
  std::vector<std::string> out;
  if (read.scan)
    for (const KeyColumn& column : table.block) out.push_back(column.name);
  for (const KeyColumn& column : table.key) out.push_back(column.name);
  std::vector<const FamilyOutline*> families = {read.family};
  families.insert(families.end(), read.mates.begin(), read.mates.end());
  for (const FamilyOutline* family : families) {
    for (const ValueColumn& column : table.values)
      if (column.family == family) out.push_back(column.name);
    if (const auto marker = layout.marker(*family)) out.push_back(*marker);
    if (family->existence) out.push_back(table.version);
  }
  if (out.empty())
    for (const KeyColumn& column : table.block) out.push_back(column.name);
  return out;
}

// The columns of the key that make up so many of its parts.
std::vector<const KeyColumn*> columns_of(const Table& table, const FamilyOutline& family, std::size_t from,
                                         std::size_t to) {
  std::vector<const KeyColumn*> out;
  for (const KeyColumn& column : table.key) {
    const auto part = static_cast<std::size_t>(column.column - family.key.data());
    if (part >= from && part < to) out.push_back(&column);
  }
  return out;
}

void add_bounds(const Table& table, const Read& read, Statement& statement, std::vector<std::string>& terms) {
  const FamilyOutline& family = *read.family;
  if (!table.encoded.empty()) {
    // From the bytes of what is given on, and below the first that begin otherwise.
    if (read.prefix == 0 && !read.ranged()) return;
    terms.push_back(fmt::format("{} >= {}", table.encoded, statement.use(table.encoded + "_from", "STRING")));
    terms.push_back(fmt::format("{} < {}", table.encoded, statement.use(table.encoded + "_to", "STRING")));
    return;
  }
  for (const KeyColumn* column : columns_of(table, family, 0, read.prefix))
    terms.push_back(fmt::format("{} = {}", column->name, statement.use(*column)));
  if (!read.ranged()) return;
  for (const KeyColumn* column : columns_of(table, family, read.prefix, read.prefix + 1)) {
    if (read.low)
      terms.push_back(fmt::format("{} {} {}", column->name, read.low_inclusive ? ">=" : ">",
                                  statement.use(column->name + "_from", column->type)));
    if (read.high)
      terms.push_back(fmt::format("{} {} {}", column->name, read.high_inclusive ? "<=" : "<",
                                  statement.use(column->name + "_to", column->type)));
  }
}

// All columns of the primary key, in one direction: the order that rows lie in, or the other way round.
void add_order(const Table& table, bool reverse, Statement& statement) {
  std::vector<std::string> columns;
  const char* direction = table.descending != reverse ? " DESC" : "";
  for (const KeyColumn& column : table.block) columns.push_back(column.name + direction);
  if (table.encoded.empty())
    for (const KeyColumn& column : table.key) columns.push_back(column.name + direction);
  else
    columns.push_back(table.encoded + direction);
  statement.add(fmt::format("\nORDER BY {}", fmt::join(columns, ", ")));
}

// `INSERT INTO t (…) VALUES (…)`, with the columns of the key and these.
void add_insert(const char* verb, const Table& table, const std::vector<std::pair<std::string, std::string>>& values,
                Statement& statement, const Write* write = nullptr) {
  std::vector<std::string> names;
  std::vector<std::string> expressions;
  const auto add = [&](const std::string& name, std::string expression) {
    names.push_back(name);
    expressions.push_back(std::move(expression));
  };
  for (const KeyColumn& column : table.block) add(column.name, statement.use(column, end_of(write, column)));
  if (!table.encoded.empty())
    add(table.encoded, statement.use(table.encoded + (write == nullptr ? "" : write->end()), "STRING"));
  for (const KeyColumn& column : table.key) add(column.name, statement.use(column, end_of(write, column)));
  for (const auto& [name, expression] : values) add(name, expression);
  statement.add(fmt::format("{} INTO {} ({})\nVALUES ({})", verb, table.name, fmt::join(names, ", "),
                            fmt::join(expressions, ", ")));
}

std::vector<std::pair<std::string, std::string>> values_of(const Layout& layout, const Write& write,
                                                           Statement& statement) {
  const FamilyOutline& family = *write.family;
  std::vector<std::pair<std::string, std::string>> out;
  for (const ValueColumn& column : layout.table(family).values)
    if (column.family == &family && write.writes(*column.column))
      out.emplace_back(column.name, statement.use(column.name, column.type));
  if (const auto marker = layout.marker(family); marker && !write.partial()) out.emplace_back(*marker, "true");
  return out;
}

// What an update of the head's own row is conditional on, and raises.
void raise_version(const Table& table, Statement& statement, std::vector<std::string>& sets,
                   std::vector<std::string>& terms) {
  sets.push_back(fmt::format("{} = {}", table.version, statement.use("noam_next_version", "LONG")));
  terms.push_back(fmt::format("{} = {}", table.version, statement.use("noam_version", "LONG")));
}

bool head_in_row(const Layout& layout, const FamilyOutline& family) {
  return family.base && &layout.table(head_of(layout.outline(), family)) == &layout.table(family);
}

constexpr const char* by_api =
    "the version of the aggregate is in another row: write both in one call of the API (see README.md)";

std::string note(const Layout& layout, const FamilyOutline& family) {
  return family.base && !head_in_row(layout, family) ? by_api : "";
}

void add_update(const Layout& layout, const Write& write, const std::vector<std::string>& sets,
                const std::vector<std::string>& terms, Statement& statement) {
  statement.add(fmt::format("UPDATE {}\nSET {}", layout.table(*write.family).name, fmt::join(sets, ", ")));
  add_where(terms, statement);
}

// The count by which an entry that is kept by adding is known to be over: its weight, or its first count.
std::string counted_out(const Table& table, const FamilyOutline& family) {
  std::string first;
  for (const ValueColumn& column : table.values) {
    if (column.family != &family) continue;
    if (column.column->place.kind == design::Place::Kind::Hidden) return column.name;
    if (first.empty() && column.column->counts) first = column.name;
  }
  return first;
}

}  // namespace

Native OracleDialect::read(const Read& read) const {
  const Table& table = layout_.table(*read.family);
  Statement statement(layout_);
  statement.add(fmt::format("SELECT {}\nFROM {}", fmt::join(selected(layout_, read), ", "), table.name));
  if (read.scan) return {statement.text(), {}};
  if (read.family->one_a_block()) {
    add_where(block_terms(table, statement), statement);
    return {statement.text(), {}};
  }
  if (read.one_entry()) {
    add_where(key_terms(table, statement), statement);
    return {statement.text(), {}};
  }
  std::vector<std::string> terms = block_terms(table, statement);
  add_bounds(table, read, statement, terms);
  add_where(terms, statement);
  add_order(table, read.reverse, statement);
  if (read.limited) statement.add(fmt::format("\nLIMIT {}", statement.use("noam_limit", "LONG")));
  return {statement.text(), {}};
}

bool OracleDialect::in_one_place(const FamilyOutline& a, const FamilyOutline& b) const {
  return &layout_.table(a) == &layout_.table(b);
}

Native OracleDialect::put(const Write& write) const {
  const FamilyOutline& family = *write.family;
  const Table& table = layout_.table(family);
  Statement statement(layout_);
  const bool guarded = head_in_row(layout_, family);
  if (!guarded && !layout_.shares_row(family) && !write.partial()) {
    add_insert("UPSERT", table, values_of(layout_, write, statement), statement);
    return {statement.text(), note(layout_, family)};
  }
  std::vector<std::string> terms = key_terms(table, statement);
  std::vector<std::string> sets;
  for (const auto& [name, expression] : values_of(layout_, write, statement))
    sets.push_back(fmt::format("{} = {}", name, expression));
  if (guarded) raise_version(table, statement, sets, terms);
  if (sets.empty()) return {"", "nothing to write: the row itself says it"};
  add_update(layout_, write, sets, terms, statement);
  // Where an instance has its row, that is there; other rows may not be there yet.
  if (!table.version.empty() || write.partial()) return {statement.text(), note(layout_, family)};
  Statement row(layout_);
  add_insert("INSERT", table, {}, row);
  return {fmt::format("{};\n{}", row.text(), statement.text()), note(layout_, family)};
}

Native OracleDialect::erase(const Write& write) const {
  const FamilyOutline& family = *write.family;
  const Table& table = layout_.table(family);
  Statement statement(layout_);
  std::vector<std::string> terms = key_terms(table, statement, &write);
  if (write.only_if_over()) terms.push_back(fmt::format("{} <= 0", counted_out(table, family)));
  if (layout_.shares_row(family) && !family.existence) {
    if (head_in_row(layout_, family)) return {"", "it goes with the row of its head"};
    std::vector<std::string> sets;
    for (const ValueColumn& column : table.values)
      if (column.family == &family) sets.push_back(column.name + " = NULL");
    if (const auto marker = layout_.marker(family)) sets.push_back(*marker + " = NULL");
    add_update(layout_, write, sets, terms, statement);
    return {statement.text(), note(layout_, family)};
  }
  if (family.existence) terms.push_back(fmt::format("{} = {}", table.version, statement.use("noam_version", "LONG")));
  statement.add(fmt::format("DELETE FROM {}", table.name));
  add_where(terms, statement);
  return {statement.text(), note(layout_, family)};
}

Native OracleDialect::write(const Write& write) const {
  const FamilyOutline& family = *write.family;
  const Table& table = layout_.table(family);
  Statement statement(layout_);
  switch (write.kind) {
    case WriteKind::Insert: {
      auto values = values_of(layout_, write, statement);
      values.emplace_back(table.version, "1");
      add_insert("INSERT", table, values, statement);
      return {statement.text(), {}};
    }
    case WriteKind::Put:
      if (write.fresh && head_in_row(layout_, family)) return {"", "in one statement with its insert, below"};
      return put(write);
    case WriteKind::Append: {
      std::vector<std::string> terms = key_terms(table, statement);
      std::string clauses;
      for (const ValueColumn& column : table.values)
        if (column.family == &family && column.column->type.kind == model::TypeKind::List)
          clauses += fmt::format("ADD t.{} {}[], ", column.name, statement.use(column.name, column.type));
      if (head_in_row(layout_, family)) {
        clauses += fmt::format("SET t.{0} = t.{0} + 1", table.version);
      } else {
        clauses.resize(clauses.size() - 2);
      }
      statement.add(fmt::format("UPDATE {} t\n{}", table.name, clauses));
      for (std::string& term : terms) term = "t." + term;
      add_where(terms, statement);
      return {statement.text(), note(layout_, family)};
    }
    case WriteKind::Add: {
      Statement row(layout_);
      std::vector<std::pair<std::string, std::string>> zeros;
      std::vector<std::string> sets;
      const std::vector<std::string> terms = key_terms(table, statement, &write);
      for (const ValueColumn& column : table.values) {
        if (column.family != &family) continue;
        zeros.emplace_back(column.name, "0");
        const std::string more = statement.use(column.name + write.end(), column.type);
        sets.push_back(layout_.shares_row(family)
                           ? fmt::format("{0} = (CASE WHEN {0} IS NULL THEN 0 ELSE {0} END) + {1}", column.name, more)
                           : fmt::format("{0} = {0} + {1}", column.name, more));
      }
      add_update(layout_, write, sets, terms, statement);
      if (!table.version.empty() || write.gone) return {statement.text(), "sent twice, it adds twice"};
      add_insert("INSERT", table, layout_.shares_row(family) ? decltype(zeros){} : zeros, row, &write);
      return {fmt::format("{};\n{}", row.text(), statement.text()),
              "the first makes the entry where there is none; sent twice, the second adds twice"};
    }
    case WriteKind::Erase:
      return erase(write);
  }
  return {};
}

// Inserts and puts of one row.
Native OracleDialect::write_row(const std::vector<Write>& writes) const {
  const Table& table = layout_.table(*writes[0].family);
  Statement statement(layout_);
  std::vector<std::pair<std::string, std::string>> values;
  const bool insert =
      std::any_of(writes.begin(), writes.end(), [](const Write& write) { return write.kind == WriteKind::Insert; });
  std::vector<std::string> terms = insert ? std::vector<std::string>{} : key_terms(table, statement);
  for (const Write& write : writes)
    for (auto& value : values_of(layout_, write, statement)) values.push_back(std::move(value));
  if (insert) {
    values.emplace_back(table.version, "1");
    add_insert("INSERT", table, values, statement);
    return {statement.text(), {}};
  }
  std::vector<std::string> sets;
  for (const auto& [name, expression] : values) sets.push_back(fmt::format("{} = {}", name, expression));
  raise_version(table, statement, sets, terms);
  add_update(layout_, writes[0], sets, terms, statement);
  return {statement.text(), {}};
}

std::vector<Native> OracleDialect::batches(const std::vector<Write>& writes) const {
  std::vector<const Table*> tables;
  std::map<const Table*, std::vector<Write>> rows;
  for (const Write& write : writes) {
    const Table& table = layout_.table(*write.family);
    const bool whole = write.kind == WriteKind::Insert || write.kind == WriteKind::Put;
    if (!whole || !write.family->one_a_block() || !head_in_row(layout_, *write.family)) continue;
    if (rows[&table].empty()) tables.push_back(&table);
    rows[&table].push_back(write);
  }
  std::vector<Native> out;
  for (const Table* table : tables)
    if (rows[table].size() > 1) out.push_back(write_row(rows[table]));
  return out;
}

std::string OracleDialect::together(const std::vector<Write>& writes) const {
  std::set<std::string> names;
  std::vector<std::string> collections;
  std::set<const Table*> tables;
  for (const Write& write : writes) {
    tables.insert(&layout_.table(*write.family));
    if (names.insert(write.collection->name).second) collections.push_back(write.collection->name);
  }
  std::string out = "Atomic: each statement, on its row";
  if (tables.size() > collections.size())
    out +=
        "; the rows of one block, over parent and child tables, in one call of the API, writeMultiple "
        "(TableAPI.execute)";
  return out + told_apart(writes);
}

}  // namespace noam::targets::oracle_nosql
