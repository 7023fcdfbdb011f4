#include "noam/targets/dynamodb/requests.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "noam/model/datum_json.h"
#include "noam/schemas/keys.h"
#include "noam/schemas/plain.h"
#include "noam/targets/dynamodb/values.h"
#include "noam/targets/json_print.h"

namespace noam::targets::dynamodb {

using model::TypeKind;
namespace {

// The names and values of the expressions of one request. Every attribute is spoken of by a placeholder: it may be a
// reserved word, or have brackets.
class Expressions {
 public:
  std::string name(const std::string& attribute) { return give(names_, "#" + word(attribute), attribute); }
  std::string value(const std::string& wanted, Json json) { return give(values_, ":" + word(wanted), std::move(json)); }
  void add_to(Json& body) const {
    if (!names_.empty()) body["ExpressionAttributeNames"] = names_;
    if (!values_.empty()) body["ExpressionAttributeValues"] = values_;
  }

 private:
  // Two that would be called alike are told apart by a number.
  static std::string give(Json& given, const std::string& wanted, Json meant) {
    std::string placeholder = wanted;
    for (int i = 2; given.contains(placeholder) && given[placeholder] != meant; ++i)
      placeholder = fmt::format("{}_{}", wanted, i);
    given[placeholder] = std::move(meant);
    return placeholder;
  }

  static std::string word(const std::string& text) {
    std::string out;
    for (const char c : text) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
      if (plain)
        out += c;
      else if (!out.empty() && out.back() != '_')
        out += '_';
    }
    while (!out.empty() && out.back() == '_') out.pop_back();
    return out.empty() ? "n" : out;
  }

  Json names_ = Json::object();
  Json values_ = Json::object();
};

struct Attribute {
  std::string name;
  Json value;
  std::string inside;  // the name in a map that is the attribute; empty: the attribute itself
};

Json placeholder(const std::string& letter, const std::string& text) { return {{letter, ":" + text}}; }
Json number(const std::string& text) { return {{"N", text}}; }

class Requests {
 public:
  Requests(const Layout& layout, const FamilyOutline& family)
      : layout(layout),
        model(layout.outline().model()),
        family(family),
        placed(layout.placed(family)),
        table(layout.table(family)) {}
  Requests(const Layout& layout, const Write& write) : Requests(layout, *write.family) { this->write = &write; }

  // What the placeholder of a part ends in.
  [[nodiscard]] const char* end_of(const Column& column) const { return write == nullptr ? "" : write->end_of(column); }

  [[nodiscard]] Json constant(const Column& column) const {
    return *attribute_value(model, column.type, model::from_literal(column.type, *column.constant));
  }

  // A part of a key as it stands in an attribute of its own.
  [[nodiscard]] Json part(const Column& column) const {
    return column.constant ? constant(column)
                           : placeholder(type_letter(model, column.type), column.name + end_of(column));
  }

  [[nodiscard]] std::string part_text(const Column& column) const {
    if (!column.constant) return column.name + end_of(column);
    const Json json = model::write_json(model, column.type, model::from_literal(column.type, *column.constant));
    return json.is_string() ? fmt::format("'{}'", json.get<std::string>()) : json.dump();
  }

  // `noam_key(username, date_time_to)`: of so many parts, and perhaps one more.
  [[nodiscard]] std::string bytes_of(const std::vector<Column>& columns, std::size_t count, const Key& key,
                                     const std::string& last = {}) const {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i) texts.push_back(part_text(columns[i]));
    if (!last.empty()) texts.push_back(last);
    return fmt::format("{}({})", key.attribute, fmt::join(texts, ", "));
  }

  [[nodiscard]] Json key_attribute(const Key& key, const std::vector<Column>& columns) const {
    return key.made ? placeholder("B", bytes_of(columns, columns.size(), key)) : part(columns[0]);
  }

  [[nodiscard]] Json key() const {
    Json out = Json::object();
    out[table.partition.attribute] = key_attribute(table.partition, table.collection->block);
    if (table.sort) out[table.sort->attribute] = key_attribute(*table.sort, family.key);
    return out;
  }

  // What stands beside a key that is bytes.
  [[nodiscard]] std::vector<Attribute> beside() const {
    std::vector<Attribute> out;
    const auto add = [&](const Key& key, const std::vector<Column>& columns) {
      for (std::size_t i = 0; key.made && i < columns.size(); ++i)
        out.push_back({key.parts[i].attribute, part(columns[i]), {}});
    };
    add(table.partition, table.collection->block);
    if (table.sort) add(*table.sort, family.key);
    return out;
  }

