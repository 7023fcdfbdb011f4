#include "noam/targets/couchbase/dialect.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "noam/base/json.h"
#include "noam/targets/couchbase/values.h"

namespace noam::targets::couchbase {

using documents::Kind;
using documents::Layout;
using documents::Part;
using documents::Placed;
using documents::Shape;
using documents::version_field;
using model::TypeKind;

namespace {

using Texts = std::vector<std::string>;

constexpr const char* next_version = "noam_next_version";
// Couchbase SDK, "Sub-Document Operations": 16 in one call.
constexpr std::size_t most_specs = 16;

std::string joined(const Texts& texts, const char* between = ", ") {
  return fmt::format("{}", fmt::join(texts, between));
}
std::string quoted_text(std::string_view text) { return Json(text).dump(); }
std::string parameter(const std::string& name) { return "$" + name; }
std::string field(const std::string& name) { return "d." + escaped(name); }

// An object: names, and the texts of their values.
class Object {
 public:
  void add(const std::string& name, std::string value) { members_.emplace_back(name, std::move(value)); }
  [[nodiscard]] bool empty() const { return members_.empty(); }
  [[nodiscard]] std::string text() const {
    Texts out;
    for (const auto& [name, value] : members_) out.push_back(fmt::format("{}: {}", quoted_text(name), value));
    return "{" + joined(out) + "}";
  }

 private:
  std::vector<std::pair<std::string, std::string>> members_;
};

// Long statements have a clause a line.
std::string laid_out(const Texts& clauses) {
  std::string line = joined(clauses, " ");
  return line.size() <= 118 ? line : joined(clauses, "\n  ");
}

class Words {
 public:
  Words(const Layout& layout, const Keyspace& keyspace, const FamilyOutline& family)
      : layout(layout),
        keyspace(keyspace),
        kind(layout.kind_of(family)),
        placed(layout.placed(family)),
        family(family),
        into(keyspace.path(kind.name)) {}
  Words(const Layout& layout, const Keyspace& keyspace, const Write& write) : Words(layout, keyspace, *write.family) {
    this->write = &write;
  }

  // What the name of a parameter for the part ends in.
  [[nodiscard]] const char* end_of(const Column& part) const { return write == nullptr ? "" : write->end_of(part); }
  // The key of the document: of an entry that goes where one of its parts is.
  [[nodiscard]] std::string document_key() const {
    const std::vector<Part> parts = id_parts();
    const bool other =
        std::any_of(parts.begin(), parts.end(), [&](const Part& part) { return *end_of(*part.column) != 0; });
    return other ? fmt::format("noam_key{}", Write::gone_end) : "noam_key";
  }

  // What is given for a part: in SQL++ with `$` before it.
  [[nodiscard]] std::string given(const Part& part, const char* sign = "$") const {
    if (part.column->constant) return json_of(documents::constant_of(layout, *part.column)).dump();
    return sign + part.name + end_of(*part.column);
  }

  [[nodiscard]] std::string value_name(const std::string& name) const {
    const auto taken = [&](const Part& part) { return part.name == name; };
    const bool twice = std::any_of(kind.id.begin(), kind.id.end(), taken) && placed.inside();
    return (twice ? fmt::format("{}_{}", placed.name, name) : name) + (write == nullptr ? "" : write->end());
  }

  [[nodiscard]] std::vector<Part> id_parts() const {
    std::vector<Part> out(kind.block().begin(), kind.block().end());
    if (placed.shape == Shape::Document) out.insert(out.end(), placed.key.begin(), placed.key.end());
    return out;
  }

  void add_parts(Object& out, const std::vector<Part>& parts, const char* sign = "$") const {
    for (const Part& part : parts) out.add(part.name, given(part, sign));
    for (const Part& part : parts)
      if (!part.order.empty()) out.add(part.order, sign + part.order + end_of(*part.column));
  }

  // The columns that are written.
  [[nodiscard]] std::vector<std::pair<std::string, const Column*>> columns() const {
    return write == nullptr ? placed.columns() : documents::written_columns(placed, *write);
  }

  void add_values(Object& out, const char* sign = "$") const {
    for (const auto& [name, column] : placed.columns()) out.add(name, sign + value_name(name));
  }

  [[nodiscard]] Object values(const char* sign = "$") const {
    Object out;
    add_values(out, sign);
    return out;
  }

