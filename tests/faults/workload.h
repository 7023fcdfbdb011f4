#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "noam/base/json.h"
#include "noam/base/result.h"
#include "noam/model/model.h"
#include "noam/runtime/session.h"
#include "noam/stores/rocksdb.h"
#include "tests/property/random.h"

// What the stores of these tests are asked: the microblog, and commands that are not the same when applied twice.
namespace noam::tests::faults {

using property::Random;

std::string microblog_text();

// Writers change what is theirs, so that in whatever order they come, the end is the same; each has users, tweets and
// a counter, and all share one more counter.
inline constexpr std::size_t writer_count = 4;

std::string new_command_id(Random& random);
Json request(const std::string& name, Json params = Json::object());
// With an id of its own.
Json command_by_chance(Random& random, std::size_t writer);
// What there must be before the first command.
std::vector<Json> first_commands(Random& random);
// Asks for all there is, some of it in several ways.
std::vector<Json> all_questions();

// A store and a session on it, as the program opens them.
struct Opened {
  std::unique_ptr<stores::EmbeddedStore> store;
  std::unique_ptr<runtime::Session> session;
};
Result<Opened> open(const std::shared_ptr<const model::Model>& model, const std::string& design,
                    const std::string& folder, stores::Existing existing = stores::Existing::Required,
                    rocksdb::Env* env = nullptr, std::size_t table_bytes = stores::RocksdbOptions().table_bytes);

// What `verify` finds wrong; empty: nothing.
std::string differences(runtime::Session& session);

}  // namespace noam::tests::faults
