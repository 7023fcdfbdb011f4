#include "noam/stores/cassandra/partitions.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "noam/base/check.h"
#include "noam/schemas/cassandra/ddl.h"
#include "noam/stores/in_time.h"

namespace noam::stores::cassandra {

using blocks::Fresh;
using blocks::Head;
using blocks::HeadPart;
using blocks::UnitAnswer;
using blocks::UnitPage;
using blocks::UnitRange;
using blocks::UnitRead;
using blocks::UnitWrite;
using blocks::Walk;
using blocks::Written;

namespace {

constexpr std::uint32_t page_rows = 5'000;
constexpr int most_tries = 100;

Error error_of(const cql::Response& response) { return without_code(cql::error_of(response.failure())); }

// Reads compete with writes to the same partition; they are simply sent again.
bool is_busy(const cql::Failure& failure) {
  return failure.kind == cql::FailureKind::WriteTimeout || failure.kind == cql::FailureKind::ReadTimeout;
}

Error foreign_rows(const TableRows& table) {
  return Error{
      fmt::format("table {} has rows that noam did not write; noam and other programs must not write to one "
                  "keyspace",
                  table.qualified())};
}

}  // namespace

DesignTables::DesignTables(std::string keyspace, const Blueprint& blueprint)
    : keyspace_(std::move(keyspace)),
      model_(blueprint.model),
      design_(blueprint.design),
      outline_(schemas::outline(model_, design_, schemas::Own::With)),
      types_(model_),
      layout_(schemas::cassandra::lay_out(outline_, types_)),
      values_(model_) {
  rows_.reserve(layout_.tables.size());
  for (const schemas::cassandra::Table& table : layout_.tables) rows_.emplace_back(keyspace_, layout_, table, values_);
}

std::vector<std::string> DesignTables::statements() const { return schemas::cassandra::create_all(layout_, keyspace_); }

// What a statement gave: all its pages, and where each column is.
struct Partitions::Rows {
  std::vector<cql::Response> pages;
  std::map<std::string, std::size_t> places;

  [[nodiscard]] std::size_t count() const {
    std::size_t out = 0;
    for (const cql::Response& page : pages) out += page.row_count();
    return out;
  }
  // False: it wants no more.
  template <typename Take>
  Result<void> each(const Take& take) const {
    for (const cql::Response& page : pages) {
      for (std::size_t i = 0; i < page.row_count(); ++i) {
        NOAM_ASSIGN_OR_RETURN(const bool more, take(Row(places, page.row(i))));
        if (!more) return {};
      }
    }
    return {};
  }
};

Result<cql::Statement> Partitions::prepared(const Bound& bound) {
  {
    const std::lock_guard lock(lock_);
    const auto found = prepared_.find(bound.text);
    if (found != prepared_.end()) return cql::Statement{found->second, bound.values};
  }
  auto made = session_.prepare(bound.text);
  if (!made) return without_code(made.error());
  const std::lock_guard lock(lock_);
  return cql::Statement{prepared_.try_emplace(bound.text, std::move(*made)).first->second, bound.values};
}

std::vector<cql::Response> Partitions::run(std::vector<cql::Request>& requests, Deadline by) {
  for (cql::Request& request : requests) request.trace = static_cast<bool>(place_.trace);
  std::vector<cql::Response> out = session_.run(requests, by);
  if (place_.trace)
    for (std::size_t i = 0; i < out.size(); ++i) tell(requests[i], out[i]);
  return out;
}

void Partitions::tell(const cql::Request& request, const cql::Response& response) {
  {
    const std::lock_guard lock(lock_);
    for (const cql::Statement& statement : request.statements)
      for (const auto& [text, made] : prepared_)
        if (made == statement.prepared) place_.trace(text);
  }
  if (!response.ok()) {
    place_.trace("  " + cql::error_of(response.failure()).message);
    return;
  }
  const std::string rows = response.applied() ? fmt::format("{} rows", response.row_count()) : "not applied";
  place_.trace(fmt::format("  {}: {}, {} µs", response.coordinator(), rows, response.taken().count()));
  if (const auto events = session_.trace(response))
    for (const std::string& event : *events) place_.trace("    " + event);
}

// --- Reading ---------------------------------------------------------------------------------------------------------

Result<std::vector<Partitions::Rows>> Partitions::select(const std::vector<Bound>& statements, Fresh fresh,
                                                         Deadline by) {
  std::vector<Rows> out(statements.size());
  std::vector<cql::Request> requests;
  std::vector<std::size_t> of;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    cql::Request request;
    NOAM_ASSIGN_OR_RETURN(cql::Statement statement, prepared(statements[i]));
    request.statements.push_back(std::move(statement));
    request.idempotent = true;
    if (fresh == Fresh::Linearizable && !statements[i].counted) request.consistency = cql::Consistency::Serial;
    request.page_size = page_rows;
    requests.push_back(std::move(request));
    of.push_back(i);
  }
  for (int attempt = 0; !requests.empty(); ++attempt) {
    NOAM_RETURN_IF_ERROR(in_time(by));
    std::vector<cql::Response> responses = run(requests, by);
    std::vector<cql::Request> again;
    std::vector<std::size_t> again_of;
    for (std::size_t i = 0; i < responses.size(); ++i) {
      cql::Response& response = responses[i];
      if (!response.ok()) {
        if (!is_busy(response.failure()) || attempt >= most_tries) return error_of(response);
        again.push_back(std::move(requests[i]));
        again_of.push_back(of[i]);
        continue;
      }
      Rows& rows = out[of[i]];
      if (rows.pages.empty())
        for (std::size_t c = 0; c < response.column_count(); ++c)
          rows.places.emplace(std::string(response.column_name(c)), c);
      if (const auto state = response.paging_state()) {
        requests[i].paging_state = std::string(*state);
        again.push_back(std::move(requests[i]));
        again_of.push_back(of[i]);
      }
      rows.pages.push_back(std::move(response));
    }
    requests = std::move(again);
    of = std::move(again_of);
  }
  return out;
}

