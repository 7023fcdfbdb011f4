#include "noam/targets/mongodb/dialect.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "noam/targets/mongodb/values.h"

namespace noam::targets::mongodb {

using documents::Kind;
using documents::Layout;
using documents::Part;
using documents::Placed;
using documents::Shape;
using documents::version_field;
using model::TypeKind;

namespace {

constexpr const char* next_version = "noam_next_version";

Js var(const std::string& name) { return variable(name); }
Js text(const std::string& name) { return string_literal(name); }
Js one(std::string name, Js value) { return std::move(Js::object().add(std::move(name), std::move(value))); }

// What a read of one family and a write to it are made of.
class Words {
 public:
  Words(const Layout& layout, const FamilyOutline& family)
      : layout(layout), kind(layout.kind_of(family)), placed(layout.placed(family)), family(family) {}
  Words(const Layout& layout, const Write& write) : Words(layout, *write.family) { this->write = &write; }

  // What a variable for the part ends in.
  [[nodiscard]] const char* end_of(const Column& part) const { return write == nullptr ? "" : write->end_of(part); }

  [[nodiscard]] Js given(const Part& part) const {
    return part.column->constant ? literal(documents::constant_of(layout, *part.column))
                                 : var(part.name + end_of(*part.column));
  }
  [[nodiscard]] Js order_of(const Part& part) const { return var(part.order + end_of(*part.column)); }
  // The key of an element.
  [[nodiscard]] Js key_of_element() const { return var(family.key[0].name + end_of(family.key[0])); }

  // The name of a variable for a column: inside a field of their own, columns may be called as a part of the key is.
  [[nodiscard]] Js value(const std::string& name) const {
    const auto taken = [&](const Part& part) { return part.name == name; };
    const bool twice = std::any_of(kind.id.begin(), kind.id.end(), taken) && placed.inside();
    return var((twice ? fmt::format("{}_{}", placed.name, name) : name) + (write == nullptr ? "" : write->end()));
  }

  [[nodiscard]] std::vector<Part> id_parts() const {
    std::vector<Part> out(kind.block().begin(), kind.block().end());
    if (placed.shape == Shape::Document) out.insert(out.end(), placed.key.begin(), placed.key.end());
    return out;
  }

  [[nodiscard]] Js id() const {
    std::vector<Js> parts;
    for (const Part& part : id_parts()) parts.push_back(given(part));
    return id_of(kind, parts);
  }

  [[nodiscard]] Js by_id() const { return one("_id", id()); }

  // Below a field of the family's own.
  [[nodiscard]] std::string path(const std::string& name) const {
    return placed.shape == Shape::Subdocument ? fmt::format("{}.{}", placed.name, name) : name;
  }

  [[nodiscard]] Js values() const {
    Js out = Js::object();
    for (const auto& [name, column] : placed.columns()) out.add(name, value(name));
    return out;
  }

  // The columns that are written.
  [[nodiscard]] std::vector<std::pair<std::string, const Column*>> columns() const {
    return write == nullptr ? placed.columns() : documents::written_columns(placed, *write);
  }

  // An element of an array, or of what lies flat.
  [[nodiscard]] Js element() const {
    if (family.elements == TypeKind::List) return var("value");
    if (family.elements == TypeKind::Set) return key_of_element();
    return std::move(Js::object().add("key", key_of_element()).add("value", var("value")));
  }

  [[nodiscard]] std::string flat_field() const {
    return fmt::format("[\"{}[\" + {} + \"]\"]", placed.name, variable(family.key[0].name + end_of(family.key[0])));
  }

  // The fields that say what the key is, beside `_id`: for who comes first.
  void add_key_fields(Js& out) const {
    if (kind.simple()) out.add(kind.id[0].name, given(kind.id[0]));
    for (const Part& part : id_parts())
      if (!part.order.empty()) out.add(part.order, order_of(part));
  }

  [[nodiscard]] Js embedded_entry() const {
    Js out = Js::object();
    for (const Part& part : placed.key) out.add(part.name, given(part));
    for (const Part& part : placed.key)
      if (!part.order.empty()) out.add(part.order, order_of(part));
    for (const auto& [name, column] : placed.columns()) out.add(name, value(name));
    if (placed.versioned) out.add(version_field, "NumberLong(\"1\")");
    return out;
  }

