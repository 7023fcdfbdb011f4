#include "noam/runtime/executor.h"

#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include "noam/base/breakage.h"
#include "noam/base/check.h"
#include "noam/runtime/functions.h"
#include "noam/runtime/own_blocks.h"

namespace noam::runtime {

using design::KeySource;
using design::Place;
using design::Plan;
using design::Step;
using design::StepKind;
using model::Datum;
using model::TypeKind;
using stores::Key;

namespace {

const Datum nothing;

const Datum& at_place(const Place& place, std::size_t cells, const Key& block, const stores::Entry& entry) {
  const Datum* found = nullptr;
  switch (place.kind) {
    case Place::Kind::Block:
      found = &block[place.index];
      break;
    case Place::Kind::Key:
      found = &entry.key[place.index];
      break;
    case Place::Kind::Cell:
      found = place.index < entry.columns.size() ? &entry.columns[place.index] : &nothing;
      break;
    case Place::Kind::Hidden:
      found = cells + place.index < entry.columns.size() ? &entry.columns[cells + place.index] : &nothing;
      break;
  }
  for (const std::uint32_t inner : place.inside) {
    if (!found->is_list()) return nothing;
    found = &found->as_list()[inner];
  }
  return *found;
}

}  // namespace

namespace {

// An entry's first column is the element.
bool holds_whole_elements(const design::Family& family) {
  return family.cells.size() == 1 && family.cells[0].expr.kind == model::ExprKind::Variable;
}

}  // namespace

Datum element_of(const design::Family& family, stores::Entry entry, const Datum& key) {
  if (holds_whole_elements(family)) return std::move(entry.columns[0]);
  if (family.cells.empty()) return key;
  entry.columns.resize(family.cells.size());
  return std::move(entry.columns);
}

bool Executor::take(const Step& step, const Key& block, stores::Entry& entry, Row& row, Use use) const {
  const std::size_t cells = design_.families[step.family].cells.size();
  for (const design::Check& check : step.checks)
    if (!(at_place(check.place, cells, block, entry) == value(check.value, row))) return false;
  for (const design::Output& output : step.outputs) {
    const Datum& found = at_place(output.place, cells, block, entry);
    if (found.absent())
      row[output.slot] = output.type.is_collection() ? model::nothing(output.type) : Datum();
    else if (use == Use::Last && output.alone)
      row[output.slot] = std::move(const_cast<Datum&>(found));  // of the entry, which is not const
    else
      row[output.slot] = found;
  }
  if (step.weight_slot) row[*step.weight_slot] = at_place(*step.weight, cells, block, entry);
  if (step.found_slot) row[*step.found_slot] = value(step.found, row);
  return true;
}

// What a part of a key is computed from is not what the statement computes: if it does not fit, the part is absent.
Datum Executor::value(const KeySource& source, const Row& row) const {
  if (!source.exact) return value(source.value, row);
  const bool before = environment_.overflowed;
  Datum out = value(source.value, row);
  environment_.overflowed = before;
  return out;
}

std::vector<Datum> Executor::key_values(const KeySource& source, const Row& row) const {
  std::vector<Datum> out;
  const Datum of = value(source, row);
  if (of.absent()) {
    if (source.exact || broken(Breakage::AbsentEqualsAbsent)) out.emplace_back();
    return out;
  }
  switch (source.kind) {
    case KeySource::Kind::Value:
      out.push_back(of);
      break;
    case KeySource::Kind::EachOf:
      out = of.as_list();
      std::sort(out.begin(), out.end());
      out.erase(std::unique(out.begin(), out.end()), out.end());
      out.erase(std::remove_if(out.begin(), out.end(), [](const Datum& at) { return at.absent(); }), out.end());
      break;
    case KeySource::Kind::Buckets: {
      const Datum high = value(source.high, row);
      if (high.absent()) break;
      const TypeKind kind = source.value.type.kind == TypeKind::Date ? TypeKind::Date : TypeKind::Timestamp;
      Datum start = period_start(source.unit, kind, of);
      while (!start.absent() && start <= high) {
        if (broken(Breakage::LastBucketMissed) && next_period(source.unit, kind, start) > high) break;
        out.push_back(start);
        start = next_period(source.unit, kind, start);
      }
      break;
    }
    case KeySource::Kind::AnyWord:
      for (std::string& word : words(of.as_string())) out.emplace_back(std::move(word));
      break;
    case KeySource::Kind::AllWords: {
      auto all = words(of.as_string());
      // The longest is likely the rarest.
      const auto longest = std::max_element(all.begin(), all.end(), [](const std::string& a, const std::string& b) {
        return a.size() < b.size();
      });
      if (longest != all.end()) out.emplace_back(*longest);
      break;
    }
  }
  return out;
}

bool Executor::reads_once(const Plan& plan) {
  const auto reads = [](const Step& step) { return step.kind != StepKind::Filter && step.kind != StepKind::Unnest; };
  if (plan.steps.empty() || plan.steps[0].kind != StepKind::Lookup || !plan.steps[0].one_block()) return false;
  const bool with_late = plan.steps[0].with_next && plan.steps.size() == 1;
  const std::ptrdiff_t rest = plan.steps[0].with_next && !with_late ? 2 : 1;
  return std::none_of(plan.steps.begin() + rest, plan.steps.end(), reads) &&
         std::none_of(plan.late.begin() + (with_late ? 1 : 0), plan.late.end(), reads) &&
         std::all_of(plan.otherwise.begin(), plan.otherwise.end(), [](const Plan& other) { return reads_once(other); });
}

void Executor::blocks_of(const Step& step, const Row& row, std::vector<Key>& out) const {
  // A part may be made of one before it.
  std::vector<std::pair<Key, Row>> ways{{{}, row}};
  for (const KeySource& source : step.block) {
    std::vector<std::pair<Key, Row>> longer;
    for (auto& [block, with] : ways) {
      for (Datum& datum : key_values(source, with)) {
        longer.emplace_back(block, with);
        if (source.slot) longer.back().second[*source.slot] = datum;
        longer.back().first.push_back(std::move(datum));
      }
    }
    ways = std::move(longer);
  }
  for (auto& [block, with] : ways) out.push_back(std::move(block));
}

bool Executor::block_of(const Step& step, Row& row, Key& out) const {
  out.reserve(step.block.size());
  for (const KeySource& source : step.block) {
    Datum datum = value(source, row);
    if (datum.absent() && !source.exact && !broken(Breakage::AbsentEqualsAbsent)) return false;
    if (source.slot) row[*source.slot] = datum;
    out.push_back(std::move(datum));
  }
  return true;
}

bool Executor::range_of(const Step& step, const Row& row, stores::ReadRequest& out) const {
  const design::Family& family = design_.families[step.family];
  for (const KeySource& source : step.prefix) {
    out.from.parts.push_back(value(source, row));
    if (out.from.parts.back().absent() && !source.exact) return false;
  }
  out.to.parts = out.from.parts;
  if (step.range.bounded()) {
    const bool descending = family.key[step.prefix.size()].descending;
    stores::Bound& first = descending ? out.to : out.from;
    stores::Bound& last = descending ? out.from : out.to;
    const auto bound = [&](const std::optional<model::Expr>& expr, bool inclusive, stores::Bound& to) {
      if (!expr) return true;
      to.parts.push_back(value(*expr, row));
      to.inclusive = inclusive;
      return !to.parts.back().absent();
    };
    if (!bound(step.range.low, step.range.low_inclusive, first) ||
        !bound(step.range.high, step.range.high_inclusive, last))
      return false;
    if (broken(Breakage::RangeBoundExclusive)) out.from.inclusive = out.to.inclusive = false;
  }
  if (step.limited && lookup_limit_) {
    out.reverse = step.reverse;
    out.limit = static_cast<std::size_t>(std::max<std::int64_t>(*lookup_limit_, 1));
  }
  return true;
}

// What it collects is what the first columns of its entries are.
bool Executor::gathers(const Step& step) const {
  return step.collection != TypeKind::Map && holds_whole_elements(design_.families[step.family]);
}

// One row that looks at one block. With the next step, what that collects, too.
Result<void> Executor::look_at_block(const Step& step, const Step* next, Batch& batch) {
  Row& row = batch.rows[0];
  const std::uint32_t seed = batch.seeds[0];
  std::array<stores::ReadRequest, 2> requests;
  stores::ReadRequest& request = requests[0];
  stores::Answers answers;
  request.block.collection = design_.families[step.family].collection;
  request.family = step.family;
  if (block_of(step, row, request.block.key) && range_of(step, row, request)) {
    if (next != nullptr) {
      requests[1].block = request.block;
      requests[1].family = next->family;
      requests[1].gathered = gathers(*next);
    }
    NOAM_RETURN_IF_ERROR(transaction_.read(std::span(requests.data(), next == nullptr ? 1 : 2), moment_, answers));
  } else {
    answers.emplace_back();
  }
  std::vector<stores::Entry>& entries = answers[0].entries;
  if (entries.size() == 1 && take(step, request.block.key, entries[0], row, Use::Last)) {
    if (next != nullptr) collected_ = std::move(answers[1]);
  } else if (entries.size() <= 1) {
    if (!step.optional || broken(Breakage::OptionalRowDropped)) {
      batch.rows.clear();
      batch.seeds.clear();
    } else {
      stay_without(step, row);
    }
  } else {
    const Row before = std::move(row);
    batch.rows.clear();
    batch.seeds.clear();
    batch.rows.reserve(entries.size());
    for (stores::Entry& entry : entries) {
      batch.rows.push_back(before);
      if (!take(step, request.block.key, entry, batch.rows.back(), Use::Last)) batch.rows.pop_back();
    }
    if (batch.rows.empty() && step.optional && !broken(Breakage::OptionalRowDropped)) {
      batch.rows.push_back(before);
      stay_without(step, batch.rows.back());
    }
    batch.seeds.assign(batch.rows.size(), seed);
  }
  return {};
}

void Executor::stay_without(const Step& step, Row& row) const {
  for (const KeySource& source : step.block)
    if (source.slot) row[*source.slot] = Datum();
  for (const design::Output& output : step.outputs) row[output.slot] = model::nothing(output.type);
  if (step.found_slot) row[*step.found_slot] = broken(Breakage::DanglingShown) ? value(step.found, row) : Datum();
}

Result<void> Executor::lookup(const Step& step, const Step* next, Batch& batch) {
  NOAM_RETURN_IF_ERROR(transaction_.may_read(step.family));
  const bool one_block = step.one_block();
  if (one_block && batch.rows.size() == 1) return look_at_block(step, step.with_next ? next : nullptr, batch);
  struct Wanted {
    std::uint32_t row;
    std::size_t request;
  };
  std::vector<Wanted> wanted;
  std::vector<stores::ReadRequest> requests;
  const auto hash_of = [](const stores::ReadRequest& request) {
    std::size_t hash = 0;
    for (const Key* parts : {&request.block.key, &request.from.parts})
      for (const Datum& part : *parts) hash = hash * 31 + hash_value(part);
    return hash;
  };
  std::unordered_multimap<std::size_t, std::size_t> known;  // requests without a range, which several rows may share
  std::vector<Key> blocks;
  for (std::uint32_t i = 0; i < batch.rows.size(); ++i) {
    Row& row = batch.rows[i];
    stores::ReadRequest request;
    blocks.clear();
    if (!one_block) {
      blocks_of(step, row, blocks);
    } else {
      blocks.emplace_back();
      if (!block_of(step, row, blocks.back())) continue;
    }
    if (blocks.empty() || !range_of(step, row, request)) continue;
    request.block.collection = design_.families[step.family].collection;
    request.family = step.family;
    for (Key& block : blocks) {
      request.block.key = std::move(block);
      std::optional<std::size_t> same;
      if (!step.range.bounded()) {
        const std::size_t hash = hash_of(request);
        for (auto [at, end] = known.equal_range(hash); at != end && !same; ++at) {
          const stores::ReadRequest& other = requests[at->second];
          if (other.block == request.block && other.from == request.from) same = at->second;
        }
        if (!same) known.emplace(hash, requests.size());
      }
      wanted.push_back({i, same.value_or(requests.size())});
      if (!same) requests.push_back(request);
    }
  }
  stores::Answers answers;
  if (!requests.empty()) NOAM_RETURN_IF_ERROR(transaction_.read(requests, moment_, answers));
  const bool by_words = std::any_of(step.block.begin(), step.block.end(),
                                    [](const KeySource& source) { return source.kind == KeySource::Kind::AnyWord; });
  Batch out;
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < batch.rows.size(); ++i) {
    if (transaction_.interrupted()) return Transaction::interruption();
    bool any = false;
    std::set<std::pair<Key, Key>> seen;  // what one word has found, another may find again
    for (; at < wanted.size() && wanted[at].row == i; ++at) {
      const std::size_t request = wanted[at].request;
      for (stores::Entry& entry : answers[request].entries) {
        if (by_words) {
          Key others;
          for (std::size_t part = 0; part < step.block.size(); ++part)
            if (step.block[part].kind != KeySource::Kind::AnyWord) others.push_back(requests[request].block.key[part]);
          if (!seen.emplace(std::move(others), entry.key).second && !broken(Breakage::WordFoundTwice)) continue;
        }
        Row row = batch.rows[i];
        for (std::size_t part = 0; part < step.block.size(); ++part)
          if (step.block[part].slot) row[*step.block[part].slot] = requests[request].block.key[part];
        if (!take(step, requests[request].block.key, entry, row, Use::OneOfSeveral)) continue;
        out.rows.push_back(std::move(row));
        out.seeds.push_back(batch.seeds[i]);
        any = true;
      }
    }
    if (any || !step.optional || broken(Breakage::OptionalRowDropped)) continue;
    Row row = std::move(batch.rows[i]);
    stay_without(step, row);
    out.rows.push_back(std::move(row));
    out.seeds.push_back(batch.seeds[i]);
  }
  batch = std::move(out);
  return {};
}

