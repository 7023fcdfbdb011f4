#include "noam/server/url.h"

#include <charconv>

#include <fmt/format.h>

namespace noam::server {

namespace {

// In a query, `+` is a space.
Result<std::string> decoded(std::string_view text, bool in_query) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_query && text[i] == '+') {
      out += ' ';
      continue;
    }
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    unsigned char byte = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (digits.size() != 2 || problem != std::errc() || end != digits.data() + 2)
      return Error{fmt::format("invalid escape `%{}` in the URL", digits)};
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

}  // namespace

Result<Target> parse_target(std::string_view text) {
  Target out;
  const std::size_t question = text.find('?');
  std::string_view path = text.substr(0, question);
  std::string_view query = question == std::string_view::npos ? std::string_view() : text.substr(question + 1);
  if (const std::size_t hash = query.find('#'); hash != std::string_view::npos) query = query.substr(0, hash);
  if (!path.starts_with('/')) return Error{"the URL has no path"};
  path.remove_prefix(1);
  while (true) {
    const std::size_t slash = path.find('/');
    NOAM_ASSIGN_OR_RETURN(std::string segment, decoded(path.substr(0, slash), false));
    out.path.push_back(std::move(segment));
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view part = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
    if (part.empty()) continue;
    const std::size_t sign = part.find('=');
    NOAM_ASSIGN_OR_RETURN(std::string name, decoded(part.substr(0, sign), true));
    std::string value;
    if (sign != std::string_view::npos) {
      NOAM_ASSIGN_OR_RETURN(value, decoded(part.substr(sign + 1), true));
    }
    out.parameters.emplace_back(std::move(name), std::move(value));
  }
  return out;
}

std::string escaped(std::string_view text) {
  constexpr std::string_view plain = "-._~";
  std::string out;
  for (const char c : text) {
    const bool bare = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      plain.find(c) != std::string_view::npos;
    if (bare)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace noam::server