  [[nodiscard]] Js embedded_key() const {
    Js out = Js::object();
    for (const Part& part : placed.key) out.add(part.name, given(part));
    return out;
  }

  [[nodiscard]] Js embedded_order() const {
    Js out = Js::object();
    for (const Part& part : placed.key)
      out.add(part.order.empty() ? part.name : part.order, part.column->descending ? "-1" : "1");
    return out;
  }

  [[nodiscard]] bool guarded() const { return family.base && kind.versioned; }

  [[nodiscard]] std::string call(const std::vector<Call>& calls) const { return print_calls(kind.name, calls); }

  const Layout& layout;
  const Kind& kind;
  const Placed& placed;
  const FamilyOutline& family;
  const Write* write = nullptr;  // none: a read, or a change of several families
};

class Reader {
 public:
  Reader(const Layout& layout, const Read& read) : words_(layout, *read.family), read_(read) {}

  [[nodiscard]] std::string run() const {
    switch (words_.placed.shape) {
      case Shape::Fields:
      case Shape::Subdocument:
        return find_block(projection());
      case Shape::Elements:
        return elements();
      case Shape::Flat:
        return flat();
      case Shape::Document:
        return read_.one_entry() ? find_one(words_.by_id(), projection()) : find_entries();
      case Shape::Embedded:
        return embedded();
    }
    return {};
  }

 private:
  // All that the family has, and the version where somebody may write after he has read.
  [[nodiscard]] std::optional<Js> projection() const {
    if (words_.kind.families.size() == 1 + read_.mates.size()) return std::nullopt;
    Js out = Js::object();
    show(words_.placed, out);
    for (const FamilyOutline* mate : read_.mates) show(words_.layout.placed(*mate), out);
    const bool guarded =
        words_.kind.versioned && (words_.family.base || std::any_of(read_.mates.begin(), read_.mates.end(),
                                                                    [](const auto* mate) { return mate->base; }));
    if (guarded) out.add(version_field, "1");
    if (out.empty()) out.add("_id", "1");
    return out;
  }

  void show(const Placed& placed, Js& out) const {
    if (placed.shape == Shape::Fields || placed.shape == Shape::Document) {
      for (const auto& [name, column] : placed.columns()) out.add(name, "1");
      for (const Column& column : placed.family->values)
        if (column.same_as && words_.kind.simple()) out.add(words_.kind.id[0].name, "1");
    } else {
      out.add(placed.name, "1");
    }
  }

  [[nodiscard]] std::string find_one(Js filter, std::optional<Js> shown) const {
    std::vector<Js> arguments = {std::move(filter)};
    if (shown) arguments.push_back(std::move(*shown));
    return words_.call({{"findOne", std::move(arguments)}});
  }

  [[nodiscard]] std::string find_block(std::optional<Js> shown) const {
    if (!read_.scan) return find_one(words_.by_id(), std::move(shown));
    std::vector<Js> arguments = {Js::object()};
    if (shown) arguments.push_back(std::move(*shown));
    return words_.call({{"find", std::move(arguments)}});
  }

  [[nodiscard]] Js bounds(const std::string& name) const {
    Js out = Js::object();
    if (read_.low) out.add(read_.low_inclusive ? "$gte" : "$gt", var(name + "_from"));
    if (read_.high) out.add(read_.high_inclusive ? "$lte" : "$lt", var(name + "_to"));
    return out;
  }

  // What is asked of the parts of an entry's key, each under the name of its field.
  template <typename FieldName>
  [[nodiscard]] Js asked(Js out, const FieldName& field) const {
    const std::vector<Part>& key = words_.placed.key;
    for (std::size_t i = 0; i < key.size(); ++i) {
      const std::string& name = key[i].order.empty() ? key[i].name : key[i].order;
      if (key[i].column->constant)
        out.add(field(key[i]), words_.given(key[i]));
      else if (!read_.scan && i < read_.prefix)
        out.add(field(key[i]), var(name));
      else if (i == read_.prefix && read_.ranged())
        out.add(field(key[i]), bounds(name));
    }
    return out;
  }

