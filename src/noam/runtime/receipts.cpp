#include "noam/runtime/receipts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <xxhash.h>

#include "noam/base/check.h"
#include "noam/base/json.h"
#include "noam/model/packed.h"
#include "noam/model/scalars.h"
#include "noam/runtime/session_state.h"

namespace noam::runtime {

using model::Datum;

namespace {

Json datum_json(const Datum& datum) {
  if (datum.absent()) return nullptr;
  if (datum.is_bool()) return datum.as_bool();
  if (datum.is_int()) return datum.as_int();
  if (datum.is_double()) return Json{{"f", datum.as_double()}};
  if (datum.is_decimal()) return Json{{"d", datum.as_decimal().text()}};
  if (datum.is_string()) return Json{{"s", model::print_base64(datum.as_string())}};
  Json list = Json::array();
  for (const Datum& item : datum.as_list()) list.push_back(datum_json(item));
  return list;
}

std::optional<Datum> datum_from(const Json& json, int depth = 0) {
  if (depth > 64) return std::nullopt;
  if (json.is_null()) return Datum();
  if (json.is_boolean()) return Datum(json.get<bool>());
  if (json.is_number_integer() && !(json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX))
    return Datum(json.get<std::int64_t>());
  if (json.is_array()) {
    Datum::List items;
    for (const Json& item : json) {
      auto made = datum_from(item, depth + 1);
      if (!made) return std::nullopt;
      items.push_back(std::move(*made));
    }
    return Datum(std::move(items));
  }
  if (!json.is_object() || json.size() != 1) return std::nullopt;
  const std::string kind = json.begin().key();
  const Json& value = json.begin().value();
  if (kind == "f" && value.is_number()) return Datum(value.get<double>());
  if (kind == "d" && value.is_string()) {
    auto made = model::Decimal::parse(value.get<std::string>());
    return made ? std::optional<Datum>(Datum(std::move(*made))) : std::nullopt;
  }
  if (kind == "s" && value.is_string()) {
    auto made = model::parse_base64(value.get<std::string>());
    return made ? std::optional<Datum>(Datum(std::move(*made))) : std::nullopt;
  }
  return std::nullopt;
}

std::string text_of(const model::Model& model, const Receipt& receipt) {
  Json json{{"command", receipt.command}, {"sum", receipt.sum}};
  if (receipt.todo) {
    json["todo"] = datum_json(Datum(*receipt.todo));
    return json.dump();
  }
  Json keys = Json::array();
  for (const auto& [entity, key] : receipt.outcome.keys)
    keys.push_back(Json::array({model.entity(entity).name, datum_json(key)}));
  json["keys"] = std::move(keys);
  if (receipt.outcome.count) json["count"] = *receipt.outcome.count;
  return json.dump();
}

}  // namespace

std::string sum_of(const std::vector<Datum>& parameters) {
  std::string all;
  for (const Datum& parameter : parameters) model::append_packed(parameter, all);
  return fmt::format("{:016x}", XXH3_64bits(all.data(), all.size()));
}

stores::EntryRef receipt_entry(const design::Design& design, const model::CommandId& id) {
  const std::uint32_t family = family_for(design, design::Purpose::Guard);
  return {{design.families[family].collection, {Datum(std::string(id.bytes.begin(), id.bytes.end()))}}, family, {}};
}

namespace {

// Whether the parameters alone tell it.
bool is_fixed(const model::Model& model, const model::Expr& expr) {
  using model::ExprKind;
  // A part of the key that a reference is.
  if (expr.kind == ExprKind::Field && expr.operands[0].kind == ExprKind::Parameter &&
      expr.operands[0].type.kind == model::TypeKind::Reference) {
    const auto& key = model.entity(expr.operands[0].type.entity()).key;
    return std::find(key.begin(), key.end(), expr.index) != key.end();
  }
  if (expr.kind != ExprKind::Constant && expr.kind != ExprKind::Parameter && expr.kind != ExprKind::List &&
      expr.kind != ExprKind::Record && expr.kind != ExprKind::Instance)
    return false;
  return std::all_of(expr.operands.begin(), expr.operands.end(),
                     [&](const model::Expr& operand) { return is_fixed(model, operand); });
}

// The parts of the key of the instance that the change is about. None: they are not told by the parameters.
std::optional<std::vector<model::Expr>> key_parts(const model::Model& model, const model::Change& change) {
  std::vector<model::Expr> out;
  if (change.target.kind == model::ExprKind::Instance) {
    out = change.target.operands;
  } else if (change.kind == model::ChangeKind::Insert || change.kind == model::ChangeKind::Put) {
    for (const std::uint32_t field : model.entity(change.entity).key)
      for (const model::Assignment& assignment : change.assignments)
        if (assignment.target.kind == model::ExprKind::Field && assignment.target.index == field)
          out.push_back(assignment.value);
    if (out.size() != model.entity(change.entity).key.size()) return std::nullopt;
  } else {
    return std::nullopt;
  }
  if (!std::all_of(out.begin(), out.end(), [&](const model::Expr& part) { return is_fixed(model, part); }))
    return std::nullopt;
  return out;
}

}  // namespace

std::optional<ReceiptPlace> receipt_place(const design::Program& program, const BaseEntries& bases,
                                          const model::Command& command) {
  for (const model::Change& change : command.changes) {
    auto key = key_parts(*program.model, change);
    if (!key) continue;
    if (const auto family = bases.family_by_key(change.entity))
      return ReceiptPlace{change.entity, std::move(*key), *family};
  }
  return std::nullopt;
}

stores::Guard::Beside beside(const ReceiptPlace& place, const BaseEntries& bases, const Environment& environment) {
  Datum::List parts;
  for (const model::Expr& part : place.key) parts.push_back(evaluate(environment, part, {}));
  const Datum key = parts.size() == 1 ? parts[0] : Datum(std::move(parts));
  return {bases.head_of(place.entity, place.family, key).block, place.family};
}

stores::Guard guard_of(const design::Program& program, const model::CommandId& id, const Receipt& receipt) {
  return {receipt_entry(program.design, id), {text_of(*program.model, receipt), id.milliseconds()}, id.milliseconds()};
}

stores::Guard question(const design::Program& program, const model::CommandId& id) {
  return {receipt_entry(program.design, id), {}, id.milliseconds()};
}

Receipt read_receipt(const model::Model& model, const stores::Key& kept) {
  Receipt out;
  const Json json = Json::read(kept[0].as_string()).value_or(Json());
  check(json.is_object(), "what is kept under an id is as it was written");
  if (json.contains("command")) out.command = json["command"].get<std::string>();
  if (json.contains("sum")) out.sum = json["sum"].get<std::string>();
  if (json.contains("todo")) {
    auto todo = datum_from(json["todo"]);
    check(todo && todo->is_list(), "a bulk change is kept as it was written");
    out.todo = todo->as_list();
    return out;
  }
  for (const Json& key : json["keys"])
    for (std::uint32_t i = 0; i < model.entities.size(); ++i)
      if (model.entities[i].name == key[0].get<std::string>())
        out.outcome.keys.emplace_back(static_cast<model::EntityId>(i), *datum_from(key[1]));
  if (json.contains("count")) out.outcome.count = json["count"].get<std::int64_t>();
  return out;
}

}  // namespace noam::runtime
