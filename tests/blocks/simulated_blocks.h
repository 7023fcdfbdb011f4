#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "noam/stores/blocks/block_store.h"

// A database of blocks in memory, with all that can go wrong between a program and a database.
namespace noam::tests::blocks {

namespace db = stores::blocks;

// What a call meets on its way.
class Weather {
 public:
  Weather() = default;
  Weather(const Weather&) = delete;
  Weather& operator=(const Weather&) = delete;
  virtual ~Weather() = default;

  // Before the database is asked, and between two units of one call. Others may run meanwhile; throws if the caller is
  // dead.
  virtual void on_the_way(bool writing) = 0;

  enum class Fate : std::uint8_t { Arrives, AnswerLost, Lost, Late };
  virtual Fate fate_of_write() = 0;
  // Carries out a late write, whenever it likes.
  virtual void deliver_late(std::function<void()> write) = 0;
  // How many changes a committed read may be behind.
  virtual std::size_t staleness() = 0;
};

// What a database does wrong that no protocol can make good.
enum class Fault : std::uint8_t {
  None,
  StaleHeadReads,         // linearizable reads are old
  ConditionNotAtomic,     // a condition is checked apart from its write
  AcknowledgedWriteLost,  // a write is reported as done, and is lost
  GravestoneMissing,      // the head of a unit goes with its last entry
};

// How the families of a design lie in parts.
enum class Parts : std::uint8_t { OneACollection, OneAFamily };

struct DatabaseOptions {
  Parts parts = Parts::OneACollection;
  db::BlockCapabilities capabilities;
  std::size_t scan_page = 1'000;  // units
  std::size_t history = 0;        // states of a unit that stale reads may see
  Fault fault = Fault::None;
};

// The database itself. Several connections may share it, and it lives as long as any of them. Safe to use from several
// threads, except for connections with weather.
class Database {
 public:
  explicit Database(DatabaseOptions options = {});
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // One session's way to it. Without weather, everything arrives.
  std::unique_ptr<db::BlockStore> connect(Weather* weather = nullptr);

  // For those who look behind the scenes.
  void for_each(const std::function<void(const db::UnitRef&, const db::Head&, std::size_t entries)>& visit) const;
  [[nodiscard]] std::uint64_t writes() const;              // that were asked for
  [[nodiscard]] std::uint64_t reads() const;               // units
  [[nodiscard]] std::uint64_t linearizable_reads() const;  // of these

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace noam::tests::blocks