// A unit that is being read.
struct Partitions::Reading {
  const UnitRead& asked;
  const TableRows& table;
  std::optional<Rows> once;               // the head, and what the partition has once
  std::vector<std::vector<Rows>> ranges;  // of each range, its slices
  bool head_first = false;                // `once` was read before the ranges were
  UnitAnswer* out;

  // Each page sees its own moment.
  [[nodiscard]] std::size_t pages() const {
    std::size_t out_pages = 0;
    for (const auto& slices : ranges)
      for (const Rows& slice : slices) out_pages += slice.pages.size();
    return out_pages;
  }
};

// How many moments an answer shows. Unsure: nothing came of some page, so nothing tells its moment.
enum class Partitions::Moments : std::uint8_t { One, Unsure, Several };

Result<Head> Partitions::head_of(const Reading& reading) {
  if (reading.once->count() == 0) return Head{};
  NOAM_ASSIGN_OR_RETURN(Head head, reading.table.head_of(Row(reading.once->places, reading.once->pages[0].row(0))));
  if (head.sequence == 0 && !reading.table.counts()) return foreign_rows(reading.table);
  return head;
}

// Makes the answer of what was read.
Result<Partitions::Moments> Partitions::answer(Reading& reading) {
  const TableRows& table = reading.table;
  UnitAnswer& out = *reading.out;
  out = {};
  std::optional<Head> head;
  if (table.counts()) head = Head{};
  std::optional<Row> row_of_once;
  if (reading.once) {
    NOAM_ASSIGN_OR_RETURN(head, head_of(reading));
    if (reading.once->count() > 0) row_of_once.emplace(reading.once->places, reading.once->pages[0].row(0));
  }
  Moments moments = Moments::One;
  bool nothing = false;
  for (std::size_t r = 0; r < reading.asked.ranges.size(); ++r) {
    const UnitRange& asked = reading.asked.ranges[r];
    UnitAnswer::Range& range = out.ranges.emplace_back();
    if (!table.in_rows(asked.family)) {
      if (!row_of_once) continue;
      NOAM_ASSIGN_OR_RETURN(auto entry, table.entry_of(asked.family, *row_of_once));
      if (entry) range.entries.push_back(std::move(*entry));
      continue;
    }
    for (const Rows& slice : reading.ranges[r]) {
      for (const cql::Response& page : slice.pages) nothing = nothing || page.row_count() == 0;
      NOAM_RETURN_IF_ERROR(slice.each([&](const Row& row) -> Result<bool> {
        NOAM_ASSIGN_OR_RETURN(const Head marks, table.head_of(row));
        if (marks.sequence == 0 && !table.counts()) return foreign_rows(table);
        if (!head) head = marks;
        if (marks.sequence != head->sequence) moments = Moments::Several;
        NOAM_ASSIGN_OR_RETURN(auto entry, table.entry_of(asked.family, row));
        if (!entry) return true;
        if (asked.limit != 0 && range.entries.size() == asked.limit) {
          range.more = true;
          return false;
        }
        range.entries.push_back(std::move(*entry));
        return true;
      }));
    }
  }
  // Nothing was asked for: the bounds of the ranges leave nothing.
  if (!head) nothing = true;
  out.head = head.value_or(Head{});
  // Without a head there was nothing in the partition when the head was read.
  const bool never = (reading.once && out.head.sequence == 0) || table.counts();
  if (nothing && moments == Moments::One && !never) moments = Moments::Unsure;
  return moments;
}