  [[nodiscard]] Object embedded_entry(const char* sign = "$") const {
    Object out;
    add_parts(out, placed.key, sign);
    add_values(out, sign);
    if (placed.versioned) out.add(version_field, "1");
    return out;
  }

  // Below a field of the family's own.
  [[nodiscard]] std::string path(const std::string& name) const {
    return placed.shape == Shape::Subdocument ? fmt::format("{}.{}", field(placed.name), escaped(name)) : field(name);
  }
  [[nodiscard]] std::string plain_path(const std::string& name) const {
    return placed.shape == Shape::Subdocument ? fmt::format("{}.{}", placed.name, name) : name;
  }

  [[nodiscard]] std::string element(const char* sign = "$") const {
    std::string key = sign + family.key[0].name + end_of(family.key[0]);
    if (family.elements == TypeKind::List) return std::string(sign) + "value";
    if (family.elements == TypeKind::Set) return key;
    Object out;
    out.add("key", key);
    out.add("value", std::string(sign) + "value");
    return out.text();
  }

  [[nodiscard]] bool guarded() const { return family.base && kind.versioned; }
  [[nodiscard]] std::string use_keys() const { return fmt::format("{} AS d USE KEYS ${}", into, document_key()); }

  const Layout& layout;
  const Keyspace& keyspace;
  const Kind& kind;
  const Placed& placed;
  const FamilyOutline& family;
  const std::string into;
  const Write* write = nullptr;  // none: a read
};

std::string key_value(const Kind& kind, const std::string& call) {
  return fmt::format("key-value: {}.{}", kind.name, call);
}

std::string get_spec(const std::string& path) { return fmt::format("get({})", quoted_text(path)); }

class Reader {
 public:
  Reader(Words words, const Read& read) : words_(std::move(words)), read_(read) {}

  [[nodiscard]] Native run() const {
    switch (words_.placed.shape) {
      case Shape::Fields:
      case Shape::Subdocument:
      case Shape::Flat:
        return block();
      case Shape::Elements:
        return elements();
      case Shape::Document:
        return read_.one_entry() ? block() : entries();
      case Shape::Embedded:
        return embedded();
    }
    return {};
  }

 private:
  [[nodiscard]] bool whole() const { return words_.kind.families.size() == 1 + read_.mates.size(); }

  // The fields of the family.
  [[nodiscard]] Texts names() const {
    Texts out;
    bool guarded = words_.guarded();
    show(words_.placed, out);
    for (const FamilyOutline* mate : read_.mates) {
      show(words_.layout.placed(*mate), out);
      guarded = guarded || (mate->base && words_.kind.versioned);
    }
    if (guarded) out.emplace_back(version_field);
    return out;
  }

  static void show(const Placed& placed, Texts& out) {
    if (placed.inside()) {
      out.push_back(placed.name);
    } else {
      for (const auto& [name, column] : placed.columns()) out.push_back(name);
    }
  }

  [[nodiscard]] std::string select() const {
    if (whole()) return "SELECT META(d).id AS noam_key, d.*";
    Texts out = {"META(d).id AS noam_key"};
    if (words_.placed.shape == Shape::Document)
      for (const Part& part : words_.kind.id) out.push_back(field(part.name));
    for (const std::string& name : names()) out.push_back(field(name));
    return "SELECT " + joined(out);
  }

  [[nodiscard]] std::string from() const {
    return "FROM " + (read_.scan ? fmt::format("{} AS d", words_.into) : words_.use_keys());
  }

  [[nodiscard]] Native block() const {
    Native out{laid_out({select(), from()}), {}};
    if (read_.scan) return out;
    Texts specs;
    for (const std::string& name : names()) specs.push_back(get_spec(name));
    out.why_not = key_value(words_.kind, whole() || specs.empty() || specs.size() > most_specs
                                             ? "get(noam_key)"
                                             : fmt::format("lookupIn(noam_key, [{}])", joined(specs)));
    return out;
  }

