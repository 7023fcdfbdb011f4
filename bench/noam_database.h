#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "noam/model/datum.h"
#include "noam/runtime/session.h"
#include "noam/stores/rocksdb.h"

namespace noam::bench {

// What all databases of a cell have in common.
struct StoreSettings {
  std::size_t cache_bytes = std::size_t{256} << 20U;
  std::size_t buffer_bytes = std::size_t{64} << 20U;
  bool sync = false;
};

// A query or command of a model that is run many times.
struct Statement {
  std::string name;
  std::uint32_t index = 0;  // among the queries, or the commands
};

// Whether a command has an id of its own, so that it could be repeated.
enum class Ids : std::uint8_t { Without, With };

// noam on a store: the one place where benchmarks call the library.
class NoamDatabase {
 public:
  // A new embedded store in a folder that is not there yet. `model` is the path of a .noam file.
  NoamDatabase(std::string folder, const std::string& model, std::string design, const StoreSettings& settings);
  // Another store, which cannot be reopened.
  NoamDatabase(std::unique_ptr<stores::Store> store, const std::string& model, std::string design,
               runtime::Reads reads);

  [[nodiscard]] const model::Model& model() const { return *model_; }
  [[nodiscard]] Statement query(std::string_view name) const;
  [[nodiscard]] Statement command(std::string_view name) const;

  // The answer, looked at as an application would: the sum of the lengths of all texts in it, numbers as 8.
  std::uint64_t ask(const Statement& query, std::vector<model::Datum> parameters);
  // The same, and how many rows there were.
  std::uint64_t ask(const Statement& query, std::vector<model::Datum> parameters, std::size_t& rows);
  // Whether it was applied.
  bool run(const Statement& command, std::vector<model::Datum> parameters, Ids ids = Ids::Without);
  runtime::Outcome outcome(const Statement& command, std::vector<model::Datum> parameters);
  // The generated keys of a command that must be applied.
  std::vector<model::Datum> keys_of(const Statement& command, std::vector<model::Datum> parameters);

  // Not for what is measured.
  runtime::Rows rows(const Statement& query, std::vector<model::Datum> parameters);
  // All of them must be applied.
  void load(std::string_view entity, std::vector<model::Datum::List> rows);
  // How many rows of them were refused.
  std::size_t try_to_load(std::string_view entity, std::vector<model::Datum::List> rows);
  // Closed in order and opened again, so that everything lies in tables.
  void reopen();
  // Every copy says what its base says, else Failed.
  void verify();
  [[nodiscard]] std::uint64_t bytes_on_disk() const { return embedded_->bytes_on_disk(); }

 private:
  void open(stores::Existing existing);
  void open_session(const runtime::SessionOptions& options);

  std::string folder_;
  std::string design_;
  StoreSettings settings_;
  std::shared_ptr<const model::Model> model_;
  std::unique_ptr<stores::Store> store_;
  stores::EmbeddedStore* embedded_ = nullptr;  // the same, if it is one
  std::unique_ptr<runtime::Session> session_;
};

// Texts and other strings by their length, numbers as 8, bools as 1, all of them added up.
std::uint64_t used_bytes(const model::Datum& datum);

// The examples of this source tree.
std::string example(std::string_view path);

}  // namespace noam::bench
