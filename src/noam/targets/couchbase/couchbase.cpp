#include "noam/targets/couchbase/couchbase.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "noam/base/json.h"
#include "noam/schemas/names.h"
#include "noam/targets/couchbase/dialect.h"
#include "noam/targets/couchbase/values.h"
#include "noam/targets/readme.h"

namespace noam::targets::couchbase {

using documents::Kind;
using documents::Layout;
using documents::Part;
namespace {

// Couchbase Server, "Data", Keys: 246 bytes; 250 in the default collection alone, which is not used.
constexpr double longest_key = 246;

constexpr std::array limits = {
    // Couchbase Server, "Size Limits": Max value size, 20 MB.
    Limit{LimitKind::UnitBytes, 20e6, true, "a document",
          "store a growing part in entries of its own, or add a bucket to the block key"},
    Limit{LimitKind::KeyBytes, longest_key, true, "the key of a document", "choose a shorter key"},
    // Couchbase Server, "Scopes and Collections": up to 1000 collections in a cluster.
    Limit{LimitKind::Tables, 1000, true, "a cluster", "drop copies that no statement needs", "collections"},
};

constexpr std::array known_options = {
    Option{"documents",
           "\"blocks\": entries as arrays inside the document of their block, instead of documents of "
           "their own"},
};

// Couchbase Server, "SQL++ Reserved Words". Names stand in backquotes.
constexpr std::string_view word_text =
    "_index_condition _index_key advise all alter analyze and any array as asc at begin between binary boolean break "
    "bucket build by cache call case cast cluster collate collection commit committed connect continue correlated "
    "cover create current cycle database dataset datastore declare decrement default delete derived desc describe "
    "distinct do drop each element else end escape every except exclude execute exists explain false fetch filter "
    "first flatten flatten_keys flush following for force from fts function golang grant group groups gsi hash having "
    "if ignore ilike in include increment index infer inline inner insert intersect into is isolation javascript join "
    "key keys keyspace known language last lateral left let letting level like limit lsm map mapping matched "
    "materialized maxvalue merge minus minvalue missing namespace namespace_id nest next nextval nl no not "
    "not_a_token nth_value null nulls number object offset on option options or order others outer over parse "
    "partition password path pool preceding prepare prev previous prevval primary private privilege probe procedure "
    "public range raw read realm recursive reduce rename replace respect restart restrict return returning revoke "
    "right role roles rollback row rows satisfies savepoint schema scope select self sequence semi set show some "
    "start statistics string system then ties to tran transaction trigger true truncate unbounded under union unique "
    "unknown unnest unset update upsert use user users using validate value valued values vector via view when where "
    "while window with within work xor";
constexpr auto words = split_words<word_count(word_text)>(word_text);

// Couchbase Server, "Scopes and Collections", Naming for Scopes and Collections: 1 to 251 letters, digits, `_`, `-` and
// `%`, not beginning with `_` or `%`.
NameRules collection_names() {
  NameRules out;
  out.longest = 251;
  return out;
}

// Couchbase Server, "Create a Bucket": at most 100 letters, digits, `_`, `.`, `-` and `%`.
NameRules bucket_names() {
  NameRules out;
  out.longest = 100;
  return out;
}

NameRules field_names() {
  NameRules out;
  out.longest = 120;  // of our own: names are in every document
  out.letter_first = false;
  out.digit_first = false;  // they are parameters too, and `$1` is one without a name
  return out;
}

Keyspace keyspace_of(const Outline& outline) {
  return {legal_name(bucket_names(), outline.model().name),
          legal_name(collection_names(), outline.program->design.name)};
}

std::vector<ListedStatement> listed(const Outline& outline, const Layout& layout, const Keyspace& keyspace) {
  const SqlDialect dialect(layout, keyspace);
  std::vector<ListedStatement> out = list_statements(outline, dialect);
  documents::unite_writes(layout, out, [&](const Kind& kind, const std::vector<Write>& writes) {
    return dialect.united(kind, writes);
  });
  return out;
}

// Notes which collections are read as a whole: that takes an index of all keys.
class ScanFinder : public Dialect {
 public:
  ScanFinder(const Layout& layout, std::set<std::string>& found) : layout_(layout), found_(found) {}

  [[nodiscard]] Native read(const Read& read) const override {
    if (read.scan) found_.insert(layout_.kind_of(*read.family).name);
    return {};
  }
  [[nodiscard]] bool in_one_place(const FamilyOutline& /*a*/, const FamilyOutline& /*b*/) const override {
    return false;
  }
  [[nodiscard]] Native write(const Write& /*write*/) const override { return {}; }
  [[nodiscard]] std::string together(const std::vector<Write>& /*writes*/) const override { return {}; }