  // What is asked of the parts of an entry's key that are fields of `alias`.
  void ask(const std::string& alias, Texts& where) const {
    const std::vector<Part>& key = words_.placed.key;
    for (std::size_t i = 0; i < key.size(); ++i) {
      const std::string at = fmt::format("{}.{}", alias, escaped(sort_field(key[i])));
      const std::string given = parameter(sort_field(key[i]));
      if (key[i].column->constant)
        where.push_back(fmt::format("{} = {}", at, words_.given(key[i])));
      else if (!read_.scan && i < read_.prefix)
        where.push_back(fmt::format("{} = {}", at, given));
      else if (i == read_.prefix)
        add_bounds(at, given, where);
    }
  }

  void add_bounds(const std::string& at, const std::string& given, Texts& where) const {
    if (read_.low) where.push_back(fmt::format("{} {} {}_from", at, read_.low_inclusive ? ">=" : ">", given));
    if (read_.high) where.push_back(fmt::format("{} {} {}_to", at, read_.high_inclusive ? "<=" : "<", given));
  }

  [[nodiscard]] Texts order(const std::string& alias, bool with_block) const {
    Texts out;
    const auto term = [&](const Part& part) {
      out.push_back(fmt::format("{}.{}{}", alias, escaped(sort_field(part)),
                                part.column->descending != read_.reverse ? " DESC" : ""));
    };
    // All parts of the index, so that its order is taken for the answer's.
    if (with_block)
      for (const Part& part : words_.kind.block()) term(part);
    for (std::size_t i = with_block ? 0 : read_.prefix; i < words_.placed.key.size(); ++i) term(words_.placed.key[i]);
    return out;
  }

  void add_end(Texts& clauses, const Texts& where, const Texts& sorted) const {
    if (!where.empty()) clauses.push_back("WHERE " + joined(where, " AND "));
    if (!read_.scan && !sorted.empty()) clauses.push_back("ORDER BY " + joined(sorted));
    if (read_.limited) clauses.emplace_back("LIMIT $noam_limit");
  }

  [[nodiscard]] Native entries() const {
    Texts where;
    if (!read_.scan)
      for (const Part& part : words_.kind.block())
        where.push_back(fmt::format("{} = {}", field(sort_field(part)),
                                    part.column->constant ? words_.given(part) : parameter(sort_field(part))));
    ask("d", where);
    Texts clauses = {select(), fmt::format("FROM {} AS d", words_.into)};
    add_end(clauses, where, order("d", true));
    return {laid_out(clauses), {}};
  }

  [[nodiscard]] Native elements() const {
    const std::string at = field(words_.placed.name);
    const std::string key = parameter(words_.family.key[0].name);
    const bool list = words_.family.elements == TypeKind::List;
    const bool set = words_.family.elements == TypeKind::Set;
    if (read_.scan || (!read_.one_entry() && !read_.ranged() && !(list && read_.limited))) return block();
    if (read_.ranged()) return some_elements(at, key, list, set);
    if (list && !read_.one_entry())
      return {
          laid_out({fmt::format("SELECT RAW {}[{}]", at, read_.reverse ? "-$noam_limit:" : "0:$noam_limit"), from()}),
          {}};
    if (list)
      return {laid_out({fmt::format("SELECT RAW {}[{}]", at, key), from()}),
              key_value(words_.kind,
                        fmt::format("lookupIn(noam_key, [get(\"{}[\" + position + \"]\")])", words_.placed.name))};
    if (set) return {laid_out({"SELECT META(d).id AS noam_key", from(), fmt::format("WHERE {} IN {}", key, at)}), {}};
    return {laid_out({fmt::format("SELECT RAW FIRST e.`value` FOR e IN {} WHEN e.`key` = {} END", at, key), from()}),
            {}};
  }

  [[nodiscard]] Native some_elements(const std::string& at, const std::string& key, bool list, bool set) const {
    Texts where;
    add_bounds(list ? "p" : set ? "e" : "e.`key`", key, where);
    return {laid_out({fmt::format("SELECT RAW ARRAY e FOR {}e IN {} WHEN {} END", list ? "p:" : "", at,
                                  joined(where, " AND ")),
                      from()}),
            {}};
  }

  [[nodiscard]] Native embedded() const {
    Texts where;
    ask("e", where);
    Texts clauses = {"SELECT RAW e", from(), fmt::format("UNNEST {} AS e", field(words_.placed.name))};
    add_end(clauses, where, read_.one_entry() ? Texts() : order("e", false));
    return {laid_out(clauses), {}};
  }

  Words words_;
  const Read& read_;
};

// What is done to one document: in SQL++, and in the calls of the key-value service where these say the same.
struct Change {
  Texts set;
  Texts unset;
  Texts specs;
  bool told = true;  // by the specs