// For each of them, what `of` asks for, all at once.
template <typename Of, typename Take>
Result<void> Partitions::select_for(std::vector<Reading*>& readings, Fresh fresh, Deadline by, const Of& of,
                                    const Take& take) {
  std::vector<Bound> statements;
  std::vector<std::size_t> ends;
  for (const Reading* reading : readings) {
    NOAM_RETURN_IF_ERROR(of(*reading, statements));
    ends.push_back(statements.size());
  }
  NOAM_ASSIGN_OR_RETURN(std::vector<Rows> found, select(statements, fresh, by));
  auto next = found.begin();
  for (std::size_t i = 0; i < readings.size(); ++i) {
    const auto end = found.begin() + static_cast<std::ptrdiff_t>(ends[i]);
    take(*readings[i], std::span(next, end));
    next = end;
  }
  return {};
}

namespace {

Result<void> ask_head(const UnitRead& unit, const TableRows& table, std::vector<Bound>& out) {
  NOAM_ASSIGN_OR_RETURN(Bound once, table.select_once(unit.unit.block, unit.head));
  out.push_back(std::move(once));
  return {};
}

// The slices of each range.
Result<std::vector<std::vector<Bound>>> slices_of(const UnitRead& unit, const TableRows& table) {
  std::vector<std::vector<Bound>> out;
  for (const UnitRange& range : unit.ranges) {
    auto& slices = out.emplace_back();
    if (!table.in_rows(range.family)) continue;
    NOAM_ASSIGN_OR_RETURN(slices, table.select_rows(unit.unit.block, range));
  }
  return out;
}

bool needs_once(const UnitRead& unit, const TableRows& table) {
  return unit.head == HeadPart::Whole || unit.ranges.empty() ||
         std::any_of(unit.ranges.begin(), unit.ranges.end(),
                     [&](const UnitRange& range) { return !table.in_rows(range.family); });
}

}  // namespace

