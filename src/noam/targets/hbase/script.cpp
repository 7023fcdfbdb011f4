#include "noam/targets/hbase/script.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "noam/base/check.h"
#include "noam/base/json.h"
#include "noam/model/datum_json.h"
#include "noam/schemas/keys.h"
#include "noam/schemas/plain.h"
#include "noam/targets/hbase/values.h"

namespace noam::targets::hbase {

using model::TypeKind;

namespace {

constexpr std::size_t line_width = 110;

// Ruby for a column and for its value.
struct Cell {
  std::string column;
  std::string value;
};

std::string in_quotes(std::string_view text) { return fmt::format("'{}'", text); }

class Family {
 public:
  Family(const Layout& layout, const FamilyOutline& family)
      : layout_(layout),
        model_(layout.outline().model()),
        family_(family),
        placed_(layout.placed(family)),
        table_(layout.table(family)) {}
  Family(const Layout& layout, const Write& write) : Family(layout, *write.family) { write_ = &write; }

  // What the variable of a part ends in.
  [[nodiscard]] const char* end_of(const Column& column) const {
    return write_ == nullptr ? "" : write_->end_of(column);
  }

  [[nodiscard]] const PlacedFamily& placed() const { return placed_; }
  [[nodiscard]] std::string table() const { return in_quotes(table_.name); }
  [[nodiscard]] std::string row() const {
    return key(table_.collection->block, table_.row, table_.collection->block.size());
  }

  // A value of a key as Ruby has it; with `end`, that of a bound.
  [[nodiscard]] std::string part(const Column& column, const char* end = "") const {
    if (column.constant) {
      const auto json = model::write_json(model_, column.type, model::from_literal(column.type, *column.constant));
      return json.is_string() ? ruby_text(json.get<std::string>()) : json.dump();
    }
    std::string name = layout_.variable(column) + end_of(column) + end;
    switch (resolved(model_, column.type).kind) {
      case TypeKind::Uuid:
        return fmt::format("uuid({})", name);
      case TypeKind::TimeUuid:
        return fmt::format("timeuuid({})", name);
      case TypeKind::Inet:
        return fmt::format("inet({})", name);
      default:
        return name;
    }
  }

  // The bytes of the first parts, and perhaps of a bound of the next.
  [[nodiscard]] std::string key(const std::vector<Column>& columns, const Key& key, std::size_t count,
                                const char* bound = nullptr) const {
    if (key.plain) return fmt::format("key({})", part(columns[0], bound == nullptr ? "" : bound));
    std::vector<std::string> parts;
    const auto add = [&](const Column& column, const char* end) {
      const std::string text = part(column, end);
      parts.push_back(column.descending ? fmt::format("desc({})", text) : text);
    };
    for (std::size_t i = 0; i < count; ++i) add(columns[i], "");
    if (bound != nullptr) add(columns[count], bound);
    return fmt::format("noam_key({})", fmt::join(parts, ", "));
  }

  [[nodiscard]] std::string entry_key() const { return key(family_.key, placed_.key, family_.key.size()); }

  [[nodiscard]] std::string column(const std::string& name) const {
    if (placed_.shape != Shape::Entries) return fmt::format("'{}:{}'", placed_.column_family, name);
    if (placed_.bare) return fmt::format("\"{}:#{{{}}}\"", placed_.column_family, entry_key());
    return fmt::format("\"{}:#{{{}}}\\x00{}\"", placed_.column_family, entry_key(), name);
  }

  // Without its quotes.
  [[nodiscard]] std::string element_inside() const {
    const std::string name = layout_.variable(family_.key[0]) + end_of(family_.key[0]);
    return fmt::format("{}[#{{{}}}]", placed_.elements,
                       family_.elements == TypeKind::List ? fmt::format("position({})", name) : name);
  }
  [[nodiscard]] std::string element() const {
    return fmt::format("\"{}:{}\"", placed_.column_family, element_inside());
  }
  [[nodiscard]] std::string element_qualifier() const { return fmt::format("\"{}\"", element_inside()); }