Result<void> Executor::scan(const Step& step, Batch& batch) {
  NOAM_RETURN_IF_ERROR(transaction_.may_read(step.family));
  if (batch.rows.empty()) return {};
  NOAM_ASSIGN_OR_RETURN(auto items, transaction_.scan(step.family, moment_));
  // Where it is known what an entry must hold, entries are found by that: a row does not look at all of them.
  const std::size_t cells = design_.families[step.family].cells.size();
  std::unordered_map<std::size_t, std::vector<std::uint32_t>> found;
  const bool sorted_out = !step.checks.empty() && batch.rows.size() > 1;
  if (sorted_out) {
    for (std::uint32_t at = 0; at < items.size(); ++at) {
      std::size_t hash = 0;
      for (const design::Check& check : step.checks)
        hash = hash * 31 + hash_value(at_place(check.place, cells, items[at].block, items[at].entry));
      found[hash].push_back(at);
    }
  }
  std::vector<std::uint32_t> all(sorted_out ? 0 : items.size());
  std::iota(all.begin(), all.end(), 0U);
  static const std::vector<std::uint32_t> none;
  Batch out;
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {
    if (transaction_.interrupted()) return Transaction::interruption();
    const std::vector<std::uint32_t>* near = &all;
    if (sorted_out) {
      std::size_t hash = 0;
      for (const design::Check& check : step.checks) hash = hash * 31 + hash_value(value(check.value, batch.rows[i]));
      const auto at = found.find(hash);
      near = at == found.end() ? &none : &at->second;
    }
    for (const std::uint32_t at : *near) {
      Row row = batch.rows[i];
      if (!take(step, items[at].block, items[at].entry, row, Use::OneOfSeveral)) continue;
      out.rows.push_back(std::move(row));
      out.seeds.push_back(batch.seeds[i]);
    }
  }
  batch = std::move(out);
  return {};
}

