#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "noam/stores/store.h"

// What a failed test prints.
namespace noam::model {
void PrintTo(const Datum& datum, std::ostream* out);
}
namespace noam::stores {
void PrintTo(const Entry& entry, std::ostream* out);
void PrintTo(const ScanPage::Item& item, std::ostream* out);
void PrintTo(Outcome outcome, std::ostream* out);
}  // namespace noam::stores

// What every store promises. A store joins by a line in the table of store_contract.cpp.
namespace noam::tests {

struct StoreSettings {
  std::size_t max_entry_bytes = 0;  // 0: what the store allows
  std::size_t scan_page = 1'000;
};

struct StoreKind {
  std::string name;
  int rounds;  // of each thread in tests with threads: fewer where a commit takes long
  bool typed;  // a column takes only values of its type
  std::function<std::unique_ptr<stores::Store>(const StoreSettings&)> open;  // each time an empty one
};

const std::vector<StoreKind>& store_kinds();
void PrintTo(const StoreKind& kind, std::ostream* out);

// A type, with some of its values in their order.
struct SampleType {
  std::string name;
  model::Type type;
  std::vector<model::Datum> ascending;
};
const std::vector<SampleType>& sample_types();

// The design under test:
//
//   blocks by text     ε: text, int
//                      numbers[int]: text
//                      mixed[text, int desc, decimal]: int
//                      counts[text]: int, decimal, text, int         `counts` is where Adds go
//                      values[int]: a column for each sample type
//                      <type>[t]: int, <type>_desc[t desc]: int      for each sample type
//   others by int, text desc
//                      ε: int
//                      numbers[int desc]: int
//   blocks, too        lists[text]: list of int, text, list of lists of decimal, int         where Appends go
//   commands by bytes  ε: text, int                                 for guards
namespace sample {
inline constexpr std::uint32_t blocks = 0;
inline constexpr std::uint32_t others = 1;
inline constexpr std::uint32_t head = 0;
inline constexpr std::uint32_t numbers = 1;
inline constexpr std::uint32_t mixed = 2;
inline constexpr std::uint32_t counts = 3;
inline constexpr std::uint32_t values = 4;
inline constexpr std::uint32_t other_head = 5;
inline constexpr std::uint32_t other_numbers = 6;
inline constexpr std::uint32_t lists = 7;
inline constexpr std::uint32_t commands = 2;
std::uint32_t guards();
// The families of the n-th sample type.
std::uint32_t by_type(std::size_t n, bool descending);
}  // namespace sample

// With its layout written down.
design::Design described(design::Design design);
const design::Design& sample_design();

model::Datum decimal(const std::string& text);

class StoreContract : public testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override { reopen({}); }

  // An empty store, with the sample design.
  void reopen(const StoreSettings& settings);

  static stores::BlockRef block(const std::string& key) { return {sample::blocks, {key}}; }
  static stores::BlockRef other_block(std::int64_t number, const std::string& text) {
    return {sample::others, {number, text}};
  }
  static stores::EntryRef entry(const std::string& block_key, std::uint32_t family, stores::Key key = {}) {
    return {block(block_key), family, std::move(key)};
  }

  static stores::Expect unchanged(const stores::BlockRef& block, stores::Version since) {
    return {block.collection, block.key, since, std::nullopt, family_in(block)};
  }
  // Some stores keep the families of a block apart.
  static stores::Expect unchanged(const stores::BlockRef& block, std::uint32_t family, stores::Version since) {
    return {block.collection, block.key, since, std::nullopt, family};
  }
  static stores::Expect unchanged(const stores::EntryRef& entry, stores::Version since) {
    return {entry.block.collection, entry.block.key, since, stores::Expect::Single{entry.family, entry.key},
            entry.family};
  }
  // Keeps a text under an id; without a text, asks for it.
  static stores::Guard guard(const std::string& id, const std::string& text = {}) {
    return {{{sample::commands, {id}}, sample::guards(), {}},
            text.empty() ? stores::Key() : stores::Key{text, std::int64_t{1'700'000'000'000}},
            1'700'000'000'000};
  }
  static stores::Expect unchanged_collection(std::uint32_t collection, stores::Version since) {
    return {collection, std::nullopt, since};
  }

  // Each fails the test where the store gives an error.
  stores::Answer read(const stores::ReadRequest& request, const stores::Snapshot* at = nullptr);
  stores::Answer read(const stores::BlockRef& block, std::uint32_t family, const stores::Snapshot* at = nullptr);
  stores::Version version(const stores::BlockRef& block) { return version(block, family_in(block)); }
  stores::Version version(const stores::BlockRef& block, std::uint32_t family) { return read(block, family).version; }
  stores::Outcome commit(const stores::WriteBatch& batch);
  stores::Outcome commit(std::vector<stores::Change> changes) {
    return commit(stores::WriteBatch{{}, std::move(changes)});
  }
  // All pages.
  std::vector<stores::ScanPage::Item> scan(std::uint32_t family, const stores::Snapshot* at = nullptr);

  // The columns of an entry; nothing where it is not there.
  std::optional<stores::Key> columns(const stores::EntryRef& entry, const stores::Snapshot* at = nullptr);

  [[nodiscard]] bool spans_blocks() const { return store->capabilities().scope == stores::Scope::Database; }

  std::unique_ptr<stores::Store> store;

 private:
  static std::uint32_t family_in(const stores::BlockRef& block) {
    return block.collection == sample::blocks ? sample::head : sample::other_head;
  }
};

// For tests that need more than the least a store must have.
#define NOAM_NEEDS_SNAPSHOTS() \
  if (!store->capabilities().snapshots) GTEST_SKIP() << "the store has no snapshots"
#define NOAM_NEEDS_WATCHED_ENTRIES() \
  if (!store->capabilities().watches_entries) GTEST_SKIP() << "a commit of the store relies on whole blocks"
#define NOAM_NEEDS_WATCHED_COLLECTIONS() \
  if (!store->capabilities().watches_collections) GTEST_SKIP() << "a commit of the store cannot rely on a collection"
#define NOAM_NEEDS_COMMITS_OF_SEVERAL_BLOCKS() \
  if (!spans_blocks()) GTEST_SKIP() << "a commit of the store spans one block"

}  // namespace noam::tests
