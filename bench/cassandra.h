#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/noam_database.h"
#include "noam/cql/session.h"
#include "noam/stores/blocks/layer.h"

// Keyspaces on the Cassandra that NOAM_BENCH_CASSANDRA=host:port names, and what noam asks of them.
namespace noam::bench {

// None, and why is printed: no server is named, or noam was built without the driver.
std::optional<cql::ContactPoint> bench_cassandra();

// What the layer has asked of its database.
struct Asked {
  std::atomic<std::uint64_t> serial_reads{0};     // units, at SERIAL
  std::atomic<std::uint64_t> committed_reads{0};  // units, at QUORUM
  std::atomic<std::uint64_t> writes{0};           // conditional ones
  std::atomic<std::uint64_t> plain_writes{0};     // commands that had no room in a head
  std::atomic<std::uint64_t> unknown{0};          // conditional writes that had to be sent again
  std::atomic<std::uint64_t> later{0};            // tasks that nobody waits for, and that have not ended
};

// noam in a keyspace of its own, under the design `tables` of bench/cassandra.noam.
class NoamOnCassandra {
 public:
  NoamOnCassandra(const cql::Options& cluster, const std::string& keyspace, runtime::Reads reads,
                  const stores::blocks::ProtocolOptions& options = {});

  NoamDatabase& operator*() { return *database_; }
  NoamDatabase* operator->() { return database_.get(); }

  [[nodiscard]] const Asked& asked() const { return *asked_; }
  [[nodiscard]] cql::Metrics metrics() const { return session_->metrics(); }
  // Until all is done that was left for later.
  void wait() const;

 private:
  std::shared_ptr<Asked> asked_ = std::make_shared<Asked>();
  std::shared_ptr<cql::Session> session_;
  std::unique_ptr<NoamDatabase> database_;
};

// A session of the rival, with the same options, and a keyspace of its own beside noam's. Both are dropped with it.
class HandOnCassandra {
 public:
  explicit HandOnCassandra(const cql::ContactPoint& point);
  HandOnCassandra(const HandOnCassandra&) = delete;
  HandOnCassandra& operator=(const HandOnCassandra&) = delete;
  ~HandOnCassandra();

  [[nodiscard]] const cql::Options& options() const { return options_; }
  [[nodiscard]] const std::string& noam_keyspace() const { return noam_keyspace_; }
  cql::Session& session() { return *session_; }

  // In its keyspace, which `KS.` stands for. They throw if the server refuses.
  void execute(const std::string& text);
  cql::Prepared prepare(const std::string& text);
  cql::Response run(const cql::Request& request);

 private:
  [[nodiscard]] std::string named(const std::string& text) const;

  cql::Options options_;
  std::string noam_keyspace_;
  std::string keyspace_;
  std::unique_ptr<cql::Session> session_;
};

}  // namespace noam::bench