  [[nodiscard]] std::string value(const Column& at) const {
    if (at.constant) return fmt::format("{}({})", encoder_name(encoding_of(model_, at.type)), part(at));
    return fmt::format("{}({})", encoder_name(encoding_of(model_, at.type)), variable(at));
  }
  [[nodiscard]] std::string variable(const Column& value) const {
    return layout_.variable(value) + (write_ == nullptr ? "" : write_->end());
  }

  // What shows the parts of keys that are bytes.
  [[nodiscard]] std::vector<Cell> beside() const {
    std::vector<Cell> out;
    const auto& block = table_.collection->block;
    if (placed_.shape != Shape::Entries)
      for (std::size_t i = 0; i < block.size(); ++i)
        if (!table_.row.names[i].empty())
          out.push_back({fmt::format("'{}:{}'", cells_family, table_.row.names[i]), value(block[i])});
    for (std::size_t i = 0; i < placed_.key.names.size(); ++i)
      if (!placed_.key.names[i].empty()) out.push_back({column(placed_.key.names[i]), value(family_.key[i])});
    return out;
  }

  [[nodiscard]] std::vector<Cell> values() const {
    std::vector<Cell> out;
    if (placed_.shape == Shape::Elements) {
      out.push_back({element(), value(family_.values.empty() ? family_.key[0] : family_.values[0])});
      return out;
    }
    for (std::size_t i = 0; i < placed_.names.size(); ++i)
      if (!placed_.names[i].empty() && (write_ == nullptr || write_->writes(family_.values[i])))
        out.push_back({column(placed_.names[i]), value(family_.values[i])});
    if (write_ != nullptr && write_->partial()) return out;
    if (placed_.bare && out.empty()) out.push_back({column({}), R"("\x01")"});
    if (placed_.marker) out.push_back({column(*placed_.marker), R"("\x01")"});
    return out;
  }

  [[nodiscard]] std::string version() const { return column(*placed_.version); }

  // Others whose cells may be of the same entry.
  [[nodiscard]] bool has_mates() const {
    return std::any_of(table_.families.begin(), table_.families.end(), [&](const FamilyOutline* other) {
      return other != &family_ && layout_.placed(*other).column_family == placed_.column_family &&
             (placed_.shape != Shape::Entries || same_constants(*other, family_));
    });
  }

  // What goes with an entry: what shows its key stays as long as others need it.
  [[nodiscard]] std::vector<std::string> gone() const {
    std::vector<std::string> out;
    if (placed_.version) out.push_back(version());
    for (const Cell& cell : values()) out.push_back(cell.column);
    if (placed_.version || !has_mates())
      for (const Cell& cell : beside()) out.push_back(cell.column);
    return out;
  }

