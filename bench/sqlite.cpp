#include "bench/sqlite.h"

#include <fmt/format.h>

#include "bench/harness.h"

namespace noam::bench {
namespace {

void must_be(int found, int expected, sqlite3* database) {
  if (found != expected) throw Failed(fmt::format("SQLite: {}", sqlite3_errmsg(database)));
}

}  // namespace

SqliteConnection::SqliteConnection(const std::string& file, const StoreSettings& settings) {
  must_be(sqlite3_open_v2(file.c_str(), &database_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                          nullptr),
          SQLITE_OK, database_);
  sqlite3_busy_timeout(database_, 60'000);
  run("pragma journal_mode = wal");
  run(settings.sync ? "pragma synchronous = full" : "pragma synchronous = normal");
  // As many bytes in the log as RocksDB has in memory before they go to tables.
  run(fmt::format("pragma wal_autocheckpoint = {}", settings.buffer_bytes / 4'096).c_str());
  run(fmt::format("pragma cache_size = -{}", settings.cache_bytes / 1024).c_str());
}

SqliteConnection::~SqliteConnection() { sqlite3_close(database_); }

void SqliteConnection::run(const char* sql) {
  must_be(sqlite3_exec(database_, sql, nullptr, nullptr, nullptr), SQLITE_OK, database_);
}

SqliteStatement::SqliteStatement(SqliteConnection& connection, const char* sql) : database_(connection.get()) {
  must_be(sqlite3_prepare_v3(database_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr), SQLITE_OK,
          database_);
}

SqliteStatement& SqliteStatement::bind(int place, std::optional<std::string_view> text) {
  if (text)
    must_be(sqlite3_bind_text(statement_, place, text->data(), static_cast<int>(text->size()), SQLITE_STATIC),
            SQLITE_OK, database_);
  else
    must_be(sqlite3_bind_null(statement_, place), SQLITE_OK, database_);
  return *this;
}

SqliteStatement& SqliteStatement::bind(int place, std::int64_t number) {
  must_be(sqlite3_bind_int64(statement_, place, number), SQLITE_OK, database_);
  return *this;
}

bool SqliteStatement::step() {
  const int result = sqlite3_step(statement_);
  if (result == SQLITE_ROW) return true;
  must_be(result, SQLITE_DONE, database_);
  return false;
}

std::optional<std::string_view> SqliteStatement::text(int column) {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  if (text == nullptr) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(text),
                          static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

}  // namespace noam::bench
