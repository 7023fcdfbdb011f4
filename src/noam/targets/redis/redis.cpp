#include "noam/targets/redis/redis.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "noam/schemas/keys.h"
#include "noam/schemas/names.h"
#include "noam/schemas/plain.h"
#include "noam/targets/ordered_bytes.h"
#include "noam/targets/readme.h"
#include "noam/targets/redis/dialect.h"
#include "noam/targets/redis/functions.h"
#include "noam/targets/redis/layout.h"
#include "noam/targets/redis/values.h"

namespace noam::targets::redis {

namespace {

// Lua 5.1 Reference Manual, "Lexical Conventions", and what functions find in Redis. Names are texts in our library.
constexpr std::string_view word_text =
    "and break do else elseif end false for function goto if in local nil not or repeat return then true until while "
    "_G _VERSION redis server cjson cmsgpack bit struct KEYS ARGV";
constexpr auto words = split_words<word_count(word_text)>(word_text);

constexpr std::array limits = {
    // Redis documentation, "Redis Strings", Limits: "By default, a single Redis string can be a maximum of 512 MB."
    Limit{LimitKind::ValueBytes, 512e6, true, "a value",
          "store large collections with one entry per element: `entry rounds[*]`"},
    // Redis documentation, "Keys and values": "The maximum allowed key size is 512 MB."
    Limit{LimitKind::KeyBytes, 512e6, true, "a key", "choose a shorter key"},
    // Redis documentation, "Redis hashes", Limits: "Every hash can store up to 4,294,967,295 (2^32 - 1) field-value
    // pairs."
    Limit{LimitKind::ElementsInside, 4'294'967'295.0, true, "a hash",
          "make the blocks smaller: add a part of the key to `by`", "fields"},
};

class DataWriter {
 public:
  DataWriter(const Layout& layout, const design::Sample& sample) : layout_(layout), sample_(sample) {}

  std::string write() {
    for (const CollectionOutline& collection : layout_.outline().collections) {
      std::vector<std::pair<std::string, Pairs>> blocks;  // the hash of each
      std::map<std::string, std::size_t> places;
      for (const FamilyOutline& family : collection.families) {
        const PlacedFamily& placed = layout_.placed(family);
        if (placed.shape == Shape::Ordered) continue;
        for (const design::SampleEntry& entry : sample_.families[family.index]) {
          const std::string key = block_key(collection, entry);
          const auto [at, is_new] = places.emplace(key, blocks.size());
          if (is_new) blocks.push_back({key, {}});
          add_fields(placed, entry, blocks[at->second].second);
        }
      }
      for (const auto& [key, pairs] : blocks) command("HSET " + quoted(key), pairs);
      for (const FamilyOutline& family : collection.families)
        if (layout_.placed(family).shape == Shape::Ordered) write_ordered(collection, layout_.placed(family));
    }
    return std::move(out_);
  }

 private:
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  static constexpr std::size_t pairs_a_line = 100;

  [[nodiscard]] std::string block_key(const CollectionOutline& collection, const design::SampleEntry& entry) const {
    return layout_.block_key(collection, joined_text(layout_.outline().model(), collection.block, entry.block));
  }

  void add_fields(const PlacedFamily& family, const design::SampleEntry& entry, Pairs& out) const {
    const model::Model& model = layout_.outline().model();
    const std::string text = family.family->key.empty() ? "" : entry_text(model, family, entry.key);
    for (const PlacedColumn& column : family.columns) {
      const auto index = static_cast<std::size_t>(column.column - family.family->values.data());
      const model::Datum& datum = entry.values[index];
      if (!datum.absent())
        out.emplace_back(field_of(family, column.field, text), value_text(model, column.column->type, datum));
    }
    if (!family.marker.empty()) out.emplace_back(field_of(family, family.marker, text), "1");
    if (family.head) out.emplace_back(version_field(family, text), "1");
  }