namespace {

// What a collection is made of: entries in the order of what tells elements apart.
Datum collection_of(const Step& step, const design::Family& family, std::vector<stores::Entry>&& entries) {
  Datum::List items;
  items.reserve(entries.size());
  for (stores::Entry& entry : entries) {
    Datum key = entry.key.back();
    Datum element = element_of(family, std::move(entry), key);
    if (step.collection == TypeKind::Map)
      items.emplace_back(Datum::List{std::move(key), std::move(element)});
    else
      items.push_back(std::move(element));
  }
  return items;
}

}  // namespace

Result<void> Executor::collect(const Step& step, Batch& batch) {
  NOAM_RETURN_IF_ERROR(transaction_.may_read(step.family));
  if (collected_) {  // already, with the step before
    batch.rows[0][step.slot] = gathers(step)
                                   ? std::move(collected_->entries[0].columns[0])
                                   : collection_of(step, design_.families[step.family], std::move(collected_->entries));
    collected_.reset();
    return {};
  }
  const design::Family& family = design_.families[step.family];
  std::vector<stores::ReadRequest> requests;
  std::vector<std::pair<std::size_t, std::size_t>> ranges;  // of requests, for each row
  std::vector<std::vector<Datum>> keys(batch.rows.size());  // spread: of the elements
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {
    const Row& row = batch.rows[i];
    const std::size_t first = requests.size();
    std::vector<Datum> each{Datum()};
    if (step.spread) {
      each.clear();
      const Datum elements = value(step.expr, row);
      if (elements.is_int())
        for (std::int64_t position = 0; position < elements.as_int(); ++position) each.emplace_back(position);
      else if (elements.is_list())
        each = elements.as_list();
      keys[i] = each;
    }
    Key block;
    bool impossible = false;
    std::size_t element_part = step.block.size();
    for (std::size_t part = 0; part < step.block.size(); ++part) {
      if (step.block[part].kind == KeySource::Kind::EachOf) {
        element_part = part;
        block.emplace_back();
        continue;
      }
      block.push_back(value(step.block[part], row));
      impossible = impossible || (block.back().absent() && !step.block[part].exact);
    }
    if (!impossible) {
      for (const Datum& key : each) {
        stores::ReadRequest request;
        request.block = {family.collection, block};
        if (step.spread) request.block.key[element_part] = key;
        request.family = step.family;
        requests.push_back(std::move(request));
      }
    }
    ranges.emplace_back(first, requests.size());
  }
  stores::Answers answers;
  if (!requests.empty()) NOAM_RETURN_IF_ERROR(transaction_.read(requests, moment_, answers));
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {
    std::vector<std::pair<Datum, Datum>> found;  // key and element
    for (std::size_t request = ranges[i].first; request < ranges[i].second; ++request) {
      for (stores::Entry& entry : answers[request].entries) {
        const Datum key = step.spread ? keys[i][request - ranges[i].first] : entry.key.back();
        found.emplace_back(key, element_of(family, std::move(entry), key));
      }
    }
    std::sort(found.begin(), found.end());
    Datum::List items;
    for (auto& [key, element] : found) {
      if (step.collection == TypeKind::Map)
        items.emplace_back(Datum::List{std::move(key), std::move(element)});
      else
        items.push_back(std::move(element));
    }
    batch.rows[i][step.slot] = std::move(items);
  }
  return {};
}