  template <typename FieldName>
  [[nodiscard]] Js order(const FieldName& field) const {
    Js out = Js::object();
    for (std::size_t i = read_.prefix; i < words_.placed.key.size(); ++i) {
      const Part& part = words_.placed.key[i];
      if (!part.column->constant) out.add(field(part), part.column->descending != read_.reverse ? "-1" : "1");
    }
    return out;
  }

  [[nodiscard]] std::string find_entries() const {
    Js filter = Js::object();
    if (!read_.scan)
      for (const Part& part : words_.kind.block()) filter.add("_id." + part.name, words_.given(part));
    std::vector<Js> arguments = {asked(std::move(filter), sort_field)};
    if (auto shown = projection()) arguments.push_back(std::move(*shown));
    std::vector<Call> calls = {{"find", std::move(arguments)}};
    Js sorted = order(sort_field);
    if (!read_.scan && !sorted.empty()) calls.push_back({"sort", {std::move(sorted)}});
    if (read_.limited) calls.push_back({"limit", {Js("noam_limit")}});
    return words_.call(calls);
  }

  [[nodiscard]] std::string elements() const {
    const std::string& name = words_.placed.name;
    const std::string key = words_.family.key[0].name;
    const bool list = words_.family.elements == TypeKind::List;
    if (read_.scan || (!read_.one_entry() && !read_.ranged() && !(list && read_.limited)))
      return find_block(projection());
    if (list)
      return find_one(words_.by_id(), std::move(Js::object().add("_id", "1").add(name, one("$slice", slice(key)))));
    if (read_.ranged()) return filtered(name, key);
    Js filter = words_.by_id();
    if (words_.family.elements == TypeKind::Set)
      return find_one(std::move(filter.add(name, var(key))), one("_id", "1"));
    filter.add(name, one("$elemMatch", one("key", var(key))));
    return find_one(std::move(filter), one(name + ".$", "1"));
  }

  [[nodiscard]] Js slice(const std::string& key) const {
    if (read_.one_entry()) return Js::array().add(var(key)).add("1");
    if (!read_.ranged()) return read_.reverse ? "-noam_limit" : "noam_limit";
    const std::string from = read_.low ? key + "_from" + (read_.low_inclusive ? "" : " + 1") : "0";
    const std::string count = read_.high ? fmt::format("{}_to{} - {}", key, read_.high_inclusive ? " + 1" : "",
                                                       read_.low ? "(" + from + ")" : from)
                                         : "2147483647";
    return Js::array().add(from).add(count);
  }

  // Some elements of a set, or some entries of a map.
  [[nodiscard]] std::string filtered(const std::string& name, const std::string& key) const {
    const std::string compared = words_.family.elements == TypeKind::Set ? "$$element" : "$$element.key";
    Js conditions = Js::array();
    const auto condition = [&](const char* comparison, const char* suffix) {
      conditions.add(one(comparison, Js::array().add(text(compared)).add(var(key + suffix))));
    };
    if (read_.low) condition(read_.low_inclusive ? "$gte" : "$gt", "_from");
    if (read_.high) condition(read_.high_inclusive ? "$lte" : "$lt", "_to");
    Js filter = Js::object();
    filter.add("input", text("$" + name)).add("as", text("element")).add("cond", one("$and", std::move(conditions)));
    return words_.call({{"aggregate",
                         {Js::array()
                              .add(one("$match", words_.by_id()))
                              .add(one("$project", one(name, one("$filter", std::move(filter)))))}}});
  }

  [[nodiscard]] std::string flat() const {
    // Which fields there are is not known before: the program takes those that begin with the path.
    if (!read_.one_entry()) return find_block(std::nullopt);
    return find_one(words_.by_id(), one(words_.flat_field(), "1"));
  }