 private:
  const Layout& layout_;
  const model::Model& model_;
  const FamilyOutline& family_;
  const PlacedFamily& placed_;
  const Table& table_;
  const Write* write_ = nullptr;  // none: a read
};

// In one line where it fits.
std::string ruby_list(const std::vector<std::string>& items) {
  std::string line = fmt::format("[{}]", fmt::join(items, ", "));
  return line.size() < line_width / 2 ? line : fmt::format("[\n  {}\n]", fmt::join(items, ",\n  "));
}

// In one line where it fits.
std::string ruby_hash(const std::vector<Cell>& cells) {
  std::vector<std::string> pairs;
  std::size_t size = 0;
  for (const Cell& cell : cells) {
    pairs.push_back(fmt::format("{} => {}", cell.column, cell.value));
    size += pairs.back().size() + 2;
  }
  if (size < line_width / 2) return fmt::format("{{{}}}", fmt::join(pairs, ", "));
  return fmt::format("{{\n  {}\n}}", fmt::join(pairs, ",\n  "));
}

std::string check_and_mutate(const Family& head, const std::string& column, const std::string& expected,
                             const std::vector<Cell>& cells, const std::vector<std::string>& deleted) {
  std::string out =
      fmt::format("check_and_mutate {}, {}, {}, {}, {}", head.table(), head.row(), column, expected, ruby_hash(cells));
  if (!deleted.empty()) out += ", " + ruby_list(deleted);
  return out;
}

std::string mutate(const Family& family, const std::vector<Cell>& cells, const std::vector<std::string>& deleted) {
  if (cells.size() == 1 && deleted.empty())
    return fmt::format("put {}, {}, {}, {}", family.table(), family.row(), cells[0].column, cells[0].value);
  if (cells.empty() && deleted.size() == 1)
    return fmt::format("delete {}, {}, {}", family.table(), family.row(), deleted[0]);
  std::string out = fmt::format("mutate_row {}, {}, {}", family.table(), family.row(), ruby_hash(cells));
  if (!deleted.empty()) out += ", " + ruby_list(deleted);
  return out;
}

void append(std::vector<Cell>& out, std::vector<Cell> more) {
  for (Cell& cell : more)
    if (std::none_of(out.begin(), out.end(), [&](const Cell& at) { return at.column == cell.column; }))
      out.push_back(std::move(cell));
}

std::vector<std::string> columns_of(const std::vector<Cell>& cells) {
  std::vector<std::string> out;
  for (const Cell& cell : cells) out.push_back(cell.column);
  return out;
}

class Reading {
 public:
  Reading(const Layout& layout, const Read& read)
      : layout_(layout), read_(read), family_(layout, *read.family), placed_(layout.placed(*read.family)) {}

  Native run() {
    std::vector<std::string> options = {fmt::format("COLUMN => {}", columns())};
    const std::string filter = this->filter();
    if (!filter.empty()) options.push_back(fmt::format("FILTER => \"{}\"", filter));
    if (read_.reverse && placed_.shape == Shape::Entries)
      say("a row gives its columns in one order only: turn them round");
    const std::string tail = fmt::format("{{{}}}", fmt::join(options, ", "));
    Native out;
    out.text = read_.scan ? fmt::format("scan {}, {}", family_.table(), tail)
                          : fmt::format("get {}, {}, {}", family_.table(), family_.row(), tail);
    out.why_not = note_;
    return out;
  }

 private:
  [[nodiscard]] bool one_entry() const { return !read_.scan && read_.one_entry(); }

  std::string columns() {
    // The shell takes what is behind a colon in a qualifier for the name of a converter: keys, which may have any
    // byte, are asked for by filters.
    if (placed_.shape != Shape::Cells) return in_quotes(placed_.column_family);
    std::vector<std::string> out;
    if (read_.scan) out = columns_of(family_.beside());
    if (placed_.version) out.push_back(family_.version());
    for (const std::string& column : columns_of(family_.values())) out.push_back(column);
    for (const FamilyOutline* mate : read_.mates) {
      const Family family(layout_, *mate);
      if (family.placed().version) out.push_back(family.version());
      for (const std::string& column : columns_of(family.values())) out.push_back(column);
    }
    return out.size() == 1 ? out[0] : ruby_list(out);
  }

  std::string filter() {
    if (placed_.shape == Shape::Cells) return {};
    if (placed_.shape == Shape::Elements)
      return one_entry() ? only(family_.element_qualifier())
                         : fmt::format("ColumnPrefixFilter('{}[')", placed_.elements);
    std::vector<std::string> out;
    const std::string range = one_entry() ? entry() : this->range();
    if (!range.empty()) out.push_back(range);
    if (family_.has_mates() && read_.mates.empty())
      say(fmt::format("of each entry, take the cells that are of {}", read_.family->label));
    if (read_.limited && !read_.reverse) {
      if (placed_.bare)
        out.emplace_back("ColumnPaginationFilter(#{$noam_limit}, 0)");
      else
        limit_cells(out);
    }
    return fmt::format("{}", fmt::join(out, " AND "));
  }

