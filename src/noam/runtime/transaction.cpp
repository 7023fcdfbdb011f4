#include "noam/runtime/transaction.h"

#include <algorithm>
#include <compare>

#include "noam/base/breakage.h"
#include "noam/base/check.h"
#include "noam/model/packed.h"
#include "noam/runtime/notes.h"

namespace noam::runtime {

using model::Datum;
using stores::Bound;
using stores::Entry;
using stores::Key;

int KeyOrder::compare(const Key& a, const Key& b) const {
  const std::size_t both = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < both; ++i) {
    const auto order = a[i] <=> b[i];
    if (std::is_eq(order)) continue;
    const bool smaller = std::is_lt(order) != (i < this->parts->size() && (*this->parts)[i].descending);
    return smaller ? -1 : 1;
  }
  return 0;
}

bool KeyOrder::operator()(const Key& a, const Key& b) const {
  const int order = compare(a, b);
  return order != 0 ? order < 0 : a.size() < b.size();
}

const stores::Snapshot* Transaction::moment() {
  if (!snapshot_ && use_ != Use::Glance)
    snapshot_ = store_.snapshot(use_ == Use::Change ? stores::Use::Change : stores::Use::Query);
  return snapshot_.get();
}

Transaction::Entries& Transaction::entries_of(Layer& layer, stores::BlockRef&& block, std::uint32_t family) {
  const BlockFamilyView at{block, family};
  const auto found = lies_behind(layer, at) ? layer.end() : layer.lower_bound(at);
  if (found != layer.end() && !BlockOrder()(at, found->first)) return found->second;
  const KeyOrder order{&design_.families[family].key};
  return layer.emplace_hint(found, BlockFamily{std::move(block), family}, Entries(order))->second;
}

namespace {

Datum sum(const Datum& a, const Datum& b) {
  if (b.absent()) return a;
  if (a.absent()) return b;
  if (a.is_int() && b.is_int()) return a.as_int() + b.as_int();
  const auto decimal = [](const Datum& at) { return at.is_int() ? model::Decimal(at.as_int()) : at.as_decimal(); };
  return decimal(a) + decimal(b);
}

Key sums(const Key& a, const Key& b) {
  Key out = a;
  out.resize(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < b.size(); ++i) out[i] = sum(out[i], b[i]);
  return out;
}

// Lists, with what is appended to them.
Key together(const Key& a, const Key& b) {
  Key out = a;
  out.resize(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (b[i].absent()) continue;
    out[i] = out[i].absent() ? b[i] : model::with_elements(out[i], b[i].as_list());
  }
  return out;
}

bool is_zero(const Datum& datum) {
  return datum.absent() || (datum.is_int() && datum.as_int() == 0) || (datum.is_decimal() && datum.as_decimal().zero());
}

}  // namespace

// What `above` makes of an entry that `below` has changed.
void Transaction::merge(Pending& below, Pending above) {
  if (above.kind == Pending::Kind::Put || above.kind == Pending::Kind::Delete) {
    below = std::move(above);
    return;
  }
  if (below.kind == above.kind) {
    below.columns =
        below.kind == Pending::Kind::Add ? sums(below.columns, above.columns) : together(below.columns, above.columns);
    return;
  }
  const auto made = applied(below.kind == Pending::Kind::Put ? std::optional(below.columns) : std::nullopt, above);
  below.kind = made ? Pending::Kind::Put : Pending::Kind::Delete;
  below.columns = made ? *made : Key{};
}

std::optional<Key> Transaction::applied(const std::optional<Key>& below, const Pending& pending) {
  switch (pending.kind) {
    case Pending::Kind::Put:
      return pending.columns;
    case Pending::Kind::Delete:
      return std::nullopt;
    case Pending::Kind::Append:
      torn_ = torn_ || (!below && !store_.capabilities().snapshots);
      if (torn_) return below;
      check(below.has_value(), "what is appended to is there");
      return together(*below, pending.columns);
    case Pending::Kind::Add:
      break;
  }
  Key out = sums(below.value_or(Key{}), pending.columns);
  if (pending.vanishes < out.size() && is_zero(out[pending.vanishes])) return std::nullopt;
  return out;
}

void Transaction::put(stores::EntryRef entry, Key columns) {
  entries_of(newest_, std::move(entry.block), entry.family)[std::move(entry.key)] = {Pending::Kind::Put,
                                                                                     std::move(columns), 0};
}

void Transaction::erase(stores::EntryRef entry) {
  entries_of(newest_, std::move(entry.block), entry.family)[std::move(entry.key)] = {Pending::Kind::Delete, {}, 0};
}

void Transaction::add(stores::EntryRef entry, Key addends, std::uint32_t vanishes) {
  note(std::move(entry), {Pending::Kind::Add, std::move(addends), vanishes});
}

void Transaction::append(stores::EntryRef entry, Key elements) {
  note(std::move(entry), {Pending::Kind::Append, std::move(elements), 0});
}