Result<void> Partitions::read(const std::vector<UnitRead>& units, Fresh fresh, Deadline by,
                              std::vector<UnitAnswer>& out) {
  out.assign(units.size(), {});
  std::vector<Reading> all;
  all.reserve(units.size());
  for (std::size_t u = 0; u < units.size(); ++u) {
    const TableRows& table = tables_->table(units[u].unit.part);
    out[u].ranges.resize(units[u].ranges.size());
    if (table.can_be(units[u].unit.block)) all.push_back({units[u], table, std::nullopt, {}, false, &out[u]});
  }
  std::vector<Reading*> open;
  for (Reading& reading : all) open.push_back(&reading);

  const auto ask_slices = [](const Reading& reading, std::vector<Bound>& statements) -> Result<void> {
    NOAM_ASSIGN_OR_RETURN(auto ranges, slices_of(reading.asked, reading.table));
    for (auto& slices : ranges)
      for (Bound& slice : slices) statements.push_back(std::move(slice));
    return {};
  };
  const auto take_slices = [](Reading& reading, std::span<Rows> found) -> Result<void> {
    NOAM_ASSIGN_OR_RETURN(const auto ranges, slices_of(reading.asked, reading.table));
    reading.ranges.clear();
    std::size_t next = 0;
    for (const auto& slices : ranges) {
      auto& into = reading.ranges.emplace_back();
      for (std::size_t i = 0; i < slices.size(); ++i) into.push_back(std::move(found[next++]));
    }
    return {};
  };
  // First all at the same time.
  Result<void> taken;
  NOAM_RETURN_IF_ERROR(select_for(
      open, fresh, by,
      [&](const Reading& reading, std::vector<Bound>& statements) -> Result<void> {
        if (needs_once(reading.asked, reading.table))
          NOAM_RETURN_IF_ERROR(ask_head(reading.asked, reading.table, statements));
        return ask_slices(reading, statements);
      },
      [&](Reading& reading, std::span<Rows> found) {
        if (needs_once(reading.asked, reading.table)) {
          reading.once = std::move(found[0]);
          found = found.subspan(1);
        }
        if (const auto done = take_slices(reading, found); !done) taken = done;
      }));
  NOAM_RETURN_IF_ERROR(taken);
  for (int attempt = 0;; ++attempt) {
    std::vector<Reading*> unsure;
    std::vector<Reading*> again;
    for (Reading* reading : open) {
      NOAM_ASSIGN_OR_RETURN(const Moments moments, answer(*reading));
      if (moments == Moments::One) continue;
      // One page that is empty was so after its head was read, which is all that the head is used for.
      if (moments == Moments::Unsure && reading->head_first && reading->pages() == 1) continue;
      if (moments == Moments::Unsure && reading->head_first) {
        unsure.push_back(reading);
        continue;
      }
      if (moments == Moments::Several) reading->once.reset();
      again.push_back(reading);
    }
    // What was read between two heads that are equal is of their moment.
    NOAM_RETURN_IF_ERROR(select_for(
        unsure, fresh, by,
        [](const Reading& reading, std::vector<Bound>& statements) {
          return ask_head(reading.asked, reading.table, statements);
        },
        [&](Reading& reading, std::span<Rows> found) {
          const auto before = head_of(reading);
          reading.once = std::move(found[0]);
          const auto after = head_of(reading);
          if (!before || !after || before->sequence != after->sequence) again.push_back(&reading);
        }));
    if (again.empty()) return {};
    if (attempt == most_tries) return Error{"a block changes so often that it could not be read"};
    NOAM_RETURN_IF_ERROR(in_time(by));
    std::vector<Reading*> headless;
    for (Reading* reading : again)
      if (!reading->once) headless.push_back(reading);
    NOAM_RETURN_IF_ERROR(select_for(
        headless, fresh, by,
        [](const Reading& reading, std::vector<Bound>& statements) {
          return ask_head(reading.asked, reading.table, statements);
        },
        [](Reading& reading, std::span<Rows> found) { reading.once = std::move(found[0]); }));
    NOAM_RETURN_IF_ERROR(select_for(again, fresh, by, ask_slices, [&](Reading& reading, std::span<Rows> found) {
      if (const auto done = take_slices(reading, found); !done) taken = done;
      reading.head_first = true;
    }));
    NOAM_RETURN_IF_ERROR(taken);
    open = std::move(again);
  }
}

Result<UnitPage> Partitions::scan(std::uint32_t part, Walk what, const std::string& after, Deadline by) {
  const TableRows& table = tables_->table(part);
  Bound bound{table.select_all(what, after.empty()), {}};
  if (!after.empty()) {
    std::int64_t token = 0;
    const auto [end, failed] = std::from_chars(after.data(), after.data() + after.size(), token);
    if (failed != std::errc() || end != after.data() + after.size()) return Error{"invalid scan position"};
    bound.values.bigint(token);
  }
  std::vector<cql::Request> requests(1);
  cql::Request& request = requests[0];
  NOAM_ASSIGN_OR_RETURN(cql::Statement statement, prepared(bound));
  request.statements.push_back(std::move(statement));
  request.idempotent = true;
  request.page_size = static_cast<std::uint32_t>(place_.scan_rows);
  UnitPage out;
  std::optional<std::int64_t> token;
  std::vector<std::size_t> torn;  // units whose rows are not of one moment
  std::size_t rows = 0;
  std::map<std::string, std::size_t> places;
  for (int attempt = 0;;) {
    NOAM_RETURN_IF_ERROR(in_time(by));
    const std::vector<cql::Response> responses = run(requests, by);
    const cql::Response& response = responses[0];
    if (!response.ok()) {
      if (!is_busy(response.failure()) || ++attempt >= most_tries) return error_of(response);
      continue;
    }
    if (places.empty())
      for (std::size_t c = 0; c < response.column_count(); ++c) places.emplace(std::string(response.column_name(c)), c);
    for (std::size_t i = 0; i < response.row_count(); ++i) {
      const Row row(places, response.row(i));
      NOAM_ASSIGN_OR_RETURN(const std::int64_t here, row[TableRows::token_column()].bigint());
      if (rows >= place_.scan_rows && token && here != *token) {
        out.next = std::to_string(*token);
        break;
      }
      token = here;
      ++rows;
      NOAM_ASSIGN_OR_RETURN(Key block, table.block_of(row));
      NOAM_ASSIGN_OR_RETURN(Head head, table.head_of(row));
      if (out.items.empty() || out.items.back().block != block)
        out.items.push_back({std::move(block), std::move(head), true, {}});
      else if (out.items.back().head.sequence != head.sequence)
        torn.push_back(out.items.size() - 1);
      UnitPage::Item& item = out.items.back();
      item.empty = item.empty && !table.has_entry(row);
      if (item.head.sequence == 0 && !table.counts()) return foreign_rows(table);
      if (what == Walk::Heads) continue;
      const bool first = item.entries.empty();
      for (const schemas::FamilyOutline* family : table.table().families) {
        // What a partition has once stands in each of its rows.
        if (!table.in_rows(family->index) && !first) continue;
        NOAM_ASSIGN_OR_RETURN(auto entry, table.entry_of(family->index, row));
        if (entry) item.entries.emplace_back(family->index, std::move(*entry));
      }
    }
    const auto state = response.paging_state();
    if (!out.next.empty() || !state) break;
    request.paging_state = std::string(*state);
  }
  for (const std::size_t at : torn) {
    UnitPage::Item& item = out.items[at];
    UnitRead again{{part, item.block}, {}, what == Walk::Heads ? HeadPart::Whole : HeadPart::Marks};
    for (const schemas::FamilyOutline* family : table.table().families)
      again.ranges.push_back({.family = family->index, .from = {}, .to = {}, .reverse = false, .limit = 0});
    std::vector<UnitAnswer> answers;
    NOAM_RETURN_IF_ERROR(read({again}, Fresh::Committed, by, answers));
    item.head = std::move(answers[0].head);
    item.entries.clear();
    for (std::size_t r = 0; r < again.ranges.size(); ++r)
      for (Entry& entry : answers[0].ranges[r].entries)
        item.entries.emplace_back(again.ranges[r].family, std::move(entry));
    item.empty = item.entries.empty();
  }
  return out;
}

