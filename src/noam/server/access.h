#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "noam/base/result.h"
#include "noam/model/model.h"

// Who may run what.
namespace noam::server {

// The SHA-256 of a token, as files of tokens have it.
std::string hexadecimal_digest(std::string_view token);

// What a caller may do.
struct Rights {
  std::vector<bool> queries;  // by their places in the model
  std::vector<bool> commands;
  bool admin = false;
  bool metrics = false;

  [[nodiscard]] bool any() const;
};

struct Caller {
  std::string name;
  Rights rights;
};

// A file of tokens: {"public": ["timeline"], "tokens": [{"name": "shop", "sha256": "…", "may": ["read", "write"]}]}.
// It holds digests, so that who reads it has no tokens.
class Access {
 public:
  // Everybody may run every statement.
  static Access open_to_all(const model::Model& model);
  // The error names the file and what is wrong in it.
  static Result<Access> read(const std::string& path, const model::Model& model);
  static Result<Access> parse(std::string_view text, const model::Model& model);

  // Of a token; none: it is unknown. It takes as long for every token.
  [[nodiscard]] const Caller* caller(std::string_view token) const;
  // Without a token.
  [[nodiscard]] const Caller& anybody() const { return anybody_; }
  // Whether there is anything that not everybody may do.
  [[nodiscard]] bool is_restricted() const { return restricted_; }

 private:
  using Digest = std::array<unsigned char, 32>;
  struct Token {
    Digest digest{};
    Caller caller;
  };

  std::vector<Token> tokens_;
  Caller anybody_;
  bool restricted_ = true;
};

}  // namespace noam::server