  void write_ordered(const CollectionOutline& collection, const PlacedFamily& family) {
    const auto& entries = sample_.families[family.family->index];
    for (std::size_t from = 0; from < entries.size();) {
      const std::string key = block_key(collection, entries[from]);
      Pairs fields;
      Pairs members;
      for (; from < entries.size() && block_key(collection, entries[from]) == key; ++from) {
        add_fields(family, entries[from], fields);
        members.emplace_back("0", member_text(layout_.outline().model(), family, entries[from].key));
      }
      command("HSET " + quoted(key + family.suffix), fields);
      command("ZADD " + quoted(key + family.suffix + ":order"), members);
    }
  }

  void command(const std::string& begin, const Pairs& pairs) {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (i % pairs_a_line == 0) out_ += (i == 0 ? "" : "\n") + begin;
      out_ += fmt::format(" {} {}", quoted(pairs[i].first), quoted(pairs[i].second));
    }
    if (!pairs.empty()) out_ += '\n';
  }

  const Layout& layout_;
  const design::Sample& sample_;
  std::string out_;
};

std::string block_pattern(const Layout& layout, const CollectionOutline& collection) {
  std::vector<std::string> parts;
  for (const Column& part : collection.block) parts.push_back("<" + part.name + ">");
  return layout.block_key(collection, fmt::format("{}", fmt::join(parts, ":")));
}

std::string entry_pattern(const PlacedFamily& family) {
  std::vector<std::string> parts;
  for (const PlacedColumn& part : family.key) parts.push_back("<" + part.argument + ">");
  return fmt::format("{}", fmt::join(parts, ":"));
}

std::string place_name(const Layout& layout, const CollectionOutline& collection, const FamilyOutline& family,
                       const Column& column) {
  const PlacedFamily& placed = layout.placed(family);
  const std::string block = block_pattern(layout, collection);
  if (column.place.kind == design::Place::Kind::Block) return fmt::format("the key `{}`", block);
  if (column.place.kind == design::Place::Kind::Key)
    return placed.shape == Shape::Ordered
               ? fmt::format("members of `{}{}:order`", block, placed.suffix)
               : fmt::format("the fields `{}` of `{}`",
                             bracketed(placed.marker.empty() ? placed.columns[0].field : placed.marker,
                                       entry_pattern(placed)),
                             block);
  for (const PlacedColumn& at : placed.columns)
    if (at.column == &column)
      return fmt::format("`{}` of `{}{}`", field_of(placed, at.field, entry_pattern(placed)), block, placed.suffix);
  return fmt::format("the key `{}`", block);
}

// Every key with its type, and what is in it; families that share a hash in one row.
std::string keys_table(const Layout& layout) {
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const std::string& key, const char* type, const std::string& inside) {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row[0] == key; });
    if (found == rows.end())
      rows.push_back({key, type, inside});
    else
      (*found)[2] += ", " + inside;
  };
  for (const PlacedFamily& family : layout.families()) {
    const std::string key = block_pattern(layout, *family.collection) + family.suffix;
    const std::string entry = entry_pattern(family);
    std::vector<std::string> fields;
    for (const PlacedColumn& column : family.columns)
      fields.push_back(
          fmt::format("`{}`{}", field_of(family, column.field, entry), family.single ? ": " + column.argument : ""));
    if (!family.marker.empty()) fields.push_back(fmt::format("`{}`: 1", field_of(family, family.marker, entry)));
    if (family.head) fields.push_back(fmt::format("`{}`", version_field(family, entry)));
    if (!fields.empty()) add(fmt::format("`{}`", key), "hash", fmt::format("{}", fmt::join(fields, ", ")));
    if (family.shape == Shape::Ordered)
      add(fmt::format("`{}:order`", key), "sorted set", fmt::format("`{}{}`", family.natural ? "" : "<bytes>:", entry));
  }
  return markdown_table({"key", "type", "fields, members"}, rows);
}

constexpr std::string_view keys_text = R"(
All keys of a block have the block's key in braces: a hash tag, so that they lie in one slot of a cluster.

Parts of a key are joined with `:`. In them `%` is `%25`, `:` is `%3A`, `{` is `%7B`, `}` is `%7D`; an empty text is `%=`
and what is absent `%-`. The key of an entry that is one part stands as it is. A reference by several parts is these parts.