void Executor::unnest(const Step& step, Batch& batch) const {
  Batch out;
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {
    Datum collection = value(step.expr, batch.rows[i]);
    if (!collection.is_list()) continue;
    if (step.collection == TypeKind::Set) {
      Datum::List& elements = collection.change_list();
      std::sort(elements.begin(), elements.end());
      elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
    }
    const Datum::List& items = collection.as_list();
    for (std::size_t at = 0; at < items.size(); ++at) {
      Row row = batch.rows[i];
      if (step.collection == TypeKind::Map) {
        row[step.slot] = items[at].as_list()[1];
        if (step.key_slot) row[*step.key_slot] = items[at].as_list()[0];
      } else {
        row[step.slot] = items[at];
        if (step.key_slot) row[*step.key_slot] = static_cast<std::int64_t>(at);
      }
      out.rows.push_back(std::move(row));
      out.seeds.push_back(batch.seeds[i]);
    }
  }
  batch = std::move(out);
}

void Executor::filter(const Step& step, Batch& batch) const {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {
    if (!value(step.expr, batch.rows[i]).holds()) continue;
    if (kept != i) {
      batch.rows[kept] = std::move(batch.rows[i]);
      batch.seeds[kept] = batch.seeds[i];
    }
    ++kept;
  }
  batch.rows.resize(kept);
  batch.seeds.resize(kept);
}

