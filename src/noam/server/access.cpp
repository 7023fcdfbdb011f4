#include "noam/server/access.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>

#include "noam/base/json.h"
#include "noam/base/json_text.h"
#include "noam/language/statements.h"

namespace noam::server {

namespace {

using Digest = std::array<unsigned char, 32>;

Digest digest_of(std::string_view token) {
  Digest out{};
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), out.data());  // NOLINT
  return out;
}

std::optional<Digest> read_digest(std::string_view text) {
  Digest out{};
  if (text.size() != 2 * out.size()) return std::nullopt;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const char* const digits = text.data() + 2 * i;
    const auto [end, problem] = std::from_chars(digits, digits + 2, out[i], 16);
    if (problem != std::errc() || end != digits + 2) return std::nullopt;
  }
  return out;
}

Rights no_rights(const model::Model& model) {
  Rights out;
  out.queries.resize(model.queries.size());
  out.commands.resize(model.commands.size());
  return out;
}

// Roles, and names of statements.
Result<Rights> read_rights(const Json& list, const model::Model& model, const std::string& of) {
  Rights out = no_rights(model);
  if (!list.is_array()) return Error{fmt::format("{}: must be an array of roles and statements", of)};
  for (const Json& one : list) {
    if (!one.is_string()) return Error{fmt::format("{}: must be an array of roles and statements", of)};
    const std::string& name = one.text();
    if (name == "read" || name == "write") {
      auto& all = name == "read" ? out.queries : out.commands;
      std::fill(all.begin(), all.end(), true);
      continue;
    }
    if (name == "admin" || name == "metrics") {
      (name == "admin" ? out.admin : out.metrics) = true;
      continue;
    }
    const auto statement = language::find_statement(model, name, "`noam show` has the list");
    if (!statement)
      return Error{fmt::format("{}: `{}` is no role (read, write, admin, metrics) and no statement; {}", of, name,
                               statement.error().message)};
    if (statement->query != nullptr) {
      out.queries[static_cast<std::size_t>(statement->query - model.queries.data())] = true;
    } else {
      for (std::size_t i = 0; i < model.commands.size(); ++i)
        if (model.commands[i].name == name) out.commands[i] = true;
    }
  }
  return out;
}

}  // namespace

std::string hexadecimal_digest(std::string_view token) {
  std::string out;
  for (const unsigned char byte : digest_of(token)) out += fmt::format("{:02x}", byte);
  return out;
}

bool Rights::any() const {
  const auto some = [](const std::vector<bool>& all) { return std::find(all.begin(), all.end(), true) != all.end(); };
  return admin || metrics || some(queries) || some(commands);
}

Access Access::open_to_all(const model::Model& model) {
  Access out;
  out.anybody_.name = "anybody";
  out.anybody_.rights.queries.assign(model.queries.size(), true);
  out.anybody_.rights.commands.assign(model.commands.size(), true);
  out.anybody_.rights.admin = out.anybody_.rights.metrics = true;
  out.restricted_ = false;
  return out;
}

Result<Access> Access::parse(std::string_view text, const model::Model& model) {
  const auto read = parse_json(text);
  if (!read) return Error{"no valid JSON: " + read.error().message};
  const Json& file = read->json;
  if (!file.is_object()) return Error{"must be an object with `tokens` and `public`"};
  for (const auto& member : file.items())
    if (member.key() != "tokens" && member.key() != "public")
      return Error{fmt::format("unknown member `{}`; there are `tokens` and `public`", member.key())};
  Access out;
  out.anybody_ = {"public", no_rights(model)};
  if (file.contains("public")) {
    NOAM_ASSIGN_OR_RETURN(out.anybody_.rights, read_rights(file["public"], model, "public"));
    if (out.anybody_.rights.admin || out.anybody_.rights.metrics)
      return Error{"public: `admin` and `metrics` need a token"};
  }
  if (!file.contains("tokens")) return out;
  if (!file["tokens"].is_array()) return Error{"tokens: must be an array"};
  std::set<std::string> names;
  for (const Json& one : file["tokens"]) {
    if (!one.is_object() || !one.contains("name") || !one["name"].is_string())
      return Error{"tokens: each has a `name`, the `sha256` of the token, and what it `may`"};
    const std::string name = one["name"].text();
    const std::string of = fmt::format("token `{}`", name);
    for (const auto& member : one.items())
      if (member.key() != "name" && member.key() != "sha256" && member.key() != "may")
        return Error{fmt::format("{}: unknown member `{}`", of, member.key())};
    if (!names.insert(name).second) return Error{fmt::format("{}: there are two of this name", of)};
    const auto digest =
        one.contains("sha256") && one["sha256"].is_string() ? read_digest(one["sha256"].text()) : std::nullopt;
    if (!digest) return Error{fmt::format("{}: `sha256` must be 64 hexadecimal digits", of)};
    if (!one.contains("may")) return Error{fmt::format("{}: `may` is missing", of)};
    NOAM_ASSIGN_OR_RETURN(Rights rights, read_rights(one["may"], model, of));
    // What everybody may.
    const Rights& all = out.anybody_.rights;
    for (std::size_t i = 0; i < all.queries.size(); ++i) rights.queries[i] = rights.queries[i] || all.queries[i];
    for (std::size_t i = 0; i < all.commands.size(); ++i) rights.commands[i] = rights.commands[i] || all.commands[i];
    out.tokens_.push_back({*digest, {name, std::move(rights)}});
  }
  return out;
}

Result<Access> Access::read(const std::string& path, const model::Model& model) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{fmt::format("tokens `{}`: cannot be read", path)};
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto out = parse(text, model);
  if (!out) return Error{fmt::format("tokens `{}`: {}", path, out.error().message)};
  return out;
}

const Caller* Access::caller(std::string_view token) const {
  const Digest digest = digest_of(token);
  const Caller* found = nullptr;
  // All of them, so that the time tells nothing.
  for (const Token& one : tokens_)
    if (CRYPTO_memcmp(one.digest.data(), digest.data(), digest.size()) == 0) found = &one.caller;
  return found;
}

}  // namespace noam::server
