#include "noam/stores/cassandra/keyspace.h"

#include <algorithm>
#include <map>
#include <random>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "noam/schemas/cassandra/ddl.h"

namespace noam::stores::cassandra {

namespace {

constexpr std::chrono::milliseconds wait_for_lock{200};
constexpr std::chrono::seconds wait_without_a_word{3};
constexpr int tries_of_ddl = 5;
constexpr int tries_of_new_table = 25;
constexpr std::uint32_t page_rows = 5'000;
constexpr std::chrono::minutes most_clock_difference{10};
constexpr std::string_view live_column = "noam_live";

// One row says what lies in the keyspace; who deploys holds it.
std::string record_table(const std::string& keyspace) {
  return fmt::format(
      "CREATE TABLE IF NOT EXISTS {}.noam_deployment (\n    part text PRIMARY KEY,\n    format int,\n"
      "    version bigint,\n    deployed_at timestamp,\n    serial text,\n    design_name text,\n    design text,\n"
      "    model text,\n    layout text,\n    loading boolean,\n    tables list<text>,\n    types list<text>,\n"
      "    holder uuid,\n"
      "    beat int\n)",
      keyspace);
}

// Ids of commands that a head has no more room for.
std::string commands_table(const std::string& keyspace) {
  return fmt::format("CREATE TABLE IF NOT EXISTS {}.noam_commands (\n    id blob PRIMARY KEY,\n    kept blob\n)",
                     keyspace);
}

constexpr const char* part = "keyspace";
constexpr std::int32_t format = 1;
constexpr cql::Uuid nobody{};

cql::Uuid random_uuid() {
  std::random_device random;
  cql::Uuid out{};
  for (std::uint8_t& byte : out) byte = static_cast<std::uint8_t>(random());
  out[0] |= 1U;  // not zero, which is nobody
  return out;
}

}  // namespace

namespace {

// A table that another process has just created is in the schema before it can be asked.
bool may_appear(const Error& error) {
  return error.message.find("does not exist") != std::string::npos ||
         error.message.find("Unknown CF") != std::string::npos;
}

}  // namespace

Result<cql::Response> Keyspace::ask(const std::string& text, const cql::Values& values, bool conditional) {
  for (int attempt = 1;; ++attempt) {
    auto response = ask_once(text, values, conditional);
    if (response || attempt == tries_of_new_table || !may_appear(response.error())) return response;
    std::this_thread::sleep_for(wait_for_lock);
  }
}

Result<cql::Response> Keyspace::ask_once(const std::string& text, const cql::Values& values, bool conditional) {
  NOAM_ASSIGN_OR_RETURN(cql::Prepared prepared, session_.prepare(text));
  cql::Request request;
  request.statements.push_back({std::move(prepared), values});
  request.conditional = conditional;
  request.idempotent = !conditional;
  cql::Response response = session_.run(request);
  if (!response.ok()) return cql::error_of(response.failure());
  return response;
}

Result<std::unique_ptr<cql::Session>> connect(const Place& place) {
  auto session = cql::Session::connect(place.cluster);
  // So it looks from here if a server expects TLS.
  if (!session && !place.cluster.tls && session.error().message.find("read the frame header") != std::string::npos)
    return Error{session.error().message + "; if the server expects TLS, add `ca=FILE` to the URL",
                 session.error().code};
  return session;
}

Result<bool> Keyspace::exists() {
  NOAM_ASSIGN_OR_RETURN(const cql::Response found,
                        ask("SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?",
                            cql::Values().text(name_), false));
  return found.row_count() > 0;
}

Result<void> Keyspace::create(std::optional<unsigned> replication) {
  if (!replication) {
    NOAM_ASSIGN_OR_RETURN(const cql::Response peers, ask("SELECT peer FROM system.peers", {}, false));
    replication = peers.row_count() == 0 ? 1 : 3;
  }
  NOAM_ASSIGN_OR_RETURN(const cql::Response local, ask("SELECT data_center FROM system.local", {}, false));
  if (local.row_count() == 0) return Error{"the server does not say in which datacenter it is"};
  NOAM_ASSIGN_OR_RETURN(const std::string_view datacenter, local.row(0)[0].text());
  return execute(
      fmt::format("CREATE KEYSPACE IF NOT EXISTS {} WITH replication = {{'class': 'NetworkTopologyStrategy', "
                  "'{}': '{}'}}",
                  name_, datacenter, *replication));
}

// Whether it was run or not: to run it again does no harm.
Result<void> Keyspace::execute(const std::string& text) {
  for (int attempt = 1;; ++attempt) {
    const cql::Response done = session_.execute(text);
    if (done.ok()) return {};
    if (!done.failure().unknown || attempt == tries_of_ddl) return cql::error_of(done.failure());
  }
}

Result<void> Keyspace::run(const std::vector<std::string>& statements, Lock& lock) {
  for (const std::string& text : statements) {
    NOAM_RETURN_IF_ERROR(execute(text));
    NOAM_RETURN_IF_ERROR(beat(lock));
  }
  return {};
}

Result<void> Keyspace::beat(Lock& lock) {
  NOAM_ASSIGN_OR_RETURN(const cql::Response held,
                        ask(fmt::format("UPDATE {}.noam_deployment SET beat = ? WHERE part = ? IF holder = ?", name_),
                            cql::Values().integer(++lock.beat).text(part).uuid(lock.by), true));
  if (!held.applied()) return Error{fmt::format("another process has begun to deploy to keyspace {}", name_)};
  return {};
}

Result<void> Keyspace::truncate(const std::vector<std::string>& tables, Lock& lock) {
  std::vector<std::string> statements;
  for (const std::string& table : tables) statements.push_back(fmt::format("TRUNCATE {}.{}", name_, table));
  return run(statements, lock);
}

namespace {

std::string serial_name(cql::SerialConsistency serial) {
  return serial == cql::SerialConsistency::Serial ? "serial" : "local_serial";
}

Result<std::vector<std::string>> texts(const cql::Cell& cell) {
  std::vector<std::string> out;
  if (cell.is_null()) return out;
  NOAM_ASSIGN_OR_RETURN(const auto cells, cell.list());
  for (const cql::Cell& one : cells) out.emplace_back(one.bytes());
  return out;
}

cql::Values list_of(const std::vector<std::string>& names) {
  cql::Values out;
  for (const std::string& name : names) out.text(name);
  return out;
}

}  // namespace

Result<std::optional<Record>> Keyspace::record() {
  NOAM_ASSIGN_OR_RETURN(
      const cql::Response tables,
      ask("SELECT table_name FROM system_schema.tables WHERE keyspace_name = ? AND table_name = 'noam_deployment'",
          cql::Values().text(name_), false));
  if (tables.row_count() == 0) return std::optional<Record>();
  NOAM_ASSIGN_OR_RETURN(
      const cql::Response found,
      ask(fmt::format("SELECT format, design_name, layout, version, deployed_at, model, design, serial, tables, types, "
                      "loading FROM {}.noam_deployment WHERE part = ?",
                      name_),
          cql::Values().text(part), false));
  if (found.row_count() == 0 || found.row(0)[0].is_null()) return std::optional<Record>();
  const auto row = found.row(0);
  NOAM_ASSIGN_OR_RETURN(const std::int32_t written_as, row[0].integer());
  if (written_as != format)
    return Error{fmt::format("keyspace {} has format {}; this noam reads format {}", name_, written_as, format)};
  Record out;
  NOAM_ASSIGN_OR_RETURN(const std::int64_t version, row[3].bigint());
  NOAM_ASSIGN_OR_RETURN(const cql::Milliseconds at, row[4].timestamp());
  out.deployment = {std::string(row[1].bytes()), std::string(row[2].bytes()), static_cast<std::uint32_t>(version),
                    at.time_since_epoch().count()};
  out.model = std::string(row[5].bytes());
  out.design = std::string(row[6].bytes());
  if (row[7].bytes() == serial_name(cql::SerialConsistency::LocalSerial))
    out.serial = cql::SerialConsistency::LocalSerial;
  NOAM_ASSIGN_OR_RETURN(out.tables, texts(row[8]));
  NOAM_ASSIGN_OR_RETURN(out.types, texts(row[9]));
  if (!row[10].is_null()) {
    NOAM_ASSIGN_OR_RETURN(out.loading, row[10].boolean());
  }
  return std::optional(std::move(out));
}

Result<void> Keyspace::write_record(const Record& record) {
  cql::Values values;
  values.integer(format).text(record.deployment.design).text(record.deployment.layout);
  values.bigint(record.deployment.version);
  values.timestamp(cql::Milliseconds(std::chrono::milliseconds(record.deployment.at))).text(record.model);
  values.text(record.design).text(serial_name(record.serial)).list(list_of(record.tables)).list(list_of(record.types));
  values.boolean(record.loading).text(part);
  NOAM_ASSIGN_OR_RETURN(
      const cql::Response done,
      ask(fmt::format(
              "UPDATE {}.noam_deployment SET format = ?, design_name = ?, layout = ?, version = ?, "
              "deployed_at = ?, model = ?, design = ?, serial = ?, tables = ?, types = ?, loading = ? WHERE part = ? "
              "IF EXISTS",
              name_),
          values, true));
  if (!done.applied()) return Error{fmt::format("the record of keyspace {} is missing", name_)};
  return {};
}

Record record_of(const Blueprint& blueprint, const schemas::cassandra::Layout& layout, std::uint32_t version,
                 const Place& place) {
  const auto now =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch());
  Record out;
  out.deployment = {blueprint.design.name, blueprint.design.layout, version, now.count()};
  out.model = std::string(blueprint.text);
  out.design = std::string(blueprint.design_text);
  out.serial = place.cluster.serial_consistency;
  for (const schemas::cassandra::Table& table : layout.tables) out.tables.push_back(table.name);
  out.types = layout.type_names();
  return out;
}