  [[nodiscard]] std::string embedded() const {
    const std::string& name = words_.placed.name;
    if (read_.one_entry()) return find_one(words_.by_id(), one(name, one("$elemMatch", words_.embedded_key())));
    const bool constants = std::any_of(words_.placed.key.begin(), words_.placed.key.end(),
                                       [](const Part& part) { return part.column->constant.has_value(); });
    if (read_.prefix == 0 && !read_.ranged() && !read_.limited && !constants) return find_block(projection());
    const auto field = [&](const Part& part) {
      return fmt::format("{}.{}", name, part.order.empty() ? part.name : part.order);
    };
    Js pipeline = Js::array();
    if (!read_.scan) pipeline.add(one("$match", words_.by_id()));
    pipeline.add(one("$unwind", text("$" + name)));
    Js conditions = asked(Js::object(), field);
    if (!conditions.empty()) pipeline.add(one("$match", std::move(conditions)));
    Js sorted = order(field);
    if (!read_.scan && !sorted.empty()) pipeline.add(one("$sort", std::move(sorted)));
    if (read_.limited) pipeline.add(one("$limit", "noam_limit"));
    pipeline.add(one("$replaceRoot", one("newRoot", text("$" + name))));
    return words_.call({{"aggregate", {std::move(pipeline)}}});
  }

  Words words_;
  const Read& read_;
};

std::string list_place(const Words& words) {
  return fmt::format("[\"{}.\" + {}]", words.placed.name, variable(words.family.key[0].name));
}

// All that lives in the document, whichever family it is of.
Native insert(const Words& head) {
  std::string remark;
  Js document = head.by_id();
  head.add_key_fields(document);
  for (const Placed& placed : head.kind.families) {
    if (!placed.family->base) continue;
    const Words words(head.layout, *placed.family);
    if (placed.shape == Shape::Fields || placed.shape == Shape::Document)
      for (const auto& [name, column] : placed.columns()) document.add(name, words.value(name));
    else if (placed.shape == Shape::Subdocument)
      document.add(placed.name, words.values());
    else if (placed.shape == Shape::Elements)
      document.add(placed.name, var(placed.name));
    else if (placed.shape == Shape::Flat)
      remark += fmt::format("{}and for each of {}: {}: {}", remark.empty() ? "" : "\n", placed.name, words.flat_field(),
                            words.element().print(0, 0));
  }
  document.add(version_field, "NumberLong(\"1\")");
  return {head.call({{"insertOne", {std::move(document)}}}), std::move(remark)};
}

class Writer {
 public:
  Writer(const Layout& layout, const Write& write)
      : words_(layout, write), kind_(write.kind), partial_(write.partial()) {}

  [[nodiscard]] std::string run() const {
    switch (words_.placed.shape) {
      case Shape::Fields:
      case Shape::Subdocument:
      case Shape::Document:
        return whole();
      case Shape::Elements:
        return element();
      case Shape::Flat:
        return kind_ == WriteKind::Erase ? update("$unset", one(words_.flat_field(), "\"\""))
                                         : update("$set", one(words_.flat_field(), words_.element()));
      case Shape::Embedded:
        return embedded();
    }
    return {};
  }

 private:
  [[nodiscard]] Js filter() const {
    Js out = words_.by_id();
    if (words_.guarded()) out.add(version_field, version_field);
    return out;
  }

  // One change, with the version where the document has one, and the key where it may be the first of it.
  [[nodiscard]] std::string update(const std::string& change, Js what) const {
    return update(filter(), change, std::move(what),
                  documents::makes_document(words_.kind) && kind_ != WriteKind::Erase && !partial_ &&
                      !words_.write->gone);
  }

  [[nodiscard]] std::string update(Js found, const std::string& change, Js what, bool upsert) const {
    Js changes = Js::object();
    if (words_.guarded() && change == "$set") what.add(version_field, next_version);
    if (!what.empty()) changes.add(change, std::move(what));
    if (words_.guarded() && change != "$set") changes.add("$set", one(version_field, next_version));
    std::vector<Js> arguments = {std::move(found)};
    if (upsert) {
      Js first = Js::object();
      words_.add_key_fields(first);
      if (!first.empty()) changes.add("$setOnInsert", std::move(first));
    }
    arguments.push_back(std::move(changes));
    if (upsert) arguments.push_back(one("upsert", "true"));
    return words_.call({{"updateOne", std::move(arguments)}});
  }

  [[nodiscard]] Js fields(const char* value = nullptr) const {
    const Placed& placed = words_.placed;
    Js out = Js::object();
    if (placed.shape == Shape::Subdocument && !partial_)
      out.add(placed.name, value == nullptr ? words_.values() : Js(value));
    else
      for (const auto& [name, column] : words_.columns())
        out.add(words_.path(name), value == nullptr ? words_.value(name) : Js(value));
    return out;
  }