Result<void> Executor::nest(const Step& step, Batch& batch) {
  if (batch.rows.empty()) return {};
  // The rows of a fan-out mostly agree in what the select looks at: those that follow each other are asked once.
  const auto agree = [&](const Row& a, const Row& b) {
    const auto end = step.looked_at.end() - (broken(Breakage::AnswerOfAnotherRow) && !step.looked_at.empty() ? 1 : 0);
    return std::all_of(step.looked_at.begin(), end, [&](std::uint32_t slot) { return a[slot] == b[slot]; });
  };
  std::vector<std::size_t> firsts;
  for (std::size_t i = 0; i < batch.rows.size(); ++i)
    if (i == 0 || !agree(batch.rows[i - 1], batch.rows[i])) firsts.push_back(i);
  std::vector<Row> asked;
  if (firsts.size() < batch.rows.size())
    for (const std::size_t first : firsts) asked.push_back(batch.rows[first]);
  NOAM_ASSIGN_OR_RETURN(auto answers, run(step.nested[0], asked.empty() ? batch.rows : asked));
  firsts.push_back(batch.rows.size());
  for (std::size_t at = 0; at < answers.size(); ++at) {
    std::vector<Row>& rows = answers[at];
    Datum result;
    if (step.as_set) {
      Datum::List items;
      for (Row& row : rows) items.push_back(std::move(row[0]));
      std::sort(items.begin(), items.end());
      items.erase(std::unique(items.begin(), items.end()), items.end());
      result = std::move(items);
    } else if (step.shape == model::Shape::Rows) {
      Datum::List items;
      for (Row& row : rows) items.emplace_back(Datum::List(std::move(row)));
      result = std::move(items);
    } else if (!rows.empty()) {
      result = step.shape == model::Shape::Row ? Datum(Datum::List(std::move(rows[0]))) : std::move(rows[0][0]);
    }
    for (std::size_t i = firsts[at]; i < firsts[at + 1]; ++i) {
      if (batch.rows[i].size() <= step.slot) batch.rows[i].resize(step.slot + 1);
      batch.rows[i][step.slot] = result;
    }
  }
  return {};
}

// Rows of a refreshed query: an entry ε tells the time of the last one, the others are keyed by time and position.
Result<void> Executor::refreshed(const Step& step, Batch& batch) {
  std::optional<std::uint32_t> head;
  std::optional<std::uint32_t> rows_family;
  for (std::uint32_t i = 0; i < design_.families.size(); ++i) {
    const design::Family& family = design_.families[i];
    if (family.purpose != design::Purpose::Refreshed || family.members_of != step.query) continue;
    (family.key.empty() ? head : rows_family) = i;
  }
  check(head && rows_family, "a refreshed query has a place for its rows");
  const std::uint32_t collection = design_.families[*rows_family].collection;
  const stores::Capabilities& store = transaction_.capabilities();
  Batch out;
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {
    stores::ReadRequest request;
    request.block = {collection, own_block()};
    request.family = *rows_family;
    bool impossible = false;
    if (step.history) {  // the time is descending
      const auto bound = [&](const std::optional<model::Expr>& expr, bool inclusive, stores::Bound& to) {
        if (!expr) return;
        const Datum datum = value(*expr, batch.rows[i]);
        impossible = impossible || datum.absent();
        to = {{datum}, inclusive};
      };
      bound(step.range.high, step.range.high_inclusive, request.from);
      bound(step.range.low, step.range.low_inclusive, request.to);
    }
    if (impossible) continue;
    std::vector<stores::ReadRequest> requests;
    if (step.history && !store.spreads_own) {
      requests.push_back(request);
    } else {
      stores::ReadRequest kept = request;
      kept.family = *head;
      kept.from = kept.to = {};
      stores::Answers answer;
      NOAM_RETURN_IF_ERROR(transaction_.read({&kept, 1}, moment_, answer));
      if (answer[0].entries.empty()) continue;
      // The time of the last refresh, and those of all.
      const stores::Key& times = answer[0].entries[0].columns;
      const auto read_time = [&](const Datum& time) {
        const auto beyond = [&](const stores::Bound& bound, bool before) {
          if (bound.parts.empty()) return false;
          if (time == bound.parts[0]) return !bound.inclusive;
          return before ? bound.parts[0] < time : time < bound.parts[0];
        };
        if (step.history && (beyond(request.from, true) || beyond(request.to, false))) return;
        stores::ReadRequest one = request;
        one.block.key = refreshed_block(store, time);
        one.from.parts = one.to.parts = {time};
        one.from.inclusive = one.to.inclusive = true;
        requests.push_back(std::move(one));
      };
      if (step.history) {
        const Datum::List all = times[1].as_list();
        for (auto time = all.rbegin(); time != all.rend(); ++time) read_time(*time);
      } else {
        read_time(times[0]);
      }
    }
    if (requests.empty()) continue;
    stores::Answers answers;
    NOAM_RETURN_IF_ERROR(transaction_.read(requests, moment_, answers));
    for (const stores::Answer& answer : answers) {
      for (const stores::Entry& entry : answer.entries) {
        Row row = batch.rows[i];
        for (const design::Output& output : step.outputs)
          row[output.slot] =
              output.place.kind == Place::Kind::Key ? entry.key[output.place.index] : entry.columns[output.place.index];
        out.rows.push_back(std::move(row));
        out.seeds.push_back(batch.seeds[i]);
      }
    }
  }
  batch = std::move(out);
  return {};
}

