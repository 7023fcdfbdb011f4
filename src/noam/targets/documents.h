#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "noam/base/json.h"
#include "noam/design/sample.h"
#include "noam/schemas/names.h"
#include "noam/targets/capabilities.h"
#include "noam/targets/outline.h"
#include "noam/targets/statements.h"

// A design as documents, for the databases that keep them: which collections there are, what a document of each is
// found by, and where in it each family lies.
namespace noam::targets::documents {

// What databases of documents differ in.
struct Style {
  std::string_view target;  // whose options are followed
  NameRules collections;
  NameRules fields;
  bool flat = false;           // knows `entries: "flat"`
  bool compares_null = false;  // what is absent is found by asking for null
  // Whether its order of these values is that of the model.
  bool (*sorts)(const model::Model& model, const model::Type& type) = nullptr;
};

// A part of what a document, or an entry inside one, is found by.
struct Part {
  std::string name;  // unlike any other of the document
  const Column* column = nullptr;
  std::string order;  // a field with a text that sorts as the part does, where its own value does not; else empty
};

enum class Shape : std::uint8_t {
  Fields,       // fields of the block's document
  Subdocument,  // one field, with the columns below it
  Elements,     // an array
  Flat,         // a field an element: `games[0]`
  Document,     // a document of its own for each entry
  Embedded,     // an array of subdocuments, each with its key and its columns
};

struct Placed {
  const FamilyOutline* family = nullptr;
  Shape shape = Shape::Fields;
  std::string name;                 // of the field where it has one for itself
  std::vector<Part> key;            // Document, Embedded
  std::vector<std::string> values;  // names of the family's columns, in their order; empty: stands elsewhere
  bool versioned = false;           // Embedded: each entry has a version

  [[nodiscard]] bool inside() const { return shape != Shape::Fields && shape != Shape::Document; }
  // The columns that are there, each with its name.
  [[nodiscard]] std::vector<std::pair<std::string, const Column*>> columns() const;
};

// The documents of one native collection.
struct Kind {
  std::string name;
  const CollectionOutline* collection = nullptr;
  std::vector<Part> id;    // the block's key, and then the entry's where each is a document
  bool entries = false;    // an entry a document; else a block a document
  bool versioned = false;  // it has `noam_version`
  std::vector<Placed> families;

  // The key is one value that is always there.
  [[nodiscard]] bool simple() const { return id.size() == 1 && !id[0].column->type.optional; }
  [[nodiscard]] std::span<const Part> block() const { return {id.data(), collection->block.size()}; }
};

class Layout {
 public:
  Layout(const Outline& outline, const Style& style);

  [[nodiscard]] const std::vector<Kind>& kinds() const { return kinds_; }
  [[nodiscard]] const Kind& kind_of(const FamilyOutline& family) const;
  [[nodiscard]] const Placed& placed(const FamilyOutline& family) const;
  [[nodiscard]] const Style& style() const { return style_; }
  [[nodiscard]] const model::Model& model() const { return *model_; }

 private:
  void place(const Outline& outline, const CollectionOutline& collection, Namer& names);

  const model::Model* model_;
  Style style_;
  std::vector<Kind> kinds_;
};

inline constexpr const char* version_field = "noam_version";

// A value as documents have it; what a scalar becomes is up to the database.
struct Node {
  enum class Kind : std::uint8_t { Scalar, Object, Array };
  std::string name;  // in its object; an element of an array has none
  Kind kind = Kind::Scalar;
  model::TypeKind type = model::TypeKind::Unknown;  // Scalar
  model::Datum datum;                               // Scalar; absent: null
  std::vector<Node> members;
};

Node scalar(model::TypeKind type, model::Datum datum);
Node object();
Node array();
void add(Node& parent, std::string name, Node child);

// References are the keys of their targets, of several parts an object; values and rows are objects without what is
// absent; maps are arrays of objects with `key` and `value`: keys need not be texts, and texts may hold what names of
// fields may not.
Node node_of(const Layout& layout, const model::Type& declared, const model::Datum& datum);
Node constant_of(const Layout& layout, const Column& column);
// The text that sorts as the value does: hexadecimal digits of model::append_ordered.
std::string order_text(const model::Datum& datum);

// A scalar as a text: as lines of JSON have it.
std::string scalar_text(model::TypeKind type, const model::Datum& datum);
// The parts of a key as one text, `2013-06-13T11:00:00.000Z::click`, which tells them apart: `%` in a part is `%25`; a
// colon at its beginning, at its end or behind another is `%3A`; an absent part is `%null` and an empty one `%empty`.
std::string key_text(const std::vector<Node>& parts);

// What a json holds, where it can be kept as it is: nothing of it is lost when it is written again, names are none of
// those that databases give a meaning to, and it is not nested too deeply. Else it is kept as text, as the only member,
// `noam_json`, of an object.
std::optional<Json> kept_json(const model::Datum& datum);
inline constexpr const char* json_text_field = "noam_json";

// The names of the members of a reference of several parts, a value or a row.
struct Member {
  std::string name;
  const model::Type* type = nullptr;
};
std::vector<Member> members_of(const Layout& layout, const model::Type& type);

// The scalar or structure that a type is kept as: of a reference with one part that part's.
const model::Type& kept_type(const model::Model& model, const model::Type& type);

struct Document {
  std::vector<model::Datum> id;
  Node fields = object();  // without what the document is found by
};

// A vector a kind, in their order.
std::vector<std::vector<Document>> documents_of(const Layout& layout, const design::Sample& sample);

// How large documents and arrays are thought to be, and how many collections there are.
std::vector<Measure> measure(const Layout& layout);

// Options that have values which mean nothing.
std::vector<Warning> check_options(const Outline& outline, const Style& style);

// Whether the first writes of a family may find no document: no base says that there is one.
bool makes_document(const Kind& kind);
// The count by which an entry that is kept by adding is known to be over: its weight, or its first count.
std::string counted_out(const Placed& placed);

// What a command writes to the bases in one document, which has a version, becomes one step with what `united` makes of
// it: one by one, the second would not find the version that it has read.
using United = std::function<std::vector<Native>(const Kind& kind, const std::vector<Write>& writes)>;
void unite_writes(const Layout& layout, std::vector<ListedStatement>& statements, const United& united);
// Entries of both that have the same key are in one document.
bool in_one_document(const Layout& layout, const FamilyOutline& a, const FamilyOutline& b);
// The columns of which a write gives values, each with its name.
std::vector<std::pair<std::string, const Column*>> written_columns(const Placed& placed, const Write& write);
// The update of a family among the writes that says which values differ, if there is one.
const Write* put_among(const std::vector<Write>& writes, const FamilyOutline& family);
// Whether there is such a write to an instance that was there before.
bool writes_any(const std::vector<Write>& writes, const FamilyOutline& family, WriteKind kind);

// Where a column lies, for the page that comes with the files; `part_field` is where a part of a document's key stands.
std::string place_of(const Layout& layout, const FamilyOutline& family, const Column& column,
                     std::string (*part_field)(const Kind& kind, const Part& part));

// Which documents of a command's writes are changed one by one.
std::string told_together(const Layout& layout, const std::vector<Write>& writes);

}  // namespace noam::targets::documents
