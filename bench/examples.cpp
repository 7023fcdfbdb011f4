#include "bench/examples.h"

#include <string_view>

#include <fmt/format.h>

namespace noam::bench {

std::string some_letters(Random& random, std::size_t count) {
  static constexpr std::string_view alphabet = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ+-=0123456";
  std::string text(count, ' ');
  for (char& letter : text) letter = alphabet[random.below(alphabet.size())];
  return text;
}

void measure_into(std::vector<Row>& rows, const Cell& cell, const Settings& settings) {
  rows.push_back(measure(cell, settings));
  fmt::print(stderr, "{}", print_table({rows.back()}));
}

}  // namespace noam::bench