Result<void> Executor::run_steps(const std::vector<Step>& steps, const std::vector<Step>& then, Batch& batch,
                                 std::uint32_t slots) {
  for (Row& row : batch.rows)
    if (row.size() < slots) row.resize(slots);
  for (const Step& step : steps) {
    if (transaction_.interrupted()) return Transaction::interruption();
    switch (step.kind) {
      case StepKind::Lookup:
        NOAM_RETURN_IF_ERROR(lookup(step, &step == &steps.back() ? then.data() : &step + 1, batch));
        break;
      case StepKind::Scan:
        NOAM_RETURN_IF_ERROR(scan(step, batch));
        break;
      case StepKind::Collect:
        NOAM_RETURN_IF_ERROR(collect(step, batch));
        break;
      case StepKind::Unnest:
        unnest(step, batch);
        break;
      case StepKind::Filter:
        filter(step, batch);
        break;
      case StepKind::Nested: {
        const bool before = environment_.overflowed;
        environment_.overflowed = false;
        NOAM_RETURN_IF_ERROR(nest(step, batch));
        if (environment_.overflowed && environment_.tells_overflow) environment_.overflowed_slots.push_back(step.slot);
        environment_.overflowed = environment_.overflowed || before;
        break;
      }
      case StepKind::Refreshed:
        NOAM_RETURN_IF_ERROR(refreshed(step, batch));
        break;
    }
  }
  return {};
}

Result<Executor::Batch> Executor::fold(const Plan& plan, Batch batch, std::size_t seeds,
                                       const std::vector<Row>& given) const {
  struct Group {
    Row row;
    std::uint32_t seed = 0;
    std::vector<Folding> folds;
    std::vector<Datum> results;
  };
  std::map<std::pair<std::uint32_t, Row>, Group> groups;
  const auto begin = [&](std::uint32_t seed, const Row& row) {
    Group group;
    group.row = row;
    group.row.resize(plan.slots);
    group.seed = seed;
    group.results.resize(plan.folds.size());
    for (const design::FoldStep& step : plan.folds) group.folds.emplace_back(step.fold, step.distinct, step.kind);
    return group;
  };
  if (plan.group_by.empty())
    for (std::uint32_t seed = 0; seed < seeds; ++seed) groups.emplace(std::pair(seed, Row{}), begin(seed, given[seed]));
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {
    const Row& row = batch.rows[i];
    Row key;
    for (const model::Expr& expr : plan.group_by) key.push_back(value(expr, row));
    auto at = groups.find({batch.seeds[i], key});
    if (at == groups.end()) at = groups.emplace(std::pair(batch.seeds[i], key), begin(batch.seeds[i], row)).first;
    Group& group = at->second;
    const std::int64_t weight = plan.weight && !broken(Breakage::FoldedEntryIsOneRow) ? row[*plan.weight].as_int() : 1;
    for (std::size_t f = 0; f < plan.folds.size(); ++f) {
      const design::FoldStep& step = plan.folds[f];
      if (step.result) {
        group.results[f] = row[*step.folded_value];
      } else if (step.folded_count || step.folded_value) {
        const std::int64_t count =
            step.folded_count && row[*step.folded_count].is_int() ? row[*step.folded_count].as_int() : 0;
        group.folds[f].take_folded(count, step.folded_value ? row[*step.folded_value] : Datum());
      } else if (step.operand) {
        group.folds[f].take(value(*step.operand, row), weight);
      } else {
        group.folds[f].count_row(weight);
      }
    }
  }
  Batch out;
  for (auto& [key, group] : groups) {
    for (std::size_t f = 0; f < plan.folds.size(); ++f) {
      Overflow overflow = Overflow::No;
      Datum result =
          plan.folds[f].result && !group.results[f].absent() ? group.results[f] : group.folds[f].result(overflow);
      if (overflow == Overflow::Yes) {
        if (!environment_.tells_overflow) return Error{"sum out of range", "overflow"};
        environment_.overflowed = true;
      }
      group.row[plan.folds[f].slot] = std::move(result);
    }
    out.rows.push_back(std::move(group.row));
    out.seeds.push_back(group.seed);
  }
  return out;
}

namespace {

bool reads_any(const model::Expr& expr, const std::vector<std::uint32_t>& slots) {
  if (expr.kind == model::ExprKind::Slot && std::find(slots.begin(), slots.end(), expr.index) != slots.end())
    return true;
  return std::any_of(expr.operands.begin(), expr.operands.end(),
                     [&](const model::Expr& operand) { return reads_any(operand, slots); });
}

}  // namespace

Row Executor::columns(const Plan& plan, const Row& row) const {
  Row out;
  out.reserve(plan.columns.size());
  if (!environment_.tells_overflow) {
    for (const design::OutputColumn& column : plan.columns) out.push_back(value(column.expr, row));
    return out;
  }
  const bool before = environment_.overflowed;
  bool any = false;
  environment_.overflowed_columns.clear();
  for (const design::OutputColumn& column : plan.columns) {
    environment_.overflowed = false;
    out.push_back(value(column.expr, row));
    any = any || environment_.overflowed;
    environment_.overflowed_columns.push_back(
        static_cast<char>(environment_.overflowed || reads_any(column.expr, environment_.overflowed_slots)));
  }
  environment_.overflowed = before || any;
  return out;
}