  // No filter counts entries, but so many cells are not less than so many entries.
  void limit_cells(std::vector<std::string>& filters) {
    std::size_t cells = 0;
    for (const FamilyOutline* other : layout_.table(*read_.family).families) {
      const Family family(layout_, *other);
      if (family.placed().column_family == placed_.column_family)
        cells += family.beside().size() + family.values().size() + (family.placed().version ? 1 : 0);
    }
    filters.push_back(fmt::format("ColumnPaginationFilter(#{{{} * $noam_limit}}, 0)", cells));
    say("an entry has several cells: stop when there are enough entries");
  }

  static std::string only(const std::string& qualifier) {
    return fmt::format("ColumnRangeFilter(#{{quoted({0})}}, true, #{{quoted({0})}}, true)", qualifier);
  }

  [[nodiscard]] std::string entry() const {
    if (placed_.bare) return only(family_.entry_key());
    return fmt::format("ColumnPrefixFilter(#{{quoted({} + \"\\x00\")}})", family_.entry_key());
  }

  std::string range() {
    const FamilyOutline& family = *read_.family;
    const std::size_t prefix = std::max(read_.scan ? 0 : read_.prefix, leading_constants(family));
    const auto bytes = [&](std::size_t count, const char* bound) {
      return family_.key(family.key, placed_.key, count, bound);
    };
    if (!read_.ranged() || read_.scan)
      return prefix == 0 ? std::string() : fmt::format("ColumnPrefixFilter(#{{quoted({})}})", bytes(prefix, nullptr));
    if ((read_.low && !read_.low_inclusive) || (read_.high && !read_.high_inclusive))
      say("both bounds are included; drop what lies on one that does not belong");
    const bool turned = family.key[prefix].descending;
    const char* low = read_.low ? "_from" : nullptr;
    const char* high = read_.high ? "_to" : nullptr;
    const char* first = turned ? high : low;
    const char* last = turned ? low : high;
    const std::string from = first == nullptr && prefix == 0 ? std::string(R"("\x00")") : bytes(prefix, first);
    const std::string to = last == nullptr && prefix == 0 ? std::string("\"\"") : bytes(prefix, last);
    return fmt::format("ColumnRangeFilter(#{{quoted({})}}, true, #{{quoted({} + \"\\xFF\".b)}}, false)", from, to);
  }

  void say(std::string_view note) {
    if (!note_.empty()) note_ += "; ";
    note_ += note;
  }

  const Layout& layout_;
  const Read& read_;
  const Family family_;
  const PlacedFamily& placed_;
  std::string note_;
};

// The count that says how many rows share an entry.
std::string weight_of(const FamilyOutline& family, const PlacedFamily& placed, const Family& shown) {
  std::size_t at = family.values.size();
  for (std::size_t i = 0; i < family.values.size(); ++i) {
    const Column& column = family.values[i];
    if (column.counts && (at == family.values.size() || column.name == "noam_weight" || column.meaning == "count(*)"))
      at = i;
  }
  return at == family.values.size() ? std::string() : shown.column(placed.names[at]);
}

Native copy_request(const Layout& layout, const Write& write) {
  const Family family(layout, write);
  if (write.kind == WriteKind::Erase) {
    const std::vector<std::string> gone = family.gone();
    if (!write.only_if_over()) return {mutate(family, {}, gone), {}};
    const std::string weight = weight_of(*write.family, family.placed(), family);
    return {check_and_mutate(family, weight, fmt::format("int($noam_count{})", write.end()), {}, gone),
            fmt::format("$noam_count{} is what was read last", write.end())};
  }
  if (write.kind == WriteKind::Add) {
    std::vector<std::string> lines;
    const std::vector<Cell> beside = family.beside();
    if (!beside.empty()) lines.push_back(mutate(family, beside, {}));
    for (std::size_t i = 0; i < write.family->values.size(); ++i)
      if (!family.placed().names[i].empty())
        lines.push_back(fmt::format("incr {}, {}, {}, {}", family.table(), family.row(),
                                    family.column(family.placed().names[i]), family.variable(write.family->values[i])));
    return {fmt::format("{}", fmt::join(lines, "\n")), "not to be repeated blindly: it adds again"};
  }
  std::vector<Cell> cells = write.partial() ? std::vector<Cell>() : family.beside();
  append(cells, family.values());
  if (cells.empty()) return {{}, "nothing to write: the key says it"};
  return {mutate(family, cells, {}), {}};
}

// The writes of a command to one aggregate.
class AggregateWriting {
 public:
  AggregateWriting(const Layout& layout, const FamilyOutline& head) : layout_(layout), head_(head) {}

