#include "noam/design/layout.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "noam/base/json.h"
#include "noam/model/writing.h"

namespace noam::design {

const char* purpose_name(Purpose purpose) {
  switch (purpose) {
    case Purpose::Base:
      return "base";
    case Purpose::Written:
      return "written";
    case Purpose::Access:
      return "access";
    case Purpose::Locator:
      return "locator";
    case Purpose::Members:
      return "members";
    case Purpose::Due:
      return "due";
    case Purpose::Refreshed:
      return "refreshed";
    case Purpose::Guard:
      return "guard";
    case Purpose::Notes:
      break;
  }
  return "notes";
}

const char* hidden_name(HiddenKind kind) {
  switch (kind) {
    case HiddenKind::Weight:
      return "weight";
    case HiddenKind::Sum:
      return "sum";
    case HiddenKind::Counted:
      return "counted";
    case HiddenKind::Due:
      return "due";
    case HiddenKind::Elements:
      break;
  }
  return "elements";
}

namespace {

class Describer {
 public:
  Describer(const Design& design, const model::Model& model) : design_(design), model_(model) {}

  [[nodiscard]] Json describe() const {
    Json out;
    out["values"] = Json::array();
    for (const model::Value& value : model_.values) out["values"].push_back(described(value.name, value.fields));
    out["entities"] = Json::array();
    for (const model::Entity& entity : model_.entities) {
      Json one = described(entity.name, entity.fields);
      one["key"] = Json::array();
      for (const std::uint32_t field : entity.key) one["key"].push_back(entity.fields[field].name);
      if (entity.transient) one["transient"] = true;
      out["entities"].push_back(std::move(one));
    }
    out["collections"] = Json::array();
    for (const Collection& collection : design_.collections) {
      const model::Scope scope{model_, collection.variables, {}};
      Json one{{"name", collection.name}, {"by", parts(scope, collection.by)}, {"families", Json::array()}};
      for (const std::uint32_t family : collection.families)
        if (family < design_.families.size()) one["families"].push_back(described(scope, design_.families[family]));
      out["collections"].push_back(std::move(one));
    }
    return out;
  }

 private:
  [[nodiscard]] Json described(const std::string& name, const std::vector<model::Field>& fields) const {
    Json list = Json::array();
    for (const model::Field& field : fields) {
      const bool owner = field.role && model_.roles[*field.role].owner;
      list.push_back({{"name", field.name}, {"type", to_string(model_, field.type) + (owner ? " owner" : "")}});
    }
    return {{"name", name}, {"fields", std::move(list)}};
  }

  [[nodiscard]] Json parts(const model::Scope& scope, const std::vector<model::Part>& all) const {
    Json out = Json::array();
    for (const model::Part& part : all)
      out.push_back({{"name", part.name},
                     {"of", written(scope, part.expr)},
                     {"type", to_string(model_, part.expr.type)},
                     {"descending", part.descending}});
    return out;
  }

  [[nodiscard]] Json cells(const model::Scope& scope, const std::vector<model::Cell>& all) const {
    Json out = Json::array();
    for (const model::Cell& cell : all) {
      Json one{{"name", cell.name}};
      if (cell.shape == model::CellShape::Plain) {
        one["of"] = written(scope, cell.expr);
        one["type"] = to_string(model_, cell.expr.type);
      } else {
        one["shape"] = cell.shape == model::CellShape::List ? "list" : "object";
        one["cells"] = cells(scope, cell.cells);
        if (!cell.from.empty()) one["from"] = written_sources(scope, cell.from);
        if (!cell.order_by.empty()) one["order"] = parts(scope, cell.order_by);
        if (cell.limit) one["limit"] = *cell.limit;
      }
      out.push_back(std::move(one));
    }
    return out;
  }

  [[nodiscard]] Json described(const model::Scope& scope, const Family& family) const {
    Json out{{"name", family.name}, {"purpose", purpose_name(family.purpose)}};
    if (!family.from.empty()) out["from"] = written_sources(scope, family.from);
    out["key"] = parts(scope, family.key);
    out["columns"] = cells(scope, family.cells);
    if (family.where) out["where"] = written(scope, *family.where);
    if (family.limit) out["limit"] = *family.limit;
    if (family.elements) out["elements"] = *family.elements;
    if (family.existence) out["existence"] = true;
    if (family.grouped) out["grouped"] = true;
    if (!family.hidden.empty()) {
      out["hidden"] = Json::array();
      for (const Hidden& hidden : family.hidden)
        out["hidden"].push_back(fmt::format("{} {}", hidden_name(hidden.kind), hidden.of));
    }
    switch (family.purpose) {
      case Purpose::Members:
        out["members of"] = fmt::format("{} {}", design_.families[family.members_of].name, family.members_column);
        break;
      case Purpose::Due:
        out["of"] = model_.entities[family.members_of].name;
        break;
      case Purpose::Refreshed:
        out["of"] = model_.queries[family.members_of].name;
        break;
      default:
        break;
    }
    return out;
  }

