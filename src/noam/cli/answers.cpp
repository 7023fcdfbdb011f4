#include "noam/cli/answers.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "noam/base/json.h"

namespace noam::cli {

namespace {

using model::TypeKind;

std::string cell_text(const model::Type& type, const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_string() && type.kind != TypeKind::Json) return visible(value.text());
  return visible(value.dump());
}

// `name  value`, a line each.
std::string record_text(const std::vector<std::string>& names, const std::vector<std::string>& cells) {
  std::size_t width = 0;
  for (const std::string& name : names) width = std::max(width, model::display_width(name));
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i)
    out += fmt::format("{}  {}\n", model::pad_right(names[i], width), cells[i]);
  return out;
}

}  // namespace

std::string visible(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\u{:04x}", byte);
    } else if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {
      out += fmt::format("\\u{:04x}", next);
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string outcome_text(const Json& answer) {
  const std::string outcome = answer["outcome"].get<std::string>();
  if (outcome == "refused")
    return fmt::format("refused: {} [{}]\n", visible(answer["reason"].get<std::string>()),
                       answer["code"].get<std::string>());
  if (outcome == "unknown") return fmt::format("unknown: {}\n", visible(answer["reason"].get<std::string>()));
  std::string out = outcome;
  if (answer.contains("keys")) {
    out += answer["keys"].size() == 1 ? ", key" : ", keys";
    for (std::size_t i = 0; i < answer["keys"].size(); ++i)
      out += (i == 0 ? " " : ", ") + cell_text({}, answer["keys"][i]);
  }
  if (answer.contains("count")) out += fmt::format(", {} changed", answer["count"].get<std::int64_t>());
  return out + "\n";
}

std::string error_text(const Json& answer) {
  return fmt::format("{} [{}]", visible(answer["error"]["reason"].get<std::string>()),
                     answer["error"]["code"].get<std::string>());
}

std::string rows_text(const model::Type& row, const Json& rows, std::size_t width, std::string_view note) {
  // A single aggregate is its fields.
  const bool aggregate = row.arguments.size() == 1 && row.arguments[0].kind == TypeKind::Row;
  const model::Type& shown = aggregate ? row.arguments[0] : row;
  std::vector<bool> right;
  for (const model::Type& type : shown.arguments) right.push_back(type.is_number());
  model::Table table(right, std::string::npos);
  table.add(shown.names);
  std::vector<std::vector<std::string>> all;
  for (const Json& item : rows) {
    const Json& object = aggregate ? item[row.names[0]] : item;
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < shown.names.size(); ++i)
      cells.push_back(cell_text(shown.arguments[i], object.is_object() ? object[shown.names[i]] : Json()));
    table.add(cells);
    all.push_back(std::move(cells));
  }
  std::string count = fmt::format("({}{})\n", model::counted(all.size(), "row", "rows"), note);
  if (all.empty()) return count;
  std::string out = table.print(0);
  std::size_t widest = 0;
  for (std::size_t begin = 0; begin < out.size();) {
    const std::size_t end = out.find('\n', begin);
    widest = std::max(widest, model::display_width(std::string_view(out).substr(begin, end - begin)));
    begin = end + 1;
  }
  if (widest > width) {
    out.clear();
    for (const auto& cells : all) out += (out.empty() ? "" : "\n") + record_text(shown.names, cells);
  }
  return out + count;
}

}  // namespace noam::cli
