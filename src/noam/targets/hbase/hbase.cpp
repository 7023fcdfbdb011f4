#include "noam/targets/hbase/hbase.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "noam/schemas/keys.h"
#include "noam/targets/hbase/cells.h"
#include "noam/targets/hbase/layout.h"
#include "noam/targets/hbase/script.h"
#include "noam/targets/hbase/values.h"
#include "noam/targets/ordered_bytes.h"
#include "noam/targets/readme.h"

namespace noam::targets::hbase {

namespace {

// From the Apache HBase Reference Guide (hbase.apache.org/book.html), by section.
constexpr std::array limits = {
    // "On the number of column families": two or three. Stores of a region are flushed and compacted together.
    Limit{LimitKind::ColumnFamilies, 3, false, "a table", "move some families to another collection",
          "column families"},
    // "Default configuration": hbase.server.keyvalue.maxsize, 10,485,760 with the key; a little is left.
    Limit{LimitKind::ValueBytes, 10e6, true, "a cell (unless it is configured otherwise)",
          "split the value into one entry per element: `entry path[*]`"},
    // "Table schema rules of thumb": regions of 10 to 50 GB; a row lies in one region. A row that is a tenth of a small
    // one keeps them from being balanced.
    Limit{LimitKind::PartitionBytes, 1e9, false, "a row",
          "add a part of the entry key, such as a day, to the block key"},
    // The length of a row key is a signed short: HConstants.MAX_ROW_LENGTH.
    Limit{LimitKind::KeyBytes, 32767, true, "a row key", "choose a shorter key"},
};

bool is_cells(const std::string& column_family) { return column_family == cells_family; }

std::string schema(const Layout& layout) {
  std::string out = fmt::format(
      "# hbase shell -n schema.rb\n# A value has one version. NEW_VERSION_BEHAVIOR: what is put after a delete within "
      "one millisecond is there.\n# Bloom filters are by row where cells of a row are read together, else by row and "
      "column.\ncreate_namespace '{}'\n",
      layout.space());
  for (const Table& table : layout.tables()) {
    std::vector<std::string> families;
    for (const std::string& family : table.column_families)
      families.push_back(
          fmt::format("{{NAME => '{}', VERSIONS => 1, NEW_VERSION_BEHAVIOR => true, BLOOMFILTER => '{}'}}", family,
                      is_cells(family) ? "ROW" : "ROWCOL"));
    out += fmt::format("create '{}',\n  {}\n", table.name, fmt::join(families, ",\n  "));
  }
  return out;
}

std::string data_file(const Layout& layout, const design::Sample& sample) {
  std::string out = "# hbase shell -n data.rb\n";
  for (const StoredCell& cell : stored_cells(layout, sample))
    out += fmt::format("put '{}', {}, {}, {}\n", cell.table, ruby_text(cell.row),
                       ruby_text(cell.column_family + ":" + cell.qualifier), ruby_text(cell.value));
  return out;
}

std::string statements_file(const Layout& layout) {
  return "# Every query and command of the model, step by step. Values that are not known here are global variables:\n"
         "# `$username`. To try one: `load 'noam.rb'` inside `hbase shell`, set the variables, and enter the lines.\n"
         "load File.join(__dir__, 'noam.rb')\n\n" +
         print_statements(all_commands(layout), "# ", "");
}

std::string parts_text(const std::vector<Column>& columns, const Key& key) {
  std::vector<std::string> out;
  for (const Column& column : columns)
    out.push_back(fmt::format("`{}`{}", column.name, column.descending ? " descending" : ""));
  return fmt::format("{}{}", fmt::join(out, ", "), key.plain ? "" : " (made)");
}

std::string qualifiers_text(const PlacedFamily& placed) {
  if (placed.shape == Shape::Elements) return fmt::format("`{}[…]`", placed.elements);
  const std::string key = parts_text(placed.family->key, placed.key);
  if (placed.bare) return fmt::format("{}: a cell an entry", key);
  std::vector<std::string> cells;
  for (const auto* names : {&placed.key.names, &placed.names})
    for (const std::string& name : *names)
      if (!name.empty()) cells.push_back(fmt::format("`{}`", name));
  for (const auto& name : {placed.version, placed.marker})
    if (name) cells.push_back(fmt::format("`{}`", *name));
  const std::string all = fmt::format("{}", fmt::join(cells, ", "));
  return placed.shape == Shape::Entries ? fmt::format("{}, the byte 00, and one of {}", key, all) : all;
}

std::string tables_text(const Layout& layout) {
  std::vector<std::vector<std::string>> rows;
  for (const Table& table : layout.tables()) {
    for (const std::string& column_family : table.column_families) {
      std::vector<std::string> qualifiers;
      if (is_cells(column_family))
        for (const std::string& name : table.row.names)
          if (!name.empty()) qualifiers.push_back(fmt::format("`{}`", name));
      for (const FamilyOutline* family : table.families) {
        std::string text = qualifiers_text(layout.placed(*family));
        if (layout.placed(*family).column_family == column_family && !text.empty() &&
            std::find(qualifiers.begin(), qualifiers.end(), text) == qualifiers.end())
          qualifiers.push_back(std::move(text));
      }
      rows.push_back({fmt::format("`{}`", table.name), parts_text(table.collection->block, table.row),
                      fmt::format("`{}`", column_family),
                      fmt::format("{}", fmt::join(qualifiers, is_cells(column_family) ? ", " : "; "))});
    }
  }
  return markdown_table({"table", "row key", "column family", "qualifiers"}, rows);
}

std::string place_name(const Layout& layout, const FamilyOutline& family, const Column& column) {
  const PlacedFamily& placed = layout.placed(family);
  const Table& table = layout.table(family);
  if (column.place.kind == design::Place::Kind::Block) {
    const std::string& beside = table.row.names[column.place.index];
    return fmt::format("row key of `{}`{}", table.name,
                       beside.empty() ? "" : fmt::format(", and `{}:{}`", cells_family, beside));
  }
  if (placed.shape == Shape::Elements)
    return fmt::format("`{}:{}[…]` of `{}`", placed.column_family, placed.elements, table.name);
  if (column.place.kind == design::Place::Kind::Key) {
    const std::string& beside = placed.key.names[column.place.index];
    return fmt::format("qualifiers of `{}` of `{}`{}", placed.column_family, table.name,
                       beside.empty() ? "" : fmt::format(", and `…{}`", beside));
  }
  if (placed.bare) return fmt::format("values of `{}` of `{}`", placed.column_family, table.name);
  const auto at = static_cast<std::size_t>(&column - family.values.data());
  return fmt::format("`{}:{}{}` of `{}`", placed.column_family, placed.shape == Shape::Entries ? "…" : "",
                     placed.names[at], table.name);
}

constexpr std::string_view files_text =
    "- `schema.rb`: the namespace and the tables, for `hbase shell -n schema.rb`.\n"
    "- `statements.rb`: what every query and command sends, step by step, as commands of the shell. Conditional "
    "writes and\n"
    "  writes of several cells are no commands of the shell: they are methods of `noam.rb`, which call HBase's Java "
    "client.\n"
    "- `noam.rb`: these, and methods that make the bytes of keys and values.\n";

constexpr std::string_view values_text =
    "| type | bytes of a cell |\n| --- | --- |\n"
    "| bool | one byte, `ff` or `00`, as `Bytes.toBytes(boolean)` |\n"
    "| int, counts | 8 bytes, big-endian, as `Bytes.toBytes(long)`: what `incr` adds to. A sum beyond 64 bits is a "
    "text |\n"
    "| timestamp | the same: milliseconds since 1970 |\n"
    "| float | 8 bytes, as `Bytes.toBytes(double)` |\n"
    "| decimal, date, inet, enumeration, text | UTF-8: `12.5`, `2024-02-29`, `::1` |\n"
    "| bytes | as they are |\n"
    "| uuid, timeuuid | 16 bytes |\n"
    "| json | its text |\n"
    "| reference | the key it refers to; of several parts a JSON array |\n"
    "| value, list, set, map | a JSON text: one cell, so that it is read and written whole |\n\n"
    "What is absent has no cell; nor has an empty list, set or map. No value is empty, since a conditional write takes "
    "an empty\n"
    "value for an absent one: a text or bytes that is empty or begins with the byte 00 has the bytes `00 01` before "
    "it. Where an\n"
    "entry has nothing but its key, its value is the byte `01`.\n";

std::string keys_section() {
  return "A key that is one text is its UTF-8 bytes (absent is the byte 00). Others, marked `made`, are bytes that "
         "sort as "
         "the parts\ndo, each in its direction; `noam_key` in `noam.rb` makes them:\n\n" +
         std::string(ordered_bytes_table) +
         "\nThe parts of a made key stand beside it, as cells with their own types, but where an entry is one cell: a "
         "counter is one\ncell, so that `incr` is all that is needed. Elements of a list are in order: "
         "`rounds[0000000000]`, `rounds[0000000001]`.\n";
}

constexpr std::string_view writing_text =
    "A row changes as a whole: `mutateRow` of the Java client and of Thrift2 writes and deletes cells of one row, all "
    "or none;\n"
    "`checkAndMutate` does so if a cell has an expected value. Nothing spans two rows.\n\n"
    "`noam_version` counts the changes of an aggregate: 1 when it is made. Every write of an aggregate asks that it is "
    "still\n"
    "what was read (`$noam_version`) and sets the next (`$noam_next_version`), so that two who change different cells "
    "of one\n"
    "aggregate notice each other: for the second `checkAndMutate` says false, and it reads again and decides anew. "
    "Copies have no\n"
    "version: they follow.\n\n"
    "With Thrift2, `check_and_mutate table, row, 'f:q', expected, cells, deleted` is\n"
    "`checkAndMutate(table, row, \"f\", \"q\", EQUAL, expected, TRowMutations(row, [TMutation(put), "
    "TMutation(deleteSingle)]))`.\n"
    "What bites whoever writes to these tables:\n\n"
    "- If-absent is EQUAL with an empty value; a stored empty value counts as absent.\n"
    "- With other comparisons than EQUAL, the expected value is on the left: `expected OP stored`.\n"
    "- Of a delete and a put of one column in one `mutateRow` the delete wins.\n"
    "- Without NEW_VERSION_BEHAVIOR (schema.rb sets it), a put within the millisecond of a delete of the same column "
    "is hidden.\n"
    "- `TDelete.timestamp` is ignored where columns are named; set that of `TColumn`.\n"
    "- `incr` is not conditional, and a repeated one adds again.\n"
    "- The Thrift2 gateway reconnects by itself, and calls wait meanwhile: use long timeouts.\n"
    "- In `get` and `scan` the shell takes what is behind a colon inside a qualifier for the name of a converter; ask "
    "for keys by\n"
    "  filters, as `statements.rb` does.\n";

}  // namespace

const Capabilities capabilities{
    // "ACID properties": hbase.apache.org/acid-semantics.html.
    "a row, all its column families; nothing across rows",
    "on the value of one cell of the row (checkAndMutate); no increment is conditional",
    "rows and, inside a family, cells by bytes; rows can be read either way, cells of a row one way only",
    "Increment of 8-byte integers; a repeated request adds again",
    "TTL of a family or a cell; not used: what is copied elsewhere must go with the original",
    limits,
};

const std::span<const Option> options{};

std::vector<ListedStatement> statements(const Outline& outline) { return all_commands(Layout(outline)); }

std::vector<Measure> measure(const Outline& outline) {
  const Layout layout(outline);
  std::vector<Measure> out;
  for (const Table& table : layout.tables()) {
    const double blocks = std::max(table.collection->blocks, 1.0);
    double row = 0;
    double largest = 0;
    for (const FamilyOutline* family : table.families) {
      row += family->bytes * (family->one_a_block() ? 1 : family->entries / blocks);
      largest = std::max(largest, family->bytes);
    }
    out.push_back({LimitKind::ColumnFamilies, table.name, static_cast<double>(table.column_families.size())});
    out.push_back({LimitKind::PartitionBytes, fmt::format("a row of {}", table.name), row});
    out.push_back({LimitKind::ValueBytes, fmt::format("a cell of {}", table.name), largest});
    out.push_back({LimitKind::KeyBytes, fmt::format("a row key of {}", table.name),
                   key_bytes(outline.model(), table.collection->block)});
  }
  return out;
}

Generated generate(const Outline& outline, const design::Sample* sample) {
  const Layout layout(outline);
  Generated out;
  out.files.push_back({"schema.rb", schema(layout)});
  out.files.push_back({"statements.rb", statements_file(layout)});
  out.files.push_back({"noam.rb", std::string(helpers())});
  std::string files(files_text);
  if (sample != nullptr) {
    out.files.push_back({"data.rb", data_file(layout, *sample)});
    files += "- `data.rb`: the data, for `hbase shell -n data.rb`.\n";
  }
  const PlaceName place = [&](const CollectionOutline&, const FamilyOutline& family, const Column& column) {
    return place_name(layout, family, column);
  };
  out.files.push_back({"README.md", readme(outline, fmt::format("{} on HBase", outline.model().name), capabilities,
                                           {{"Files", files}, {"Tables", tables_text(layout)}}, place,
                                           {{"Types", std::string(values_text)},
                                            {"Keys", keys_section()},
                                            {"Writing", std::string(writing_text)}})});
  return out;
}

}  // namespace noam::targets::hbase