  void put(const std::string& path, const std::string& value, const std::string& plain,
           const std::string& plain_value) {
    set.push_back(fmt::format("{} = {}", path, value));
    specs.push_back(fmt::format("upsert({}, {})", quoted_text(plain), plain_value));
  }
};

// Whether an entry `e` inside a document is the one with the given key.
std::string is_that_entry(const Words& words) {
  Texts same;
  for (const Part& part : words.placed.key)
    same.push_back(fmt::format("e.{} = {}", escaped(sort_field(part)),
                               part.column->constant ? words.given(part)
                                                     : parameter(sort_field(part) + words.end_of(*part.column))));
  return joined(same, " AND ");
}

void change_element(const Words& words, bool put, bool erase, Change& out) {
  const std::string& name = words.placed.name;
  const std::string at = field(name);
  const TypeKind elements = words.family.elements;
  // Two changes of one array: then it is set anew.
  if (put && erase) {
    out.set.push_back(fmt::format("{} = {}", at, parameter(name)));
    out.specs.push_back(fmt::format("replace({}, {})", quoted_text(name), name));
    return;
  }
  if (elements == TypeKind::List) {
    const std::string position = parameter(words.family.key[0].name);
    out.set.push_back(
        erase ? fmt::format("{0} = {0}[0:ARRAY_LENGTH({0}) - 1]", at)
              : fmt::format(
                    "{0} = CASE WHEN {1} < ARRAY_LENGTH({0}) THEN ARRAY CASE WHEN p = {1} THEN $value ELSE e END FOR "
                    "p:e IN {0} END ELSE ARRAY_APPEND({0}, $value) END",
                    at, position));
    out.specs.push_back(erase ? fmt::format("remove(\"{}[-1]\")", name)
                              : fmt::format("arrayAppend({}, value)", quoted_text(name)));
    return;
  }
  if (elements == TypeKind::Set) {
    out.set.push_back(fmt::format("{} = {}({}, {})", at, erase ? "ARRAY_REMOVE" : "ARRAY_PUT", at, words.element()));
    // Sub-documents can add a scalar that is not there, and remove nothing by its value.
    if (erase)
      out.told = false;
    else
      out.specs.push_back(fmt::format("arrayAddUnique({}, {})", quoted_text(name), words.element("")));
    return;
  }
  const std::string rest = fmt::format("ARRAY e FOR e IN {} WHEN e.`key` != ${}{} END", at, words.family.key[0].name,
                                       words.end_of(words.family.key[0]));
  out.set.push_back(
      fmt::format("{} = {}", at, erase ? rest : fmt::format("ARRAY_APPEND({}, {})", rest, words.element())));
  out.told = false;
}

void change_columns(const Words& words, const Write* put, bool append, bool erase, Change& out) {
  for (const auto& [name, column] : words.placed.columns()) {
    const bool list = column->type.kind == TypeKind::List && column->place.kind == design::Place::Kind::Cell;
    const std::string value = words.value_name(name);
    if ((put != nullptr && put->writes(*column)) || (put == nullptr && append && !list)) {
      out.put(words.path(name), parameter(value), words.plain_path(name), value);
    } else if (append && list) {
      out.set.push_back(fmt::format("{0} = ARRAY_CONCAT({0}, {1})", words.path(name), parameter(value)));
      out.specs.push_back(
          fmt::format("arrayAppend({}, {}, {{ multi: true }})", quoted_text(words.plain_path(name)), value));
    } else if (erase && put == nullptr) {
      out.unset.push_back(words.path(name));
      out.specs.push_back(fmt::format("remove({})", quoted_text(words.plain_path(name))));
    }
  }
}

void change_family(const Words& words, const std::vector<Write>& writes, Change& out) {
  const Write* put = documents::put_among(writes, words.family);
  const bool append = documents::writes_any(writes, words.family, WriteKind::Append);
  const bool erase = documents::writes_any(writes, words.family, WriteKind::Erase) && !words.family.existence;
  if (words.placed.shape == Shape::Elements) {
    change_element(words, put != nullptr, erase, out);
  } else if (words.placed.shape == Shape::Subdocument && !(put != nullptr && put->partial())) {
    if (put != nullptr)
      out.put(field(words.placed.name), words.values().text(), words.placed.name, words.values("").text());
    if (erase) {
      out.unset.push_back(field(words.placed.name));
      out.specs.push_back(fmt::format("remove({})", quoted_text(words.placed.name)));
    }
  } else {
    change_columns(words, put, append, erase, out);
  }
}

std::string mutate(const Words& words, const Texts& specs, const char* options) {
  if (specs.size() > most_specs) return {};
  return key_value(words.kind, fmt::format("mutateIn({}, [{}]{})", words.document_key(), joined(specs), options));
}

Native update(const Words& words, Change change, bool guarded) {
  Texts clauses = {fmt::format("UPDATE {}", words.use_keys())};
  if (guarded) change.put(field(version_field), parameter(next_version), version_field, next_version);
  if (!change.set.empty()) clauses.push_back("SET " + joined(change.set));
  if (!change.unset.empty()) clauses.push_back("UNSET " + joined(change.unset));
  if (guarded) clauses.push_back(fmt::format("WHERE {} = $noam_version", field(version_field)));
  return {laid_out(clauses), change.told ? mutate(words, change.specs, guarded ? ", { cas }" : "") : std::string()};
}

Native insert(const Words& head) {
  const auto document = [&](const char* sign) {
    Object out;
    head.add_parts(out, head.id_parts(), sign);
    for (const Placed& placed : head.kind.families) {
      if (!placed.family->base) continue;
      const Words words(head.layout, head.keyspace, *placed.family);
      if (placed.shape == Shape::Fields || placed.shape == Shape::Document)
        words.add_values(out, sign);
      else if (placed.shape == Shape::Subdocument)
        out.add(placed.name, words.values(sign).text());
      else if (placed.shape == Shape::Elements)
        out.add(placed.name, sign + placed.name);
    }
    out.add(version_field, "1");
    return out.text();
  };
  return {laid_out({fmt::format("INSERT INTO {} (KEY, VALUE)", head.into),
                    fmt::format("VALUES ($noam_key, {})", document("$"))}),
          key_value(head.kind, fmt::format("insert(noam_key, {})", document("")))};
}

// Writes to what has no version: copies, and parts of an aggregate that lie elsewhere.
class Writer {
 public:
  Writer(Words words, const Write& write) : words_(std::move(words)), write_(write) {}