  [[nodiscard]] std::string whole() const {
    switch (kind_) {
      case WriteKind::Insert:
        return insert(words_).text;
      case WriteKind::Put:
        return put();
      case WriteKind::Append:
        return append();
      case WriteKind::Add: {
        Js sums = Js::object();
        for (const auto& [name, column] : words_.placed.columns()) sums.add(words_.path(name), words_.value(name));
        return update("$inc", std::move(sums));
      }
      case WriteKind::Erase:
        return erase();
    }
    return {};
  }

  [[nodiscard]] bool alone() const { return words_.kind.families.size() == 1 && !words_.guarded(); }

  [[nodiscard]] std::string put() const {
    if (partial_ || (!alone() && !same_documents())) return update("$set", fields());
    Js document = Js::object();
    words_.add_key_fields(document);
    for (const auto& [name, column] : words_.placed.columns()) document.add(name, words_.value(name));
    if (words_.placed.shape == Shape::Subdocument) return update("$set", fields());
    return words_.call({{"replaceOne", {words_.by_id(), std::move(document), one("upsert", "true")}}});
  }

  // The families of the collection are told apart by a constant: each document is of one.
  [[nodiscard]] bool same_documents() const {
    const auto constant = [](const Part& part) { return part.column->constant.has_value(); };
    const auto of_another = [&](const Placed& other) {
      if (other.family->index == words_.family.index) return true;
      for (std::size_t i = 0; i < other.key.size(); ++i)
        if (constant(other.key[i]) && other.key[i].column->constant != words_.placed.key[i].column->constant)
          return true;
      return false;
    };
    return words_.placed.shape == Shape::Document && !words_.guarded() &&
           std::all_of(words_.kind.families.begin(), words_.kind.families.end(), of_another);
  }

  [[nodiscard]] std::string append() const {
    std::string out;
    for (const auto& [name, column] : words_.placed.columns()) {
      if (column->type.kind != TypeKind::List || column->place.kind != design::Place::Kind::Cell) continue;
      if (!out.empty()) out += ";\n";
      out += update("$push", one(words_.path(name), one("$each", words_.value(name))));
    }
    return out.empty() ? update("$set", fields()) : out;
  }

  [[nodiscard]] std::string erase() const {
    if (words_.family.existence) return words_.call({{"deleteOne", {filter()}}});
    Js found = filter();
    if (words_.write->only_if_over())
      found.add(words_.path(documents::counted_out(words_.placed)), one("$lte", "NumberLong(\"0\")"));
    if (alone() || same_documents()) return words_.call({{"deleteOne", {std::move(found)}}});
    return update(std::move(found), "$unset", fields("\"\""), false);
  }

  [[nodiscard]] std::string element() const {
    const std::string& name = words_.placed.name;
    const std::string key = variable(words_.family.key[0].name + words_.end_of(words_.family.key[0]));
    const bool erase = kind_ == WriteKind::Erase;
    switch (words_.family.elements) {
      case TypeKind::List:
        if (erase) return update("$pop", one(name, "1"));
        return update("$set", one(list_place(words_), "value"));
      case TypeKind::Set:
        return update(erase ? "$pull" : "$addToSet", one(name, Js(key)));
      default:
        break;
    }
    if (erase) return update("$pull", one(name, one("key", key)));
    Js found = filter();
    found.add(name + ".key", key);
    Js fresh = filter();
    fresh.add(name + ".key", one("$ne", key));
    return "// a key that is there\n" + update(std::move(found), "$set", one(name + ".$.value", "value"), false) +
           ";\n// a new one\n" +
           update(std::move(fresh), "$push", one(name, pushed(words_.element(), one("key", "1"))), false);
  }

  static Js pushed(Js entry, Js order) {
    return std::move(Js::object().add("$each", Js::array().add(std::move(entry))).add("$sort", std::move(order)));
  }

  // An entry that is there, whose fields are `name.$.…`.
  [[nodiscard]] Js there() const {
    Js key = words_.embedded_key();
    if (words_.placed.versioned) key.add(version_field, version_field);
    return std::move(words_.by_id().add(words_.placed.name, one("$elemMatch", std::move(key))));
  }

