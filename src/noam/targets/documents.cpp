#include "noam/targets/documents.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "noam/base/check.h"
#include "noam/base/json.h"
#include "noam/model/ordered.h"
#include "noam/model/scalars.h"
#include "noam/schemas/keys.h"
#include "noam/schemas/plain.h"

namespace noam::targets::documents {

using design::Place;
using model::Datum;
using model::Type;
using model::TypeKind;

namespace {

// Of two columns of keys: whether entries of both can be told apart in one collection.
bool alike(const Column& a, const Column& b) {
  return a.name == b.name && a.type == b.type && a.descending == b.descending &&
         a.constant.has_value() == b.constant.has_value();
}

bool same_collection(const FamilyOutline& a, const FamilyOutline& b) {
  return a.path == b.path && std::equal(a.key.begin(), a.key.end(), b.key.begin(), b.key.end(), alike);
}

// An entry a field: `entry first_name`.
bool is_that_field(const FamilyOutline& family) {
  const auto cell = [](const Column& column) { return column.place.kind == Place::Kind::Cell; };
  return family.base && std::count_if(family.values.begin(), family.values.end(), cell) == 1 &&
         family.values[0].name == family.path;
}

class CollectionPlacer {
 public:
  CollectionPlacer(const Outline& outline, const Style& style, const CollectionOutline& collection)
      : outline_(outline), style_(style), collection_(collection) {
    flat_ = style.flat && collection.option(style.target, "entries") == "flat";
    embedded_ = collection.option(style.target, "documents") == "blocks";
  }

  std::vector<Kind> run(Namer& names) {
    for (const FamilyOutline& family : collection_.families) groups_of(family).push_back(&family);
    std::vector<Kind> out;
    const bool alone = groups_.size() == 1;
    for (const auto& group : groups_) {
      Kind kind = group.front()->key.empty() || block_shape(*group.front()) != Shape::Document ? of_blocks(group)
                                                                                               : of_entries(group);
      kind.collection = &collection_;
      const bool whole = alone || !kind.entries;
      kind.name =
          names.give(whole ? collection_.name : fmt::format("{}_{}", collection_.name, name_apart(*group.front())));
      out.push_back(std::move(kind));
    }
    return out;
  }

 private:
  using Group = std::vector<const FamilyOutline*>;

  // The families that share documents, or at least a collection, with this one.
  Group& groups_of(const FamilyOutline& family) {
    const bool document = block_shape(family) == Shape::Document;
    for (Group& group : groups_) {
      if (document != (block_shape(*group.front()) == Shape::Document)) continue;
      if (!document || same_collection(family, *group.front())) return group;
    }
    return groups_.emplace_back();
  }

  Shape block_shape(const FamilyOutline& family) const {
    if (family.one_a_block()) return family.path.empty() || is_that_field(family) ? Shape::Fields : Shape::Subdocument;
    if (family.elements != TypeKind::Unknown) return flat_ ? Shape::Flat : Shape::Elements;
    return embedded_ ? Shape::Embedded : Shape::Document;
  }

  Part part(const Column& column, Namer& names, bool sorted) const {
    Part out{names.give(column.name), &column, {}};
    const bool plain = style_.sorts(outline_.model(), column.type) || !sorted;
    if (!column.constant && (!plain || (column.type.optional && !style_.compares_null)))
      out.order = names.give("noam_order_of_" + column.name);
    return out;
  }

  Kind of_blocks(const Group& group) const {
    Kind out;
    Namer names(style_.fields);
    for (const Column& column : collection_.block) out.id.push_back({names.give(column.name), &column, {}});
    out.versioned = std::any_of(group.begin(), group.end(), [&](const FamilyOutline* family) {
      return family->existence && family->one_a_block();
    });
    if (out.versioned) names.give(version_field);
    for (const FamilyOutline* family : group) out.families.push_back(in_block(*family, names, out));
    return out;
  }