  [[nodiscard]] std::string element_name() const {
    return fmt::format("{}[:{}{}]", placed.attribute, family.key[0].name, end_of(family.key[0]));
  }

  [[nodiscard]] std::vector<Attribute> values() const {
    std::vector<Attribute> out;
    const std::string end = write == nullptr ? "" : write->end();
    const auto shown = [&](const Column& column) {
      return placeholder(type_letter(model, column.type), column.name + end);
    };
    const auto written = [&](const Column& column) { return write == nullptr || write->writes(column); };
    switch (placed.shape) {
      case Shape::Elements:
        out.push_back({element_name(), shown(family.values.empty() ? family.key[0] : family.values[0]), {}});
        break;
      case Shape::Map: {
        if (write != nullptr && write->partial()) {
          for (std::size_t i = 0; i < placed.names.size(); ++i)
            if (!placed.names[i].empty() && written(family.values[i]))
              out.push_back({placed.attribute, shown(family.values[i]), placed.names[i]});
          break;
        }
        Json map = Json::object();
        for (std::size_t i = 0; i < placed.names.size(); ++i)
          if (!placed.names[i].empty()) map[placed.names[i]] = shown(family.values[i]);
        out.push_back({placed.attribute, {{"M", std::move(map)}}, {}});
        break;
      }
      case Shape::Plain:
        for (std::size_t i = 0; i < placed.names.size(); ++i)
          if (!placed.names[i].empty() && written(family.values[i]))
            out.push_back({placed.names[i], shown(family.values[i]), {}});
        break;
    }
    if (placed.marked && (write == nullptr || !write->partial())) out.push_back({placed.present, {{"BOOL", true}}, {}});
    return out;
  }

  [[nodiscard]] Json start() const { return {{"TableName", table.name}}; }
  [[nodiscard]] Json start_with_key() const {
    Json out = start();
    out["Key"] = key();
    return out;
  }

  [[nodiscard]] bool alone() const { return layout.item_mates(family).size() == 1; }

 protected:
  // NOLINTBEGIN(*-non-private-member-variables-in-classes): what is read and written adds to it
  const Layout& layout;
  const model::Model& model;
  const FamilyOutline& family;
  const PlacedFamily& placed;
  const Table& table;
  const Write* write = nullptr;  // none: a read
  // NOLINTEND(*-non-private-member-variables-in-classes)
};

class Reading : public Requests {
 public:
  Reading(const Layout& layout, const Read& read) : Requests(layout, *read.family), read_(read) {}

  Request run() {
    if (read_.scan) return scan();
    if (placed.shape == Shape::Elements || read_.one_entry() || table.item_a_block()) return get();
    return query();
  }

 private:
  Request get() {
    Request out{"GetItem", start_with_key(), {}};
    project(out, true);
    out.body["ConsistentRead"] = true;
    expressions_.add_to(out.body);
    return out;
  }

  Request scan() {
    Request out{"Scan", start(), {}};
    project(out, false);
    filter(out, 0);
    out.body["ConsistentRead"] = true;
    expressions_.add_to(out.body);
    say(out, "page by page: LastEvaluatedKey of an answer is ExclusiveStartKey of the next request");
    return out;
  }

  Request query() {
    Request out{"Query", start(), {}};
    const std::size_t prefix = std::max(read_.prefix, leading_constants(family));
    std::string condition = fmt::format("{} = {}", expressions_.name(table.partition.attribute),
                                        expressions_.value(table.partition.attribute,
                                                           key_attribute(table.partition, table.collection->block)));
    const std::string of_key = table.sort->made ? made_condition(out, prefix) : plain_condition(out, prefix);
    if (!of_key.empty()) condition += " AND " + of_key;
    out.body["KeyConditionExpression"] = condition;
    project(out, false);
    filter(out, prefix);
    out.body["ScanIndexForward"] = table.sort->backwards() == read_.reverse;
    if (read_.limited) out.body["Limit"] = ":noam_limit";
    out.body["ConsistentRead"] = true;
    expressions_.add_to(out.body);
    return out;
  }

