#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "noam/cql/options.h"
#include "noam/cql/values.h"

namespace noam::cql {

namespace bridge {
struct Statement;
}

// A statement that the server has parsed. Cheap to copy; may outlive its session, but is of use only with it.
//
// Name every column in statements, and prepare them again after DDL that concerns them (`Session::prepare` with the
// same text). The driver prepares a statement again by itself if a node has forgotten it.
class Prepared {
 public:
  Prepared() = default;  // none
  explicit Prepared(std::shared_ptr<const bridge::Statement> statement) : statement_(std::move(statement)) {}

  explicit operator bool() const { return statement_ != nullptr; }
  [[nodiscard]] const bridge::Statement* get() const { return statement_.get(); }

  bool operator==(const Prepared&) const = default;

 private:
  std::shared_ptr<const bridge::Statement> statement_;
};

struct Statement {
  Prepared prepared;
  Values values = {};  // one for each `?`
};

// One statement, or a batch of several. A batch in which a statement has a condition is of one partition, and the
// condition is for all of it.
struct Request {
  std::vector<Statement> statements = {};
  bool logged = false;  // of batches of several partitions: all or nothing in the end
  bool conditional =
      false;                // a statement has an IF. It goes to the first replica, as do reads with Consistency::Serial
  bool idempotent = false;  // may be sent again if it fails; not together with `conditional`
  bool trace = false;       // the server records what it does, see Session::trace
  std::optional<Consistency> consistency = std::nullopt;  // none: that of the session
  std::optional<SerialConsistency> serial_consistency = std::nullopt;
  std::optional<std::chrono::milliseconds> timeout = std::nullopt;
  std::uint32_t page_size = 0;    // rows; 0: all in one response
  std::string paging_state = {};  // of the response before; empty: from the beginning
};

}  // namespace noam::cql