  Placed in_block(const FamilyOutline& family, Namer& names, const Kind& kind) const {
    Placed out;
    out.family = &family;
    out.shape = block_shape(family);
    if (out.shape == Shape::Fields) {
      for (const Column& column : family.values)
        out.values.push_back(left_out(column, family) ? "" : names.give(column.name));
      return out;
    }
    if (out.shape == Shape::Embedded) {
      // Families whose keys tell their entries apart share an array, as they would share a collection.
      for (const Placed& other : kind.families)
        if (other.shape == Shape::Embedded && same_collection(family, *other.family)) out.name = other.name;
    }
    if (out.name.empty()) out.name = names.give(name_apart(family));
    Namer inner(style_.fields);
    if (out.shape == Shape::Embedded) {
      out.versioned = family.existence;
      for (const Column& column : family.key) out.key.push_back(part(column, inner, true));
      inner.give(version_field);
      for (const Placed& other : kind.families)
        if (other.name == out.name)
          for (const auto& [name, column] : other.columns()) inner.give(name);
    }
    for (const Column& column : family.values)
      out.values.push_back(left_out(column, family) ? "" : inner.give(column.name));
    return out;
  }

  Kind of_entries(const Group& group) const {
    Kind out;
    out.entries = true;
    Namer names(style_.fields);
    for (const Column& column : collection_.block) out.id.push_back(part(column, names, false));
    for (const Column& column : group.front()->key) out.id.push_back(part(column, names, true));
    out.versioned =
        std::any_of(group.begin(), group.end(), [](const FamilyOutline* family) { return family->existence; });
    if (out.versioned) names.give(version_field);
    for (const FamilyOutline* family : group) {
      Placed placed;
      placed.family = family;
      placed.shape = Shape::Document;
      for (std::size_t i = 0; i < family->key.size(); ++i) {
        Part own = out.id[collection_.block.size() + i];
        own.column = &family->key[i];
        placed.key.push_back(std::move(own));
      }
      for (const Column& column : family->values)
        placed.values.push_back(left_out(column, *family) ? "" : shared_name(column, *family, out, names));
      out.families.push_back(std::move(placed));
    }
    return out;
  }

  // Entries of families that differ in a constant are other documents: what is alike in them has one name.
  static std::string shared_name(const Column& column, const FamilyOutline& family, const Kind& kind, Namer& names) {
    for (const Placed& other : kind.families) {
      if (same_constants(family, *other.family)) continue;
      for (const auto& [name, theirs] : other.columns())
        if (theirs->name == column.name && theirs->type == column.type) return name;
    }
    return names.give(column.name);
  }

  // What a part of the key says already; and the length of an array that lies in the document.
  bool left_out(const Column& column, const FamilyOutline& family) const {
    if (column.same_as) return true;
    if (column.place.kind != Place::Kind::Hidden || flat_) return false;
    const design::Design& design = outline_.program->design;
    const design::Hidden& hidden = design.families[family.index].hidden[column.place.index];
    return hidden.kind == design::HiddenKind::Elements &&
           std::any_of(collection_.families.begin(), collection_.families.end(), [&](const FamilyOutline& other) {
             return !other.one_a_block() && design.families[other.index].elements == hidden.of;
           });
  }

  const Outline& outline_;
  const Style& style_;
  const CollectionOutline& collection_;
  bool flat_ = false;
  bool embedded_ = false;
  std::vector<Group> groups_;
};

}  // namespace

std::vector<std::pair<std::string, const Column*>> Placed::columns() const {
  std::vector<std::pair<std::string, const Column*>> out;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!values[i].empty()) out.emplace_back(values[i], &family->values[i]);
  return out;
}

Layout::Layout(const Outline& outline, const Style& style) : model_(&outline.model()), style_(style) {
  Namer names(style.collections);
  for (const CollectionOutline& collection : outline.collections)
    for (Kind& kind : CollectionPlacer(outline, style_, collection).run(names)) kinds_.push_back(std::move(kind));
}