 private:
  const Layout& layout_;
  std::set<std::string>& found_;
};

std::string schema(const Outline& outline, const Layout& layout, const Keyspace& keyspace) {
  std::set<std::string> scanned;
  list_statements(outline, ScanFinder(layout, scanned));
  std::string out = fmt::format(
      "-- The collections and indexes of the model `{}` under the design `{}`, in the bucket {}, which must be there.\n"
      "-- It may be run again.\n\n"
      "CREATE SCOPE {}.{} IF NOT EXISTS;\n",
      outline.model().name, outline.program->design.name, keyspace.bucket, escaped(keyspace.bucket),
      escaped(keyspace.scope));
  for (const Kind& kind : layout.kinds())
    out += fmt::format("CREATE COLLECTION {} IF NOT EXISTS;\n", keyspace.path(kind.name));
  out += '\n';
  for (const Kind& kind : layout.kinds()) {
    if (kind.entries) {
      std::vector<std::string> parts;
      for (const Part& part : kind.id)
        parts.push_back(escaped(sort_field(part)) + (part.column->descending ? " DESC" : ""));
      out += fmt::format("CREATE INDEX `in_order` IF NOT EXISTS ON {} ({});\n", keyspace.path(kind.name),
                         fmt::join(parts, ", "));
    }
    if (scanned.contains(kind.name))
      out += fmt::format("CREATE PRIMARY INDEX `all_of_it` IF NOT EXISTS ON {};\n", keyspace.path(kind.name));
  }
  return out;
}

struct Stored {
  std::string key;
  Json document;
};

Stored stored(const Layout& layout, const Kind& kind, const documents::Document& document) {
  std::vector<documents::Node> parts;
  Stored out;
  out.document = Json::object();
  for (std::size_t i = 0; i < kind.id.size(); ++i) {
    parts.push_back(documents::node_of(layout, kind.id[i].column->type, document.id[i]));
    out.document[kind.id[i].name] = json_of(parts.back());
  }
  for (const documents::Node& field : document.fields.members) out.document[field.name] = json_of(field);
  out.key = documents::key_text(parts);
  return out;
}

std::string data(const Outline& outline, const Layout& layout, const Keyspace& keyspace, const design::Sample& sample,
                 std::vector<Warning>& warnings) {
  std::string out = fmt::format("-- Sample data of the model `{}` under the design `{}`. It may be run again.\n",
                                outline.model().name, outline.program->design.name);
  const auto documents = documents::documents_of(layout, sample);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const Kind& kind = layout.kinds()[i];
    if (!documents[i].empty()) out += '\n';
    for (const documents::Document& document : documents[i]) {
      const Stored at = stored(layout, kind, document);
      if (static_cast<double>(at.key.size()) > longest_key)
        warnings.push_back({"beyond-limit",
                            fmt::format("a key of {} has {} bytes; Couchbase takes at most {:.0f}", kind.name,
                                        at.key.size(), longest_key),
                            "choose a shorter key"});
      out += fmt::format("UPSERT INTO {} (KEY, VALUE) VALUES ({}, {});\n", keyspace.path(kind.name),
                         Json(at.key).dump(), at.document.dump());
    }
  }
  return out;
}

std::string part_field(const Kind& /*kind*/, const Part& part) { return part.name; }

std::string files_section(const Keyspace& keyspace, bool with_data) {
  const std::string shell = "cbq -e localhost -u USER -p PASSWORD";
  return fmt::format(
      "- `schema.n1ql`: the scope `{0}` with collections and indexes, for `{1} -f schema.n1ql`. Running it again does "
      "no "
      "harm.\n"
      "  The bucket must be there:\n"
      "  `couchbase-cli bucket-create -c localhost -u USER -p PASSWORD --bucket {2} --bucket-type couchbase "
      "--bucket-ramsize 256`\n"
      "- `statements.n1ql`: what every query and command sends, step by step, as SQL++ (N1QL) with named parameters.\n"
      "{3}\n"
      "The SQL++ was checked against the grammar in Couchbase's documentation only, not on a server.\n\n"
      "Where one call of the key-value service does the same, it stands below as `key-value:`, as the SDK for Node.js "
      "writes it:\n`Player` is `bucket.scope(\"{0}\").collection(\"Player\")`; `get` is LookupInSpec.get; `upsert`, "
      "`replace`, `remove`, `arrayAppend`,\n`arrayAddUnique` and `increment` are those of MutateInSpec; `cas` is that "
      "of "
      "the document as it was read. It is faster, and\nwhat it reads is never older than what was written. "
      "`arrayAppend` is for an element behind the last; one that is there is\n`replace(\"rounds[2]\", value)`. "
      "`$noam_key` is the key of the document (below).\n",
      keyspace.scope, shell, keyspace.bucket,
      with_data ? fmt::format("- `data.n1ql`: the data, for `{} -f data.n1ql` after the schema.\n", shell) : "");
}

constexpr std::string_view writing_text =
    "`noam_version` counts the changes of an aggregate: 1 when it is made. A write names the one it has read and makes "
    "it one\nhigher, so that of two who change different parts of one aggregate at once, one finds no document "
    "(`mutationCount` is\n0), reads again and decides anew. With the key-value service, the CAS does that. Queries "
    "that "
    "go by an index see what was\nwritten before only with `scan_consistency` `request_plus`.\n\n"
    "What is absent is left out of a document, and unset where it was there.\n";

std::string documents_section(const Layout& layout) {
  std::vector<std::vector<std::string>> rows;
  for (const Kind& kind : layout.kinds()) {
    std::vector<std::string> parts;
    for (const Part& part : kind.id) parts.push_back(part.name);
    rows.push_back({fmt::format("`{}`", kind.name), fmt::format("`{}`", kind.collection->name),
                    kind.entries ? "an entry" : "a block", fmt::format("`{}`", fmt::join(parts, "::"))});
  }
  return markdown_table({"collection", "of the design", "a document is", "key"}, rows) +
         "\nThe key of a document is a text, made of the parts of its key as they stand in the document, with `::` "
         "between "
         "them: `mary`,\n`2013-06-13T11:00:00.000Z::click`. In a part, `%` is written `%25`, and a colon at its "
         "beginning, at "
         "its end or behind\nanother one `%3A`; an absent part is `%null`, an empty text `%empty`; the parts of a "
         "reference with "
         "several stand one\nafter the other. Keys of more than 246 bytes are refused.\n";
}

std::string types_section(const Layout& layout) {
  std::string out = markdown_table(
      {"type", "in Couchbase"},
      {{"bool, text", "true or false, string"},
       {"int, float", "number; JavaScript reads integers above 2^53 inexactly"},
       {"decimal", "string: numbers of SQL++ are 64-bit integers and doubles"},
       {"timestamp", "string, `2024-02-29T23:59:59.999Z`: the date functions of SQL++ take it, and it sorts right"},
       {"date", "string, `2024-02-29`"},
       {"uuid, timeuuid, inet", "string"},
       {"bytes", "string, base64"},
       {"json",
        "the value itself; where that can't be told again (a name twice or with a dot; a number that is no 64-bit "
        "integer and no double), `{\"noam_json\": \"…\"}` with its text"},
       {"an enumeration", "string"},
       {"a reference", "the key of its target, `\"mary\"`; a key of several parts is an object of them"},
       {"a value, a row", "object, without what is absent"},
       {"list, set", "array; a set in any order"},
       {"map", "array of `{\"key\": …, \"value\": …}`: keys need not be texts"}});
  const auto ordered = [](const Part& part) { return !part.order.empty(); };
  for (const Kind& kind : layout.kinds())
    if (std::any_of(kind.id.begin(), kind.id.end(), ordered))
      return out +
             "\nSome values of keys sort otherwise in SQL++ than in noam, or can't be compared where they are absent. "
             "Beside such "
             "a part stands\n`noam_order_of_…`, a text that sorts as the part does: the hexadecimal digits of the "
             "bytes by which "
             "noam's own store sorts it\n(docs/storage.md of noam).\n";
  return out;
}

const std::string statements_heading =
    "-- Every query and command. Parameters are named after the fields; $noam_key is the key of the document,\n"
    "-- $noam_key_gone that of one that goes, $noam_version the version that was read, $noam_next_version one more.\n"
    "-- Reads of the same document may be one.\n\n";

}  // namespace

