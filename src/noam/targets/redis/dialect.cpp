#include "noam/targets/redis/dialect.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "noam/model/datum.h"
#include "noam/schemas/keys.h"
#include "noam/schemas/plain.h"
#include "noam/targets/redis/functions.h"
#include "noam/targets/redis/values.h"

namespace noam::targets::redis {

namespace {

// `$username`, or the constant itself.
std::string placeholder(const model::Model& model, const Column& column, const std::string& name) {
  if (!column.constant) return "$" + name;
  return plain_text(model, column.type, model::from_literal(column.type, *column.constant));
}

std::string entry_placeholder(const model::Model& model, const PlacedFamily& family) {
  std::vector<std::string> parts;
  for (const PlacedColumn& part : family.key) parts.push_back(placeholder(model, *part.column, part.argument));
  return fmt::format("{}", fmt::join(parts, ":"));
}

void add_fields(const PlacedFamily& family, const std::string& entry, std::vector<std::string>& out) {
  for (const PlacedColumn& column : family.columns) out.push_back(field_of(family, column.field, entry));
  if (!family.marker.empty()) out.push_back(field_of(family, family.marker, entry));
  if (family.head) out.push_back(version_field(family, entry));
}

std::string get(const std::string& key, const std::vector<std::string>& fields) {
  return fmt::format("{} {} {}", fields.size() == 1 ? "HGET" : "HMGET", key, fmt::join(fields, " "));
}

// Names and values, as functions take them.
void add_arguments(const model::Model& model, const std::vector<PlacedColumn>& columns, std::size_t count,
                   std::vector<std::string>& out) {
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(columns[i].argument);
    out.push_back(placeholder(model, *columns[i].column, columns[i].argument));
  }
}

// Those of a write: the key, and the values that it gives.
void add_arguments(const model::Model& model, const PlacedFamily& family, const Write& write,
                   std::vector<std::string>& out) {
  const auto add = [&](const PlacedColumn& column, const char* end) {
    out.push_back(column.argument);
    out.push_back(placeholder(model, *column.column, column.argument + end));
  };
  for (const PlacedColumn& part : family.key) add(part, write.end_of(*part.column));
  if (write.kind == WriteKind::Erase) return;
  for (const PlacedColumn& column : family.columns)
    if (write.kind == WriteKind::Append ? is_list(*column.column) : write.writes(*column.column))
      add(column, write.end());
}

std::string with(const std::string& begin, const std::vector<std::string>& words) {
  return words.empty() ? begin : fmt::format("{} {}", begin, fmt::join(words, " "));
}

std::string call(const char* command, const std::string& name, const std::vector<std::string>& keys) {
  return fmt::format("{} {} {} {}", command, name, keys.size(), fmt::join(keys, " "));
}

// The keys without that of the head, which readers need not know.
std::vector<std::string> reading_keys(const PlacedFamily& family, const std::string& key) {
  if (family.shape != Shape::Ordered) return {key};
  std::vector<std::string> out;
  if (family.hash) out.push_back(key + family.suffix);
  out.push_back(key + family.suffix + ":order");
  return out;
}

// Members that are plain texts, and nothing beside them: no function is needed.
std::string plain_range(const PlacedFamily& family, const Read& read, const std::string& order) {
  const std::string& name = family.key[0].argument;
  std::string low = read.low ? fmt::format("{}${}_from", read.low_inclusive ? '[' : '(', name) : "-";
  std::string high = read.high ? fmt::format("{}${}_to", read.high_inclusive ? '[' : '(', name) : "+";
  if (read.reverse) std::swap(low, high);
  return fmt::format("ZRANGE {} {} {} BYLEX{}{}", order, low, high, read.reverse ? " REV" : "",
                     read.limited ? " LIMIT 0 $noam_limit" : "");
}

std::string scan_note(const PlacedFamily& family) {
  const std::string key =
      family.shape == Shape::Ordered ? fmt::format(", $key being what is before `{}:order`", family.suffix) : "";
  return fmt::format(
      "the second line for each key of an answer{};\nSCAN goes on with the cursor of the last answer until "
      "it is 0, and walks over all keys of the database",
      key);
}

// An entry that goes from another block than others are written to.
bool in_other_block(const Write& write) {
  return std::any_of(write.collection->block.begin(), write.collection->block.end(),
                     [&](const Column& part) { return *write.end_of(part) != 0; });
}

}  // namespace

std::string RedisDialect::key_of_block(const CollectionOutline& collection, const Write* write) const {
  std::vector<std::string> parts;
  const std::vector<std::string> names = Layout::block_arguments(collection);
  for (std::size_t i = 0; i < names.size(); ++i)
    parts.push_back(placeholder(layout_.outline().model(), collection.block[i],
                                names[i] + (write == nullptr ? "" : write->end_of(collection.block[i]))));
  return layout_.block_key(collection, fmt::format("{}", fmt::join(parts, ":")));
}

// There is no list of a collection's blocks: a scan walks over all keys of the database.
std::string RedisDialect::scan(const PlacedFamily& family) const {
  const std::string all = layout_.block_key(*family.collection, "*");
  if (family.shape != Shape::Ordered) {
    const std::string read = family.shape == Shape::Fields ? read_fields(family, {}, "$key")
                                                           : call("FCALL_RO", reading_function(family), {"$key"});
    return fmt::format("SCAN $cursor MATCH {} COUNT 1000\n{}", all, read);
  }
  const std::string key = "$key";
  return fmt::format("SCAN $cursor MATCH {}{}:order COUNT 1000\n{}", all, family.suffix,
                     call("FCALL_RO", reading_function(family), reading_keys(family, key)));
}

