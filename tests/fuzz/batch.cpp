// Fuzzing of `noam run --batch`: whatever the lines, each gets an answer of one of the forms of docs/json.md, and
// afterwards every copy is what its base says. The first byte chooses the design. Besides libFuzzer's own changes of
// bytes, whole requests are made up by the types of their parameters, which gets behind the reading of JSON.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "noam/base/json.h"
#include "noam/cli/lines.h"
#include "noam/compile/compile.h"
#include "noam/model/scalars.h"
#include "noam/runtime/session.h"
#include "noam/stores/memory.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using noam::Json;
using noam::model::TypeKind;

constexpr std::array strategies = {"eao", "etf", "normalized"};

// Found from the root of the project, where `make fuzz` runs.
noam::ModelPointer read_model() {
  const auto source = noam::language::read_source("tests/models/types.noam");
  if (!source) {
    std::fputs("tests/models/types.noam can't be read: run this from the root of the project\n", stderr);
    std::abort();
  }
  auto model = noam::compile_model(*source);
  if (!model) std::abort();
  return std::move(*model);
}

const noam::ModelPointer& the_model() {
  static const auto model = read_model();
  return model;
}

void require(bool holds, std::string_view what, std::string_view line, std::string_view answer) {
  if (holds) return;
  std::fprintf(stderr, "%.*s\nline:   %.*s\nanswer: %.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(line.size()), line.data(), static_cast<int>(answer.size()), answer.data());
  std::abort();
}

bool is_text(const Json& object, const char* name) { return object.contains(name) && object[name].is_string(); }

// One of the forms of docs/json.md, and nothing beside it.
bool is_answer(const Json& answer) {
  static constexpr std::array codes = {"exists",   "absent", "owner", "require", "overflow", "required",
                                       "position", "key",    "value", "limit",   "expired"};
  if (!answer.is_object()) return false;
  if (answer.contains("error")) {
    const Json& error = answer["error"];
    return answer.size() == 1 && error.is_object() && error.size() == 2 && is_text(error, "code") &&
           is_text(error, "reason");
  }
  if (answer.contains("rows")) {
    const auto& rows = answer["rows"];
    return rows.is_array() && std::all_of(rows.begin(), rows.end(), [](const Json& row) { return row.is_object(); }) &&
           answer.size() == (is_text(answer, "cursor") ? 2U : 1U);
  }
  if (!is_text(answer, "outcome")) return false;
  const std::string& outcome = answer["outcome"].text();
  if (outcome == "applied") {
    const std::size_t keys = answer.contains("keys") && answer["keys"].is_array() ? 1 : 0;
    const std::size_t count = answer.contains("count") && answer["count"].is_number_integer() ? 1 : 0;
    return answer.size() == 1 + keys + count;
  }
  if (outcome == "refused")
    return answer.size() == 3 && is_text(answer, "code") && is_text(answer, "reason") &&
           std::find(codes.begin(), codes.end(), answer["code"].get<std::string>()) != codes.end();
  return false;  // nothing is ever unknown in memory
}

// Requests that are mostly right. Values come from few, so that instances meet.
class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_); }

  std::string request() {
    const noam::model::Model& model = *the_model();
    careless_ = below(4) == 0;
    if (below(20) == 0) return below(2) == 0 ? R"({"refresh":"largest"})" : R"({"sweep":true})";
    const std::size_t which = below(model.queries.size() + model.commands.size() * 3);
    const bool query = which < model.queries.size();
    const std::size_t command = (which - model.queries.size()) % model.commands.size();
    const auto& parameters = query ? model.queries[which].parameters : model.commands[command].parameters;
    Json params = Json::object();
    for (const noam::model::Parameter& parameter : parameters)
      if (below(parameter.type.optional ? 3 : 30) != 0) params[parameter.name] = value(parameter.type);
    Json request{{"run", query ? model.queries[which].name : model.commands[command].name}, {"params", params}};
    if (query && below(6) == 0) request["cursor"] = cursor(model.queries[which].name);
    if (below(20) == 0) request["id"] = "0198c1f2-7d00-7000-8000-00000000000" + std::to_string(below(10));
    return request.dump();
  }

 private:
  template <typename T>
  Json one_of(std::initializer_list<T> values) {
    return *(values.begin() + below(values.size()));
  }

  // Of any position, or none.
  std::string cursor(const std::string& query) {
    Json position = Json::array({query});
    for (std::size_t i = below(4); i > 0; --i)
      position.push_back(one_of<Json>({nullptr, true, 1, {{"f", 0.5}}, {{"d", "1"}}, {{"s", "YQ=="}}, Json::array()}));
    return noam::model::print_base64(position.dump());
  }

  Json text() { return one_of({"a", "a", "b", "b", "c", "the words", "Größe", "", "a long text, longer than others"}); }

  Json value(const noam::model::Type& type) {
    if (careless_ && below(8) == 0)
      return one_of<Json>({nullptr, true, -1, 0.5, "x", Json::array(), Json::object(), "", "2023-02-29", "AA"});
    switch (type.kind) {
      case TypeKind::Bool:
        return below(2) == 0;
      case TypeKind::Int:
        return one_of<std::int64_t>({0, 1, 2, 3, -1, 13, 4611686018427387904, INT64_MAX, INT64_MIN});
      case TypeKind::Float:
        return one_of({0.0, -0.0, 0.5, 1e308, -1e-308, 3.25});
      case TypeKind::Decimal:
        return one_of({"0", "1.50", "-2", "9999999999999999999999999999999999e60", "0.001", "1e-90"});
      case TypeKind::Text:
        return text();
      case TypeKind::Enumeration:
        return one_of({"open", "paid"});
      case TypeKind::Bytes:
        return one_of({"", "AAEC", "/w=="});
      case TypeKind::Timestamp:
        return one_of({"2024-02-29T23:59:59.999Z", "0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z",
                       "2024-02-29T23:59:59+02:00"});
      case TypeKind::Date:
        return one_of({"2024-02-29", "0001-01-01", "9999-12-31"});
      case TypeKind::Uuid:
        return one_of({"00000000-0000-0000-0000-000000000000", "FFFFFFFF-ffff-4fff-bfff-ffffffffffff"});
      case TypeKind::TimeUuid:
        return one_of({"00000000-0000-1000-8000-000000000000", "ffffffff-ffff-1fff-bfff-ffffffffffff"});
      case TypeKind::Inet:
        return one_of({"10.0.0.1", "::1", "::ffff:10.0.0.1", "2001:db8::"});
      case TypeKind::Json:
        return one_of<Json>({1, "x", Json::array({1, nullptr}), Json{{"a", {{"b", 0.5}}}}});
      case TypeKind::Reference: {
        const noam::model::Entity& entity = the_model()->entity(type.entity());
        if (entity.key.size() == 1) return value(entity.fields[entity.key[0]].type);
        Json parts = Json::array();
        for (const std::uint32_t part : entity.key) parts.push_back(value(entity.fields[part].type));
        return parts;
      }
      case TypeKind::Value: {
        Json object = Json::object();
        for (const noam::model::Field& field : the_model()->fields(type))
          if (below(4) != 0) object[field.name] = value(field.type);
        return object;
      }
      case TypeKind::List:
      case TypeKind::Set: {
        Json elements = Json::array();
        for (std::size_t i = below(4); i > 0; --i) elements.push_back(value(type.element()));
        return elements;
      }
      case TypeKind::Map: {
        Json entries = Json::array();
        for (std::size_t i = below(4); i > 0; --i)
          entries.push_back(Json::array({value(type.arguments[0]), value(type.arguments[1])}));
        return entries;
      }
      default:
        return nullptr;
    }
  }

  std::mt19937 random_;
  bool careless_ = false;  // the request at hand may have wrong values
};

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  Maker maker(seed);
  if (maker.below(4) == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::string text(reinterpret_cast<const char*>(data), size);
  if (text.empty()) text += 'e';
  const char design = text[0];
  std::vector<std::string> lines = lines_of(std::string_view(text).substr(1));
  if (!lines.empty() && maker.below(4) == 0) {
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(maker.below(lines.size())));
  } else {
    for (std::size_t i = maker.below(20); i > 0; --i)
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(maker.below(lines.size() + 1)), maker.request());
  }
  text = design;
  for (const std::string& line : lines) text += line + '\n';
  const std::size_t length = std::min(text.size(), max_size);
  std::copy_n(text.begin(), length, data);
  return length;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto store = noam::stores::open_memory_store();
  noam::runtime::SessionOptions options;
  options.clock = [] { return std::int64_t{1'757'000'000'000}; };
  auto program = noam::compile_program(the_model(), strategies[data[0] % strategies.size()]);
  if (!program) std::abort();
  const auto session = noam::runtime::Session::open(std::move(*program), *store, options);
  if (!session) std::abort();
  for (const std::string& line : lines_of({reinterpret_cast<const char*>(data) + 1, size - 1})) {
    const std::string answer = noam::cli::answer_request(**session, line);
    require(answer.find('\n') == std::string::npos, "an answer is one line", line, answer);
    require(is_answer(Json::read(answer).value_or(Json())), "an answer has one of the forms", line, answer);
  }
  const auto found = (*session)->verify();
  require(found.has_value(), "what was written can be verified", "", "");
  for (const auto& difference : found->differences)
    require(false, "a copy is what its base says", difference.collection, difference.what);
  return 0;
}