const Kind& Layout::kind_of(const FamilyOutline& family) const {
  for (const Kind& kind : kinds_)
    for (const Placed& placed : kind.families)
      if (placed.family->index == family.index) return kind;
  check(false, "every family has a place");
  return kinds_[0];
}

const Placed& Layout::placed(const FamilyOutline& family) const {
  const Kind& kind = kind_of(family);
  return *std::find_if(kind.families.begin(), kind.families.end(),
                       [&](const Placed& placed) { return placed.family->index == family.index; });
}

Node scalar(TypeKind type, Datum datum) {
  Node out;
  out.type = type;
  out.datum = std::move(datum);
  return out;
}

Node object() {
  Node out;
  out.kind = Node::Kind::Object;
  return out;
}

Node array() {
  Node out;
  out.kind = Node::Kind::Array;
  return out;
}

void add(Node& parent, std::string name, Node child) {
  child.name = std::move(name);
  parent.members.push_back(std::move(child));
}

const Type& kept_type(const model::Model& model, const Type& type) {
  if (type.kind != TypeKind::Reference) return type;
  const model::Entity& entity = model.entity(type.entity());
  return entity.key.size() == 1 ? kept_type(model, entity.fields[entity.key[0]].type) : type;
}

std::vector<Member> members_of(const Layout& layout, const Type& type) {
  std::vector<Member> out;
  Namer names(layout.style().fields);
  const model::Model& model = layout.model();
  const auto add_member = [&](const std::string& name, const Type& of) { out.push_back({names.give(name), &of}); };
  if (type.kind == TypeKind::Reference) {
    const model::Entity& entity = model.entity(type.entity());
    for (const std::uint32_t part : entity.key) add_member(entity.fields[part].name, entity.fields[part].type);
  } else if (type.kind == TypeKind::Value) {
    for (const model::Field& field : model.value(type.value()).fields) add_member(field.name, field.type);
  } else {
    for (std::size_t i = 0; i < type.names.size(); ++i) add_member(type.names[i], type.arguments[i]);
  }
  return out;
}

namespace {

Node object_of(const Layout& layout, const Type& type, const Datum& datum) {
  Node out = object();
  const std::vector<Member> members = members_of(layout, type);
  const Datum::List& values = datum.as_list();
  for (std::size_t i = 0; i < members.size(); ++i)
    if (!values[i].absent()) add(out, members[i].name, node_of(layout, *members[i].type, values[i]));
  return out;
}

Node array_of(const Layout& layout, const Type& type, const Datum& datum) {
  Node out = array();
  for (const Datum& element : datum.as_list()) {
    if (type.kind == TypeKind::Rows) {
      add(out, {}, object_of(layout, type, element));
    } else if (type.kind == TypeKind::Map) {
      Node entry = object();
      add(entry, "key", node_of(layout, type.arguments[0], element.as_list()[0]));
      add(entry, "value", node_of(layout, type.arguments[1], element.as_list()[1]));
      add(out, {}, std::move(entry));
    } else {
      add(out, {}, node_of(layout, type.element(), element));
    }
  }
  return out;
}

}  // namespace

Node node_of(const Layout& layout, const Type& declared, const Datum& datum) {
  const Type& type = kept_type(layout.model(), declared);
  if (datum.absent()) return scalar(type.kind, {});
  switch (type.kind) {
    case TypeKind::Reference:
    case TypeKind::Value:
    case TypeKind::Row:
      return object_of(layout, type, datum);
    case TypeKind::List:
    case TypeKind::Set:
    case TypeKind::Map:
    case TypeKind::Rows:
      return array_of(layout, type, datum);
    default:
      return scalar(type.kind, datum);
  }
}

Node constant_of(const Layout& layout, const Column& column) {
  return node_of(layout, column.type, model::from_literal(column.type, *column.constant));
}

std::string order_text(const Datum& datum) {
  std::string bytes;
  model::append_ordered(datum, false, bytes);
  return hexadecimal(bytes);
}

