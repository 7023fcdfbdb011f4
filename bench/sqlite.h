#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include "bench/noam_database.h"

namespace noam::bench {

// A connection in WAL mode. `synchronous` is NORMAL without sync and FULL with it: as RocksDB's log, what was committed
// survives the process, and with sync the machine.
class SqliteConnection {
 public:
  SqliteConnection(const std::string& file, const StoreSettings& settings);
  ~SqliteConnection();
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;

  void run(const char* sql);
  [[nodiscard]] std::int64_t changes() const { return sqlite3_changes64(database_); }
  [[nodiscard]] sqlite3* get() const { return database_; }

 private:
  sqlite3* database_ = nullptr;
};

// A prepared statement. Texts that are bound must live until it is reset.
class SqliteStatement {
 public:
  SqliteStatement(SqliteConnection& connection, const char* sql);
  ~SqliteStatement() { sqlite3_finalize(statement_); }
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  SqliteStatement& bind(int place, std::optional<std::string_view> text);
  SqliteStatement& bind(int place, std::int64_t number);
  // True where there is a row.
  bool step();
  void reset() { sqlite3_reset(statement_); }
  [[nodiscard]] std::optional<std::string_view> text(int column);
  [[nodiscard]] std::int64_t number(int column) { return sqlite3_column_int64(statement_, column); }

 private:
  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace noam::bench
