#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "noam/compile/compile.h"
#include "noam/model/model.h"
#include "noam/runtime/session.h"
#include "noam/stores/store.h"
#include "tests/engine.h"
#include "tests/temporary_folder.h"

namespace noam::tests {

// Where an engine keeps its data: in memory, or in a folder of its own.
enum class Where : std::uint8_t { Memory, Folder };

// The runtime under a design, on a store of its own.
class SessionEngine : public Engine {
 public:
  // Where the design can't be made, `problem` says so.
  SessionEngine(const model::Model& model, const std::string& design, Where where = Where::Memory);

  Json answer(const Json& request) override;
  void set_time(std::int64_t milliseconds) override { time_ = milliseconds; }
  void refresh(const std::string& query) override;
  void expire() override;

  // Closes the store and opens it again, as the next process would. Nothing where it is in memory.
  void reopen();

  // What `verify` finds wrong.
  std::optional<std::string> verify();

  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] runtime::Session& session() { return *session_; }
  [[nodiscard]] stores::Store& store() { return *store_; }

 private:
  void open();

  std::optional<design::Program> program_;
  std::unique_ptr<TemporaryFolder> folder_;
  std::unique_ptr<stores::Store> store_;
  std::unique_ptr<runtime::Session> session_;
  std::int64_t time_ = 0;
  std::string problem_;
};

}  // namespace noam::tests