void Transaction::note(stores::EntryRef entry, Pending pending) {
  Entries& entries = entries_of(newest_, std::move(entry.block), entry.family);
  const auto found = entries.find(entry.key);
  if (found == entries.end())
    entries.emplace(std::move(entry.key), std::move(pending));
  else
    merge(found->second, std::move(pending));
}

void Transaction::settle() {
  if (settled_.empty()) {
    settled_.swap(newest_);
    return;
  }
  for (auto& [block, entries] : newest_) {
    Entries& below = entries_of(settled_, stores::BlockRef(block.block), block.family);
    for (auto& [key, pending] : entries) {
      const auto [at, fresh] = below.try_emplace(key, pending);
      if (!fresh) merge(at->second, std::move(pending));
    }
  }
  newest_.clear();
}

namespace {

bool within(const KeyOrder& order, const Key& key, const Bound& from, const Bound& to) {
  const auto beyond = [&](const Bound& bound, int wrong) {
    if (bound.parts.empty()) return false;
    const int at = order.compare(key, bound.parts);
    return at == wrong || (at == 0 && !bound.inclusive);
  };
  return !beyond(from, -1) && !beyond(to, 1);
}

}  // namespace

void Transaction::rely_on(const stores::ReadRequest& request, stores::Version version) {
  const std::size_t parts = design_.families[request.family].key.size();
  const bool single = request.from == request.to && request.from.inclusive && request.from.parts.size() == parts;
  // A store that keeps all families of a block together needs to be told of it once.
  const bool together = store_.capabilities().snapshots;
  if (!read_.empty() && read_.back().collection == request.block.collection &&
      *read_.back().block == request.block.key && (together || read_.back().family == request.family)) {
    const auto& entry = read_.back().entry;
    if (!entry || (single && entry->family == request.family && entry->key == request.from.parts)) return;
  }
  stores::Expect expect{request.block.collection, request.block.key, version};
  expect.family = request.family;
  if (single) expect.entry = {request.family, request.from.parts};
  read_.push_back(std::move(expect));
}

Result<void> Transaction::read_store(std::span<const stores::ReadRequest> requests, stores::Answers& out) {
  constexpr std::size_t most = 16;
  const bool remembers =
      use_ == Use::Change && requests.size() == 1 && !requests[0].gathered && requests[0].shown == nullptr;
  if (remembers) {
    const stores::ReadRequest& request = requests[0];
    for (const auto& [other, version] : nothing_) {
      if (other.family != request.family || other.block != request.block || other.from != request.from ||
          other.to != request.to)
        continue;
      out.assign(1, {});
      out[0].version = version;
      return {};
    }
  }
  NOAM_RETURN_IF_ERROR(store_.read(requests, moment(), by_, out));
  if (remembers && nothing_.size() < most && out[0].entries.empty()) nothing_.emplace_back(requests[0], out[0].version);
  return {};
}

Result<void> Transaction::read(std::span<const stores::ReadRequest> requests, Moment moment, stores::Answers& out) {
  if (interrupted()) return interruption();
  const bool own = moment == Moment::Now && !broken(Breakage::OwnChangesUnseen);
  const auto is_changed = [&](const stores::ReadRequest& request) {
    return changes(settled_, request) || (own && changes(newest_, request));
  };
  std::vector<stores::ReadRequest> asked;  // where our own changes lie on top, a limit counts after them
  if (std::any_of(requests.begin(), requests.end(), is_changed)) {
    asked.assign(requests.begin(), requests.end());
    for (stores::ReadRequest& request : asked)
      if (is_changed(request)) {
        request.limit = 0;
        request.gathered = false;
        request.shown = nullptr;
      }
  }
  NOAM_RETURN_IF_ERROR(read_store(asked.empty() ? requests : asked, out));
  if (is_validated()) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const bool nothing = requests[i].gathered && !is_changed(requests[i])
                               ? out[i].entries[0].columns[0].list_size() == 0
                               : out[i].entries.empty() && out[i].rows.empty();
      if (broken(Breakage::AbsenceNotExpected) && nothing && !is_changed(requests[i])) continue;
      rely_on(requests[i], out[i].version);
    }
  }
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (!is_changed(asked[i])) continue;
    const KeyOrder order{&design_.families[asked[i].family].key};
    std::map<Key, Key, KeyOrder> merged(order);
    for (Entry& entry : out[i].entries) merged.emplace(std::move(entry.key), std::move(entry.columns));
    for (const Layer* layer : {&settled_, &newest_}) {
      if (layer == &newest_ && !own) continue;
      const auto found = layer->find(BlockFamilyView{asked[i].block, asked[i].family});
      if (found == layer->end()) continue;
      // From the first that may lie within: of very many changes few may be asked for.
      const Bound& from = asked[i].from;
      const Bound& to = asked[i].to;
      const Entries& changed = found->second;
      for (auto next = from.parts.empty() ? changed.begin() : changed.lower_bound(from.parts); next != changed.end();
           ++next) {
        const auto& [key, pending] = *next;
        if (!to.parts.empty() && order.compare(key, to.parts) > 0) break;
        if (!within(order, key, from, to)) continue;
        const auto at = merged.find(key);
        const auto made = applied(at == merged.end() ? std::nullopt : std::optional(at->second), pending);
        if (made)
          merged[key] = *made;
        else if (at != merged.end())
          merged.erase(at);
      }
    }
    out[i].entries.clear();
    for (const auto& [key, columns] : merged) out[i].entries.push_back({key, columns});
    if (asked[i].reverse) std::reverse(out[i].entries.begin(), out[i].entries.end());
    const std::size_t limit = requests[i].limit;
    if (limit != 0 && out[i].entries.size() > limit) {
      out[i].entries.resize(limit);
      out[i].more = true;
    }
    if (requests[i].gathered) gather(out[i]);
    if (requests[i].shown != nullptr) show(requests[i], out[i]);
  }
  if (torn_) return Error{"what was read was never so at one moment", stores::conflict_code};
  return {};
}