const Capabilities capabilities = {
    "one document; transactions over several documents exist, and noam does not use them",
    "CAS of the key-value service; WHERE on any field; an insert fails where the key is taken",
    "by an index, each part ascending or descending; an index follows the documents a little later",
    "`increment` of a part of a document, exact; adding twice adds twice",
    "of documents; not used: what is copied elsewhere must go with the original",
    limits,
};

const std::span<const Option> options = known_options;
const std::span<const std::string_view> reserved = words;

const documents::Style style = {"couchbase", collection_names(), field_names(), false, false, sorts};

Generated generate(const Outline& outline, const design::Sample* sample) {
  const Layout layout(outline, style);
  const Keyspace keyspace = keyspace_of(outline);
  Generated out;
  out.warnings = documents::check_options(outline, style);
  out.files.push_back({"schema.n1ql", schema(outline, layout, keyspace)});
  out.files.push_back(
      {"statements.n1ql", statements_heading + print_statements(listed(outline, layout, keyspace), "-- ", ";")});
  if (sample != nullptr) out.files.push_back({"data.n1ql", data(outline, layout, keyspace, *sample, out.warnings)});
  const PlaceName place = [&](const CollectionOutline&, const FamilyOutline& family, const Column& column) {
    return documents::place_of(layout, family, column, part_field);
  };
  out.files.push_back(
      {"README.md",
       readme(outline, fmt::format("{} on Couchbase", outline.model().name), capabilities,
              {{"Files", files_section(keyspace, sample != nullptr)}, {"Documents", documents_section(layout)}}, place,
              {{"Types", types_section(layout)}, {"Writing", std::string(writing_text)}})});
  return out;
}

std::vector<Measure> measure(const Outline& outline) { return documents::measure(Layout(outline, style)); }

std::vector<ListedStatement> statements(const Outline& outline) {
  return listed(outline, Layout(outline, style), keyspace_of(outline));
}

}  // namespace noam::targets::couchbase