  void add(const Write& write) {
    (&layout_.table(*write.family) == &layout_.table(head_) ? here_ : elsewhere_).push_back(write);
  }
  [[nodiscard]] const FamilyOutline& head() const { return head_; }
  [[nodiscard]] bool in_one_row() const { return elsewhere_.empty(); }

  void add_to(std::vector<Native>& out) {
    const bool inserts = wrote_head(WriteKind::Insert);
    const bool erases = wrote_head(WriteKind::Erase);
    const bool changes = std::any_of(here_.begin(), here_.end(), [&](const Write& write) {
      if (write.kind == WriteKind::Insert) return false;
      if (write.family->existence) return write.kind != WriteKind::Erase;
      return !inserts && !(erases && write.kind == WriteKind::Erase);
    });
    if (inserts) out.push_back(insert());
    if (changes || (!inserts && !erases)) out.push_back(change());
    if (erases) out.push_back(erase());
    for (const Write& write : elsewhere_)
      out.push_back({copy_request(layout_, write).text, "in a row of its own, after the head of its aggregate"});
  }

 private:
  [[nodiscard]] bool wrote_head(WriteKind kind) const {
    return std::any_of(here_.begin(), here_.end(),
                       [&](const Write& write) { return write.kind == kind && write.family->existence; });
  }

  // All that the aggregate has in the row of its head.
  [[nodiscard]] std::vector<const FamilyOutline*> families() const {
    std::vector<const FamilyOutline*> out;
    for (const FamilyOutline* family : layout_.table(head_).families)
      if (family->base && &head_of(layout_.outline(), *family) == &head_) out.push_back(family);
    return out;
  }

  [[nodiscard]] bool has_elements() const {
    const auto all = families();
    return std::any_of(all.begin(), all.end(),
                       [&](const FamilyOutline* family) { return layout_.placed(*family).shape == Shape::Elements; });
  }

  Native insert() const {
    const Family head(layout_, head_);
    std::vector<Cell> cells = head.beside();
    cells.push_back({head.version(), "int(1)"});
    for (const FamilyOutline* family : families()) append(cells, Family(layout_, *family).values());
    return {check_and_mutate(head, head.version(), "nil", cells, {}), has_elements() ? "a cell an element" : ""};
  }

  Native change() const {
    const Family head(layout_, head_);
    std::vector<Cell> cells;
    std::vector<std::string> gone;
    bool appends = false;
    for (const Write& write : here_) {
      const Family family(layout_, write);
      if (write.kind == WriteKind::Insert || (write.kind == WriteKind::Erase && write.family->existence)) continue;
      appends = appends || write.kind == WriteKind::Append;
      if (write.kind != WriteKind::Erase)
        append(cells, family.values());
      else if (family.placed().shape == Shape::Elements)
        gone.push_back(family.element());
    }
    cells.push_back({head.version(), "int($noam_next_version)"});
    return {check_and_mutate(head, head.version(), "int($noam_version)", cells, gone),
            appends ? "a list is one cell: it is written whole" : ""};
  }

  Native erase() const {
    const Family head(layout_, head_);
    std::vector<std::string> gone = head.gone();
    for (const FamilyOutline* family : families())
      if (family != &head_)
        for (const std::string& column : columns_of(Family(layout_, *family).values())) gone.push_back(column);
    return {check_and_mutate(head, head.version(), "int($noam_version)", {}, gone),
            has_elements() ? "with every cell that is an element" : ""};
  }