  const Design& design_;
  const model::Model& model_;
};

std::string text_of(const Json& json, const char* member) {
  const auto found = json.find(member);
  if (found == json.end()) return {};
  return found->is_string() ? found->get<std::string>() : found->dump();
}

const Json& list_of(const Json& json, const char* member) {
  static const Json none = Json::array();
  const auto found = json.find(member);
  return found != json.end() && found->is_array() ? *found : none;
}

const Json* find_named(const Json& list, const std::string& name) {
  for (const Json& one : list)
    if (text_of(one, "name") == name) return &one;
  return nullptr;
}

// `[a, b desc]`
std::string key_text(const Json& parts) {
  std::string out;
  for (const Json& part : parts) {
    out += (out.empty() ? "" : ", ") + text_of(part, "name");
    if (part.value("descending", false)) out += " desc";
  }
  return "[" + out + "]";
}

std::string family_text(const Json& family) {
  const std::string name = text_of(family, "name");
  return fmt::format("{} {}{}", text_of(family, "purpose"), name.empty() ? "ε" : name,
                     key_text(list_of(family, "key")));
}

// What changed in a list of things that have a name and are described by the rest.
void compare_named(const std::string& where, const Json& stored, const Json& wanted, const char* what,
                   std::vector<std::string>& out) {
  for (const Json& one : stored) {
    const std::string name = text_of(one, "name");
    const Json* now = find_named(wanted, name);
    if (now == nullptr) {
      out.push_back(fmt::format("{}{} `{}` is only in the store", where, what, name));
    } else if (*now != one) {
      const std::string before = text_of(one, "type");
      const std::string after = text_of(*now, "type");
      out.push_back(before != after ? fmt::format("{}{} `{}` has the type `{}`, in the store `{}`", where, what, name,
                                                  after, before)
                                    : fmt::format("{}{} `{}` is different in the store", where, what, name));
    }
  }
  for (const Json& one : wanted)
    if (find_named(stored, text_of(one, "name")) == nullptr)
      out.push_back(fmt::format("{}{} `{}` is not in the store", where, what, text_of(one, "name")));
}

void compare_families(const std::string& collection, const Json& stored, const Json& wanted,
                      std::vector<std::string>& out) {
  const auto holds = [](const Json& list, const Json& one) {
    return std::find(list.begin(), list.end(), one) != list.end();
  };
  const auto alike = [](const Json& list, const Json& one) {
    return std::find_if(list.begin(), list.end(),
                        [&](const Json& other) { return family_text(other) == family_text(one); });
  };
  for (const Json& one : stored) {
    if (holds(wanted, one)) continue;
    const auto now = alike(wanted, one);
    const std::string where = fmt::format("collection `{}`, {}: ", collection, family_text(one));
    if (now == wanted.end()) {
      out.push_back(where + "is only in the store");
      continue;
    }
    const std::size_t before = out.size();
    compare_named(where, list_of(one, "columns"), list_of(*now, "columns"), "column", out);
    compare_named(where, list_of(one, "key"), list_of(*now, "key"), "key", out);
    if (out.size() == before) out.push_back(where + "holds other rows in the store");
  }
  for (const Json& one : wanted)
    if (!holds(stored, one) && alike(stored, one) == stored.end())
      out.push_back(fmt::format("collection `{}`, {}: is not in the store", collection, family_text(one)));
}

bool same_but_for_order(const Json& a, const Json& b) {
  return a.size() == b.size() && std::is_permutation(a.begin(), a.end(), b.begin());
}

}  // namespace

std::string describe_layout(const Design& design, const model::Model& model) {
  return Describer(design, model).describe().dump();
}

std::vector<LaidOut> laid_out(std::string_view layout) {
  std::vector<LaidOut> out;
  const Json json = Json::read(layout).value_or(Json());
  if (!json.is_object()) return out;
  for (const Json& collection : list_of(json, "collections")) {
    LaidOut one;
    one.name = text_of(collection, "name");
    for (const Json& family : list_of(collection, "families")) one.families.push_back(family.dump());
    out.push_back(std::move(one));
  }
  return out;
}

std::vector<std::string> layout_differences(std::string_view stored, std::string_view wanted) {
  std::vector<std::string> out;
  if (stored == wanted) return out;
  const Json before = Json::read(stored).value_or(Json());
  const Json after = Json::read(wanted).value_or(Json());
  if (!before.is_object() || !after.is_object()) return {"the layout in the store cannot be read"};
  for (const auto& [member, what] : {std::pair("entities", "entity"), std::pair("values", "value")}) {
    for (const Json& one : list_of(before, member)) {
      const Json* now = find_named(list_of(after, member), text_of(one, "name"));
      if (now == nullptr || *now == one) continue;
      const std::size_t known = out.size();
      const std::string where = fmt::format("{} `{}`: ", what, text_of(one, "name"));
      compare_named(where, list_of(one, "fields"), list_of(*now, "fields"), "field", out);
      if (out.size() == known) out.push_back(where + "its fields are in another order, or it has another key");
    }
    for (const auto& [from, in, words] :
         {std::tuple(&before, &after, "only in the store"), std::tuple(&after, &before, "not in the store")})
      for (const Json& one : list_of(*from, member))
        if (find_named(list_of(*in, member), text_of(one, "name")) == nullptr)
          out.push_back(fmt::format("{} `{}` is {}", what, text_of(one, "name"), words));
  }
  const Json& stored_collections = list_of(before, "collections");
  const Json& wanted_collections = list_of(after, "collections");
  for (const Json& one : stored_collections) {
    const std::string name = text_of(one, "name");
    const Json* now = find_named(wanted_collections, name);
    if (now == nullptr) {
      out.push_back(fmt::format("collection `{}` is only in the store", name));
      continue;
    }
    const std::size_t known = out.size();
    compare_named(fmt::format("collection `{}`: ", name), list_of(one, "by"), list_of(*now, "by"), "block key", out);
    if (!same_but_for_order(list_of(one, "families"), list_of(*now, "families"))) {
      compare_families(name, list_of(one, "families"), list_of(*now, "families"), out);
      if (out.size() == known) out.push_back(fmt::format("collection `{}` has other families in the store", name));
    }
  }
  for (const Json& one : wanted_collections)
    if (find_named(stored_collections, text_of(one, "name")) == nullptr)
      out.push_back(fmt::format("collection `{}` is not in the store", text_of(one, "name")));
  return out;
}

}  // namespace noam::design