  [[nodiscard]] Native run() const {
    if (write_.kind == WriteKind::Insert && words_.placed.shape != Shape::Embedded) return insert(words_);
    if (write_.kind == WriteKind::Erase) return erase();
    if (words_.placed.shape == Shape::Embedded) return embedded();
    if (write_.kind == WriteKind::Add) return add();
    if (write_.partial()) {
      Change change;
      change_family(words_, {write_}, change);
      return update(words_, std::move(change), words_.guarded());
    }
    if (of_one_family() && !words_.guarded() && words_.placed.shape != Shape::Subdocument &&
        words_.placed.shape != Shape::Elements)
      return put_document();
    Change change;
    change_family(words_, {write_}, change);
    if (words_.guarded() || !documents::makes_document(words_.kind))
      return update(words_, std::move(change), words_.guarded());
    return merged(change);
  }

 private:
  // Each document of the collection is of one family.
  [[nodiscard]] bool of_one_family() const {
    const auto apart = [&](const Placed& other) {
      if (other.family->index == words_.family.index) return true;
      for (std::size_t i = 0; i < other.key.size() && i < words_.placed.key.size(); ++i)
        if (other.key[i].column->constant != words_.placed.key[i].column->constant) return true;
      return false;
    };
    return std::all_of(words_.kind.families.begin(), words_.kind.families.end(), apart);
  }

  [[nodiscard]] Object key_fields(const char* sign) const {
    Object out;
    words_.add_parts(out, words_.id_parts(), sign);
    return out;
  }

  [[nodiscard]] Native put_document() const {
    const auto document = [&](const char* sign) {
      Object out = key_fields(sign);
      words_.add_values(out, sign);
      return out.text();
    };
    return {laid_out({fmt::format("UPSERT INTO {} (KEY, VALUE)", words_.into),
                      fmt::format("VALUES ($noam_key, {})", document("$"))}),
            key_value(words_.kind, fmt::format("upsert(noam_key, {})", document("")))};
  }

