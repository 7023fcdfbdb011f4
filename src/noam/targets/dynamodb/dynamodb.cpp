#include "noam/targets/dynamodb/dynamodb.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "noam/schemas/keys.h"
#include "noam/schemas/names.h"
#include "noam/targets/dynamodb/items.h"
#include "noam/targets/dynamodb/layout.h"
#include "noam/targets/dynamodb/requests.h"
#include "noam/targets/dynamodb/values.h"
#include "noam/targets/json_print.h"
#include "noam/targets/ordered_bytes.h"
#include "noam/targets/readme.h"

namespace noam::targets::dynamodb {

namespace {

// Amazon DynamoDB Developer Guide, "Reserved words in DynamoDB": not in expressions, where we have placeholders.
constexpr std::string_view word_text =
    "abort absolute action add after agent aggregate all allocate alter analyze and any archive are array as asc "
    "ascii asensitive assertion asymmetric at atomic attach attribute auth authorization authorize auto avg back "
    "backup base batch before begin between bigint binary bit blob block boolean both breadth bucket bulk by byte "
    "call called calling capacity cascade cascaded case cast catalog char character check class clob close cluster "
    "clustered clustering clusters coalesce collate collation collection column columns combine comment commit "
    "compact compile compress condition conflict connect connection consistency consistent constraint constraints "
    "constructor consumed continue convert copy corresponding count counter create cross cube current cursor cycle "
    "data database date datetime day deallocate dec decimal declare default deferrable deferred define defined "
    "definition delete delimited depth deref desc describe descriptor detach deterministic diagnostics directories "
    "disable disconnect distinct distribute do domain double drop dump duration dynamic each element else elseif "
    "empty enable end equal equals error escape escaped eval evaluate exceeded except exception exceptions exclusive "
    "exec execute exists exit explain explode export expression extended external extract fail false family fetch "
    "fields file filter filtering final finish first fixed flattern float for force foreign format forward found free "
    "from full function functions general generate get glob global go goto grant greater group grouping handler hash "
    "have having heap hidden hold hour identified identity if ignore immediate import in including inclusive "
    "increment incremental index indexed indexes indicator infinite initially inline inner innter inout input "
    "insensitive insert instead int integer intersect interval into invalidate is isolation item items iterate join "
    "key keys lag language large last lateral lead leading leave left length less level like limit limited lines list "
    "load local localtime localtimestamp location locator lock locks log loged long loop lower map match materialized "
    "max maxlen member merge method metrics min minus minute missing mod mode modifies modify module month multi "
    "multiset name names national natural nchar nclob new next no none not null nullif number numeric object of "
    "offline offset old on online only opaque open operator option or order ordinality other others out outer output "
    "over overlaps override owner pad parallel parameter parameters partial partition partitioned partitions path "
    "percent percentile permission permissions pipe pipelined plan pool position precision prepare preserve primary "
    "prior private privileges procedure processed project projection property provisioning public put query quit "
    "quorum raise random range rank raw read reads real rebuild record recursive reduce ref reference references "
    "referencing regexp region reindex relative release remainder rename repeat replace request reset resignal "
    "resource response restore restrict result return returning returns reverse revoke right role roles rollback "
    "rollup routine row rows rule rules sample satisfies save savepoint scan schema scope scroll search second "
    "section segment segments select self semi sensitive separate sequence serializable session set sets shard share "
    "shared short show signal similar size skewed smallint snapshot some source space spaces sparse specific "
    "specifictype split sql sqlcode sqlerror sqlexception sqlstate sqlwarning start state static status storage store "
    "stored stream string struct style sub submultiset subpartition substring subtype sum super symmetric synonym "
    "system table tablesample temp temporary terminated text than then throughput time timestamp timezone tinyint to "
    "token total touch trailing transaction transform translate translation treat trigger trim true truncate ttl "
    "tuple type under undo union unique unit unknown unlogged unnest unprocessed unsigned until update upper url "
    "usage use user users using uuid vacuum value valued values varchar variable variance varint varying view views "
    "virtual void wait when whenever where while window with within without work wrapped write year zone";
constexpr auto words = split_words<word_count(word_text)>(word_text);

// All from "Quotas in Amazon DynamoDB" and "Constraints in Amazon DynamoDB" of the Developer Guide
// (docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html), by section. A KB there has 1,024 bytes;
// of items a little is left. Without a local secondary index (noam makes none) the items under one partition key have
// no limit together.
constexpr std::array limits = {
    // Items: "Item size": 400 KB, names of attributes included.
    Limit{LimitKind::UnitBytes, 400e3, true, "an item",
          "give the growing part a key of its own (`copy path[key]`), or a collection of its own"},
    // Partition keys and sort keys: 2,048 bytes and 1,024 bytes.
    Limit{LimitKind::KeyBytes, 1024, true, "a sort key (a partition key 2,048 B)", "choose a shorter key"},
    // Transactions: "A transaction cannot contain more than 100 unique items."
    Limit{LimitKind::TransactionEntries, 100, true, "a transaction", "change fewer aggregates in one command", "items"},
    // Quotas: "Table quotas": 2,500 an account and region, more on request.
    Limit{LimitKind::Tables, 2500, false, "an account in a region", "ask for a higher quota", "tables"},
};

constexpr std::string_view data_loader =
    "#!/bin/sh\n"
    "# Puts the items of data.jsonl into the tables; what is given to it goes to aws, such as --endpoint-url.\n"
    "set -eu\n"
    "cd \"$(dirname \"$0\")\"\n"
    "while IFS= read -r request; do\n"
    "  aws dynamodb put-item --cli-input-json \"$request\" \"$@\"\n"
    "done < data.jsonl\n";

constexpr std::string_view table_maker =
    "#!/bin/sh\n"
    "# Makes the tables of schema.json; what is given to it goes to aws, such as --endpoint-url. Needs jq.\n"
    "set -eu\n"
    "cd \"$(dirname \"$0\")\"\n"
    "jq -c '.[]' schema.json | while IFS= read -r table; do\n"
    "  aws dynamodb create-table --cli-input-json \"$table\" \"$@\" > /dev/null\n"
    "done\n"
    "jq -r '.[].TableName' schema.json | while IFS= read -r name; do\n"
    "  aws dynamodb wait table-exists --table-name \"$name\" \"$@\"\n"
    "done\n";

Json create_table(const Table& table) {
  Json out = {{"TableName", table.name}, {"BillingMode", "PAY_PER_REQUEST"}};
  Json attributes = Json::array();
  Json keys = Json::array();
  const auto add = [&](const Key& key, const char* type) {
    attributes.push_back({{"AttributeName", key.attribute}, {"AttributeType", std::string(1, key.letter)}});
    keys.push_back({{"AttributeName", key.attribute}, {"KeyType", type}});
  };
  add(table.partition, "HASH");
  if (table.sort) add(*table.sort, "RANGE");
  out["AttributeDefinitions"] = std::move(attributes);
  out["KeySchema"] = std::move(keys);
  return out;
}

std::string schema(const Layout& layout) {
  Json out = Json::array();
  for (const Table& table : layout.tables()) out.push_back(create_table(table));
  return print_json(out) + "\n";
}

Json requests_json(const std::vector<Native>& natives) {
  Json out = Json::array();
  for (const Native& native : natives) {
    Json request = Json::object();
    if (!native.text.empty()) {
      const std::size_t line = native.text.find('\n');
      request["operation"] = native.text.substr(0, line);
      request["request"] = Json::parse(native.text.substr(line + 1));
    }
    if (!native.why_not.empty()) request["note"] = native.why_not;
    out.push_back(std::move(request));
  }
  return out;
}

Json step_json(const ListedStep& step) {
  Json out = {{"step", step.text}};
  if (step.asks) out["requests"] = requests_json(step.requests);
  return out;
}

std::string statements_file(const std::vector<ListedStatement>& statements) {
  Json out = Json::array();
  for (const ListedStatement& statement : statements) {
    Json listed = {{"statement", statement.heading}};
    Json steps = Json::array();
    for (const ListedStep& step : statement.steps) steps.push_back(step_json(step));
    listed["steps"] = std::move(steps);
    if (!statement.batches.empty()) listed["for all of them"] = requests_json(statement.batches);
    if (!statement.together.empty()) listed["together"] = statement.together;
    out.push_back(std::move(listed));
  }
  return print_json(out) + "\n";
}

std::string data_file(const Layout& layout, const design::Sample& sample) {
  std::string out;
  for (const Json& request : put_requests(layout, sample)) out += request.dump() + "\n";
  return out;
}

std::string key_text(const Key& key) {
  if (!key.made) return fmt::format("`{}` ({})", key.attribute, key.letter);
  std::vector<std::string> parts;
  for (const KeyPart& part : key.parts)
    parts.push_back(fmt::format("`{}`{}", part.attribute, part.column->descending ? " descending" : ""));
  return fmt::format("`{}` (B): {}", key.attribute, fmt::join(parts, ", "));
}

std::string holds_text(const Layout& layout, const Table& table) {
  std::vector<std::string> out;
  for (const FamilyOutline* family : table.families) {
    const PlacedFamily& placed = layout.placed(*family);
    if (placed.shape == Shape::Elements) {
      out.push_back(fmt::format("`{}[…]`", placed.attribute));
      continue;
    }
    if (placed.shape == Shape::Map) {
      out.push_back(fmt::format("`{}`", placed.attribute));
      continue;
    }
    for (const std::string& name : placed.names)
      if (!name.empty()) out.push_back(fmt::format("`{}`", name));
    if (!placed.version.empty()) out.push_back(fmt::format("`{}`", placed.version));
    if (placed.marked) out.push_back(fmt::format("`{}`", placed.present));
  }
  return fmt::format("{}", fmt::join(out, ", "));
}

std::string tables_text(const Layout& layout) {
  std::vector<std::vector<std::string>> rows;
  for (const Table& table : layout.tables())
    rows.push_back({fmt::format("`{}`", table.name), key_text(table.partition),
                    table.sort ? key_text(*table.sort) : "none: an item a block", holds_text(layout, table)});
  return markdown_table({"table", "partition key", "sort key", "other attributes"}, rows);
}

std::string place_name(const Layout& layout, const FamilyOutline& family, const Column& column) {
  const PlacedFamily& placed = layout.placed(family);
  const Table& table = layout.table(family);
  const auto in_key = [&](const Key& key) {
    return fmt::format("`{}` of `{}`, {}", key.parts[column.place.index].attribute, table.name,
                       key.made ? "beside its key" : "its key");
  };
  if (column.place.kind == design::Place::Kind::Block) return in_key(table.partition);
  if (placed.shape == Shape::Elements) return fmt::format("`{}[…]` of `{}`", placed.attribute, table.name);
  if (column.place.kind == design::Place::Kind::Key) return in_key(*table.sort);
  // Values are cells, then hidden ones.
  const auto at = static_cast<std::size_t>(&column - family.values.data());
  if (placed.shape == Shape::Map)
    return fmt::format("`{}` in `{}` of `{}`", placed.names[at], placed.attribute, table.name);
  return fmt::format("`{}` of `{}`", placed.names[at], table.name);
}

constexpr std::string_view files_text =
    "- `schema.json`: the tables, an array of CreateTable requests. `sh create-tables.sh` makes them with the AWS "
    "command line\n"
    "  and jq (`sh create-tables.sh --endpoint-url http://localhost:8000` for one on this machine).\n"
    "- `statements.json`: what every query and command sends, step by step, with the request that each step is. A "
    "request\n"
    "  goes as it is to the operation it names, once what begins with `:` has been replaced by values.\n";

constexpr std::string_view values_text =
    "| type | attribute |\n| --- | --- |\n"
    "| bool | BOOL |\n"
    "| int | N |\n"
    "| float | N: 38 digits, magnitudes from 1E-130 to 9.9…E+125. A double beyond that is refused by DynamoDB |\n"
    "| decimal | N: up to 38 digits, more than a decimal has; but none of 1E+126 or more |\n"
    "| text, enumeration | S |\n"
    "| bytes | B |\n"
    "| timestamp | S, `2024-02-29T23:59:59.999Z`, in UTC and always of that length, so that texts sort as times |\n"
    "| date | S, `2024-02-29` |\n"
    "| uuid, timeuuid, inet | S, as they are usually written, in lower case |\n"
    "| json | S, its text: a map would lose the order of members and how numbers are written |\n"
    "| reference | the key it refers to; of several parts an L of them |\n"
    "| value | M, without what is absent |\n"
    "| list | L |\n"
    "| set | SS, NS or BS, and no attribute where it is empty; an L where DynamoDB has no set of that |\n"
    "| map | M where keys are S, else an L of pairs, each an L |\n\n"
    "What is absent has no attribute. In a key attribute, where nothing may be absent or empty, absent is the one "
    "character\n"
    "U+0000, and a text or bytes that is empty or begins with U+0000 has U+0000 U+0001 before it.\n";

std::string keys_section() {
  return "A key of one part that DynamoDB sorts as noam does is an attribute of its own type; where the order is "
         "descending, a\nQuery has `ScanIndexForward: false`. Other keys (several parts, booleans, numbers that may be "
         "absent, and as sort keys\ntimeuuid and inet) are `noam_block` and `noam_key`: bytes that sort as the parts "
         "do, "
         "each in its direction. The parts\nstand beside them as attributes, so nobody needs to read the bytes, only "
         "to "
         "make them:\n\n" +
         std::string(ordered_bytes_table) +
         "\nIn `statements.json`, `:noam_key(a, b)` are the bytes of these values, and `+FF` behind them is one more "
         "byte, `ff`: after\neverything that begins so. `:noam_block(…)` likewise.\n";
}

constexpr std::string_view writing_text =
    "`noam_version` counts the changes of an aggregate: 1 when it is made. Every write of an aggregate asks that it is "
    "still\n"
    "what was read (`:noam_version`) and sets the next (`:noam_next_version`), so that two who change different "
    "attributes or\n"
    "items of one aggregate notice each other: the second gets ConditionalCheckFailedException (or "
    "TransactionCanceledException),\n"
    "reads again and decides anew. Copies have no version: they follow.\n\n"
    "What several steps ask of one item can be asked at once. In an UpdateExpression, an attribute whose value is "
    "absent goes\nfrom SET to REMOVE. `:noam_limit` is a number, not a text. "
    "`:noam_command` is the id of the command (a UUID): within\n10 minutes DynamoDB applies a transaction with one id "
    "once.\n"
    "`name[:position]` stands for an attribute an element, such as `games[0]`; `[:position_gone]` for one that "
    "goes.\n\n"
    "Where several families lie in one item, erasing an entry of one removes its attributes, not the item. An item "
    "that has\n"
    "nothing but its key counts as absent.\n";

}  // namespace

const Capabilities capabilities{
    // "Amazon DynamoDB Transactions: How it works".
    "an item; with TransactWriteItems up to 100 items of one account and region, 4 MB in all",
    // "Condition expressions".
    "any condition on the item that is written; in a transaction all of them or none",
    // "Partition keys and sort keys": by one attribute: numbers as numbers, texts by UTF-8 bytes, bytes unsigned.
    "items of one partition key by the sort key, read either way; noam makes it of several parts where it must",
    // "Update expressions: ADD"; "Atomic counters".
    "ADD to a number of an item; a repeated request adds again",
    // "Using time to live (TTL)": typically within a few days.
    "an attribute with seconds since 1970, items go some days later; not used: what is copied elsewhere must go with "
    "the original",
    limits,
};

const std::span<const Option> options{};
const std::span<const std::string_view> reserved = words;

std::vector<ListedStatement> statements(const Outline& outline) { return all_requests(Layout(outline)); }

std::vector<Measure> measure(const Outline& outline) {
  const Layout layout(outline);
  std::vector<Measure> out;
  for (const Table& table : layout.tables()) {
    // A family shares its items with its mates: the largest item is that of the family with the most.
    double bytes = 0;
    for (const FamilyOutline* family : table.families) {
      double item = 0;
      for (const FamilyOutline* mate : layout.item_mates(*family)) {
        const double blocks = std::max(table.collection->blocks, 1.0);
        item += mate->bytes * (elements_of_block(*mate) ? mate->entries / blocks : 1);
      }
      bytes = std::max(bytes, item);
    }
    out.push_back({LimitKind::UnitBytes, fmt::format("an item of {}", table.name), bytes});
    if (table.sort)
      out.push_back({LimitKind::KeyBytes, fmt::format("the sort key of {}", table.name),
                     key_bytes(outline.model(), table.families[0]->key)});
  }
  const design::Explainer explainer(*outline.program);
  for (const model::StatementRef& statement : design::all_statements(outline.model())) {
    if (!statement.command) continue;
    const design::Explanation explanation = explainer.explain(statement);
    if (explanation.commits) continue;  // one an instance
    std::map<const Table*, double> items;
    for (const design::Written& written : explanation.bases) {
      const FamilyOutline& family = outline.family(written.family);
      const Table& table = layout.table(family);
      items[&table] = std::max(items[&table], table.item_a_block() ? written.blocks : written.entries);
    }
    double all = 0;
    for (const auto& [table, count] : items) all += count;
    out.push_back({LimitKind::TransactionEntries,
                   fmt::format("the transaction of {}", design::statement_name(outline.model(), statement)), all});
  }
  out.push_back({LimitKind::Tables, "the design", static_cast<double>(layout.tables().size())});
  return out;
}

Generated generate(const Outline& outline, const design::Sample* sample) {
  const Layout layout(outline);
  Generated out;
  out.files.push_back({"schema.json", schema(layout)});
  out.files.push_back({"create-tables.sh", std::string(table_maker)});
  out.files.push_back({"statements.json", statements_file(all_requests(layout))});
  std::string files(files_text);
  if (sample != nullptr) {
    out.files.push_back({"data.jsonl", data_file(layout, *sample)});
    out.files.push_back({"load-data.sh", std::string(data_loader)});
    files += "- `data.jsonl`: the data, a PutItem request a line; `sh load-data.sh` sends them.\n";
  }
  const PlaceName place = [&](const CollectionOutline&, const FamilyOutline& family, const Column& column) {
    return place_name(layout, family, column);
  };
  out.files.push_back({"README.md", readme(outline, fmt::format("{} on DynamoDB", outline.model().name), capabilities,
                                           {{"Files", files}, {"Tables", tables_text(layout)}}, place,
                                           {{"Types", std::string(values_text)},
                                            {"Keys", keys_section()},
                                            {"Writing", std::string(writing_text)}})});
  return out;
}

}  // namespace noam::targets::dynamodb
