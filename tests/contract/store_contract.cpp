#include "tests/contract/store_contract.h"

#include <limits>
#include <ostream>

#include "noam/design/layout.h"
#include "noam/stores/blocks/layer.h"
#include "noam/stores/memory.h"
#include "tests/blocks/simulated_blocks.h"
#include "tests/cassandra_keyspace.h"
#include "tests/temporary_store.h"

namespace noam::model {

void PrintTo(const Datum& datum, std::ostream* out) {
  if (datum.absent()) *out << "absent";
  if (datum.is_bool()) *out << (datum.as_bool() ? "true" : "false");
  if (datum.is_int()) *out << datum.as_int();
  if (datum.is_double()) *out << datum.as_double() << "f";
  if (datum.is_decimal()) *out << datum.as_decimal().text() << "d";
  if (datum.is_string()) *out << testing::PrintToString(datum.as_string());
  if (datum.is_list()) *out << testing::PrintToString(datum.as_list());
}

}  // namespace noam::model

namespace noam::stores {

void PrintTo(const Entry& entry, std::ostream* out) {
  *out << testing::PrintToString(entry.key) << ": " << testing::PrintToString(entry.columns);
}

void PrintTo(const ScanPage::Item& item, std::ostream* out) {
  *out << testing::PrintToString(item.block) << " ";
  PrintTo(item.entry, out);
}

void PrintTo(Outcome outcome, std::ostream* out) {
  switch (outcome) {
    case Outcome::Applied:
      *out << "Applied";
      break;
    case Outcome::Conflict:
      *out << "Conflict";
      break;
    case Outcome::TooLarge:
      *out << "TooLarge";
      break;
    case Outcome::Unknown:
      *out << "Unknown";
      break;
    case Outcome::Already:
      *out << "Already";
      break;
  }
}

}  // namespace noam::stores

namespace noam::tests {

using model::Datum;
using model::Decimal;
using model::Type;
using model::TypeKind;
using stores::Key;

namespace {

std::unique_ptr<stores::Store> open_blocks(const StoreSettings& settings, std::size_t at_once) {
  blocks::DatabaseOptions options;
  options.capabilities.units_at_once = at_once;
  options.capabilities.max_entry_bytes = settings.max_entry_bytes;
  options.scan_page = settings.scan_page;
  return stores::blocks::open_block_layer(blocks::Database(options).connect());
}

// One keyspace, whose tables are made once.
class SharedKeyspace final : public testing::Environment {
 public:
  // Before the driver ends.
  void TearDown() override { keyspace_.reset(); }

  std::unique_ptr<stores::Store> open(const StoreSettings& settings) {
    if (!keyspace_) keyspace_.emplace();
    keyspace_->clear();
    stores::cassandra::Place limits;
    limits.max_entry_bytes = settings.max_entry_bytes;
    limits.scan_rows = settings.scan_page;
    return keyspace_->open(stores::blocks::this_machine(), limits);
  }

 private:
  std::optional<CassandraKeyspace> keyspace_;
};

StoreKind cassandra_kind() {
  auto* const shared = new SharedKeyspace;  // NOLINT: the environment is googletest's from here on
  testing::AddGlobalTestEnvironment(shared);
  return {"cassandra", 20, true, [shared](const StoreSettings& settings) { return shared->open(settings); }};
}

}  // namespace

const std::vector<StoreKind>& store_kinds() {
  static std::vector<StoreKind> kinds = {
      {"memory", 1'000, false,
       [](const StoreSettings& settings) {
         return stores::open_memory_store({settings.max_entry_bytes, settings.scan_page});
       }},
      {"rocksdb", 300, false,
       [](const StoreSettings& settings) {
         stores::RocksdbOptions options;
         options.max_entry_bytes = settings.max_entry_bytes;
         options.scan_page = settings.scan_page;
         return make_temporary_store(options);
       }},
      // Every commit of three changes or more is tables of its own.
      {"rocksdb_tables", 60, false,
       [](const StoreSettings& settings) {
         stores::RocksdbOptions options;
         options.max_entry_bytes = settings.max_entry_bytes;
         options.scan_page = settings.scan_page;
         options.table_bytes = 1;
         return make_temporary_store(options);
       }},
      // A database that writes one block at a time, and one that writes a hundred.
      {"blocks", 300, false, [](const StoreSettings& settings) { return open_blocks(settings, 1); }},
      {"blocks_together", 300, false, [](const StoreSettings& settings) { return open_blocks(settings, 100); }},
  };
  if (test_cassandra() && kinds.back().name != "cassandra") kinds.push_back(cassandra_kind());
  return kinds;
}

void PrintTo(const StoreKind& kind, std::ostream* out) { *out << kind.name; }

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, testing::ValuesIn(store_kinds()),
                         [](const testing::TestParamInfo<StoreKind>& kind) { return kind.param.name; });

