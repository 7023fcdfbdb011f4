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
#include "tests/blocks/simulated_blocks.h"
#include "tests/cassandra_keyspace.h"
#include "tests/engine.h"
#include "tests/temporary_folder.h"

namespace noam::tests {

// Where an engine keeps its data: in memory, in a folder of its own, or in a simulated database that changes one block
// at a time, with each family in a table of its own.
enum class Where : std::uint8_t { Memory, Folder, Blocks };

// The runtime under a design, on a store of its own.
class SessionEngine : public Engine {
 public:
  // If the design can't be made, or the store refuses it, `problem` says so.
  SessionEngine(const model::Model& model, const std::string& design, Where where = Where::Memory);
  // In a keyspace, which must outlive it.
  SessionEngine(const model::Model& model, const std::string& design, CassandraKeyspace& keyspace);

  Json answer(const Json& request) override;
  void set_time(std::int64_t milliseconds) override { time_ = milliseconds; }
  void refresh(const std::string& query) override;
  void expire() override;

  // Closes the store and opens it again, as the next process would. Nothing if it is in memory.
  void reopen();

  // What `verify` finds wrong.
  std::optional<std::string> verify();

  [[nodiscard]] const std::string& problem() const { return problem_; }
  // The store cannot watch the collections that commands rely on under this design.
  [[nodiscard]] bool needs_whole_collections() const { return needs_whole_collections_; }
  [[nodiscard]] runtime::Session& session() { return *session_; }
  [[nodiscard]] stores::Store& store() { return *store_; }

 private:
  void compile(const model::Model& model, const std::string& design);
  void open();

  CassandraKeyspace* keyspace_ = nullptr;
  std::optional<design::Program> program_;
  std::unique_ptr<TemporaryFolder> folder_;
  std::unique_ptr<blocks::Database> blocks_;
  std::unique_ptr<stores::Store> store_;
  std::unique_ptr<runtime::Session> session_;
  std::int64_t time_ = 0;
  std::string problem_;
  bool needs_whole_collections_ = false;
};

}  // namespace noam::tests