std::string scalar_text(TypeKind type, const Datum& datum) {
  switch (type) {
    case TypeKind::Bool:
      return datum.as_bool() ? "true" : "false";
    case TypeKind::Int:
      return std::to_string(datum.as_int());
    case TypeKind::Float:
      return model::print_float(datum.as_double());
    case TypeKind::Decimal:
      return datum.as_decimal().text();
    case TypeKind::Timestamp:
      return model::print_timestamp(datum.as_int());
    case TypeKind::Date:
      return model::print_date(datum.as_int());
    case TypeKind::Uuid:
      return model::print_uuid(datum.as_string());
    case TypeKind::TimeUuid:
      return model::print_uuid(model::from_sortable(datum.as_string()));
    case TypeKind::Inet:
      return model::print_inet(model::from_inet(datum.as_string()));
    case TypeKind::Bytes:
      return model::print_base64(datum.as_string());
    default:
      return std::string(datum.as_string());
  }
}

namespace {

// BSON has room for 100 levels (MongoDB Manual, "Limits and Thresholds"), and some are around the value.
constexpr int deepest_kept = 80;

bool plain_json(const Json& json, int levels) {
  if (levels == 0) return false;
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) return false;
  for (const auto& member : json.items()) {
    const std::string& name = member.key();
    const bool odd = json.is_object() && (name.empty() || name.front() == '$' || name == json_text_field ||
                                          name.find('.') != std::string::npos || name.find('\0') != std::string::npos);
    if (json.is_structured() && (odd || !plain_json(member.value(), levels - 1))) return false;
  }
  return true;
}

}  // namespace

std::optional<Json> kept_json(const Datum& datum) {
  const std::string_view text = datum.as_string();
  auto json = Json::read(text);
  if (!json || json->dump() != text || !plain_json(*json, deepest_kept)) return std::nullopt;
  return json;
}

namespace {

std::string escaped_part(std::string_view text) {
  if (text.empty()) return "%empty";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool colon = text[i] == ':' && (i == 0 || i + 1 == text.size() || text[i - 1] == ':');
    if (colon)
      out += "%3A";
    else if (text[i] == '%')
      out += "%25";
    else
      out += text[i];
  }
  return out;
}

void add_key_texts(const Node& node, std::vector<std::string>& out) {
  if (node.kind != Node::Kind::Scalar) {
    for (const Node& member : node.members) add_key_texts(member, out);
  } else {
    out.push_back(node.datum.absent() ? "%null" : escaped_part(scalar_text(node.type, node.datum)));
  }
}

}  // namespace

std::string key_text(const std::vector<Node>& parts) {
  std::vector<std::string> texts;
  for (const Node& part : parts) add_key_texts(part, texts);
  return fmt::format("{}", fmt::join(texts, "::"));
}

namespace {

// What may stand in the name of a field: no dots, no `$`.
std::string name_text(const std::string& key) {
  std::string out;
  for (const char c : key) {
    if (c == '.')
      out += "%2E";
    else if (c == '$')
      out += "%24";
    else
      out += c;
  }
  return out;
}

// The documents of one kind, as its families fill them.
class Filler {
 public:
  Filler(const Layout& layout, const Kind& kind) : layout_(layout), kind_(kind) {}

  std::vector<Document> run(const design::Sample& sample) {
    for (std::size_t i = 0; i < kind_.families.size(); ++i)
      for (const design::SampleEntry& entry : sample.families[kind_.families[i].family->index]) fill(i, entry);
    for (std::size_t i = 0; i < out_.size(); ++i) finish(i);
    return std::move(out_);
  }

 private:
  // What each family has put into a document: members of objects.
  using Parts = std::vector<Node>;

