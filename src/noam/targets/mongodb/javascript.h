#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// JavaScript as the shell of MongoDB takes it, laid out to be read.
namespace noam::targets::mongodb {

// An expression: a text, or an object or array of them.
class Js {
 public:
  Js(std::string text) : text_(std::move(text)) {}  // NOLINT: expressions as they are written
  Js(const char* text) : text_(text) {}             // NOLINT
  static Js object();
  static Js array();

  // A name that is no identifier is quoted; one in brackets is worked out, `["games." + position]`.
  Js& add(std::string name, Js value);
  Js& add(Js element);

  [[nodiscard]] bool empty() const { return members_.empty(); }
  // On one line where it ends before `width`, else a member a line. The first line begins at column `from`; lines after
  // it are indented by `indent` and more.
  [[nodiscard]] std::string print(std::size_t from, std::size_t indent, std::size_t width = 116) const;

 private:
  enum class Kind : unsigned char { Text, Object, Array };
  Js() = default;

  [[nodiscard]] std::string line() const;

  Kind kind_ = Kind::Text;
  std::string text_;
  std::vector<std::pair<std::string, Js>> members_;
};

std::string string_literal(std::string_view text);

// `db.getCollection("Player").updateOne(…)`, then what is asked of the answer, `.sort(…)`.
struct Call {
  std::string name;
  std::vector<Js> arguments;
};
std::string print_calls(std::string_view collection, const std::vector<Call>& calls);

// Not for variables, and not for fields.
extern const std::span<const std::string_view> variable_words;
extern const std::span<const std::string_view> field_words;

// A name that may stand for a variable. Names that differ stay so.
std::string variable(std::string_view name);

}  // namespace noam::targets::mongodb
