#include "noam/targets/json_print.h"

#include "noam/base/json.h"

namespace noam::targets {

namespace {

class Printer {
 public:
  explicit Printer(std::size_t width) : width_(width) {}

  // `before` stands in the line already.
  void print(const Json& json, std::size_t indent, std::size_t before) {
    const std::string line = in_a_line(json);
    if (!json.is_structured() || json.empty() || before + line.size() <= width_) {
      out_ += line;
      return;
    }
    const bool object = json.is_object();
    out_ += object ? '{' : '[';
    bool first = true;
    for (const auto& [name, value] : json.items()) {
      out_ += first ? "\n" : ",\n";
      first = false;
      const std::string start = std::string(indent + 2, ' ') + (object ? Json(name).dump() + ": " : "");
      out_ += start;
      print(value, indent + 2, start.size() + 1);
    }
    out_ += '\n' + std::string(indent, ' ') + (object ? '}' : ']');
  }

  std::string take() { return std::move(out_); }

 private:
  static std::string in_a_line(const Json& json) {
    if (!json.is_structured() || json.empty()) return json.dump();
    std::string out = json.is_object() ? "{" : "[";
    bool first = true;
    for (const auto& [name, value] : json.items()) {
      if (!first) out += ", ";
      first = false;
      if (json.is_object()) out += Json(name).dump() + ": ";
      out += in_a_line(value);
    }
    return out + (json.is_object() ? '}' : ']');
  }

  std::size_t width_;
  std::string out_;
};

}  // namespace

std::string print_json(const Json& json, std::size_t width) {
  Printer printer(width);
  printer.print(json, 0, 0);
  return printer.take();
}

}  // namespace noam::targets