  [[nodiscard]] std::string push_entry() const {
    const std::string& name = words_.placed.name;
    Js found = words_.by_id();
    found.add(name, one("$not", one("$elemMatch", words_.embedded_key())));
    return update(std::move(found), "$push", one(name, pushed(words_.embedded_entry(), words_.embedded_order())),
                  documents::makes_document(words_.kind));
  }

  [[nodiscard]] std::string embedded() const {
    const std::string& name = words_.placed.name;
    if (kind_ == WriteKind::Insert) return push_entry();
    if (kind_ == WriteKind::Erase) {
      Js key = words_.embedded_key();
      if (words_.placed.versioned) key.add(version_field, version_field);
      if (words_.write->only_if_over())
        key.add(documents::counted_out(words_.placed), one("$lte", "NumberLong(\"0\")"));
      return update(words_.by_id(), "$pull", one(name, std::move(key)), false);
    }
    const bool append = kind_ == WriteKind::Append;
    Js what = Js::object();
    for (const auto& [column_name, column] : words_.columns()) {
      if (append && column->type.kind != TypeKind::List) continue;
      Js value = words_.value(column_name);
      what.add(fmt::format("{}.$.{}", name, column_name), append ? one("$each", std::move(value)) : std::move(value));
    }
    if (what.empty() && !words_.placed.versioned) return push_entry();
    std::string changed = words_.call({{"updateOne", {there(), embedded_changes(std::move(what))}}});
    if (words_.placed.versioned || partial_) return changed;
    return "// one that is there\n" + changed + ";\n// a new one\n" + push_entry();
  }

  [[nodiscard]] Js embedded_changes(Js what) const {
    const char* change = kind_ == WriteKind::Add ? "$inc" : kind_ == WriteKind::Append ? "$push" : "$set";
    const std::string version = fmt::format("{}.$.{}", words_.placed.name, version_field);
    if (words_.placed.versioned && kind_ == WriteKind::Put) what.add(version, next_version);
    Js out = one(change, std::move(what));
    if (words_.placed.versioned && kind_ != WriteKind::Put) out.add("$set", one(version, next_version));
    return out;
  }

  Words words_;
  WriteKind kind_;
  bool partial_;
};

// One update of all that several families put into one document.
class UnitedUpdate {
 public:
  UnitedUpdate(const Layout& layout, const Kind& kind, const std::vector<Write>& writes)
      : layout_(layout), kind_(kind), writes_(writes) {}

  [[nodiscard]] Native run() {
    for (const Placed& placed : kind_.families)
      if (written(placed)) add(Words(layout_, *placed.family));
    set_.add(version_field, next_version);
    Js changes = Js::object();
    for (auto& [change, what] : changes_) changes.add(change, std::move(what));
    changes.add("$set", std::move(set_));
    const Words words(layout_, *writes_[0].family);
    Js filter = words.by_id();
    filter.add(version_field, version_field);
    return {words.call({{"updateOne", {std::move(filter), std::move(changes)}}}), std::move(remark_)};
  }

 private:
  [[nodiscard]] bool written(const Placed& placed) const {
    return std::any_of(writes_.begin(), writes_.end(), [&](const Write& write) {
      return write.family->index == placed.family->index && !write.fresh && write.kind != WriteKind::Insert;
    });
  }

  void change(const char* how, std::string name, Js value) {
    for (auto& [known, what] : changes_)
      if (known == how) {
        what.add(std::move(name), std::move(value));
        return;
      }
    changes_.emplace_back(how, one(std::move(name), std::move(value)));
  }

  void remark(const std::string& text) { remark_ += (remark_.empty() ? "" : "\n") + text; }

  void add(const Words& words) {
    const FamilyOutline& family = words.family;
    const bool put = documents::writes_any(writes_, family, WriteKind::Put);
    const bool erase = documents::writes_any(writes_, family, WriteKind::Erase) && !family.existence;
    switch (words.placed.shape) {
      case Shape::Elements:
        element(words, put, erase);
        break;
      case Shape::Flat:
        if (put) set_.add(words.flat_field(), words.element());
        if (erase && put)
          remark(fmt::format("one that goes: $unset: {{ {}: \"\" }}", Words(layout_, erased(family)).flat_field()));
        if (erase && !put) change("$unset", words.flat_field(), "\"\"");
        break;
      case Shape::Subdocument:
        if (put && documents::put_among(writes_, family)->partial()) return columns(words, put, false);
        if (put) set_.add(words.placed.name, words.values());
        if (erase) change("$unset", words.placed.name, "\"\"");
        break;
      default:
        columns(words, put, erase);
    }
  }