  void fill(std::size_t family, const design::SampleEntry& entry) {
    const Placed& placed = kind_.families[family];
    std::vector<Datum> id = entry.block;
    if (kind_.entries) id.insert(id.end(), entry.key.begin(), entry.key.end());
    const std::size_t at = document(std::move(id));
    Node& into = parts_[at][family];
    switch (placed.shape) {
      case Shape::Fields:
      case Shape::Document:
        into = values(placed, entry);
        break;
      case Shape::Subdocument:
        add(into, placed.name, values(placed, entry));
        break;
      case Shape::Elements:
        if (into.members.empty()) add(into, placed.name, array());
        add(into.members[0], {}, element(placed, entry));
        break;
      case Shape::Flat:
        add(into, flat_name(placed, entry), element(placed, entry));
        break;
      case Shape::Embedded:
        embed(at, placed, entry);
        break;
    }
  }

  // Families may share an array, and entries of it.
  void embed(std::size_t at, const Placed& placed, const design::SampleEntry& entry) {
    Node& array_there = array_of(parts_[at], placed.name);
    const auto [known, fresh] =
        embedded_.emplace(std::make_tuple(at, placed.name, entry.key), array_there.members.size());
    if (fresh) add(array_there, {}, embedded_key(placed, entry));
    Node& there = array_there.members[known->second];
    Node columns = values(placed, entry);
    for (Node& column : columns.members) there.members.push_back(std::move(column));
    if (placed.versioned) add(there, version_field, scalar(TypeKind::Int, Datum(1)));
  }

  // The first family that has it holds it.
  Node& array_of(Parts& parts, const std::string& name) const {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (kind_.families[i].name != name) continue;
      if (parts[i].members.empty()) add(parts[i], name, array());
      return parts[i].members[0];
    }
    check(false, "an array is one of a family's");
    return parts[0];
  }

  std::size_t document(std::vector<Datum> id) {
    const auto [at, fresh] = places_.emplace(id, out_.size());
    if (fresh) {
      out_.push_back({std::move(id), object()});
      parts_.emplace_back(kind_.families.size(), object());
    }
    return at->second;
  }

  Node values(const Placed& placed, const design::SampleEntry& entry) const {
    Node out = object();
    for (std::size_t i = 0; i < placed.values.size(); ++i)
      if (!placed.values[i].empty() && !entry.values[i].absent())
        add(out, placed.values[i], node_of(layout_, placed.family->values[i].type, entry.values[i]));
    return out;
  }

  Node element(const Placed& placed, const design::SampleEntry& entry) const {
    const FamilyOutline& family = *placed.family;
    if (family.elements == TypeKind::List) return node_of(layout_, family.values[0].type, entry.values[0]);
    Node key = node_of(layout_, family.key[0].type, entry.key[0]);
    if (family.elements == TypeKind::Set) return key;
    Node out = object();
    add(out, "key", std::move(key));
    add(out, "value", node_of(layout_, family.values[0].type, entry.values[0]));
    return out;
  }

  Node embedded_key(const Placed& placed, const design::SampleEntry& entry) const {
    Node out = object();
    for (std::size_t i = 0; i < placed.key.size(); ++i)
      add(out, placed.key[i].name, node_of(layout_, placed.key[i].column->type, entry.key[i]));
    add_order(out, placed.key, entry.key);
    return out;
  }

  static void add_order(Node& out, const std::vector<Part>& parts, const std::vector<Datum>& datums) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (!parts[i].order.empty()) add(out, parts[i].order, scalar(TypeKind::Text, Datum(order_text(datums[i]))));
  }

  std::string flat_name(const Placed& placed, const design::SampleEntry& entry) const {
    return fmt::format("{}[{}]", placed.name,
                       name_text(key_text({node_of(layout_, placed.family->key[0].type, entry.key[0])})));
  }

  void finish(std::size_t i) {
    Document& document = out_[i];
    add_order(document.fields, kind_.id, document.id);
    for (std::size_t f = 0; f < kind_.families.size(); ++f) {
      const Placed& placed = kind_.families[f];
      Node& part = parts_[i][f];
      if (part.members.empty() && placed.shape == Shape::Elements && kind_.versioned) add(part, placed.name, array());
      for (Node& member : part.members) document.fields.members.push_back(std::move(member));
    }
    if (kind_.versioned) add(document.fields, version_field, scalar(TypeKind::Int, Datum(1)));
  }

  const Layout& layout_;
  const Kind& kind_;
  std::map<std::vector<Datum>, std::size_t> places_;
  std::map<std::tuple<std::size_t, std::string, std::vector<Datum>>, std::size_t>
      embedded_;  // which element of which array
  std::vector<Document> out_;
  std::vector<Parts> parts_;
};