  // One part that DynamoDB sorts itself.
  std::string plain_condition(Request& out, std::size_t prefix) {
    const Column& column = family.key[0];
    if (prefix == 0 && !read_.ranged()) return {};
    const std::string name = expressions_.name(table.sort->attribute);
    if (prefix == 1) return fmt::format("{} = {}", name, expressions_.value(table.sort->attribute, part(column)));
    const std::string letter(1, table.sort->letter);
    const auto bound = [&](const char* end) {
      return expressions_.value(column.name + end, placeholder(letter, column.name + end));
    };
    if (read_.low && read_.high) {
      if (!read_.low_inclusive || !read_.high_inclusive)
        say(out, "BETWEEN includes both bounds; drop what lies on one that does not belong");
      const std::string low = bound("_from");
      return fmt::format("{} BETWEEN {} AND {}", name, low, bound("_to"));
    }
    if (read_.low) return fmt::format("{} {} {}", name, read_.low_inclusive ? ">=" : ">", bound("_from"));
    return fmt::format("{} {} {}", name, read_.high_inclusive ? "<=" : "<", bound("_to"));
  }

  // Bytes of several parts.
  std::string made_condition(Request& out, std::size_t prefix) {
    if (prefix == 0 && !read_.ranged()) return {};
    const Key& key = *table.sort;
    const std::string name = expressions_.name(key.attribute);
    if (!read_.ranged()) {
      return fmt::format("begins_with({}, {})", name,
                         expressions_.value(key.attribute, placeholder("B", bytes_of(family.key, prefix, key))));
    }
    if ((read_.low && !read_.low_inclusive) || (read_.high && !read_.high_inclusive))
      say(out, "both bounds are included; drop what lies on one that does not belong");
    const Column& column = family.key[prefix];
    const std::string low = read_.low ? column.name + "_from" : std::string();
    const std::string high = read_.high ? column.name + "_to" : std::string();
    const std::string& first = column.descending ? high : low;
    const std::string& last = column.descending ? low : high;
    // Where nothing is known: the byte 00, before everything, and ff, after it.
    const auto bytes = [&](const std::string& bound, const char* end, const char* nothing) -> Json {
      if (prefix == 0 && bound.empty()) return {{"B", nothing}};
      return placeholder("B", bytes_of(family.key, prefix, key, bound) + end);
    };
    const std::string from = expressions_.value(key.attribute + "_from", bytes(first, "", "AA=="));
    const std::string to = expressions_.value(key.attribute + "_to", bytes(last, "+FF", "/w=="));
    return fmt::format("{} BETWEEN {} AND {}", name, from, to);
  }

  // What is not of the family is left out.
  void filter(Request& out, std::size_t known_parts) {
    std::vector<std::string> conditions;
    if (!placed.present.empty())
      conditions.push_back(fmt::format("attribute_exists({})", expressions_.name(placed.present)));
    const bool others = table.families.size() != layout.item_mates(family).size();
    for (std::size_t i = known_parts; others && i < family.key.size(); ++i)
      if (family.key[i].constant)
        conditions.push_back(fmt::format("{} = {}", expressions_.name(table.sort->parts[i].attribute),
                                         expressions_.value(table.sort->parts[i].attribute, constant(family.key[i]))));
    if (conditions.empty()) return;
    out.body["FilterExpression"] = fmt::format("{}", fmt::join(conditions, " AND "));
    if (read_.limited)
      say(out, "Limit counts what the filter leaves out, too: read page by page until there is enough");
  }

  // The attributes of the family; all of them where they cannot be told before.
  void project(Request& out, bool key_is_known) {
    std::vector<std::string> names;
    if (placed.shape == Shape::Elements) {
      if (!read_.one_entry()) {
        say(out, fmt::format("gives the whole item; the elements are its attributes `{}[…]`", placed.attribute));
        return;
      }
      names.push_back(expressions_.name(element_name()));
    } else {
      if (layout.item_mates(family).size() == 1 + read_.mates.size()) return;
      if (!key_is_known) add_key_names(names);
      std::vector<const FamilyOutline*> families = {&family};
      families.insert(families.end(), read_.mates.begin(), read_.mates.end());
      for (const FamilyOutline* at : families) {
        if (!layout.placed(*at).version.empty()) names.push_back(expressions_.name(layout.placed(*at).version));
        for (const Attribute& attribute : Requests(layout, *at).values())
          names.push_back(expressions_.name(attribute.name));
      }
    }
    if (names.empty()) return;
    out.body["ProjectionExpression"] = fmt::format("{}", fmt::join(names, ", "));
  }