  // The document is changed, or made with nothing but this.
  [[nodiscard]] Native merge(const Texts& set, const Object& fresh, const Texts& specs) const {
    Texts all;
    for (const Part& part : words_.id_parts()) {
      all.push_back(fmt::format("upsert({}, {})", quoted_text(part.name), words_.given(part, "")));
      if (!part.order.empty())
        all.push_back(fmt::format("upsert({}, {})", quoted_text(part.order), part.order + words_.end_of(*part.column)));
    }
    all.insert(all.end(), specs.begin(), specs.end());
    return {laid_out({fmt::format("MERGE INTO {} AS d", words_.into),
                      fmt::format("USING [{{\"noam_key\": ${}}}] AS s ON KEY s.noam_key", words_.document_key()),
                      "WHEN MATCHED THEN UPDATE SET " + joined(set),
                      fmt::format("WHEN NOT MATCHED THEN INSERT {}", fresh.text())}),
            specs.empty() ? std::string() : mutate(words_, all, ", { storeSemantics: StoreSemantics.Upsert }")};
  }

  [[nodiscard]] Native merged(const Change& change) const {
    Object fresh = key_fields("$");
    if (words_.placed.shape == Shape::Subdocument)
      fresh.add(words_.placed.name, words_.values().text());
    else if (words_.placed.shape == Shape::Elements)
      fresh.add(words_.placed.name, "[" + words_.element() + "]");
    else
      words_.add_values(fresh);
    return merge(change.set, fresh, change.told ? change.specs : Texts());
  }

  [[nodiscard]] Native add() const {
    Texts set;
    Texts specs;
    for (const auto& [name, column] : words_.placed.columns()) {
      const std::string value = words_.value_name(name);
      set.push_back(fmt::format("{0} = IFMISSINGORNULL({0}, 0) + {1}", words_.path(name), parameter(value)));
      specs.push_back(fmt::format("increment({}, {})", quoted_text(words_.plain_path(name)), value));
    }
    if (!documents::makes_document(words_.kind) || write_.gone)
      return {laid_out({fmt::format("UPDATE {}", words_.use_keys()), "SET " + joined(set)}), mutate(words_, specs, "")};
    Object fresh = key_fields("$");
    if (words_.placed.shape == Shape::Subdocument)
      fresh.add(words_.placed.name, words_.values().text());
    else
      words_.add_values(fresh);
    return merge(set, fresh, specs);
  }

  [[nodiscard]] Native erase() const {
    if (words_.placed.shape == Shape::Embedded) return erase_embedded();
    if (words_.family.existence)
      return {laid_out({fmt::format("DELETE FROM {}", words_.use_keys()),
                        fmt::format("WHERE {} = $noam_version", field(version_field))}),
              key_value(words_.kind, "remove(noam_key, { cas })")};
    const std::string over =
        write_.only_if_over() ? fmt::format("WHERE {} <= 0", words_.path(documents::counted_out(words_.placed))) : "";
    const bool alone = of_one_family() && !words_.guarded() && words_.placed.shape != Shape::Elements;
    if (alone) {
      Texts clauses = {fmt::format("DELETE FROM {}", words_.use_keys())};
      if (!over.empty()) clauses.push_back(over);
      return {laid_out(clauses), key_value(words_.kind, fmt::format("remove({}{})", words_.document_key(),
                                                                    over.empty() ? "" : ", { cas }"))};
    }
    Change change;
    change_family(words_, {write_}, change);
    Native out = update(words_, std::move(change), words_.guarded());
    if (!over.empty()) return {out.text + (out.text.find('\n') == std::string::npos ? " " : "\n  ") + over, {}};
    return out;
  }

  [[nodiscard]] std::string array() const { return fmt::format("IFMISSINGORNULL({}, [])", field(words_.placed.name)); }

  // The entries but those that are so.
  [[nodiscard]] std::string others(const std::string& condition) const {
    return fmt::format("ARRAY e FOR e IN {} WHEN NOT ({}) END", array(), condition);
  }

  [[nodiscard]] Native erase_embedded() const {
    std::string that = is_that_entry(words_);
    if (write_.only_if_over()) that += fmt::format(" AND e.{} <= 0", escaped(documents::counted_out(words_.placed)));
    if (words_.placed.versioned) that += fmt::format(" AND e.{} = $noam_version", escaped(version_field));
    return {laid_out({fmt::format("UPDATE {}", words_.use_keys()),
                      fmt::format("SET {} = {}", field(words_.placed.name), others(that)),
                      fmt::format("WHERE ANY e IN {} SATISFIES {} END", array(), that)}),
            {}};
  }