Values: ints in digits (HINCRBY works on them), floats and decimals as they are written, `true` and `false`, timestamps
`2024-02-29T23:59:59.999Z`, dates `2024-02-29`, uuids and addresses as texts, bytes as they are (in keys: hexadecimal
digits); everything else is JSON. What is absent has no field.
)";

constexpr std::string_view order_text = R"(
Members of sorted sets have equal scores: Redis then sorts them by their bytes. Where the key is one part whose text
sorts right (texts, timestamps, dates), members are that text. Elsewhere they are `<bytes>:<text>`: `<bytes>` are
hexadecimal digits of bytes that sort as the key does; the functions work them out. For each part of the key they are:

)";

std::string keys_section(const Layout& layout) {
  const auto& families = layout.families();
  std::string out = keys_table(layout) + std::string(keys_text);
  if (std::any_of(families.begin(), families.end(), [](const PlacedFamily& at) { return at.shape == Shape::Ordered; }))
    out += std::string(order_text) + std::string(ordered_bytes_table);
  return out;
}

std::string functions_section(const Layout& layout) {
  std::vector<std::vector<std::string>> rows;
  for (const PlacedFamily& family : layout.families()) {
    const std::vector<std::string> kinds = function_kinds(family);
    rows.push_back(
        {fmt::format("`{}_…`", family.functions), fmt::format("{}", fmt::join(kinds, ", ")),
         fmt::format("`{}`", fmt::join(layout.keys(family, block_pattern(layout, *family.collection)), "` `"))});
  }
  return fmt::format(R"({}
`FCALL <name> <number of keys> <key> … <argument> <value> …`: arguments come by name, in any order; what is absent is left
out. A call checks everything before its first write. It answers

| | |
| --- | --- |
| `applied`, `<version>` | done. Of copies there is no version |
| `refused`, `exists` | `insert`: there is such an instance |
| `refused`, `absent` | there is no such instance |
| `conflict`, `<version>` | the aggregate is no longer as it was read: read it again |
| an error | the call is malformed; nothing was written (but where a key holds another type than is said here) |

`noam_version` counts the changes of an aggregate: 1 at its insert. Every write of a base takes the one that was read, and
raises it, so that two writers who touch different entries of one aggregate notice each other. `append` may leave it out:
then it is enough that the instance is there. `put` writes an entry whole: fields of columns that are not given go.
`change` writes the columns that are given, of an entry that is there; with `<column>_absent 1`, that field goes.
`append` takes a JSON array with the new elements. `add` adds to the columns that are given; an entry whose count comes to
0 goes.

`{}` does several calls as one: `FCALL {} <number of keys> <keys of all calls> …`, then for each call
`<name> <number of keys> <number of arguments> <arguments>`. All versions are those before; in a call together with its
`insert`, the other entries of an instance are put with `noam_version 0`. A refusal has the name of the call as its third
part.

`…_read` (`FCALL_RO`) gives entries in the order of their keys, each a list of names and values. The first parts of the
key may be given; the next one may have bounds: `<part>_from`, `<part>_to`, and without the bound itself `<part>_after`,
`<part>_before`. `<part>_absent 1` asks for a part that is absent. `noam_reverse 1` turns the order, `noam_limit` ends it.
It takes the keys above but that of the head.
)",
                     markdown_table({"function", "kinds", "keys"}, rows), together_function(layout),
                     together_function(layout));
}

constexpr std::string_view writing_text =
    R"(Atomic is one function call, and `…_together` over the keys of one slot: nobody sees half of it, and a call that is refused
or malformed writes nothing. Redis does not roll back: a server that is killed within a call loses the call or has it.
A function blocks the server while it runs: keep calls small. Redis names one as slow after 5 s (`busy-reply-threshold`),
and a call that has written cannot be stopped then (`FUNCTION KILL` is refused).

Blocks of other keys, and copies in other collections, lie in other slots. They follow with calls of their own:
whoever writes must see to it.

`SCAN` gives every key that is there all the time, others perhaps, some twice; it is no snapshot, and asks every node of a
cluster.
)";