  void add_key_names(std::vector<std::string>& names) {
    for (const KeyPart& at : table.partition.parts) names.push_back(expressions_.name(at.attribute));
    if (!table.sort) return;
    for (const KeyPart& at : table.sort->parts) names.push_back(expressions_.name(at.attribute));
  }

  static void say(Request& out, std::string_view note) {
    if (!out.note.empty()) out.note += "; ";
    out.note += note;
  }

  const Read& read_;
  Expressions expressions_;
};

// An UpdateItem that grows.
class Update {
 public:
  void set(const std::string& attribute, Json value) {
    const std::string name = expressions_.name(attribute);
    sets_.push_back(fmt::format("{} = {}", name, expressions_.value(attribute, std::move(value))));
  }
  void set(const Attribute& attribute) {
    if (attribute.inside.empty()) return set(attribute.name, attribute.value);
    const std::string name = expressions_.name(attribute.name);
    const std::string inside = expressions_.name(attribute.inside);
    sets_.push_back(fmt::format("{}.{} = {}", name, inside, expressions_.value(attribute.inside, attribute.value)));
  }
  void set_expression(std::string text) { sets_.push_back(std::move(text)); }
  void add(const std::string& attribute, Json value) {
    const std::string name = expressions_.name(attribute);
    adds_.push_back(fmt::format("{} {}", name, expressions_.value(attribute, std::move(value))));
  }
  void remove(const std::string& attribute) { removes_.push_back(expressions_.name(attribute)); }
  void require(std::string condition) { conditions_.push_back(std::move(condition)); }
  Expressions& expressions() { return expressions_; }

  [[nodiscard]] Json body(Json start) const {
    std::vector<std::string> clauses;
    const auto clause = [&](const char* word, const std::vector<std::string>& terms) {
      if (!terms.empty()) clauses.push_back(fmt::format("{} {}", word, fmt::join(terms, ", ")));
    };
    clause("SET", sets_);
    clause("ADD", adds_);
    clause("REMOVE", removes_);
    if (!clauses.empty()) start["UpdateExpression"] = fmt::format("{}", fmt::join(clauses, " "));
    if (!conditions_.empty()) start["ConditionExpression"] = fmt::format("{}", fmt::join(conditions_, " AND "));
    expressions_.add_to(start);
    return start;
  }

 private:
  std::vector<std::string> sets_;
  std::vector<std::string> adds_;
  std::vector<std::string> removes_;
  std::vector<std::string> conditions_;
  Expressions expressions_;
};

class CopyWriting : public Requests {
 public:
  using Requests::Requests;

  Request run(WriteKind kind) {
    switch (kind) {
      case WriteKind::Add:
        return add();
      case WriteKind::Erase:
        return erase();
      case WriteKind::Insert:
      case WriteKind::Put:
      case WriteKind::Append:
        break;
    }
    return put();
  }

 private:
  Request put() {
    if (write->partial()) {
      Update update;
      for (const Attribute& attribute : values()) update.set(attribute);
      return {"UpdateItem", update.body(start_with_key()), {}};
    }
    if (alone()) {
      Request out{"PutItem", start(), {}};
      Json item = key();
      for (const Attribute& attribute : beside()) item[attribute.name] = attribute.value;
      for (const Attribute& attribute : values()) item[attribute.name] = attribute.value;
      out.body["Item"] = std::move(item);
      return out;
    }
    Update update;
    for (const Attribute& attribute : beside()) update.set(attribute);
    for (const Attribute& attribute : values()) update.set(attribute);
    return {"UpdateItem", update.body(start_with_key()), {}};
  }

  Request add() {
    Update update;
    for (const Attribute& attribute : beside()) update.set(attribute);
    for (const Attribute& attribute : values()) {
      if (attribute.value.contains("N"))
        update.add(attribute.name, attribute.value);
      else
        update.set(attribute);
    }
    return {"UpdateItem", update.body(start_with_key()), "not to be repeated blindly: it adds again"};
  }

  // The count that says how many rows share an entry.
  [[nodiscard]] std::string weight() const {
    std::string out;
    for (std::size_t i = 0; i < family.values.size(); ++i) {
      const Column& column = family.values[i];
      if (!placed.names[i].empty() && column.counts &&
          (out.empty() || column.name == "noam_weight" || column.meaning == "count(*)"))
        out = placed.names[i];
    }
    return out;
  }