  // The entry is made anew: what is there of it, with what changes.
  [[nodiscard]] Native embedded() const {
    Object entry;
    words_.add_parts(entry, words_.placed.key);
    const std::string there = is_that_entry(words_);
    for (const auto& [name, column] : words_.placed.columns()) {
      const std::string value = parameter(words_.value_name(name));
      const std::string old = fmt::format("(FIRST e.{} FOR e IN {} WHEN {} END)", escaped(name), array(), there);
      if (write_.kind == WriteKind::Add)
        entry.add(name, fmt::format("IFMISSINGORNULL({}, 0) + {}", old, value));
      else if (write_.kind == WriteKind::Append)
        entry.add(name, column->type.kind == TypeKind::List ? fmt::format("ARRAY_CONCAT({}, {})", old, value) : old);
      else
        entry.add(name, write_.writes(*column) ? value : old);
    }
    const bool fresh = write_.kind == WriteKind::Insert;
    if (words_.placed.versioned) entry.add(version_field, fresh ? "1" : parameter(next_version));
    const std::string set =
        fmt::format("{} = ARRAY_APPEND({}, {})", field(words_.placed.name), others(there), entry.text());
    if (documents::makes_document(words_.kind) && !(words_.placed.versioned && !fresh) && !write_.partial()) {
      Object document = key_fields("$");
      document.add(words_.placed.name, "[" + words_.embedded_entry().text() + "]");
      const std::string only_if = fresh ? fmt::format(" WHERE NOT ANY e IN {} SATISFIES {} END", array(), there) : "";
      return merge({set + only_if}, document, {});
    }
    Texts clauses = {fmt::format("UPDATE {}", words_.use_keys()), "SET " + set};
    if (words_.placed.versioned)
      clauses.push_back(fmt::format("WHERE ANY e IN {} SATISFIES {} AND e.{} = $noam_version END", array(), there,
                                    escaped(version_field)));
    return {laid_out(clauses), {}};
  }

  Words words_;
  const Write& write_;
};

}  // namespace

std::string escaped(std::string_view name) { return fmt::format("`{}`", name); }

std::string Keyspace::path(std::string_view collection) const {
  return fmt::format("{}.{}.{}", escaped(bucket), escaped(scope), escaped(collection));
}

const std::string& sort_field(const Part& part) { return part.order.empty() ? part.name : part.order; }

Native SqlDialect::read(const Read& read) const { return Reader(Words(layout_, keyspace_, *read.family), read).run(); }

bool SqlDialect::in_one_place(const FamilyOutline& a, const FamilyOutline& b) const {
  return documents::in_one_document(layout_, a, b);
}

Native SqlDialect::write(const Write& write) const { return Writer(Words(layout_, keyspace_, write), write).run(); }

std::string SqlDialect::together(const std::vector<Write>& writes) const {
  return documents::told_together(layout_, writes);
}

std::vector<Native> SqlDialect::united(const Kind& kind, const std::vector<Write>& writes) const {
  std::vector<Native> out;
  std::vector<Native> erased;
  Change change;
  const FamilyOutline* changed = nullptr;
  for (const Write& write : writes) {
    const Words words(layout_, keyspace_, write);
    if (write.kind == WriteKind::Insert) out.push_back(insert(words));
    if (write.kind == WriteKind::Erase && write.family->existence) erased.push_back(Writer(words, write).run());
  }
  for (const Placed& placed : kind.families) {
    const FamilyOutline& family = *placed.family;
    const bool erases = documents::writes_any(writes, family, WriteKind::Erase) && erased.empty();
    if (!documents::writes_any(writes, family, WriteKind::Put) &&
        !documents::writes_any(writes, family, WriteKind::Append) && !erases)
      continue;
    change_family(Words(layout_, keyspace_, family), writes, change);
    changed = &family;
  }
  if (changed != nullptr) out.push_back(update(Words(layout_, keyspace_, *changed), std::move(change), true));
  out.insert(out.end(), erased.begin(), erased.end());
  return out;
}

}  // namespace noam::targets::couchbase
