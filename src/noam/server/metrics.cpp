#include "noam/server/metrics.h"

#include <algorithm>

#include <fmt/format.h>

#include "noam/design/design.h"
#include "noam/runtime/copies.h"
#include "noam/stores/rocksdb.h"

namespace noam::server {

namespace {

constexpr std::size_t most_hot_blocks = 10;

// A value of a label.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + '"';
}

void begin(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

}  // namespace

Metrics::Metrics(const model::Model& model) {
  const auto add = [&](const std::string& name, bool command) {
    auto made = std::make_unique<OfStatement>();
    made->name = name;
    made->command = command;
    statements_.push_back(std::move(made));
  };
  for (const model::Query& query : model.queries) add(query.name, false);
  for (const model::Command& command : model.commands) add(command.name, true);
  std::sort(statements_.begin(), statements_.end(), [](const auto& a, const auto& b) { return a->name < b->name; });
}

Metrics::OfStatement* Metrics::find(std::string_view statement) const {
  const auto found = std::lower_bound(statements_.begin(), statements_.end(), statement,
                                      [](const auto& one, std::string_view name) { return one->name < name; });
  return found != statements_.end() && (*found)->name == statement ? found->get() : nullptr;
}

void Metrics::count(std::string_view statement, std::string_view code, std::chrono::steady_clock::duration took) {
  OfStatement* const one = find(statement);
  if (one == nullptr) return;
  const double seconds = std::chrono::duration<double>(took).count();
  const auto bucket =
      static_cast<std::size_t>(std::lower_bound(bounds.begin(), bounds.end(), seconds) - bounds.begin());
  one->buckets[bucket].fetch_add(1, std::memory_order_relaxed);
  one->microseconds.fetch_add(
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(took).count()),
      std::memory_order_relaxed);
  if (code.empty()) return;
  const std::lock_guard lock(one->lock);
  const auto found = one->codes.find(code);
  if (found != one->codes.end())
    ++found->second;
  else
    one->codes.emplace(code, 1);
}

void Metrics::count_other(int status) {
  const std::lock_guard lock(lock_);
  ++others_[status];
}

std::string Metrics::text(runtime::Session& session) const {
  std::string out;
  begin(out, "noam_request_seconds", "histogram", "Time of requests by statement");
  for (const auto& one : statements_) {
    const std::string labels =
        fmt::format("statement={},kind=\"{}\"", quoted(one->name), one->command ? "command" : "query");
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < one->buckets.size(); ++i) {
      all += one->buckets[i].load(std::memory_order_relaxed);
      const std::string bound = i < bounds.size() ? fmt::format("{}", bounds[i]) : "+Inf";
      out += fmt::format("noam_request_seconds_bucket{{{},le=\"{}\"}} {}\n", labels, bound, all);
    }
    out += fmt::format("noam_request_seconds_sum{{{}}} {:.6f}\n", labels,
                       static_cast<double>(one->microseconds.load(std::memory_order_relaxed)) / 1e6);
    out += fmt::format("noam_request_seconds_count{{{}}} {}\n", labels, all);
  }
  begin(out, "noam_not_applied_total", "counter", "Requests that did not go well, by statement and code");
  for (const auto& one : statements_) {
    const std::lock_guard lock(one->lock);
    for (const auto& [code, number] : one->codes)
      out +=
          fmt::format("noam_not_applied_total{{statement={},code={}}} {}\n", quoted(one->name), quoted(code), number);
  }
  begin(out, "noam_other_requests_total", "counter", "Requests that run no statement, by status");
  {
    const std::lock_guard lock(lock_);
    for (const auto& [status, number] : others_)
      out += fmt::format("noam_other_requests_total{{status=\"{}\"}} {}\n", status, number);
  }
  begin(out, "noam_copies", "gauge", "Copies by state");
  std::map<std::string, std::size_t> states{{"broken", 0}, {"building", 0}, {"ready", 0}};
  for (const auto& [collection, state] : session.copies()) ++states[runtime::state_name(state)];
  for (const auto& [state, number] : states) out += fmt::format("noam_copies{{state=\"{}\"}} {}\n", state, number);
  if (const auto* const embedded = dynamic_cast<const stores::EmbeddedStore*>(&session.store())) {
    begin(out, "noam_store_bytes", "gauge", "What the store takes on disk");
    out += fmt::format("noam_store_bytes {}\n", embedded->bytes_on_disk());
  }
  const auto hot = session.store().hottest(most_hot_blocks);
  if (!hot.empty()) {
    begin(out, "noam_hot_block_share", "gauge", "Blocks that are asked for most, with their share of all accesses");
    const design::Design& design = session.program().design;
    for (std::size_t i = 0; i < hot.size(); ++i)
      out += fmt::format("noam_hot_block_share{{rank=\"{}\",collection={}}} {:.4f}\n", i + 1,
                         quoted(design.collections[hot[i].block.collection].name), hot[i].share);
  }
  return out;
}

}  // namespace noam::server