// What is taken from the row is missing there afterwards.
Datum Executor::spent(const model::Expr& expr, Row& row) const {
  if (expr.kind == model::ExprKind::Slot) return std::move(row[expr.index]);
  if (expr.kind != model::ExprKind::Record) return value(expr, row);
  Datum::List fields;
  fields.reserve(expr.operands.size());
  for (const model::Expr& operand : expr.operands) fields.push_back(spent(operand, row));
  return fields;
}

// The rows become those of the plan's columns.
void Executor::show(const Plan& plan, std::vector<Row>& rows) const {
  if (!plan.slots_shown_once || environment_.tells_overflow) {
    for (Row& row : rows) row = columns(plan, row);
    return;
  }
  Row shown;
  for (Row& row : rows) {
    shown.clear();
    for (const design::OutputColumn& column : plan.columns) shown.push_back(spent(column.expr, row));
    row.assign(std::make_move_iterator(shown.begin()), std::make_move_iterator(shown.end()));
  }
}

// How many rows the limit lets through.
Result<std::size_t> Executor::most_rows(const Plan& plan, const Row& given) const {
  if (!plan.limit) return SIZE_MAX;
  const Datum limit = value(*plan.limit, given);
  if (!limit.is_int()) return SIZE_MAX;
  if (limit.as_int() < 0) return Error{"a limit must not be negative", "value"};
  return static_cast<std::size_t>(limit.as_int());
}

Row Executor::order_of(const Plan& plan, const Row& row) const {
  Row order;
  order.reserve(plan.order_by.size());
  for (const model::OrderTerm& term : plan.order_by) order.push_back(value(term.expr, row));
  return order;
}

Result<PageOfRows> Executor::show_entries(const Plan& plan) {
  const Step& step = plan.steps[0];
  NOAM_RETURN_IF_ERROR(transaction_.may_read(step.family));
  NOAM_ASSIGN_OR_RETURN(const std::size_t most, most_rows(plan, {}));
  PageOfRows out;
  Row row(plan.slots);
  stores::ReadRequest request;
  request.block.collection = design_.families[step.family].collection;
  request.family = step.family;
  if (most == 0 || !block_of(step, row, request.block.key) || !range_of(step, row, request)) return out;
  request.shown = &plan.shown;
  request.limit = plan.sorted ? most : 0;
  stores::Answers answers;
  NOAM_RETURN_IF_ERROR(transaction_.read({&request, 1}, moment_, answers));
  stores::Answer& answer = answers[0];
  out.rows = std::move(answer.rows);
  if (answer.more || (broken(Breakage::MoreThanThereIs) && out.rows.size() == most)) {
    take(step, request.block.key, answer.entries[0], row, Use::Last);
    out.position = order_of(plan, row);
  }
  return out;
}

Result<Executor::Batch> Executor::finish(const Plan& plan, Batch batch, std::size_t seeds,
                                         const std::vector<Row>& given, const std::optional<Row>& after,
                                         std::optional<Row>* position) {
  if (plan.folded) {
    NOAM_ASSIGN_OR_RETURN(batch, fold(plan, std::move(batch), seeds, given));
  }
  const auto cuts = [](std::size_t rows, std::size_t most) {
    return rows > most || (broken(Breakage::MoreThanThereIs) && rows == most);
  };
  const auto shown = [&](Batch rows) -> Result<Batch> {
    NOAM_RETURN_IF_ERROR(run_steps(plan.late, {}, rows, plan.slots));
    show(plan, rows.rows);
    return rows;
  };
  // Where nothing orders or cuts them, they stay as they came: by their seeds.
  if (!plan.distinct && !plan.ordered && !plan.limit && !after) return shown(std::move(batch));
  // One row needs no order, and some come in it.
  const bool in_order = plan.sorted && lookup_limit_ && plan.steps[0].limited;
  if (seeds == 1 && !after && (batch.rows.size() <= 1 || in_order)) {
    NOAM_ASSIGN_OR_RETURN(const std::size_t most, most_rows(plan, given[0]));
    if (cuts(batch.rows.size(), most)) {
      if (position != nullptr && most > 0) *position = order_of(plan, batch.rows[most - 1]);
      batch.rows.resize(most);
      batch.seeds.resize(most);
    }
    return shown(std::move(batch));
  }
  // Rows of each seed, ordered and cut.
  struct Item {
    Row row;
    Row order;
    Row columns;
  };
  std::vector<std::vector<Item>> by_seed(seeds);
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {
    Item item;
    item.order = order_of(plan, batch.rows[i]);
    if (plan.distinct)
      for (const design::OutputColumn& column : plan.columns) item.columns.push_back(value(column.expr, batch.rows[i]));
    item.row = std::move(batch.rows[i]);
    by_seed[batch.seeds[i]].push_back(std::move(item));
  }
  const auto before = [&](const Row& a, const Row& b) {
    for (std::size_t i = 0; i < plan.order_by.size(); ++i) {
      const auto order = a[i] <=> b[i];
      const bool other_way = broken(Breakage::TieTheOtherWay) && i > 0 && i + 1 == plan.order_by.size();
      if (std::is_neq(order)) return std::is_lt(order) != (plan.order_by[i].descending != other_way);
    }
    return false;
  };
  Batch out;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    std::vector<Item>& items = by_seed[seed];
    if (plan.distinct) {
      std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.columns < b.columns; });
      items.erase(std::unique(items.begin(), items.end(),
                              [](const Item& a, const Item& b) { return a.columns == b.columns; }),
                  items.end());
    }
    if (plan.ordered)
      std::stable_sort(items.begin(), items.end(),
                       [&](const Item& a, const Item& b) { return before(a.order, b.order); });
    if (after)
      items.erase(std::remove_if(items.begin(), items.end(),
                                 [&](const Item& item) {
                                   if (broken(Breakage::PageRepeatsARow)) return before(item.order, *after);
                                   return !before(*after, item.order);
                                 }),
                  items.end());
    NOAM_ASSIGN_OR_RETURN(const std::size_t most, most_rows(plan, given[seed]));
    if (cuts(items.size(), most)) {
      if (position != nullptr && most > 0) *position = items[most - 1].order;
      items.resize(most);
    }
    for (Item& item : items) {
      out.rows.push_back(std::move(item.row));
      out.seeds.push_back(seed);
    }
  }
  return shown(std::move(out));
}

