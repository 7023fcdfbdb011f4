#include "bench/noam_database.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "bench/harness.h"
#include "noam/compile/compile.h"
#include "noam/language/diagnostics.h"
#include "noam/language/source.h"
#include "noam/model/command_id.h"
#include "noam/model/model.h"
#include "noam/model/view.h"

namespace noam::bench {
namespace {

using model::Datum;

ModelPointer read_model(const std::string& path) {
  const auto source = language::read_source(path);
  if (!source) throw Failed(source.error().message);
  auto model = compile_model(*source);
  if (!model) throw Failed(model.error().message);
  return std::move(*model);
}

model::CommandId new_command_id() {
  thread_local Random random(std::random_device{}());
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return model::make_command_id(std::chrono::duration_cast<std::chrono::milliseconds>(now).count(), random.next(),
                                random.next());
}

template <typename Found>
Statement statement(const std::vector<Found>& all, std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Found& one) { return one.name == name; });
  if (found == all.end()) throw Failed(fmt::format("the model has no statement `{}`", name));
  return {std::string(name), static_cast<std::uint32_t>(found - all.begin())};
}

}  // namespace

NoamDatabase::NoamDatabase(std::string folder, const std::string& model, std::string design,
                           const StoreSettings& settings)
    : folder_(std::move(folder)), design_(std::move(design)), settings_(settings), model_(read_model(model)) {
  open(stores::Existing::Refused);
}

NoamDatabase::NoamDatabase(std::unique_ptr<stores::Store> store, const std::string& model, std::string design,
                           runtime::Reads reads)
    : design_(std::move(design)), model_(read_model(model)), store_(std::move(store)) {
  runtime::SessionOptions options;
  options.reads = reads;
  open_session(options);
}

void NoamDatabase::open(stores::Existing existing) {
  stores::RocksdbOptions options;
  options.existing = existing;
  options.sync = settings_.sync;
  options.cache_bytes = settings_.cache_bytes;
  options.buffer_bytes = settings_.buffer_bytes;
  auto store = stores::open_rocksdb_store(folder_, options);
  if (!store) throw Failed(store.error().message);
  embedded_ = store->get();
  store_ = std::move(*store);
  open_session({});
}

void NoamDatabase::open_session(const runtime::SessionOptions& options) {
  auto program = compile_program(model_, design_);
  if (!program) throw Failed(program.error().message);
  auto session = runtime::Session::open(std::move(*program), *store_, options);
  if (!session) throw Failed(session.error().message);
  session_ = std::move(*session);
}

void NoamDatabase::reopen() {
  session_.reset();
  store_.reset();
  open(stores::Existing::Required);
}

Statement NoamDatabase::query(std::string_view name) const { return statement(model_->queries, name); }
Statement NoamDatabase::command(std::string_view name) const { return statement(model_->commands, name); }

runtime::Rows NoamDatabase::rows(const Statement& query, std::vector<Datum> parameters) {
  auto rows = session_->query(runtime::PreparedQuery{query.index}, std::move(parameters));
  if (!rows) throw Failed(fmt::format("{}: {}", query.name, rows.error().message));
  return std::move(*rows);
}

std::uint64_t NoamDatabase::ask(const Statement& query, std::vector<Datum> parameters, std::size_t& rows) {
  const runtime::Rows answer = this->rows(query, std::move(parameters));
  rows = answer.rows.size();
  std::uint64_t sum = 0;
  for (const auto& row : answer.rows)
    for (const Datum& column : row) sum += used_bytes(column);
  return sum;
}

std::uint64_t NoamDatabase::ask(const Statement& query, std::vector<Datum> parameters) {
  std::size_t ignored = 0;
  return ask(query, std::move(parameters), ignored);
}

runtime::Outcome NoamDatabase::outcome(const Statement& command, std::vector<Datum> parameters) {
  return session_->command(runtime::PreparedCommand{command.index}, std::move(parameters));
}

bool NoamDatabase::run(const Statement& command, std::vector<Datum> parameters, Ids ids) {
  std::optional<model::CommandId> id;
  if (ids == Ids::With) id = new_command_id();
  const runtime::Outcome outcome =
      session_->command(runtime::PreparedCommand{command.index}, std::move(parameters), id);
  if (outcome.kind == runtime::OutcomeKind::Unknown) throw Failed(fmt::format("{}: {}", command.name, outcome.reason));
  return outcome.kind == runtime::OutcomeKind::Applied;
}

std::vector<Datum> NoamDatabase::keys_of(const Statement& command, std::vector<Datum> parameters) {
  runtime::Outcome outcome = session_->command(runtime::PreparedCommand{command.index}, std::move(parameters));
  if (outcome.kind != runtime::OutcomeKind::Applied) throw Failed(fmt::format("{}: {}", command.name, outcome.reason));
  std::vector<Datum> keys;
  for (auto& key : outcome.keys) keys.push_back(std::move(key.second));
  return keys;
}

std::size_t NoamDatabase::try_to_load(std::string_view entity, std::vector<Datum::List> rows) {
  const auto found = std::find_if(model_->entities.begin(), model_->entities.end(),
                                  [&](const model::Entity& one) { return one.name == entity; });
  if (found == model_->entities.end()) throw Failed(fmt::format("the model has no entity `{}`", entity));
  runtime::LoadBatch batch;
  batch.entity = static_cast<model::EntityId>(found - model_->entities.begin());
  batch.rows = std::move(rows);
  const runtime::Loaded loaded = session_->load(batch);
  if (loaded.failure) throw Failed(loaded.failure->message);
  return static_cast<std::size_t>(std::count_if(loaded.rows.begin(), loaded.rows.end(),
                                                [](const runtime::RowOutcome& row) { return row.has_value(); }));
}

void NoamDatabase::load(std::string_view entity, std::vector<Datum::List> rows) {
  if (try_to_load(entity, std::move(rows)) != 0) throw Failed(fmt::format("a row of {} was refused", entity));
}

void NoamDatabase::verify() {
  const auto verification = session_->verify();
  if (!verification) throw Failed(verification.error().message);
  if (!verification->differences.empty())
    throw Failed(fmt::format("{} entries of copies are wrong, the first: {}", verification->differences.size(),
                             verification->differences[0].what));
}

namespace {

std::uint64_t used(const model::View& view) {
  if (view.is_string()) return view.as_string().size();
  if (view.is_int() || view.is_double() || view.is_decimal()) return 8;
  if (view.is_bool()) return 1;
  std::uint64_t sum = 0;
  if (view.is_list()) view.each([&](const model::View& element) { sum += used(element); });
  return sum;
}

}  // namespace

std::uint64_t used_bytes(const Datum& datum) { return used(model::View(datum)); }

std::string example(std::string_view path) { return fmt::format("{}/examples/{}", NOAM_SOURCE_DIR, path); }

}  // namespace noam::bench