Datum decimal(const std::string& text) { return *Decimal::parse(text); }

const std::vector<SampleType>& sample_types() {
  using std::string_literals::operator""s;
  static constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  static const std::string text_of_all_lengths = "\xF0\x9D\x84\x9E";
  static const Datum no;
  const auto optional = [](TypeKind kind) { return model::optional(model::scalar(kind)); };
  const auto list = [](const Key& elements) { return Datum(elements); };
  static const std::vector<SampleType> types = {
      {"bool", optional(TypeKind::Bool), {no, false, true}},
      {"int", optional(TypeKind::Int), {no, least, -256, -255, -1, 0, 1, 255, 256, most}},
      {"float",
       optional(TypeKind::Float),
       {no, -1e308, -256.5, -1.5, -1e-300, 0.0, 1e-300, 1.5, 256.0, 1e15 + 0.5, 1e308}},
      {"decimal",
       optional(TypeKind::Decimal),
       {no,
        decimal("-1234567890123456789012345678901234"),
        decimal("-100000000000000000000"),
        decimal("-12.5"),
        decimal("-12.49"),
        decimal("-9"),
        decimal("-1"),
        decimal("-0.1"),
        decimal("-0.01"),
        decimal("0"),
        decimal("0.000000000000000000001"),
        decimal("0.01"),
        decimal("0.099"),
        decimal("0.1"),
        decimal("1"),
        decimal("1.5"),
        decimal("9"),
        decimal("10"),
        decimal("12.49"),
        decimal("12.5"),
        decimal("100"),
        decimal("123456789012345678901234567890123.4")}},
      {"text",
       optional(TypeKind::Text),
       {no, "", "\x01", "\x01\x01", " ", "A", "a", "a\x01", "aa", "ab", "b", "\x7F", "\xC3\xA9", "\xE2\x82\xAC",
        text_of_all_lengths}},
      {"bytes",
       optional(TypeKind::Bytes),
       {no, ""s, "\0"s, "\0\0"s, "\0\xFF"s, "\1"s, "a"s, "a\0"s, "a\0b"s, "a\1"s, "\xFE\xFF"s, "\xFF"s, "\xFF\0"s,
        "\xFF\xFF"s}},
      {"timestamp",
       optional(TypeKind::Timestamp),
       {no, -62'135'596'800'000, -1, 0, 1'709'251'199'999, 253'402'300'799'999}},
      {"date", optional(TypeKind::Date), {no, -719'162, -1, 0, 1, 2'932'896}},
      {"uuid",
       optional(TypeKind::Uuid),
       {no, std::string(16, '\0'), std::string(15, '\0') + '\1', std::string(16, '\x7F'), std::string(16, '\x80'),
        std::string(16, '\xFF')}},
      {"inet",
       optional(TypeKind::Inet),
       {no, "\4\0\0\0\0"s, "\4\x7F\0\0\1"s, "\4\xFF\xFF\xFF\xFF"s, "\6"s + std::string(16, '\0'),
        "\6"s + std::string(16, '\xFF')}},
      {"list",
       model::optional(model::collection_of(TypeKind::List, model::scalar(TypeKind::Text))),
       {no, list({}), list({""}), list({"", ""}), list({"", "a"}), list({"\x01"}), list({"a"}), list({"a", ""}),
        list({"a", "a"}), list({"a\x01"}), list({"aa"}), list({"b"})}},
      {"nested",
       model::optional(model::collection_of(
           TypeKind::List, model::collection_of(TypeKind::List, model::optional(model::scalar(TypeKind::Int))))),
       {no, list({}), list({list({})}), list({list({}), list({})}), list({list({no})}), list({list({no}), list({})}),
        list({list({no, no})}), list({list({no, 5})}), list({list({-1})}), list({list({0})}), list({list({0, no})}),
        list({list({0, 1})}), list({list({1})})}},
  };
  return types;
}

std::uint32_t sample::guards() { return by_type(sample_types().size(), false); }

std::uint32_t sample::by_type(std::size_t n, bool descending) {
  return static_cast<std::uint32_t>(lists + 1 + 2 * n + (descending ? 1 : 0));
}

namespace {

model::Part part(const std::string& name, const Type& type, bool descending = false) {
  model::Part part;
  part.name = name;
  part.expr.kind = model::ExprKind::Constant;
  part.expr.type = type;
  part.descending = descending;
  return part;
}

model::Cell cell(const std::string& name, const Type& type) {
  model::Cell cell;
  cell.name = name;
  cell.expr.kind = model::ExprKind::Constant;
  cell.expr.type = type;
  return cell;
}

void add_family(design::Design& design, std::uint32_t collection, const std::string& name, std::vector<model::Part> key,
                std::vector<model::Cell> cells) {
  design::Family family;
  family.collection = collection;
  family.name = name;
  family.key = std::move(key);
  family.cells = std::move(cells);
  design.collections[collection].families.push_back(static_cast<std::uint32_t>(design.families.size()));
  design.families.push_back(std::move(family));
}

design::Design make_sample_design() {
  const auto optional = [](TypeKind kind) { return model::optional(model::scalar(kind)); };
  const Type text = optional(TypeKind::Text);
  const Type number = optional(TypeKind::Int);
  const Type decimal_number = optional(TypeKind::Decimal);

  design::Design design;
  design.name = "sample";
  design.collections.resize(3);
  design.collections[sample::blocks].name = "blocks";
  design.collections[sample::blocks].by = {part("name", text)};
  design.collections[sample::others].name = "others";
  design.collections[sample::others].by = {part("number", number), part("name", text, true)};
  design.collections[sample::commands].name = "commands";
  design.collections[sample::commands].by = {part("id", optional(TypeKind::Bytes))};

  add_family(design, sample::blocks, "", {}, {cell("text", text), cell("number", number)});
  add_family(design, sample::blocks, "numbers", {part("number", number)}, {cell("text", text)});
  add_family(design, sample::blocks, "mixed",
             {part("name", text), part("number", number, true), part("amount", decimal_number)},
             {cell("number", number)});
  add_family(design, sample::blocks, "counts", {part("name", text)},
             {cell("weight", number), cell("sum", decimal_number), cell("note", text), cell("more", number)});
  std::vector<model::Cell> one_of_each;
  for (const SampleType& type : sample_types()) one_of_each.push_back(cell(type.name, type.type));
  add_family(design, sample::blocks, "values", {part("number", number)}, std::move(one_of_each));
  add_family(design, sample::others, "", {}, {cell("number", number)});
  add_family(design, sample::others, "numbers", {part("number", number, true)}, {cell("number", number)});
  const auto list_of = [](const Type& element) {
    return model::optional(model::collection_of(TypeKind::List, element));
  };
  add_family(design, sample::blocks, "lists", {part("name", text)},
             {cell("items", list_of(model::scalar(TypeKind::Int))), cell("note", text),
              cell("more", list_of(model::collection_of(TypeKind::List, decimal_number))), cell("size", number)});
  for (const SampleType& type : sample_types()) {
    for (const bool descending : {false, true}) {
      add_family(design, sample::blocks, type.name + (descending ? "_desc" : ""), {part("key", type.type, descending)},
                 {cell("number", number)});
    }
  }
  add_family(design, sample::commands, "", {}, {cell("outcome", text), cell("time", number)});
  design.families.back().purpose = design::Purpose::Guard;
  return design;
}

}  // namespace

design::Design described(design::Design design) {
  design.layout = design::describe_layout(design, model::Model{});
  return design;
}

const design::Design& sample_design() {
  static const design::Design design = described(make_sample_design());
  return design;
}

void StoreContract::reopen(const StoreSettings& settings) {
  store = GetParam().open(settings);
  const auto deployed = store->deploy(sample_design());
  ASSERT_TRUE(deployed) << deployed.error().message;
}

stores::Answer StoreContract::read(const stores::ReadRequest& request, const stores::Snapshot* at) {
  stores::Answers answers;
  const auto done = store->read({&request, 1}, at, stores::no_deadline, answers);
  EXPECT_TRUE(done) << done.error().message;
  EXPECT_EQ(answers.size(), 1U);
  return answers.size() == 1 ? std::move(answers.front()) : stores::Answer{};
}

stores::Answer StoreContract::read(const stores::BlockRef& block, std::uint32_t family, const stores::Snapshot* at) {
  stores::ReadRequest request;
  request.block = block;
  request.family = family;
  return read(request, at);
}

stores::Outcome StoreContract::commit(const stores::WriteBatch& batch) {
  const auto outcome = store->commit(batch, stores::no_deadline);
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome ? outcome->outcome : stores::Outcome::Unknown;
}

std::vector<stores::ScanPage::Item> StoreContract::scan(std::uint32_t family, const stores::Snapshot* at) {
  std::vector<stores::ScanPage::Item> items;
  std::string after;
  do {
    auto page = store->scan(family, after, at, stores::no_deadline);
    EXPECT_TRUE(page) << page.error().message;
    if (!page) break;
    for (auto& item : page->items) items.push_back(std::move(item));
    after = std::move(page->next);
  } while (!after.empty());
  return items;
}

std::optional<Key> StoreContract::columns(const stores::EntryRef& entry, const stores::Snapshot* at) {
  stores::ReadRequest request;
  request.block = entry.block;
  request.family = entry.family;
  request.from.parts = entry.key;
  request.to.parts = entry.key;
  const stores::Answer answer = read(request, at);
  EXPECT_LE(answer.entries.size(), 1U);
  if (answer.entries.empty()) return std::nullopt;
  EXPECT_EQ(answer.entries.front().key, entry.key);
  return answer.entries.front().columns;
}

}  // namespace noam::tests
