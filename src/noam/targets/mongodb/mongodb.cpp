#include "noam/targets/mongodb/mongodb.h"

#include <array>

#include <fmt/format.h>

#include "noam/targets/mongodb/dialect.h"
#include "noam/targets/mongodb/schema.h"
#include "noam/targets/mongodb/values.h"
#include "noam/targets/readme.h"

namespace noam::targets::mongodb {

using documents::Kind;
using documents::Layout;
using documents::Part;
using documents::Shape;

namespace {

constexpr std::array limits = {
    // MongoDB Manual, "MongoDB Limits and Thresholds", BSON Document Size: 16 mebibytes, rounded down.
    Limit{LimitKind::UnitBytes, 16e6, true, "a document",
          "store a growing part in entries of its own, or add a bucket to the block key"},
    // MongoDB Developer Center, "Massive Number of Collections": "In general, we recommend limiting collections to
    // 10,000
    // per replica set."
    Limit{LimitKind::Tables, 10'000, false, "a replica set", "drop copies that no statement needs", "collections"},
};

constexpr std::array known_options = {
    Option{"entries", "\"flat\": a field for each element of a collection, `games[0]`, instead of an array"},
    Option{"documents",
           "\"blocks\": entries as arrays inside the document of their block, instead of documents of "
           "their own"},
};

NameRules collection_names() {
  NameRules out;
  // MongoDB Manual, "MongoDB Limits and Thresholds", Restriction on Collection Names: database and collection have 255
  // bytes together, and the database fewer than 64.
  out.longest = 190;
  out.letter_first = false;
  return out;
}

NameRules field_names() {
  NameRules out;
  out.longest = 120;  // of our own: names are in every document
  out.letter_first = false;
  out.digit_first = false;  // they are variables too
  out.reserved = field_words;
  return out;
}

std::string data_script(const Outline& outline, const Layout& layout, const design::Sample& sample) {
  std::string out = fmt::format(
      "// Sample data of the model `{0}` under the design `{1}`. It may be run again:\n"
      "//   mongosh \"mongodb://localhost/{0}\" data.js\n",
      outline.model().name, outline.program->design.name);
  const auto documents = documents::documents_of(layout, sample);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const Kind& kind = layout.kinds()[i];
    if (!documents[i].empty()) out += '\n';
    for (const documents::Document& document : documents[i]) {
      std::vector<Js> parts;
      for (std::size_t p = 0; p < kind.id.size(); ++p)
        parts.push_back(literal(documents::node_of(layout, kind.id[p].column->type, document.id[p])));
      documents::Node fields = documents::object();
      if (kind.simple())
        documents::add(fields, kind.id[0].name, documents::node_of(layout, kind.id[0].column->type, document.id[0]));
      for (const documents::Node& field : document.fields.members) fields.members.push_back(field);
      const Js filter = std::move(Js::object().add("_id", id_of(kind, parts)));
      out += print_calls(kind.name,
                         {{"replaceOne", {filter, literal(fields), std::move(Js::object().add("upsert", "true"))}}});
      out += ";\n";
    }
  }
  return out;
}

const std::string statements_heading =
    "// Every query and command. What is given are variables, named after the fields; noam_version is the version "
    "that\n"
    "// was read, noam_next_version one more. What is absent is left out, in an update it goes to $unset. Reads of "
    "the\n"
    "// same document may be one, with all that is wanted of it.\n\n";

std::vector<ListedStatement> listed(const Outline& outline, const Layout& layout) {
  std::vector<ListedStatement> out = list_statements(outline, ShellDialect(layout));
  documents::unite_writes(layout, out, [&](const Kind& kind, const std::vector<Write>& writes) {
    return united(layout, kind, writes);
  });
  return out;
}

std::string part_field(const Kind& kind, const Part& part) { return kind.simple() ? "_id" : "_id." + part.name; }

std::string files_section(const Outline& outline, bool data) {
  const std::string shell = fmt::format("mongosh \"mongodb://localhost/{}\"", outline.model().name);
  return fmt::format(
             "- `schema.js`: collections with validators, and indexes; run it with `{} schema.js`. Running it again "
             "does "
             "no harm.\n"
             "- `statements.js`: what every query and command sends, step by step, as calls of the shell; what is "
             "given "
             "are variables.\n",
             shell) +
         (data ? fmt::format("- `data.js`: the data, for `{} data.js` after the schema.\n", shell) : "");
}

constexpr std::string_view writing_text =
    "`noam_version` counts the changes of an aggregate: 1 when it is made. A write names the one it has read and makes "
    "it one\nhigher, so that of two who change different parts of one aggregate at once, one finds no document "
    "(`matchedCount` is 0),\nreads again and decides anew. Write with `{ w: \"majority\" }` and read what you decide "
    "by "
    "with `readConcern` `majority`\nfrom the primary, or a failover may undo what was read.\n\n"
    "In a request, an optional field whose value is absent is left out, and in an update goes to `$unset` instead of "
    "`$set`.\n";

std::string documents_section(const Layout& layout) {
  std::vector<std::vector<std::string>> rows;
  bool flat = false;
  for (const Kind& kind : layout.kinds()) {
    std::vector<std::string> parts;
    for (const Part& part : kind.id) parts.push_back(part.name);
    const std::string id =
        kind.simple() ? fmt::format("`{}`", parts[0]) : fmt::format("`{{ {} }}`", fmt::join(parts, ", "));
    const Js keys = index_keys(kind);
    // A block stays on one shard.
    std::vector<std::string> block;
    for (const Part& part : kind.block()) block.push_back(fmt::format("\"_id.{}\": 1", part.name));
    for (const documents::Placed& placed : kind.families) flat = flat || placed.shape == Shape::Flat;
    rows.push_back({fmt::format("`{}`", kind.name), fmt::format("`{}`", kind.collection->name),
                    kind.entries ? "an entry" : "a block", id,
                    keys.empty() ? "" : fmt::format("`{}`", keys.print(0, 0, 1000)),
                    kind.entries ? fmt::format("`{{ {} }}`", fmt::join(block, ", ")) : "`{ _id: \"hashed\" }`"});
  }
  return markdown_table(
             {"collection", "of the design", "a document is", "`_id`", "index", "shard key, if there is one"}, rows) +
         "\nA key of one part is `_id` and, so that it has a name, a field as well; the parts of a longer one are "
         "fields of "
         "`_id`,\nalways in this order: MongoDB compares documents field by field.\n" +
         (flat ? "\nIn the name of a field such as `games[0]`, the key of an element of a set or map is a text: `%` is "
                 "written "
                 "`%25`, `.` is\n`%2E` and `$` is `%24`; a colon at its beginning, at its end or behind another is "
                 "`%3A`, an "
                 "empty text `%empty`, and `::`\nstands between the parts of a key with several.\n"
               : "");
}

std::string types_section(const Layout& layout) {
  std::string out = markdown_table(
      {"type", "in MongoDB"},
      {{"bool, float, text", "bool, double, string"},
       {"int", "long; the validator takes int too, which drivers write for small numbers"},
       {"decimal", "Decimal128, which has room for every decimal; a kept sum that is longer is a string"},
       {"timestamp", "date"},
       {"date", "date, at midnight UTC"},
       {"uuid, timeuuid", "binary data, subtype 4 (`UUID(…)`)"},
       {"bytes", "binary data, subtype 0"},
       {"inet", "string"},
       {"json",
        "the value itself; where BSON can't tell it again (a name that is empty, begins with `$` or has a dot; a "
        "number that is no 64-bit integer and no double; more than 80 levels), `{ noam_json: \"…\" }` with its text"},
       {"an enumeration", "string; the validator knows the texts"},
       {"a reference",
        "the key of its target, `\"mary\"` and not `\"Player:mary\"`, so that `$lookup` finds it; a key of several "
        "parts is a document of them"},
       {"a value, a row", "document, without what is absent"},
       {"list, set", "array; a set in any order"},
       {"map", "array of `{ key, value }`: keys need not be texts, and texts may hold dots and `$`"}});
  for (const Kind& kind : layout.kinds())
    for (const Part& part : kind.id)
      if (!part.order.empty()) {
        return out +
               "\nMongoDB sorts some values of keys in an order of its own: binary data by length, UUIDs not by time, "
               "addresses as texts.\nBeside such a part stands `noam_order_of_…`, a text that sorts as the part does: "
               "the "
               "hexadecimal digits of the bytes by\nwhich noam's own store sorts it (docs/storage.md of noam).\n";
      }
  return out;
}

}  // namespace

const Capabilities capabilities = {
    "one document; transactions over several documents need a replica set, and noam does not use them",
    "a filter on any field of the document; an insert fails where `_id` is taken",
    "by an index, each part ascending or descending",
    "`$inc`, exact; adding twice adds twice",
    "TTL indexes; not used: what is copied elsewhere must go with the original",
    limits,
};

const std::span<const Option> options = known_options;

const documents::Style style = {"mongodb", collection_names(), field_names(), true, true, sorts};

Generated generate(const Outline& outline, const design::Sample* sample) {
  const Layout layout(outline, style);
  Generated out;
  out.files.push_back({"schema.js", schema_script(outline, layout)});
  out.files.push_back({"statements.js", statements_heading + print_statements(listed(outline, layout), "// ", ";")});
  if (sample != nullptr) out.files.push_back({"data.js", data_script(outline, layout, *sample)});
  const PlaceName place = [&](const CollectionOutline&, const FamilyOutline& family, const Column& column) {
    return documents::place_of(layout, family, column, part_field);
  };
  out.files.push_back(
      {"README.md",
       readme(outline, fmt::format("{} on MongoDB", outline.model().name), capabilities,
              {{"Files", files_section(outline, sample != nullptr)}, {"Documents", documents_section(layout)}}, place,
              {{"Types", types_section(layout)}, {"Writing", std::string(writing_text)}})});
  out.warnings = documents::check_options(outline, style);
  return out;
}

std::vector<Measure> measure(const Outline& outline) { return documents::measure(Layout(outline, style)); }

std::vector<ListedStatement> statements(const Outline& outline) { return listed(outline, Layout(outline, style)); }

}  // namespace noam::targets::mongodb