Result<Lock> Keyspace::lock(std::chrono::milliseconds patience, const std::function<void(const std::string&)>& note) {
  NOAM_RETURN_IF_ERROR(execute(record_table(name_)));
  NOAM_RETURN_IF_ERROR(execute(commands_table(name_)));
  NOAM_RETURN_IF_ERROR(
      ask(fmt::format("INSERT INTO {}.noam_deployment (part, holder, beat) VALUES (?, ?, 0) IF NOT EXISTS", name_),
          cql::Values().text(part).uuid(nobody), true));
  const Lock mine{random_uuid(), 0};
  Lock seen;
  const auto began = std::chrono::steady_clock::now();
  auto since = began;
  bool noted = false;
  for (;;) {
    const bool gone = seen.by != nobody && std::chrono::steady_clock::now() - since > patience;
    NOAM_ASSIGN_OR_RETURN(
        const cql::Response taken,
        ask(fmt::format("UPDATE {}.noam_deployment SET holder = ?, beat = 0 WHERE part = ? IF holder = ?", name_),
            cql::Values().uuid(mine.by).text(part).uuid(gone ? seen.by : nobody), true));
    if (taken.applied()) return mine;
    NOAM_ASSIGN_OR_RETURN(const cql::Response found,
                          ask(fmt::format("SELECT holder, beat FROM {}.noam_deployment WHERE part = ?", name_),
                              cql::Values().text(part), false));
    if (found.row_count() == 0) return Error{fmt::format("the record of keyspace {} is missing", name_)};
    Lock now;
    NOAM_ASSIGN_OR_RETURN(now.by, found.row(0)[0].uuid());
    NOAM_ASSIGN_OR_RETURN(now.beat, found.row(0)[1].integer());
    // Ours, if the answer of an earlier try was lost.
    if (now.by == mine.by) return mine;
    if (note && !noted && std::chrono::steady_clock::now() - began > wait_without_a_word) {
      noted = true;
      note(fmt::format(
          "another process deploys to keyspace {}; waiting until it ends, or shows no sign of life for {} s", name_,
          std::chrono::duration_cast<std::chrono::seconds>(patience).count()));
    }
    if (now.by != seen.by || now.beat != seen.beat) since = std::chrono::steady_clock::now();
    seen = now;
    std::this_thread::sleep_for(wait_for_lock);
  }
}

