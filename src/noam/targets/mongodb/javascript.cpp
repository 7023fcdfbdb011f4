#include "noam/targets/mongodb/javascript.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "noam/base/json.h"
#include "noam/schemas/names.h"
#include "noam/targets/mongodb/mongodb.h"

namespace noam::targets::mongodb {

namespace {

// ECMAScript 2023, 12.7.2: reserved words, with those of strict code and of modules; and what our scripts call. The
// last two are fields with a meaning of their own.
constexpr std::string_view word_text =
    "arguments async await BinData break case catch class const continue db debugger default delete do Double EJSON "
    "else enum eval export extends false finally for from function get if implements import in instanceof Int32 "
    "interface ISODate let Long new null NumberDecimal NumberInt NumberLong ObjectId of package private protected "
    "public return set static super switch this throw true try typeof undefined use UUID var void while with yield "
    "_id __proto__";
constexpr auto words = split_words<word_count(word_text)>(word_text);
constexpr std::size_t fields = 2;

}  // namespace

const std::span<const std::string_view> reserved = words;
const std::span<const std::string_view> variable_words = std::span(words).first(words.size() - fields);
const std::span<const std::string_view> field_words = std::span(words).last(fields);

namespace {

bool identifier(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$'; };
  return !name.empty() && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

std::string member_name(const std::string& name) {
  return identifier(name) || (!name.empty() && name.front() == '[') ? name : string_literal(name);
}

}  // namespace

Js Js::object() {
  Js out;
  out.kind_ = Kind::Object;
  return out;
}

Js Js::array() {
  Js out;
  out.kind_ = Kind::Array;
  return out;
}

Js& Js::add(std::string name, Js value) {
  members_.emplace_back(std::move(name), std::move(value));
  return *this;
}

Js& Js::add(Js element) { return add(std::string(), std::move(element)); }

std::string Js::line() const {
  if (kind_ == Kind::Text) return text_;
  if (members_.empty()) return kind_ == Kind::Object ? "{}" : "[]";
  std::string out;
  for (const auto& [name, value] : members_) {
    if (!out.empty()) out += ", ";
    if (kind_ == Kind::Array)
      out += value.line();
    else if (value.kind_ == Kind::Text && value.text_ == name)
      out += name;
    else
      out += fmt::format("{}: {}", member_name(name), value.line());
  }
  return kind_ == Kind::Object ? "{ " + out + " }" : "[" + out + "]";
}

std::string Js::print(std::size_t from, std::size_t indent, std::size_t width) const {
  std::string short_form = line();
  if (from + short_form.size() <= width || members_.empty()) return short_form;
  std::string out = kind_ == Kind::Object ? "{\n" : "[\n";
  for (const auto& [name, value] : members_) {
    std::string begin(indent + 2, ' ');
    if (kind_ == Kind::Object) begin += member_name(name) + ": ";
    const bool same = kind_ == Kind::Object && value.kind_ == Kind::Text && value.text_ == name;
    out += same ? std::string(indent + 2, ' ') + name : begin + value.print(begin.size() + 1, indent + 2, width);
    out += ",\n";
  }
  out.erase(out.size() - 2, 1);  // no comma behind the last
  return out + std::string(indent, ' ') + (kind_ == Kind::Object ? "}" : "]");
}

std::string string_literal(std::string_view text) { return Json(text).dump(); }

namespace {

std::string print_call(const Call& call, std::size_t from, std::size_t indent) {
  std::string out = fmt::format(".{}(", call.name);
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    if (i > 0) out += ", ";
    const std::size_t last_line = out.rfind('\n');
    const std::size_t column = last_line == std::string::npos ? from + out.size() : out.size() - last_line - 1;
    out += call.arguments[i].print(column + 2, indent);
  }
  return out + ")";
}

}  // namespace

std::string print_calls(std::string_view collection, const std::vector<Call>& calls) {
  const std::string begin = fmt::format("db.getCollection({})", string_literal(collection));
  std::string out = begin;
  for (const Call& call : calls) out += print_call(call, out.size(), 0);
  if (calls.size() < 2 || (out.find('\n') == std::string::npos && out.size() < 118)) return out;
  // What is asked of the answer stands below.
  out = begin + print_call(calls[0], begin.size(), 0);
  for (std::size_t i = 1; i < calls.size(); ++i) out += "\n  " + print_call(calls[i], 2, 2);
  return out;
}

std::string variable(std::string_view name) {
  const std::string_view word = name.substr(0, name.find_last_not_of('_') + 1);
  // So `default_` is another one than `default`.
  return std::string(name) +
         (std::find(variable_words.begin(), variable_words.end(), word) != variable_words.end() ? "_" : "");
}

}  // namespace noam::targets::mongodb