double one_in(double entries, double blocks) { return blocks > 0 ? entries / blocks : 0; }

}  // namespace

std::vector<std::vector<Document>> documents_of(const Layout& layout, const design::Sample& sample) {
  std::vector<std::vector<Document>> out;
  for (const Kind& kind : layout.kinds()) out.push_back(Filler(layout, kind).run(sample));
  return out;
}

std::vector<Measure> measure(const Layout& layout) {
  std::vector<Measure> out;
  for (const Kind& kind : layout.kinds()) {
    double bytes = 0;
    for (const Placed& placed : kind.families) {
      const FamilyOutline& family = *placed.family;
      const bool many =
          placed.shape == Shape::Elements || placed.shape == Shape::Flat || placed.shape == Shape::Embedded;
      const double entries = many ? one_in(family.entries, kind.collection->blocks) : 1;
      if (many)
        out.push_back(
            {LimitKind::ElementsInside, fmt::format("`{}` in a document of {}", placed.name, kind.name), entries});
      // Of documents that differ in a constant, the largest would do; the sum is on the safe side.
      bytes += entries * family.bytes;
    }
    out.push_back({LimitKind::UnitBytes, fmt::format("a document of {}", kind.name), bytes});
    double key = key_bytes(layout.model(), kind.collection->block);
    if (kind.entries) key += key_bytes(layout.model(), kind.families[0].family->key);
    out.push_back({LimitKind::KeyBytes, fmt::format("the key of a document of {}", kind.name), key});
  }
  out.push_back({LimitKind::Tables, "the design", static_cast<double>(layout.kinds().size())});
  return out;
}

std::vector<Warning> check_options(const Outline& outline, const Style& style) {
  std::vector<Warning> out;
  const auto expect = [&](const CollectionOutline& collection, const char* name, const char* value) {
    const auto given = collection.option(style.target, name);
    if (given && *given != value)
      out.push_back({"unknown-option", fmt::format("`{}` of {} is \"{}\"", name, collection.name, *given),
                     fmt::format("the only value for {} is \"{}\"", style.target, value)});
  };
  for (const CollectionOutline& collection : outline.collections) {
    if (style.flat) expect(collection, "entries", "flat");
    expect(collection, "documents", "blocks");
  }
  return out;
}

bool makes_document(const Kind& kind) { return !kind.versioned; }

std::string counted_out(const Placed& placed) {
  std::string first;
  for (const auto& [name, column] : placed.columns()) {
    if (column->place.kind == Place::Kind::Hidden) return name;
    if (first.empty() && column->counts) first = name;
  }
  return first;
}

bool in_one_document(const Layout& layout, const FamilyOutline& a, const FamilyOutline& b) {
  if (&layout.kind_of(a) != &layout.kind_of(b)) return false;
  const auto once = [&](const FamilyOutline& family) {
    const Shape shape = layout.placed(family).shape;
    return shape == Shape::Fields || shape == Shape::Subdocument;
  };
  const bool entries = layout.placed(a).shape == Shape::Document && layout.placed(b).shape == Shape::Document;
  return (once(a) && once(b)) || (entries && same_constants(a, b));
}

std::vector<std::pair<std::string, const Column*>> written_columns(const Placed& placed, const Write& write) {
  auto out = placed.columns();
  std::erase_if(out, [&](const auto& column) { return !write.writes(*column.second); });
  return out;
}