  [[nodiscard]] const Write& erased(const FamilyOutline& family) const {
    return *std::find_if(writes_.begin(), writes_.end(), [&](const Write& write) {
      return write.family->index == family.index && write.kind == WriteKind::Erase;
    });
  }

  void columns(const Words& words, bool put, bool erase) {
    const bool append = documents::writes_any(writes_, words.family, WriteKind::Append);
    const Write* only = documents::put_among(writes_, words.family);
    for (const auto& [name, column] : words.placed.columns()) {
      const bool list = column->type.kind == TypeKind::List && column->place.kind == design::Place::Kind::Cell;
      const std::string path = words.path(name);
      if (put && only->writes(*column))
        set_.add(path, words.value(name));
      else if (append && list)
        change("$push", path, one("$each", words.value(name)));
      else if (append && !put)
        set_.add(path, words.value(name));
      else if (erase && !put)
        change("$unset", path, "\"\"");
    }
  }

  // Two changes of one array would be in each other's way: then it is set anew.
  void element(const Words& words, bool put, bool erase) {
    const std::string& name = words.placed.name;
    const TypeKind elements = words.family.elements;
    if ((put && erase) || (put && elements == TypeKind::Map)) {
      set_.add(name, var(name));
    } else if (elements == TypeKind::List) {
      if (erase) change("$pop", name, "1");
      if (!put) return;
      set_.add(list_place(words), "value");
      remark(fmt::format("one more, without knowing where: $push: {{ {}: value }}", name));
    } else {
      Js element = elements == TypeKind::Map ? one("key", var("key")) : words.element();
      change(erase ? "$pull" : "$addToSet", name, std::move(element));
    }
  }

  const Layout& layout_;
  const Kind& kind_;
  const std::vector<Write>& writes_;
  Js set_ = Js::object();
  std::vector<std::pair<std::string, Js>> changes_;
  std::string remark_;
};

}  // namespace

std::vector<Native> united(const Layout& layout, const Kind& kind, const std::vector<Write>& writes) {
  std::vector<Native> out;
  bool erased = false;
  bool changed = false;
  for (const Write& write : writes) {
    if (write.kind == WriteKind::Insert)
      out.push_back(insert(Words(layout, *write.family)));
    else if (write.kind == WriteKind::Erase && write.family->existence)
      erased = true;
    // What goes with an instance is no change of it.
    changed = changed || (!write.fresh && (write.kind == WriteKind::Put || write.kind == WriteKind::Append));
  }
  const bool parts = std::any_of(writes.begin(), writes.end(), [](const Write& write) {
    return write.kind == WriteKind::Erase && !write.family->existence;
  });
  const bool only_map = writes.size() == 1 && writes[0].family->elements == TypeKind::Map;
  if (only_map)
    out.push_back({Writer(layout, writes[0]).run(), {}});
  else if (changed || (parts && !erased))
    out.push_back(UnitedUpdate(layout, kind, writes).run());
  for (const Write& write : writes)
    if (write.kind == WriteKind::Erase && write.family->existence) out.push_back({Writer(layout, write).run(), {}});
  return out;
}

Js id_of(const Kind& kind, const std::vector<Js>& parts) {
  if (kind.simple()) return parts[0];
  Js out = Js::object();
  for (std::size_t i = 0; i < parts.size(); ++i) out.add(kind.id[i].name, parts[i]);
  return out;
}

std::string sort_field(const Part& part) { return part.order.empty() ? "_id." + part.name : part.order; }

Native ShellDialect::read(const Read& read) const { return {Reader(layout_, read).run(), {}}; }

bool ShellDialect::in_one_place(const FamilyOutline& a, const FamilyOutline& b) const {
  return documents::in_one_document(layout_, a, b);
}

Native ShellDialect::write(const Write& write) const { return {Writer(layout_, write).run(), {}}; }

std::string ShellDialect::together(const std::vector<Write>& writes) const {
  return documents::told_together(layout_, writes);
}

}  // namespace noam::targets::mongodb
