#include "tests/session_engine.h"

#include "noam/compile/compile.h"
#include "noam/stores/blocks/layer.h"
#include "noam/stores/memory.h"
#include "noam/stores/rocksdb.h"
#include "tests/temporary_store.h"

namespace noam::tests {

SessionEngine::SessionEngine(const model::Model& model, const std::string& design, Where where) {
  if (where == Where::Folder) folder_ = std::make_unique<TemporaryFolder>();
  if (where == Where::Blocks) {
    blocks::DatabaseOptions options;
    options.parts = blocks::Parts::OneAFamily;
    options.capabilities.spreads_own = true;
    blocks_ = std::make_unique<blocks::Database>(options);
  }
  compile(model, design);
}

SessionEngine::SessionEngine(const model::Model& model, const std::string& design, CassandraKeyspace& keyspace)
    : keyspace_(&keyspace) {
  compile(model, design);
}

void SessionEngine::compile(const model::Model& model, const std::string& design) {
  auto program = compile_program(std::make_shared<const model::Model>(model), design);
  if (!program) {
    problem_ = program.error().message;
    return;
  }
  program_ = std::move(*program);
  open();
}

void SessionEngine::open() {
  if (folder_) {
    stores::RocksdbOptions options = small_store();
    options.existing = stores::Existing::Allowed;
    auto store = stores::open_rocksdb_store((folder_->path() / "store").string(), options);
    if (!store) {
      problem_ = store.error().message;
      return;
    }
    store_ = std::move(*store);
  } else if (blocks_ || keyspace_ != nullptr) {
    stores::blocks::Surroundings around = stores::blocks::this_machine();
    around.microseconds = [this] { return time_ * 1'000; };
    store_ = blocks_ ? stores::blocks::open_block_layer(blocks_->connect(), std::move(around))
                     : keyspace_->open(std::move(around));
  } else {
    store_ = stores::open_memory_store();
  }
  runtime::SessionOptions options;
  options.clock = [this] { return time_; };
  options.states_every = std::chrono::milliseconds(0);  // nobody else is there, and the clock jumps
  auto session = runtime::Session::open(*program_, *store_, std::move(options));
  if (session)
    session_ = std::move(*session);
  else
    problem_ = session.error().message;
  needs_whole_collections_ = !session && session.error().code == "whole-collection";
}

void SessionEngine::reopen() {
  if ((!folder_ && !blocks_ && keyspace_ == nullptr) || !session_) return;
  session_.reset();
  store_.reset();
  open();
}

Json SessionEngine::answer(const Json& request) {
  if (!session_) return {{"problem", problem_}};
  // As another program would: through text.
  return Json::parse(session_->answer_line(request.dump()));
}

void SessionEngine::refresh(const std::string& query) {
  if (!session_) return;
  // A sum that does not fit leaves the answer as it was.
  if (const auto done = session_->refresh(query); !done && done.error().code != "overflow")
    problem_ = done.error().message;
}

void SessionEngine::expire() {
  if (!session_) return;
  if (const auto done = session_->sweep(); !done) problem_ = done.error().message;
}

std::optional<std::string> SessionEngine::verify() {
  if (!problem_.empty()) return problem_;
  const auto found = session_->verify();
  if (!found) return found.error().message;
  if (found->differences.empty()) return std::nullopt;
  std::string text;
  for (const runtime::Difference& difference : found->differences)
    text += difference.collection + ": " + difference.what + "\n";
  return text;
}

}  // namespace noam::tests