  // What others add to goes only if it is as it was read.
  Request erase() {
    Update update;
    if (alone()) {
      if (!write->only_if_over()) return {"DeleteItem", start_with_key(), {}};
      const std::string count = weight();
      const std::string before = fmt::format("{}{}_before", count, write->end());
      update.require(fmt::format("{} = {}", update.expressions().name(count),
                                 update.expressions().value(count, number(":" + before))));
      return {"DeleteItem", update.body(start_with_key()), fmt::format(":{} is what was read last", before)};
    }
    for (const Attribute& attribute : values()) update.remove(attribute.name);
    update.require(fmt::format("attribute_exists({})", update.expressions().name(table.partition.attribute)));
    return {"UpdateItem", update.body(start_with_key()), {}};
  }
};

// The writes of a command to the base families of one item.
class ItemWriting {
 public:
  ItemWriting(const Layout& layout, std::vector<Write> writes) : layout_(layout), writes_(std::move(writes)) {}

  void add_to(std::vector<Request>& out) {
    if (head() == nullptr) {
      // Entries that are put and entries that go are not the same items.
      if (any_but(WriteKind::Erase)) out.push_back(change());
      if (any(WriteKind::Erase)) out.push_back(erase_entry());
      return;
    }
    const bool inserts = has_head(WriteKind::Insert);
    const bool erases = has_head(WriteKind::Erase);
    if (inserts) out.push_back(insert());
    const bool changes = std::any_of(writes_.begin(), writes_.end(), [&](const Write& write) {
      if (write.kind == WriteKind::Insert) return false;
      // With an instance come and go all of its entries.
      if (write.family->existence) return write.kind != WriteKind::Erase;
      return !inserts && !(erases && write.kind == WriteKind::Erase);
    });
    if (changes) out.push_back(change());
    if (erases) out.push_back(erase());
  }

 private:
  [[nodiscard]] bool has_head(WriteKind kind) const {
    return std::any_of(writes_.begin(), writes_.end(), [&](const Write& write) {
      return write.kind == kind && write.family->existence && write.family->base;
    });
  }

  [[nodiscard]] bool any(WriteKind kind) const {
    return std::any_of(writes_.begin(), writes_.end(), [&](const Write& write) { return write.kind == kind; });
  }
  [[nodiscard]] bool any_but(WriteKind kind) const {
    return std::any_of(writes_.begin(), writes_.end(), [&](const Write& write) { return write.kind != kind; });
  }

  // The family of the item that has the version; none where it lies elsewhere.
  [[nodiscard]] const FamilyOutline* head() const {
    for (const FamilyOutline* family : layout_.item_mates(*writes_[0].family))
      if (!layout_.placed(*family).version.empty()) return family;
    return nullptr;
  }

  [[nodiscard]] std::vector<const FamilyOutline*> bases() const {
    std::vector<const FamilyOutline*> out;
    for (const FamilyOutline* family : layout_.item_mates(*writes_[0].family))
      if (family->base) out.push_back(family);
    return out;
  }

  [[nodiscard]] bool bases_alone() const { return bases().size() == layout_.item_mates(*writes_[0].family).size(); }

  Request insert() {
    const FamilyOutline& first = *head();
    const Requests requests(layout_, first);
    const std::string& version = layout_.placed(first).version;
    Update update;
    std::vector<Attribute> attributes = requests.beside();
    attributes.push_back({version, number("1"), {}});
    bool elements = false;
    for (const FamilyOutline* family : bases()) {
      elements = elements || layout_.placed(*family).shape == Shape::Elements;
      for (Attribute& attribute : Requests(layout_, *family).values()) attributes.push_back(std::move(attribute));
    }
    const std::string note = elements ? "an attribute an element" : "";
    if (bases_alone()) {
      Request out{"PutItem", requests.start(), note};
      Json item = requests.key();
      for (Attribute& attribute : attributes) item[attribute.name] = std::move(attribute.value);
      out.body["Item"] = std::move(item);
      update.require(
          fmt::format("attribute_not_exists({})", update.expressions().name(layout_.table(first).partition.attribute)));
      out.body = update.body(std::move(out.body));
      return out;
    }
    for (Attribute& attribute : attributes) update.set(attribute.name, std::move(attribute.value));
    update.require(fmt::format("attribute_not_exists({})", update.expressions().name(version)));
    return {"UpdateItem", update.body(requests.start_with_key()), note};
  }