namespace {

bool without_words(const Environment& environment, const std::vector<Step>& steps, const Row& row) {
  for (const Step& step : steps) {
    for (const KeySource& source : step.block) {
      if (source.kind != KeySource::Kind::AllWords) continue;
      if (source.value.kind != model::ExprKind::Parameter && source.value.kind != model::ExprKind::Constant)
        return true;
      const Datum text = evaluate(environment, source.value, row);
      if (!text.absent() && words(text.as_string()).empty()) return true;
    }
    for (const Plan& nested : step.nested)
      if (without_words(environment, nested.steps, row) || without_words(environment, nested.late, row)) return true;
  }
  return false;
}

}  // namespace

const Plan& Executor::usable(const Plan& plan, bool first_page) {
  const Plan* at = &plan;
  while (!at->otherwise.empty()) {
    bool fine = true;
    if (at->cap) {
      const Datum limit = at->limit ? value(*at->limit, {}) : Datum();
      fine = first_page && limit.is_int() && limit.as_int() < static_cast<std::int64_t>(*at->cap);
    }
    if (at->needs_words && (without_words(environment_, at->steps, {}) || without_words(environment_, at->late, {})))
      fine = false;
    if (fine) break;
    at = &at->otherwise[0];
  }
  return *at;
}

Result<std::vector<std::vector<Row>>> Executor::run(const Plan& plan, const std::vector<Row>& seeds) {
  const auto outer_limit = std::exchange(lookup_limit_, std::nullopt);
  Batch batch;
  batch.rows = seeds;
  for (std::uint32_t i = 0; i < seeds.size(); ++i) batch.seeds.push_back(i);
  const Plan& used = usable(plan, true);
  collected_.reset();
  NOAM_RETURN_IF_ERROR(run_steps(used.steps, used.late, batch, used.slots));
  NOAM_ASSIGN_OR_RETURN(Batch done, finish(used, std::move(batch), seeds.size(), seeds, std::nullopt, nullptr));
  std::vector<std::vector<Row>> out(seeds.size());
  for (std::size_t i = 0; i < done.rows.size(); ++i) out[done.seeds[i]].push_back(std::move(done.rows[i]));
  lookup_limit_ = outer_limit;
  return out;
}

// Limits are asked before anything is read, also those inside.
Result<void> Executor::check_limits(const Plan& plan) const {
  if (plan.limit && plan.limit->kind == model::ExprKind::Parameter) {
    const Datum limit = value(*plan.limit, {});
    if (limit.is_int() && limit.as_int() < 0) return Error{"a limit must not be negative", "value"};
  }
  for (const auto* steps : {&plan.steps, &plan.late})
    for (const Step& step : *steps)
      for (const Plan& nested : step.nested) NOAM_RETURN_IF_ERROR(check_limits(nested));
  return {};
}

Result<PageOfRows> Executor::page(const Plan& plan, const std::optional<Row>& after) {
  const Plan& used = usable(plan, !after.has_value());
  NOAM_RETURN_IF_ERROR(check_limits(used));
  Batch batch;
  batch.rows.emplace_back();
  batch.seeds.push_back(0);
  lookup_limit_.reset();
  if (used.limit && !after) {
    const Datum limit = value(*used.limit, {});
    if (limit.is_int() && limit.as_int() >= 0 && limit.as_int() < INT64_MAX) lookup_limit_ = limit.as_int() + 1;
  }
  if (!used.shown.empty() && !after && (!used.sorted || lookup_limit_)) return show_entries(used);
  collected_.reset();
  NOAM_RETURN_IF_ERROR(run_steps(used.steps, used.late, batch, used.slots));
  PageOfRows out;
  NOAM_ASSIGN_OR_RETURN(Batch done, finish(used, std::move(batch), 1, {Row{}}, after, &out.position));
  out.rows = std::move(done.rows);
  return out;
}

}  // namespace noam::runtime