  const Layout& layout_;
  const FamilyOutline& head_;
  std::vector<Write> here_;
  std::vector<Write> elsewhere_;
};

std::vector<AggregateWriting> by_aggregate(const Layout& layout, const std::vector<Write>& writes) {
  std::vector<AggregateWriting> out;
  for (const Write& write : writes) {
    const FamilyOutline& head = head_of(layout.outline(), *write.family);
    const auto found = std::find_if(out.begin(), out.end(), [&](const auto& at) { return &at.head() == &head; });
    (found != out.end() ? *found : out.emplace_back(layout, head)).add(write);
  }
  return out;
}

constexpr std::string_view helper_file =
    R"ruby(# What statements.rb calls. Run inside `hbase shell`, where HBase's own Java client is at hand.
require 'bigdecimal'
require 'ipaddr'
require 'json'

# Values of cells. Nothing stays nothing: such a cell is not there.
def text(value)
  return nil if value.nil?
  bytes = value.to_s.b
  bytes.empty? || bytes.start_with?("\x00".b) ? "\x00\x01".b + bytes : bytes
end

def bytes(value) text(value) end
def int(value) value.nil? ? nil : [value].pack('q>') end
def float(value) value.nil? ? nil : [value].pack('G') end
def bool(value) value.nil? ? nil : (value ? "\xFF".b : "\x00".b) end
def uuid(value) value.nil? ? nil : [value.delete('-')].pack('H*') end
def json(value) value.nil? || value == [] ? nil : JSON.generate(value).b end

# A key that is one text, and the position of an element in a list.
def key(value) value.nil? ? "\x00".b : text(value) end
def position(value) format('%010d', value) end

# Keys of several parts, or of one that is no text: bytes that sort as the values do. Integers are integers, timestamps
# milliseconds and dates days since 1970, decimals BigDecimal, texts and bytes strings.
Desc = Struct.new(:value)
def desc(value) Desc.new(value) end

def timeuuid(value)
  raw = uuid(value)
  raw && raw[6, 2] + raw[4, 2] + raw[0, 4] + raw[8, 8]
end

def inet(value)
  return nil if value.nil?
  address = IPAddr.new(value)
  (address.ipv4? ? "\x04".b : "\x06".b) + address.hton
end

def noam_key(*parts)
  parts.map do |part|
    part.is_a?(Desc) ? noam_part(part.value).bytes.map { |byte| 255 - byte }.pack('C*') : noam_part(part)
  end.join.b
end

def noam_part(value)
  case value
  when nil then "\x02".b
  when false then "\x03".b
  when true then "\x04".b
  when Integer
    size = (value.abs.bit_length + 7) / 8
    bits = value < 0 ? ~value.abs & 0xFFFFFFFFFFFFFFFF : value
    [0x14 + (value < 0 ? -size : size)].pack('C') + [bits].pack('Q>')[8 - size, size]
  when Float
    bits = [value].pack('G').unpack1('Q>')
    "\x20".b + [bits >> 63 == 1 ? bits ^ 0xFFFFFFFFFFFFFFFF : bits | 1 << 63].pack('Q>')
  when BigDecimal
    sign, digits, _, exponent = value.split
    return "\x29".b if digits == '0'
    pairs = digits.scan(/..?/).map { |pair| pair.ljust(2, '0').to_i + 1 }
    rest = [exponent + 2**31, *pairs, 0].pack('NC*')
    sign < 0 ? "\x28".b + rest.bytes.map { |byte| 255 - byte }.pack('C*') : "\x2A".b + rest
  when Array then "\x38".b + value.map { |element| noam_part(element) }.join.b + "\x00".b
  else "\x30".b + value.b.gsub("\x00".b, "\x00\xFF".b) + "\x00\x01".b
  end
end

# Bytes inside a filter.
def quoted(bytes) "'" + bytes.b.gsub("'".b, "''".b) + "'" end

# Writes cells of one row, all or none; what is nil is deleted, and so is what `deleted` names.
def mutate_row(table, row, cells, deleted = [])
  on_table(table) { |at| at.mutateRow(mutations(row, cells, deleted)) }
end

# The same if the column has the expected value, nil: is not there. Says whether it had.
def check_and_mutate(table, row, column, expected, cells, deleted = [])
  family, qualifier = column_bytes(column)
  check = org.apache.hadoop.hbase.client.CheckAndMutate.newBuilder(row.b.to_java_bytes)
  check = expected.nil? ? check.ifNotExists(family, qualifier) : check.ifEquals(family, qualifier, expected.to_java_bytes)
  on_table(table) { |at| at.checkAndMutate(check.build(mutations(row, cells, deleted))).isSuccess }
end

def mutations(row, cells, deleted)
  out = org.apache.hadoop.hbase.client.RowMutations.new(row.b.to_java_bytes)
  written = cells.compact
  unless written.empty?
    put = org.apache.hadoop.hbase.client.Put.new(row.b.to_java_bytes)
    written.each { |column, value| put.addColumn(*column_bytes(column), value.to_java_bytes) }
    out.add(put)
  end
  gone = deleted + (cells.keys - written.keys)
  unless gone.empty?
    delete = org.apache.hadoop.hbase.client.Delete.new(row.b.to_java_bytes)
    gone.each { |column| delete.addColumns(*column_bytes(column)) }
    out.add(delete)
  end
  out
end

def column_bytes(column)
  family, _, qualifier = column.b.partition(':'.b)
  [family.to_java_bytes, qualifier.to_java_bytes]
end

def on_table(name)
  $noam_connection ||= org.apache.hadoop.hbase.client.ConnectionFactory.createConnection
  table = $noam_connection.getTable(org.apache.hadoop.hbase.TableName.valueOf(name))
  yield table
ensure
  table&.close
end
)ruby";

}  // namespace