  Request change() {
    Update update;
    std::string note;
    for (const Write& write : writes_) change(write, update, note);
    const FamilyOutline* first = head();
    if (first != nullptr) raise_version(layout_.placed(*first).version, update);
    const Requests requests(layout_, first != nullptr ? *first : *writes_[0].family);
    if (first == nullptr)
      for (const Attribute& attribute : requests.beside()) update.set(attribute);
    return {"UpdateItem", update.body(requests.start_with_key()), note};
  }

  void change(const Write& write, Update& update, std::string& note) const {
    const Requests requests(layout_, write);
    const PlacedFamily& placed = layout_.placed(*write.family);
    switch (write.kind) {
      case WriteKind::Insert:
        break;
      case WriteKind::Erase:
        if (placed.shape == Shape::Elements)
          update.remove(requests.element_name());
        else if (!write.family->existence && head() != nullptr && !puts(*write.family))
          for (const Attribute& attribute : requests.values()) update.remove(attribute.name);
        break;
      case WriteKind::Append:
        append(write, update, note);
        break;
      case WriteKind::Put:
      case WriteKind::Add:
        for (const Attribute& attribute : requests.values()) update.set(attribute);
        break;
    }
  }

  // An attribute is set or removed, not both.
  [[nodiscard]] bool puts(const FamilyOutline& family) const {
    return std::any_of(writes_.begin(), writes_.end(),
                       [&](const Write& write) { return write.family == &family && write.kind != WriteKind::Erase; });
  }

  Request erase_entry() const {
    const auto erased =
        std::find_if(writes_.begin(), writes_.end(), [](const Write& write) { return write.kind == WriteKind::Erase; });
    const Requests requests(layout_, *erased);
    if (bases().size() == 1 && bases_alone()) return {"DeleteItem", requests.start_with_key(), {}};
    Update update;
    for (const Attribute& attribute : requests.values()) update.remove(attribute.name);
    return {"UpdateItem", update.body(requests.start_with_key()), {}};
  }

  // To the list of the entry; where it has several, one of them stands for all.
  void append(const Write& write, Update& update, std::string& note) const {
    const PlacedFamily& placed = layout_.placed(*write.family);
    std::vector<std::string> lists;
    for (std::size_t i = 0; i < placed.names.size(); ++i)
      if (write.family->values[i].type.kind == TypeKind::List && !placed.names[i].empty())
        lists.push_back(placed.names[i]);
    if (lists.empty()) {
      for (const Attribute& attribute : Requests(layout_, *write.family).values()) update.set(attribute);
      return;
    }
    const std::string name = update.expressions().name(lists[0]);
    update.set_expression(fmt::format("{0} = list_append({0}, {1})", name,
                                      update.expressions().value(lists[0], placeholder("L", lists[0]))));
    if (lists.size() > 1) note = fmt::format("or one of {}", fmt::join(lists.begin() + 1, lists.end(), ", "));
  }

  static void raise_version(const std::string& version, Update& update) {
    const std::string name = update.expressions().name(version);
    update.set_expression(
        fmt::format("{} = {}", name, update.expressions().value("noam_next_version", number(":noam_next_version"))));
    update.require(fmt::format("{} = {}", name, update.expressions().value("noam_version", number(":noam_version"))));
  }

  Request erase() {
    const FamilyOutline& first = *head();
    const Requests requests(layout_, first);
    const std::string& version = layout_.placed(first).version;
    Update update;
    std::string note;
    if (!bases_alone()) {
      update.remove(version);
      for (const FamilyOutline* family : bases()) {
        const bool elements = layout_.placed(*family).shape == Shape::Elements;
        if (elements) note = "with every attribute that is an element";
        for (const Attribute& attribute : Requests(layout_, *family).values()) update.remove(attribute.name);
      }
    }
    update.require(fmt::format("{} = {}", update.expressions().name(version),
                               update.expressions().value("noam_version", number(":noam_version"))));
    return {bases_alone() ? "DeleteItem" : "UpdateItem", update.body(requests.start_with_key()), note};
  }

  const Layout& layout_;
  const std::vector<Write> writes_;
};