Result<std::optional<Key>> Transaction::read_entry(const stores::EntryRef& entry, Moment moment) {
  stores::ReadRequest request;
  request.block = entry.block;
  request.family = entry.family;
  request.from.parts = entry.key;
  request.to.parts = entry.key;
  stores::Answers answers;
  NOAM_RETURN_IF_ERROR(read({&request, 1}, moment, answers));
  for (Entry& found : answers[0].entries)
    if (found.key == entry.key) return std::optional<Key>(std::move(found.columns));
  return std::optional<Key>();
}

Result<std::vector<stores::ScanPage::Item>> Transaction::scan(std::uint32_t family, Moment moment) {
  std::map<Key, std::map<Key, Key>> blocks;
  const std::uint32_t collection = design_.families[family].collection;
  std::string after;
  do {
    if (interrupted()) return interruption();
    NOAM_ASSIGN_OR_RETURN(stores::ScanPage page, store_.scan(family, after, this->moment(), by_));
    collections_.emplace(collection, page.version);
    for (auto& item : page.items)
      blocks[std::move(item.block)][std::move(item.entry.key)] = std::move(item.entry.columns);
    after = std::move(page.next);
  } while (!after.empty());
  std::vector<const Layer*> layers{&settled_};
  if (moment == Moment::Now) layers.push_back(&newest_);
  for (const Layer* layer : layers) {
    for (const auto& [block, entries] : *layer) {
      if (block.family != family) continue;
      auto& held = blocks[block.block.key];
      for (const auto& [key, pending] : entries) {
        const auto at = held.find(key);
        const auto made = applied(at == held.end() ? std::nullopt : std::optional(at->second), pending);
        if (made)
          held[key] = *made;
        else
          held.erase(key);
      }
    }
  }
  std::vector<stores::ScanPage::Item> out;
  for (auto& [block, entries] : blocks)
    for (auto& [key, columns] : entries) out.push_back({block, {key, std::move(columns)}});
  return out;
}

stores::WriteBatch Transaction::batch() const {
  Transaction copy = *this;
  return copy.take_batch();
}

stores::WriteBatch Transaction::take_reads() {
  stores::WriteBatch out;
  if (!broken(Breakage::ReadsNotExpected)) out.expects = std::move(read_);
  for (const std::uint32_t family : copies_read_) {
    const auto version = copies_->version(family);
    if (!version) continue;
    stores::EntryRef note = note_entry(design_, CopyStates::note_name(design_, family));
    out.expects.push_back({note.block.collection, std::move(note.block.key), *version, std::nullopt, note.family});
  }
  // Where there are no snapshots, nobody can watch a collection. Commands that would rely on one are not taken there.
  if (!broken(Breakage::CollectionNotExpected) && store_.capabilities().snapshots)
    for (const auto& [collection, version] : collections_) out.expects.push_back({collection, std::nullopt, version});
  return out;
}

stores::WriteBatch Transaction::take_batch() {
  stores::WriteBatch out = take_reads();
  settle();
  out.changes.reserve(changed());
  while (!settled_.empty()) {
    auto block = settled_.extract(settled_.begin());
    while (!block.mapped().empty()) {
      auto node = block.mapped().extract(block.mapped().begin());
      Pending& pending = node.mapped();
      stores::EntryRef entry{{}, block.key().family, std::move(node.key())};
      entry.block = block.mapped().empty() ? std::move(block.key().block) : block.key().block;
      switch (pending.kind) {
        case Pending::Kind::Put:
          out.changes.emplace_back(stores::Put{std::move(entry), std::move(pending.columns)});
          break;
        case Pending::Kind::Delete:
          out.changes.emplace_back(stores::Delete{std::move(entry)});
          break;
        case Pending::Kind::Add:
          out.changes.emplace_back(stores::Add{std::move(entry), std::move(pending.columns), pending.vanishes});
          break;
        case Pending::Kind::Append:
          out.changes.emplace_back(stores::Append{std::move(entry), std::move(pending.columns)});
          break;
      }
    }
  }
  return out;
}

std::size_t Transaction::changed() const {
  std::size_t sum = 0;
  for (const Layer* layer : {&settled_, &newest_})
    for (const auto& [block, entries] : *layer) sum += entries.size();
  return sum;
}

}  // namespace noam::runtime
