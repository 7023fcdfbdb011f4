#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "bench/cassandra.h"
#include "bench/harness.h"
#include "noam/stores/cassandra/cassandra.h"

namespace noam::bench {

using namespace stores::blocks;
using stores::Deadline;
using stores::Key;

std::optional<cql::ContactPoint> bench_cassandra() {
  const char* given = std::getenv("NOAM_BENCH_CASSANDRA");
  if (!cql::available()) {
    fmt::print("cassandra: skipped; noam was built without the driver for Cassandra\n");
    return std::nullopt;
  }
  if (given == nullptr || *given == '\0') {
    fmt::print(
        "cassandra: skipped; NOAM_BENCH_CASSANDRA=host:port names no server (tools/servers start "
        "cassandra-stock starts one)\n");
    return std::nullopt;
  }
  const auto point = cql::parse_contact_point(given);
  if (!point) throw Failed(fmt::format("NOAM_BENCH_CASSANDRA: {}", point.error().message));
  return *point;
}

namespace {

// Counts, and passes everything on.
class CountedBlocks final : public BlockStore {
 public:
  CountedBlocks(std::unique_ptr<BlockStore> behind, std::shared_ptr<Asked> asked)
      : behind_(std::move(behind)), asked_(std::move(asked)) {}

  [[nodiscard]] const BlockCapabilities& capabilities() const override { return behind_->capabilities(); }
  Result<void> deploy(const stores::Blueprint& blueprint) override { return behind_->deploy(blueprint); }
  [[nodiscard]] std::optional<stores::Deployment> deployment() const override { return behind_->deployment(); }
  [[nodiscard]] std::uint32_t part_of(std::uint32_t family) const override { return behind_->part_of(family); }
  Result<void> read(const std::vector<UnitRead>& units, Fresh fresh, Deadline by,
                    std::vector<UnitAnswer>& out) override {
    (fresh == Fresh::Linearizable ? asked_->serial_reads : asked_->committed_reads) += units.size();
    return behind_->read(units, fresh, by, out);
  }
  Result<void> write(const std::vector<std::vector<UnitWrite>>& groups, Deadline by,
                     std::vector<Written>& out) override {
    asked_->writes += groups.size();
    auto done = behind_->write(groups, by, out);
    for (const Written written : out)
      if (written == Written::Unknown) ++asked_->unknown;
    return done;
  }
  Result<void> keep_command(const std::string& id, const Key& columns, Deadline by) override {
    ++asked_->plain_writes;
    return behind_->keep_command(id, columns, by);
  }
  Result<std::optional<Key>> kept_command(const std::string& id, Deadline by) override {
    return behind_->kept_command(id, by);
  }
  Result<UnitPage> scan(std::uint32_t part, Walk what, const std::string& after, Deadline by) override {
    return behind_->scan(part, what, after, by);
  }

 private:
  const std::unique_ptr<BlockStore> behind_;
  const std::shared_ptr<Asked> asked_;
};

Surroundings counted(const std::shared_ptr<Asked>& asked) {
  Surroundings out = this_machine();
  out.later = [asked, later = out.later](std::function<void()> work) {
    ++asked->later;
    later([asked, work = std::move(work)] {
      work();
      --asked->later;
    });
  };
  return out;
}

template <typename Value>
Value taken(Result<Value> result) {
  if (!result) throw Failed(result.error().message);
  return std::move(*result);
}

}  // namespace

NoamOnCassandra::NoamOnCassandra(const cql::Options& cluster, const std::string& keyspace, runtime::Reads reads,
                                 const ProtocolOptions& options)
    : session_(taken(cql::Session::connect(cluster))) {
  stores::cassandra::Place place;
  place.cluster = cluster;
  place.keyspace = keyspace;
  auto blocks =
      std::make_unique<CountedBlocks>(taken(stores::cassandra::open_block_store(session_, place, true)), asked_);
  database_ = std::make_unique<NoamDatabase>(open_block_layer(std::move(blocks), counted(asked_), options),
                                             std::string(NOAM_SOURCE_DIR) + "/bench/cassandra.noam", "tables", reads);
}

void NoamOnCassandra::wait() const {
  while (asked_->later != 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
}

HandOnCassandra::HandOnCassandra(const cql::ContactPoint& point) {
  options_.contact_points = {point};
  options_.connect_timeout = std::chrono::seconds(20);
  noam_keyspace_ = fmt::format("noam_bench_{:08x}", std::random_device{}());
  keyspace_ = noam_keyspace_ + "_hand";
  session_ = taken(cql::Session::connect(options_));
  execute(fmt::format(
      "CREATE KEYSPACE {} WITH replication = {{'class': 'NetworkTopologyStrategy', 'replication_factor': '1'}}",
      keyspace_));
}

HandOnCassandra::~HandOnCassandra() {
  for (const std::string& keyspace : {noam_keyspace_, keyspace_})
    (void)session_->execute("DROP KEYSPACE IF EXISTS " + keyspace);
}

std::string HandOnCassandra::named(const std::string& text) const {
  std::string out = text;
  for (std::size_t at = 0; (at = out.find("KS.", at)) != std::string::npos;) out.replace(at, 2, keyspace_);
  return out;
}

void HandOnCassandra::execute(const std::string& text) {
  const cql::Response response = session_->execute(named(text));
  if (!response.ok()) throw Failed(fmt::format("{}: {}", text, response.failure().message));
}

cql::Prepared HandOnCassandra::prepare(const std::string& text) { return taken(session_->prepare(named(text))); }

cql::Response HandOnCassandra::run(const cql::Request& request) {
  cql::Response response = session_->run(request);
  if (!response.ok()) throw Failed(response.failure().message);
  return response;
}

}  // namespace noam::bench