// --- Writing ---------------------------------------------------------------------------------------------------------

// Each is sent once: sent twice, it would count twice.
Result<void> Partitions::add(const std::vector<Add>& adds, Deadline by) {
  std::vector<cql::Request> requests;
  for (const Add& add : adds) {
    NOAM_ASSIGN_OR_RETURN(const Bound bound, tables_->table(tables_->part_of(add.entry.family)).add(add));
    if (bound.text.empty()) continue;
    cql::Request request;
    NOAM_ASSIGN_OR_RETURN(cql::Statement statement, prepared(bound));
    request.statements.push_back(std::move(statement));
    requests.push_back(std::move(request));
  }
  for (const cql::Response& response : run(requests, by))
    if (!response.ok()) return error_of(response);
  return {};
}

Result<void> Partitions::write(const std::vector<UnitWrite>& writes, Deadline by, std::vector<Written>& out) {
  std::vector<cql::Request> requests;
  for (const UnitWrite& write : writes) {
    NOAM_ASSIGN_OR_RETURN(const auto bounds, tables_->table(write.unit.part).write(write));
    cql::Request request;
    request.conditional = true;
    for (const Bound& bound : bounds) {
      NOAM_ASSIGN_OR_RETURN(cql::Statement statement, prepared(bound));
      request.statements.push_back(std::move(statement));
    }
    requests.push_back(std::move(request));
  }
  const std::vector<cql::Response> responses = run(requests, by);
  out.clear();
  for (const cql::Response& response : responses) {
    if (response.ok())
      out.push_back(response.applied() ? Written::Done : Written::Failed);
    else if (response.failure().unknown)
      out.push_back(Written::Unknown);
    else
      return error_of(response);
  }
  return {};
}

Result<void> Partitions::fill(const std::vector<UnitWrite>& writes) {
  std::vector<cql::Request> open;
  for (const UnitWrite& write : writes) {
    NOAM_ASSIGN_OR_RETURN(const auto bounds, tables_->table(write.unit.part).fill(write));
    cql::Request request;
    request.idempotent = true;
    for (const Bound& bound : bounds) {
      NOAM_ASSIGN_OR_RETURN(cql::Statement statement, prepared(bound));
      request.statements.push_back(std::move(statement));
    }
    open.push_back(std::move(request));
  }
  for (int attempt = 1; !open.empty(); ++attempt) {
    const std::vector<cql::Response> responses = run(open, no_deadline);
    std::vector<cql::Request> again;
    for (std::size_t i = 0; i < responses.size(); ++i) {
      if (responses[i].ok()) continue;
      if (!responses[i].failure().unknown || attempt == most_tries) return error_of(responses[i]);
      again.push_back(std::move(open[i]));
    }
    open = std::move(again);
  }
  return {};
}

}  // namespace noam::stores::cassandra