void Keyspace::unlock(const Lock& lock) {
  (void)ask(fmt::format("UPDATE {}.noam_deployment SET holder = ? WHERE part = ? IF holder = ?", name_),
            cql::Values().uuid(nobody).text(part).uuid(lock.by), true);
}

Result<void> Keyspace::drop(const Record& record, Lock& lock) {
  std::vector<std::string> statements;
  for (const std::string& table : record.tables)
    statements.push_back(fmt::format("DROP TABLE IF EXISTS {}.{}", name_, table));
  // Those that others are made of come first in the record.
  for (auto type = record.types.rbegin(); type != record.types.rend(); ++type)
    statements.push_back(fmt::format("DROP TYPE IF EXISTS {}.{}", name_, *type));
  return run(statements, lock);
}

Result<bool> Keyspace::has_entries(const std::string& table) {
  NOAM_ASSIGN_OR_RETURN(const cql::Response columns,
                        ask("SELECT column_name, kind FROM system_schema.columns WHERE keyspace_name = ? AND "
                            "table_name = ?",
                            cql::Values().text(name_).text(table), false));
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < columns.row_count(); ++i) {
    const std::string name(columns.row(i)[0].bytes());
    if (columns.row(i)[1].bytes() == "clustering" || name.starts_with(live_column)) shown.push_back(name);
  }
  // Counters.
  if (shown.empty() && columns.row_count() > 0) shown.emplace_back(columns.row(0)[0].bytes());
  if (shown.empty()) return false;
  cql::Request request;
  NOAM_ASSIGN_OR_RETURN(cql::Prepared prepared,
                        session_.prepare(fmt::format("SELECT {} FROM {}.{}", fmt::join(shown, ", "), name_, table)));
  request.statements.push_back({std::move(prepared)});
  request.idempotent = true;
  request.page_size = page_rows;
  for (;;) {
    const cql::Response page = session_.run(request);
    if (!page.ok()) return cql::error_of(page.failure());
    for (std::size_t i = 0; i < page.row_count(); ++i)
      for (const cql::Cell& cell : page.row(i))
        if (!cell.is_null()) return true;
    const auto state = page.paging_state();
    if (!state) return false;
    request.paging_state = std::string(*state);
  }
}