const Write* put_among(const std::vector<Write>& writes, const FamilyOutline& family) {
  const auto found = std::find_if(writes.begin(), writes.end(), [&](const Write& write) {
    return write.family->index == family.index && write.kind == WriteKind::Put && !write.fresh;
  });
  return found == writes.end() ? nullptr : &*found;
}

bool writes_any(const std::vector<Write>& writes, const FamilyOutline& family, WriteKind kind) {
  return std::any_of(writes.begin(), writes.end(), [&](const Write& write) {
    return write.family->index == family.index && write.kind == kind && !write.fresh;
  });
}

void unite_writes(const Layout& layout, std::vector<ListedStatement>& statements, const United& united) {
  const auto kind_of = [&](const ListedStep& step) -> const Kind* {
    if (step.writes.empty() || !step.writes[0].family->base) return nullptr;
    const Kind& kind = layout.kind_of(*step.writes[0].family);
    return kind.versioned ? &kind : nullptr;
  };
  for (ListedStatement& statement : statements) {
    std::vector<ListedStep> steps;
    for (ListedStep& step : statement.steps) {
      const Kind* kind = kind_of(step);
      const auto first =
          kind == nullptr ? steps.end() : std::find_if(steps.begin(), steps.end(), [&](const ListedStep& other) {
            return kind_of(other) == kind;
          });
      if (first == steps.end()) {
        steps.push_back(std::move(step));
        continue;
      }
      first->text += fmt::format(", {}", step.writes[0].family->label);
      first->writes.insert(first->writes.end(), step.writes.begin(), step.writes.end());
    }
    for (ListedStep& step : steps)
      if (const Kind* kind = kind_of(step)) step.requests = united(*kind, step.writes);
    statement.steps = std::move(steps);
  }
}

std::string place_of(const Layout& layout, const FamilyOutline& family, const Column& column,
                     std::string (*part_field)(const Kind& kind, const Part& part)) {
  const Kind& kind = layout.kind_of(family);
  const Placed& placed = layout.placed(family);
  const auto at = [&](const std::string& field) { return fmt::format("`{}` of `{}`", field, kind.name); };
  if (column.place.kind == Place::Kind::Block) return at(part_field(kind, kind.id[column.place.index]));
  const bool key = column.place.kind == Place::Kind::Key;
  if (placed.shape == Shape::Elements || placed.shape == Shape::Flat) {
    if (key && family.elements == TypeKind::List) return "the place in " + at(placed.name);
    const std::string inner = family.elements == TypeKind::Map ? (key ? ".key" : ".value") : "";
    return at(placed.name + "[]" + inner);
  }
  const std::string before = placed.shape == Shape::Embedded      ? placed.name + "[]."
                             : placed.shape == Shape::Subdocument ? placed.name + "."
                                                                  : std::string();
  if (key) {
    const Part& part = placed.key[column.place.index];
    return at(placed.shape == Shape::Document ? part_field(kind, part) : before + part.name);
  }
  for (const auto& [name, there] : placed.columns())
    if (there == &column) return at(before + name);
  return fmt::format("the length of an array of `{}`", kind.name);
}

std::string told_together(const Layout& layout, const std::vector<Write>& writes) {
  std::vector<std::string> bases;
  std::vector<std::string> copies;
  bool apart = false;  // lives in other documents than the head of its aggregate
  for (const Write& write : writes) {
    const Kind& kind = layout.kind_of(*write.family);
    auto& names = write.family->base ? bases : copies;
    if (std::find(names.begin(), names.end(), kind.name) == names.end()) names.push_back(kind.name);
    apart = apart || (write.family->base && !kind.versioned && !layout.placed(*write.family).versioned);
  }
  std::string out = bases.size() > 1 ? fmt::format(
                                           "Atomic: each request, on its document; those of {} are changed one "
                                           "after the other.",
                                           fmt::join(bases, ", "))
                                     : "Atomic: each request, on its document.";
  if (apart) out += " A part of the aggregate lies in documents of its own, which its version does not guard.";
  return out + told_followers(copies);
}

}  // namespace noam::targets::documents