constexpr std::string_view durability_section =
    R"(Redis keeps data in memory. What is acknowledged is safe only as far as you ask for it:

    appendonly yes                 # else a crash loses all since the last snapshot
    appendfsync always             # else (everysec) a crash of the machine loses about a second
    maxmemory-policy noeviction    # else Redis drops keys, and with them parts of blocks
    min-replicas-to-write 1        # refuses writes while no replica listens

Replication is asynchronous: a failover may lose writes that were acknowledged, whatever the settings. `WAIT` makes that
less likely, not impossible. Expiry: Redis 7.0 expires whole keys only; `noam_due` is when an instance is due: whoever
takes it away takes its copies, too. The functions set no expiry.
)";

std::string files_section(bool data) {
  return fmt::format(
      R"text(- `functions.lua`: functions that change and read blocks; there is no schema to make. In a cluster every master needs
  them.
- `statements.redis`: what every query and command sends, step by step; `$name` is a value, encoded where it is in a key.
{}
On one server:

    redis-cli -x FUNCTION LOAD REPLACE < functions.lua
{}
In a cluster:

    redis-cli --cluster call HOST:PORT FUNCTION LOAD REPLACE "$(cat functions.lua)" --cluster-only-masters
{})text",
      data ? "- `data.redis`: the data.\n" : "", data ? "    redis-cli < data.redis\n" : "",
      data ? "    redis-cli -c -h HOST -p PORT < data.redis\n" : "");
}

}  // namespace

const Capabilities capabilities{
    .atomic = "a function call over the keys of one slot: all of a block",
    .conditional = "functions compare the version of the aggregate before they write",
    .order = "sorted sets with equal scores: members by their bytes",
    .counters = "exact, by HINCRBY or a function; adding twice adds twice",
    .expiry = "of whole keys only; not used: what is copied elsewhere must go with the original",
    .limits = limits,
};
const std::span<const Option> options{};
const std::span<const std::string_view> reserved = words;

Generated generate(const Outline& outline, const design::Sample* sample) {
  const Layout layout(outline);
  Generated out;
  out.files.push_back({"functions.lua", functions_file(layout)});
  out.files.push_back({"statements.redis", print_statements(statements(outline), "# ", "")});
  if (sample != nullptr) out.files.push_back({"data.redis", DataWriter(layout, *sample).write()});
  const auto place = [&](const CollectionOutline& collection, const FamilyOutline& family, const Column& column) {
    return place_name(layout, collection, family, column);
  };
  out.files.push_back(
      {"README.md", readme(outline, fmt::format("{} on Redis", outline.model().name), capabilities,
                           {{"Files", files_section(sample != nullptr)}, {"Keys", keys_section(layout)}}, place,
                           {{"Functions", functions_section(layout)},
                            {"Writing", std::string(writing_text)},
                            {"Durability", std::string(durability_section)}})});
  return out;
}

std::vector<Measure> measure(const Outline& outline) {
  const Layout layout(outline);
  std::vector<Measure> out;
  for (const CollectionOutline& collection : outline.collections) {
    const double blocks = std::max(collection.blocks, 1.0);
    double fields = 0;
    double bytes = 0;
    for (const FamilyOutline& family : collection.families) {
      const PlacedFamily& placed = layout.placed(family);
      const double entries = family.entries / blocks;
      const double width = static_cast<double>(std::max<std::size_t>(placed.columns.size(), 1));
      out.push_back({LimitKind::ValueBytes, fmt::format("a value of {}", family.label), family.bytes});
      bytes += entries * family.bytes;
      if (placed.shape == Shape::Ordered)
        out.push_back({LimitKind::ElementsInside, fmt::format("a hash of {}", family.label), entries * width});
      else
        fields += entries * width;
    }
    if (fields > 0)
      out.push_back({LimitKind::ElementsInside, fmt::format("the hash of a block of {}", collection.name), fields});
    out.push_back({LimitKind::PartitionBytes, fmt::format("a block of {}", collection.name), bytes});
    out.push_back({LimitKind::KeyBytes, fmt::format("a key of {}", collection.name),
                   key_bytes(outline.model(), collection.block)});
  }
  return out;
}

std::vector<ListedStatement> statements(const Outline& outline) {
  const Layout layout(outline);
  return list_statements(outline, RedisDialect(layout));
}

}  // namespace noam::targets::redis