// The version of an aggregate whose head is not written otherwise.
Request raise_head(const Layout& layout, const FamilyOutline& head) {
  const Requests requests(layout, head);
  Update update;
  const std::string name = update.expressions().name(layout.placed(head).version);
  update.set_expression(
      fmt::format("{} = {}", name, update.expressions().value("noam_next_version", number(":noam_next_version"))));
  update.require(fmt::format("{} = {}", name, update.expressions().value("noam_version", number(":noam_version"))));
  return {"UpdateItem", update.body(requests.start_with_key()), {}};
}

Native native(const Request& request) { return {print_request(request), request.note}; }

const char* transaction_name(const std::string& operation) {
  if (operation == "PutItem") return "Put";
  return operation == "DeleteItem" ? "Delete" : "Update";
}

}  // namespace

Request read_request(const Layout& layout, const Read& read) { return Reading(layout, read).run(); }

Request copy_request(const Layout& layout, const Write& write) { return CopyWriting(layout, write).run(write.kind); }

std::vector<Request> base_requests(const Layout& layout, const std::vector<Write>& writes) {
  // By item, in the order in which they are written first.
  std::vector<std::vector<Write>> items;
  std::set<const FamilyOutline*> covered;
  for (const Write& write : writes) {
    const auto mates = layout.item_mates(*write.family);
    const auto of_item = [&](const std::vector<Write>& item) {
      return std::find(mates.begin(), mates.end(), item.front().family) != mates.end();
    };
    const auto found = std::find_if(items.begin(), items.end(), of_item);
    if (found != items.end())
      found->push_back(write);
    else
      items.push_back({write});
    covered.insert(mates.begin(), mates.end());
  }
  std::vector<Request> out;
  for (std::vector<Write>& item : items) {
    const FamilyOutline& head = head_of(layout.outline(), *item.front().family);
    ItemWriting(layout, std::move(item)).add_to(out);
    if (covered.insert(&head).second) out.push_back(raise_head(layout, head));
  }
  return out;
}

Request transaction(const std::vector<Request>& requests) {
  Request out{"TransactWriteItems", Json::object(), {}};
  Json items = Json::array();
  std::vector<std::string> notes;
  for (const Request& request : requests) {
    Json item = Json::object();
    item[transaction_name(request.operation)] = request.body;
    items.push_back(std::move(item));
    if (!request.note.empty())
      notes.push_back(fmt::format("{}: {}", request.body["TableName"].get<std::string>(), request.note));
  }
  out.body["TransactItems"] = std::move(items);
  out.body["ClientRequestToken"] = ":noam_command";
  out.note = fmt::format("{}", fmt::join(notes, "; "));
  return out;
}

std::string print_request(const Request& request) { return request.operation + "\n" + print_json(request.body); }

Native RequestDialect::read(const Read& read) const { return native(read_request(layout_, read)); }

bool RequestDialect::in_one_place(const FamilyOutline& a, const FamilyOutline& b) const {
  const auto mates = layout_.item_mates(a);
  const auto whole = [&](const FamilyOutline& family) { return layout_.placed(family).shape != Shape::Elements; };
  return whole(a) && whole(b) && std::find(mates.begin(), mates.end(), &b) != mates.end();
}

Native RequestDialect::write(const Write& write) const {
  if (!write.family->base) return native(copy_request(layout_, write));
  const std::vector<Request> requests = base_requests(layout_, {write});
  return native(requests.size() == 1 ? requests[0] : transaction(requests));
}

std::string RequestDialect::together(const std::vector<Write>& writes) const {
  std::vector<Write> bases;
  std::set<std::string> copies;
  for (const Write& write : writes) {
    if (write.family->base)
      bases.push_back(write);
    else
      copies.insert(write.family->label);
  }
  const std::size_t items = base_requests(layout_, bases).size();
  const std::string atomic = items > 1 ? "Atomic: the items of aggregates, in one transaction of at most 100 items."
                                       : "Atomic: each request, on its item.";
  return atomic + told_followers({copies.begin(), copies.end()});
}

std::vector<ListedStatement> all_requests(const Layout& layout) {
  std::vector<ListedStatement> out = list_statements(layout.outline(), RequestDialect(layout));
  gather_base_writes(out, [&](const std::vector<Write>& writes) -> std::vector<Native> {
    const std::vector<Request> requests = base_requests(layout, writes);
    return {native(requests.size() == 1 ? requests[0] : transaction(requests))};
  });
  return out;
}

}  // namespace noam::targets::dynamodb