namespace {

// A column as a person would write it: `bigint static`, `timestamp clustering desc`.
std::string described(std::string_view type, std::string_view kind, std::string_view order) {
  std::string out(type);
  if (kind == "partition_key") out += ", in the partition key";
  if (kind == "clustering") out += fmt::format(", clustering {}", order);
  if (kind == "static") out += " static";
  return out;
}

std::map<std::string, std::string> described(const schemas::cassandra::Table& table) {
  std::map<std::string, std::string> out;
  const auto add = [&](const std::vector<schemas::cassandra::KeyPart>& parts, const char* kind) {
    for (const schemas::cassandra::KeyPart& part : parts) {
      const char* const order = part.descending ? "desc" : "asc";
      if (!part.presence.empty()) out[part.presence] = described("boolean", kind, order);
      out[part.name] = described(part.type, kind, order);
    }
  };
  add(table.partition, "partition_key");
  add(table.clustering, "clustering");
  for (const schemas::cassandra::TableColumn& column : table.columns)
    out[column.name] = described(column.type, column.is_static ? "static" : "regular", "none");
  return out;
}

}  // namespace

Result<Keyspace::Tables> Keyspace::tables() {
  NOAM_ASSIGN_OR_RETURN(const cql::Response found,
                        ask("SELECT table_name, column_name, type, kind, clustering_order FROM system_schema.columns "
                            "WHERE keyspace_name = ?",
                            cql::Values().text(name_), false));
  Tables out;
  for (std::size_t i = 0; i < found.row_count(); ++i) {
    const auto row = found.row(i);
    out[std::string(row[0].bytes())].emplace(row[1].bytes(), described(row[2].bytes(), row[3].bytes(), row[4].bytes()));
  }
  return out;
}

Result<void> Keyspace::check_table(const Columns& has, const schemas::cassandra::Table& table) const {
  for (const auto& [column, wanted] : described(table)) {
    const auto there = has.find(column);
    if (there == has.end())
      return Error{fmt::format("column `{}` of table {}.{} is missing", column, name_, table.name)};
    if (there->second != wanted)
      return Error{fmt::format("column `{}` of table {}.{} is {}, should be {}", column, name_, table.name,
                               there->second, wanted)};
  }
  return {};
}

Result<void> Keyspace::check_tables(const schemas::cassandra::Layout& layout) {
  NOAM_ASSIGN_OR_RETURN(const Tables there, tables());
  for (const schemas::cassandra::Table& table : layout.tables) {
    const auto found = there.find(table.name);
    if (found == there.end()) return Error{fmt::format("table {}.{} is missing", name_, table.name)};
    NOAM_RETURN_IF_ERROR(check_table(found->second, table));
  }
  return {};
}

// A deployment that was killed may have left tables, but never rows.
Result<void> Keyspace::check_unused(const schemas::cassandra::Layout& layout, bool locked) {
  NOAM_ASSIGN_OR_RETURN(const Tables there, tables());
  // What is there may be half of what another process deploys.
  if (!locked && there.contains("noam_deployment")) return {};
  for (const schemas::cassandra::Table& table : layout.tables) {
    const auto found = there.find(table.name);
    if (found == there.end()) continue;
    if (const auto same = check_table(found->second, table); !same)
      return Error{same.error().message +
                   "; it is of another program, or of a deployment that was interrupted; deploy to another keyspace"};
    NOAM_ASSIGN_OR_RETURN(const cql::Response row,
                          ask(fmt::format("SELECT {} FROM {}.{} LIMIT 1", table.partition[0].name, name_, table.name),
                              {}, false));
    if (row.row_count() > 0)
      return Error{
          fmt::format("table {}.{} has rows that noam did not write; deploy to another keyspace", name_, table.name)};
  }
  return {};
}

Result<void> Keyspace::check_clock() {
  NOAM_ASSIGN_OR_RETURN(const cql::Response now, ask("SELECT toTimestamp(now()) FROM system.local", {}, false));
  if (now.row_count() == 0) return Error{"the server does not say what time it is"};
  NOAM_ASSIGN_OR_RETURN(const cql::Milliseconds theirs, now.row(0)[0].timestamp());
  const auto difference =
      std::chrono::abs(theirs.time_since_epoch() - std::chrono::system_clock::now().time_since_epoch());
  if (difference <= most_clock_difference) return {};
  return Error{
      fmt::format("the clock of the server and that of this machine differ by {} minutes; noam needs them to agree "
                  "within {}",
                  std::chrono::duration_cast<std::chrono::minutes>(difference).count(), most_clock_difference.count())};
}

}  // namespace noam::stores::cassandra