std::string RedisDialect::read_fields(const PlacedFamily& family, const Mates& mates, const std::string& key) const {
  std::vector<std::string> fields;
  add_fields(family, {}, fields);
  for (const FamilyOutline* mate : mates) add_fields(layout_.placed(*mate), {}, fields);
  return fields.empty() ? fmt::format("EXISTS {}", key) : get(key, fields);
}

std::string RedisDialect::read_entry(const PlacedFamily& family, const Mates& mates, const std::string& key) const {
  const std::string entry = entry_placeholder(layout_.outline().model(), family);
  if (family.hash) {
    std::vector<std::string> fields;
    add_fields(family, entry, fields);
    for (const FamilyOutline* mate : mates) add_fields(layout_.placed(*mate), entry, fields);
    const std::string hash = family.shape == Shape::Ordered ? key + family.suffix : key;
    return family.columns.empty() && !family.head && mates.empty() ? fmt::format("HEXISTS {} {}", hash, fields[0])
                                                                   : get(hash, fields);
  }
  if (family.natural) return fmt::format("ZSCORE {}{}:order {}", key, family.suffix, entry);
  std::vector<std::string> parts;
  add_arguments(layout_.outline().model(), family.key, family.key.size(), parts);
  return with(call("FCALL_RO", reading_function(family), reading_keys(family, key)), parts);
}

std::string RedisDialect::read_range(const PlacedFamily& family, const Read& read, const std::string& key) const {
  if (family.natural && !family.hash) return plain_range(family, read, key + family.suffix + ":order");
  std::vector<std::string> prefix;
  add_arguments(layout_.outline().model(), family.key, read.prefix, prefix);
  std::string out = with(call("FCALL_RO", reading_function(family), reading_keys(family, key)), prefix);
  if (read.ranged()) {
    const std::string& name = family.key[read.prefix].argument;
    if (read.low) out += fmt::format(" {0}_{1} ${0}_from", name, read.low_inclusive ? "from" : "after");
    if (read.high) out += fmt::format(" {0}_{1} ${0}_to", name, read.high_inclusive ? "to" : "before");
  }
  if (read.reverse) out += " noam_reverse 1";
  if (read.limited) out += " noam_limit $noam_limit";
  return out;
}

Native RedisDialect::read(const Read& read) const {
  const PlacedFamily& family = layout_.placed(*read.family);
  if (read.scan) return {scan(family), scan_note(family)};
  const std::string key = key_of_block(*read.collection);
  if (family.shape == Shape::Fields) return {read_fields(family, read.mates, key), {}};
  return {read.one_entry() ? read_entry(family, read.mates, key) : read_range(family, read, key), {}};
}

bool RedisDialect::in_one_place(const FamilyOutline& a, const FamilyOutline& b) const {
  const PlacedFamily& one = layout_.placed(a);
  const PlacedFamily& other = layout_.placed(b);
  if (one.collection != other.collection || one.shape != other.shape || one.suffix != other.suffix) return false;
  return one.shape == Shape::Fields || (one.hash && other.hash && same_key(a, b) && same_constants(a, b));
}

RedisDialect::Call RedisDialect::call_of(const Write& write) const {
  const PlacedFamily& family = layout_.placed(*write.family);
  Call out;
  out.name =
      write.partial() && has_changing_function(family) ? changing_function(family) : function_name(family, write.kind);
  out.keys = layout_.keys(family, key_of_block(*write.collection, &write));
  if (family.version && write.kind != WriteKind::Insert) {
    out.arguments.emplace_back("noam_version");
    out.arguments.emplace_back(write.fresh && write.kind == WriteKind::Put ? "0" : "$noam_version");
  }
  Write given = write;
  if (!has_changing_function(family)) given.changed.clear();
  add_arguments(layout_.outline().model(), family, given, out.arguments);
  return out;
}

// The call that adds erases the entry, too.
bool RedisDialect::goes_by_adding(const Write& write) const {
  return write.kind == WriteKind::Erase && write.only_if_over() &&
         erases_by_adding(layout_, layout_.placed(*write.family));
}

Native RedisDialect::write(const Write& write) const {
  const PlacedFamily& family = layout_.placed(*write.family);
  if (write.fresh && write.kind == WriteKind::Put && family.version) return {"", "in one call with its insert, below"};
  if (goes_by_adding(write)) return {"", "nothing to do: the call that adds erases an entry whose count comes to 0"};
  const Call made = call_of(write);
  return {with(call("FCALL", made.name, made.keys), made.arguments),
          family.apart ? "its head lies in another block: nothing tells two writers of one instance" : ""};
}

std::vector<Native> RedisDialect::batches(const std::vector<Write>& writes) const {
  std::vector<Native> out;
  std::set<std::uint32_t> done;
  for (const Write& first : writes) {
    if (!done.insert(first.collection->index).second) continue;
    std::vector<std::string> keys;
    std::vector<std::string> arguments;
    std::size_t calls = 0;
    for (const Write& write : writes) {
      if (write.collection->index != first.collection->index || in_other_block(write)) continue;
      if (goes_by_adding(write)) continue;
      const Call made = call_of(write);
      keys.insert(keys.end(), made.keys.begin(), made.keys.end());
      arguments.push_back(fmt::format("{} {} {}", made.name, made.keys.size(), made.arguments.size()));
      arguments.insert(arguments.end(), made.arguments.begin(), made.arguments.end());
      ++calls;
    }
    if (calls > 1) out.push_back({with(call("FCALL", together_function(layout_), keys), arguments), ""});
  }
  return out;
}

std::string RedisDialect::together(const std::vector<Write>& writes) const {
  std::string out = "Atomic: each call";
  if (!batches(writes).empty())
    out += fmt::format("; {} makes one call of those for one block (leave out what is not needed, repeat what is)",
                       together_function(layout_));
  return out + told_apart(writes);
}

}  // namespace noam::targets::redis