std::string_view helpers() { return helper_file; }

std::vector<Native> base_requests(const Layout& layout, const std::vector<Write>& writes) {
  std::vector<Native> out;
  for (AggregateWriting& aggregate : by_aggregate(layout, writes)) aggregate.add_to(out);
  return out;
}

Native ShellDialect::read(const Read& read) const { return Reading(layout_, read).run(); }

bool ShellDialect::in_one_place(const FamilyOutline& a, const FamilyOutline& b) const {
  const PlacedFamily& one = layout_.placed(a);
  const PlacedFamily& other = layout_.placed(b);
  if (&layout_.table(a) != &layout_.table(b) || one.column_family != other.column_family || one.shape != other.shape)
    return false;
  return one.shape == Shape::Cells || (one.shape == Shape::Entries && !one.bare && same_constants(a, b));
}

Native ShellDialect::write(const Write& write) const {
  if (!write.family->base) return copy_request(layout_, write);
  const std::vector<Native> requests = base_requests(layout_, {write});
  std::vector<std::string> texts;
  for (const Native& request : requests) texts.push_back(request.text);
  return {fmt::format("{}", fmt::join(texts, "\n")), requests[0].why_not};
}

std::string ShellDialect::together(const std::vector<Write>& writes) const {
  std::vector<Write> bases;
  std::set<std::string> copies;
  for (const Write& write : writes) {
    if (write.family->base)
      bases.push_back(write);
    else
      copies.insert(write.family->label);
  }
  const auto aggregates = by_aggregate(layout_, bases);
  const bool one_by_one =
      aggregates.size() > 1 || std::any_of(aggregates.begin(), aggregates.end(),
                                           [](const AggregateWriting& aggregate) { return !aggregate.in_one_row(); });
  const std::string atomic =
      one_by_one ? "Atomic: each request, on its row; rows are changed one after the other, and who stops between them "
                   "leaves some undone."
                 : "Atomic: each request, on its row.";
  return atomic + told_followers({copies.begin(), copies.end()});
}

std::vector<ListedStatement> all_commands(const Layout& layout) {
  std::vector<ListedStatement> out = list_statements(layout.outline(), ShellDialect(layout));
  gather_base_writes(out, [&](const std::vector<Write>& writes) { return base_requests(layout, writes); });
  return out;
}

}  // namespace noam::targets::hbase
