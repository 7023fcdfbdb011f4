#include "noam/runtime/upkeep.h"

#include <algorithm>
#include <compare>
#include <iterator>
#include <span>

#include "noam/base/breakage.h"
#include "noam/base/check.h"
#include "noam/runtime/executor.h"
#include "noam/runtime/functions.h"

namespace noam::runtime {

using design::Family;
using design::HiddenKind;
using design::Upkeep;
using model::Datum;
using model::Expr;
using model::ExprKind;
using model::Fold;
using stores::Key;

namespace {

bool is_fold(const model::Cell& cell) {
  return cell.shape == model::CellShape::Plain && cell.expr.kind == ExprKind::Fold;
}

bool is_list_of_rows(const model::Cell& cell) { return cell.shape == model::CellShape::List && cell.from.empty(); }

model::TypeKind operand_kind(const Expr& fold) {
  return fold.operands.empty() ? model::TypeKind::Int : fold.operands[0].type.kind;
}

const Datum& contribution(const Family& family, const design::Collection& collection, const Row& row,
                          std::size_t cell) {
  return row[collection.by.size() + family.key.size() + cell];
}

std::span<const Datum> identity_of(const Upkeep& upkeep, const Row& row) {
  return std::span(row).last(upkeep.identity_size);
}

std::weak_ordering compare_identities(const Upkeep& upkeep, const Row& a, const Row& b) {
  const auto x = identity_of(upkeep, a);
  const auto y = identity_of(upkeep, b);
  return std::lexicographical_compare_three_way(x.begin(), x.end(), y.begin(), y.end());
}

// Ties in lists are broken as queries break them: the last variable first.
bool list_order(const Upkeep& upkeep, const Row& a, const Row& b) {
  if (broken(Breakage::ListInOtherOrder)) return std::is_lt(compare_identities(upkeep, b, a));
  const auto x = identity_of(upkeep, a);
  const auto y = identity_of(upkeep, b);
  return std::lexicographical_compare(x.rbegin(), x.rend(), y.rbegin(), y.rend());
}

// In the order of their identities, each once.
void normalize(const Upkeep& upkeep, std::vector<Row>& rows) {
  if (rows.size() < 2) return;
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const Row& a, const Row& b) { return std::is_lt(compare_identities(upkeep, a, b)); });
  rows.erase(std::unique(rows.begin(), rows.end(),
                         [&](const Row& a, const Row& b) { return std::is_eq(compare_identities(upkeep, a, b)); }),
             rows.end());
}

// What is the same before and after needs nothing.
void leave_out_same(const Upkeep& upkeep, std::vector<Row>& before, std::vector<Row>& now) {
  std::size_t kept_before = 0;
  std::size_t kept_now = 0;
  std::size_t i = 0;
  std::size_t j = 0;
  const auto keep = [](std::vector<Row>& rows, std::size_t& kept, std::size_t at) {
    if (kept != at) rows[kept] = std::move(rows[at]);
    ++kept;
  };
  while (i < before.size() || j < now.size()) {
    const std::weak_ordering order = i == before.size() ? std::weak_ordering::greater
                                     : j == now.size()  ? std::weak_ordering::less
                                                        : compare_identities(upkeep, before[i], now[j]);
    const bool same = std::is_eq(order) && before[i] == now[j];
    if (!same && std::is_lteq(order)) keep(before, kept_before, i);
    if (!same && std::is_gteq(order)) keep(now, kept_now, j);
    if (std::is_lteq(order)) ++i;
    if (std::is_gteq(order)) ++j;
  }
  before.resize(kept_before);
  now.resize(kept_now);
}

}  // namespace

EntryKey entry_key(const design::Program& program, const Upkeep& upkeep, const Row& row) {
  const Family& family = program.design.families[upkeep.family];
  const auto blocks = static_cast<std::ptrdiff_t>(program.design.collection_of(family).by.size());
  const auto keys = static_cast<std::ptrdiff_t>(family.key.size());
  return {Key(row.begin(), row.begin() + blocks), Key(row.begin() + blocks, row.begin() + blocks + keys)};
}

Key derive_entry(const design::Program& program, const Upkeep& upkeep, std::vector<Row> rows) {
  const Family& family = program.design.families[upkeep.family];
  const design::Collection& collection = program.design.collection_of(family);
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return list_order(upkeep, a, b); });
  Key columns;
  const auto fold = [&](const Expr& of, std::size_t cell, Fold kind) {
    Folding folding(kind, of.distinct, operand_kind(of));
    for (const Row& row : rows) {
      const Datum& value = contribution(family, collection, row, cell);
      if (of.operands.empty())
        folding.count_row(1);
      else
        folding.take(value, 1);
    }
    return folding;
  };
  for (std::size_t i = 0; i < family.cells.size(); ++i) {
    const model::Cell& cell = family.cells[i];
    if (is_fold(cell)) {
      const Folding folding = fold(cell.expr, i, cell.expr.fold);
      Overflow overflow = Overflow::No;
      // A sum is kept whole, whatever its size.
      if (cell.expr.fold == Fold::Sum)
        columns.emplace_back(folding.exact_sum());
      else
        columns.push_back(folding.result(overflow));
    } else if (is_list_of_rows(cell)) {
      Datum::List items;
      for (const Row& row : rows) items.push_back(contribution(family, collection, row, i));
      columns.emplace_back(std::move(items));
    } else {
      columns.push_back(contribution(family, collection, rows.front(), i));
    }
  }
  for (const design::Hidden& hidden : family.hidden) {
    if (hidden.kind == HiddenKind::Weight) {
      columns.emplace_back(static_cast<std::int64_t>(rows.size()));
      continue;
    }
    const Folding folding = fold(family.cells[hidden.of].expr, hidden.of, Fold::Avg);
    if (hidden.kind == HiddenKind::Sum)
      columns.emplace_back(folding.exact_sum());
    else
      columns.emplace_back(folding.counted());
  }
  return columns;
}

std::map<EntryKey, Key> derive_entries(const design::Program& program, const Upkeep& upkeep,
                                       const std::vector<Row>& rows) {
  std::map<EntryKey, std::vector<Row>> groups;
  for (const Row& row : rows) groups[entry_key(program, upkeep, row)].push_back(row);
  std::map<EntryKey, Key> out;
  for (auto& [key, shared] : groups) out.emplace(key, derive_entry(program, upkeep, std::move(shared)));
  return out;
}

std::map<EntryKey, Key> cut_entries(const design::Program& program, const Upkeep& upkeep,
                                    std::map<EntryKey, Key>& entries) {
  const Family& family = program.design.families[upkeep.family];
  std::map<EntryKey, Key> out;
  if (!family.limit) return out;
  const KeyOrder order{&family.key};
  std::map<Key, std::vector<Key>> blocks;
  for (const auto& [key, columns] : entries) blocks[key.first].push_back(key.second);
  for (auto& [block, keys] : blocks) {
    if (keys.size() <= *family.limit) continue;
    std::sort(keys.begin(), keys.end(), order);
    for (std::size_t i = *family.limit; i < keys.size(); ++i) out.insert(entries.extract({block, keys[i]}));
  }
  return out;
}

namespace {

class Keeping {
 public:
  Keeping(const design::Program& program, Transaction& transaction, const Environment& environment,
          const std::vector<AggregateChange>& changes, const std::vector<RefreshChange>& refreshes)
      : program_(program),
        transaction_(transaction),
        environment_(environment),
        changes_(changes),
        refreshes_(refreshes) {}

  Result<void> run() {
    for (const Upkeep& upkeep : program_.upkeep) NOAM_RETURN_IF_ERROR(keep(upkeep));
    return {};
  }

 private:
  using Rows = std::vector<Row>;

  Result<std::vector<std::vector<Row>>> run_plan(const design::Plan& plan, const std::vector<Row>& seeds,
                                                 Transaction::Moment moment) {
    if (seeds.empty()) return std::vector<std::vector<Row>>{};
    Executor executor(transaction_, program_.design, environment_, moment);
    return executor.run(plan, seeds);
  }

  Result<void> collect(const design::Plan& plan, const std::vector<Row>& seeds, Transaction::Moment moment, Rows& out) {
    if (Executor::is_plain(plan)) {  // all is in the seed
      const Executor executor(transaction_, program_.design, environment_, moment);
      for (const Row& seed : seeds) out.push_back(executor.columns(plan, seed));
      return {};
    }
    NOAM_ASSIGN_OR_RETURN(auto answers, run_plan(plan, seeds, moment));
    for (auto& rows : answers) std::move(rows.begin(), rows.end(), std::back_inserter(out));
    return {};
  }

  static Row seed(const Datum& key, const Datum::List& fields) {
    Row row;
    row.reserve(fields.size() + 1);
    row.push_back(key);
    row.insert(row.end(), fields.begin(), fields.end());
    return row;
  }

  static bool matters(const AggregateChange& change, const std::vector<std::uint32_t>& fields) {
    if (!change.before || !change.after) return change.before.has_value() != change.after.has_value();
    const auto end = fields.end() - (broken(Breakage::LastFieldUnwatched) && !fields.empty() ? 1 : 0);
    return std::any_of(fields.begin(), end,
                       [&](std::uint32_t field) { return !((*change.before)[field] == (*change.after)[field]); });
  }

  Result<void> keep(const Upkeep& upkeep) {
    Rows before;
    Rows now;
    for (const design::DirectPlan& direct : upkeep.direct) {
      std::vector<Row> old_seeds;
      std::vector<Row> new_seeds;
      for (const AggregateChange& change : changes_) {
        if (change.entity != direct.entity || change.forgotten || !matters(change, direct.fields)) continue;
        if (change.before) old_seeds.push_back(seed(change.key, *change.before));
        if (change.after) new_seeds.push_back(seed(change.key, *change.after));
      }
      if (!old_seeds.empty())
        NOAM_RETURN_IF_ERROR(collect(direct.plan, old_seeds, Transaction::Moment::Before, before));
      if (!new_seeds.empty()) NOAM_RETURN_IF_ERROR(collect(direct.plan, new_seeds, Transaction::Moment::Now, now));
    }
    for (const design::RefreshPlan& plan : upkeep.refreshes) {
      for (const RefreshChange& change : refreshes_) {
        if (change.query != plan.query) continue;
        NOAM_RETURN_IF_ERROR(collect(plan.plan, plan.history ? change.removed : change.last_removed,
                                     Transaction::Moment::Before, before));
        NOAM_RETURN_IF_ERROR(
            collect(plan.plan, plan.history ? change.added : change.last_added, Transaction::Moment::Now, now));
      }
    }
    if (!broken(Breakage::IndirectChangeMissed)) NOAM_RETURN_IF_ERROR(follow_indirect(upkeep, before, now));
    normalize(upkeep, before);
    normalize(upkeep, now);
    leave_out_same(upkeep, before, now);
    if (before.empty() && now.empty()) return {};
    const Family& family = program_.design.families[upkeep.family];
    if (family.limit) return apply_capped(upkeep, before, now);
    if (family.grouped) return apply_grouped(upkeep, before, now);
    if (broken(Breakage::CopySkipped) && now.size() > 1) now.pop_back();
    for (const Row& row : before) {
      const auto same_identity = [&](const Row& at) { return std::is_eq(compare_identities(upkeep, at, row)); };
      if (broken(Breakage::StaleKeyLeft) && std::any_of(now.begin(), now.end(), same_identity)) continue;
      transaction_.erase(ref(upkeep, entry_key(program_, upkeep, row)));
    }
    for (const Row& row : now) transaction_.put(ref(upkeep, entry_key(program_, upkeep, row)), only_row(upkeep, row));
    return {};
  }

  // What an entry holds where no two rows share one.
  [[nodiscard]] Key only_row(const Upkeep& upkeep, const Row& row) const {
    const Family& family = program_.design.families[upkeep.family];
    const auto first =
        row.begin() + static_cast<std::ptrdiff_t>(program_.design.collection_of(family).by.size() + family.key.size());
    return {first, first + static_cast<std::ptrdiff_t>(family.cells.size())};
  }

  Result<void> follow_indirect(const Upkeep& upkeep, Rows& before, Rows& now) {
    std::set<Row> identities;
    for (const design::IndirectPlan& indirect : upkeep.indirect) {
      for (const auto moment : {Transaction::Moment::Before, Transaction::Moment::Now}) {
        std::vector<Row> seeds;
        for (const AggregateChange& change : changes_) {
          if (change.entity != indirect.entity || !matters(change, indirect.fields)) continue;
          const auto& fields = moment == Transaction::Moment::Before ? change.before : change.after;
          if (indirect.reference_only)
            seeds.push_back({change.key});
          else if (fields)
            seeds.push_back(seed(change.key, *fields));
        }
        NOAM_ASSIGN_OR_RETURN(const auto answers, run_plan(indirect.plan, seeds, moment));
        for (const auto& rows : answers) identities.insert(rows.begin(), rows.end());
      }
    }
    if (identities.empty()) return {};
    const std::vector<Row> seeds(identities.begin(), identities.end());
    NOAM_RETURN_IF_ERROR(collect(*upkeep.by_identity, seeds, Transaction::Moment::Before, before));
    return collect(*upkeep.by_identity, seeds, Transaction::Moment::Now, now);
  }

  stores::EntryRef ref(const Upkeep& upkeep, EntryKey key) const {
    const Family& family = program_.design.families[upkeep.family];
    return {{family.collection, std::move(key.first)}, upkeep.family, std::move(key.second)};
  }

  // A row that came to an entry, or went from it.
  struct Share {
    EntryKey key;
    const Row* row = nullptr;
    bool added = false;
  };
  using Delta = std::span<const Share>;  // of one entry, what went first

  static std::int64_t grown_by(Delta delta) {
    const auto added = std::count_if(delta.begin(), delta.end(), [](const Share& share) { return share.added; });
    return 2 * added - static_cast<std::int64_t>(delta.size());
  }

  Result<void> apply_grouped(const Upkeep& upkeep, const Rows& before, const Rows& now) {
    const Family& family = program_.design.families[upkeep.family];
    const bool added_to = family.added_to();
    std::vector<Share> shares;
    shares.reserve(before.size() + now.size());
    for (const Row& row : before) shares.push_back({entry_key(program_, upkeep, row), &row, false});
    for (const Row& row : now) shares.push_back({entry_key(program_, upkeep, row), &row, true});
    if (shares.size() > 1)
      std::stable_sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) { return a.key < b.key; });
    for (std::size_t first = 0; first < shares.size();) {
      std::size_t end = first + 1;
      while (end < shares.size() && shares[end].key == shares[first].key) ++end;
      const Delta delta = std::span(shares).subspan(first, end - first);
      if (added_to)
        add(upkeep, delta);
      else
        NOAM_RETURN_IF_ERROR(change(upkeep, delta));
      first = end;
    }
    return {};
  }

  // How many values a fold gained, and by how much its sum grew.
  struct Growth {
    std::int64_t count = 0;
    model::Decimal sum;
  };

  Growth growth(const Upkeep& upkeep, Delta delta, const Expr& fold, std::uint32_t cell) const {
    const Family& family = program_.design.families[upkeep.family];
    const design::Collection& collection = program_.design.collection_of(family);
    Growth out;
    if (fold.distinct) {
      const auto at = appeared_.find({members(upkeep.family, cell), delta[0].key});
      if (at != appeared_.end()) out.count = at->second;
      return out;
    }
    for (const Share& share : delta) {
      const Datum& value = contribution(family, collection, *share.row, cell);
      if (!fold.operands.empty() && value.absent()) continue;
      out.count += share.added ? 1 : -1;
      if (fold.fold == Fold::Count || (!value.is_int() && !value.is_decimal())) continue;
      const model::Decimal number = value.is_int() ? model::Decimal(value.as_int()) : value.as_decimal();
      out.sum = share.added ? out.sum + number : out.sum - number;
    }
    if (broken(Breakage::CountOffByOne) && out.count < 0) ++out.count;
    return out;
  }

  void add(const Upkeep& upkeep, Delta delta) {
    const Family& family = program_.design.families[upkeep.family];
    const EntryKey& key = delta[0].key;
    Key addends;
    addends.reserve(family.width());
    std::uint32_t vanishes = 0;
    for (std::uint32_t i = 0; i < family.cells.size(); ++i) {
      const Expr& fold = family.cells[i].expr;
      const Growth grown = growth(upkeep, delta, fold, i);
      if (fold.fold == Fold::Count) {
        addends.emplace_back(grown.count);
        if (fold.operands.empty()) vanishes = i;
      } else {
        addends.emplace_back(grown.sum);
      }
    }
    for (std::uint32_t i = 0; i < family.hidden.size(); ++i) {
      check(family.hidden[i].kind == HiddenKind::Weight, "counts and sums need a weight at most");
      addends.emplace_back(grown_by(delta));
      vanishes = static_cast<std::uint32_t>(family.cells.size()) + i;
    }
    transaction_.add(ref(upkeep, key), std::move(addends), vanishes);
  }

  static std::int64_t int_at(const Key& columns, std::size_t index) {
    return index < columns.size() && columns[index].is_int() ? columns[index].as_int() : 0;
  }

  static model::Decimal decimal_at(const Key& columns, std::size_t index) {
    return index < columns.size() && columns[index].is_decimal() ? columns[index].as_decimal() : model::Decimal();
  }

  // Reads the entry and writes it anew.
  Result<void> change(const Upkeep& upkeep, Delta delta) {
    const Family& family = program_.design.families[upkeep.family];
    const EntryKey& key = delta[0].key;
    const design::Collection& collection = program_.design.collection_of(family);
    NOAM_ASSIGN_OR_RETURN(const auto old, transaction_.read_entry(ref(upkeep, key), Transaction::Moment::Now));
    Key columns = old.value_or(Key(family.width()));
    const std::int64_t grown = grown_by(delta);
    std::int64_t weight = grown;
    for (std::size_t i = 0; i < family.cells.size(); ++i)
      if (is_fold(family.cells[i]) && family.cells[i].expr.fold == Fold::Count && family.cells[i].expr.operands.empty())
        weight = int_at(columns, i) + grown;
    for (std::size_t i = 0; i < family.hidden.size(); ++i)
      if (family.hidden[i].kind == HiddenKind::Weight) {
        weight = int_at(columns, family.cells.size() + i) + grown;
        columns[family.cells.size() + i] = weight;
      }
    if (family.counts_members) note_member(upkeep.family, key, weight - grown, weight);
    if (weight == 0 && !broken(Breakage::EmptyGroupStays)) {
      transaction_.erase(ref(upkeep, key));
      return {};
    }
    std::optional<std::vector<Row>> all;
    for (std::uint32_t i = 0; i < family.cells.size(); ++i) {
      const model::Cell& cell = family.cells[i];
      if (is_list_of_rows(cell)) {
        if (!all) {
          NOAM_ASSIGN_OR_RETURN(all, rows_of(upkeep, key));
        }
        columns[i] = derive_entry(program_, upkeep, *all)[i];
      } else if (!is_fold(cell)) {
        const auto added = std::find_if(delta.begin(), delta.end(), [](const Share& share) { return share.added; });
        if (added != delta.end()) columns[i] = contribution(family, collection, *added->row, i);
      } else {
        NOAM_RETURN_IF_ERROR(change_fold(upkeep, delta, i, columns));
      }
    }
    transaction_.put(ref(upkeep, key), std::move(columns));
    return {};
  }

  Result<void> change_fold(const Upkeep& upkeep, Delta delta, std::uint32_t cell, Key& columns) {
    const Family& family = program_.design.families[upkeep.family];
    const EntryKey& key = delta[0].key;
    const Expr& fold = family.cells[cell].expr;
    const Growth grown = growth(upkeep, delta, fold, cell);
    switch (fold.fold) {
      case Fold::Count:
        columns[cell] = int_at(columns, cell) + grown.count;
        return {};
      case Fold::Sum:
        columns[cell] = decimal_at(columns, cell) + grown.sum;
        return {};
      case Fold::Min:
      case Fold::Max: {
        if (broken(Breakage::ExtremeKept) && !delta.back().added) return {};
        stores::ReadRequest request;
        request.family = members(upkeep.family, cell);
        request.block = {program_.design.families[request.family].collection, key.first};
        request.from.parts = key.second;
        request.to.parts = key.second;
        stores::Answers answers;
        NOAM_RETURN_IF_ERROR(transaction_.read({&request, 1}, Transaction::Moment::Now, answers));
        columns[cell] = Datum();
        for (const stores::Entry& entry : answers[0].entries) {
          const Datum& member = entry.key.back();
          if (member.absent()) continue;
          columns[cell] = member;
          if (fold.fold == Fold::Min) break;
        }
        return {};
      }
      default:
        break;
    }
    // An average, from its exact parts.
    Folding folding(Fold::Avg, false, operand_kind(fold));
    std::int64_t count = grown.count;
    model::Decimal sum = grown.sum;
    for (std::size_t i = 0; i < family.hidden.size(); ++i) {
      const std::size_t at = family.cells.size() + i;
      if (family.hidden[i].of != cell) continue;
      if (family.hidden[i].kind == HiddenKind::Sum) {
        sum = decimal_at(columns, at) + grown.sum;
        columns[at] = sum;
      } else if (family.hidden[i].kind == HiddenKind::Counted) {
        count = int_at(columns, at) + grown.count;
        columns[at] = count;
      }
    }
    if (count > 0) folding.take_folded(count, sum);
    Overflow overflow = Overflow::No;
    columns[cell] = folding.result(overflow);
    return {};
  }

  [[nodiscard]] std::uint32_t members(std::uint32_t family, std::uint32_t cell) const {
    for (std::uint32_t i = 0; i < program_.design.families.size(); ++i) {
      const Family& at = program_.design.families[i];
      if (at.counts_members && at.members_of == family && at.members_column == cell) return i;
    }
    fail_check("a fold that needs its members has them");
  }

  // A value of a distinct count came, or went.
  void note_member(std::uint32_t family, const EntryKey& key, std::int64_t before, std::int64_t after) {
    if (key.second.back().absent()) return;
    int change = (before == 0 && after > 0) ? 1 : (before > 0 && after == 0) ? -1 : 0;
    if (broken(Breakage::DistinctCountedTwice) && after > before) change = 1;
    if (change == 0) return;
    const EntryKey shared{key.first, Key(key.second.begin(), key.second.end() - 1)};
    appeared_[{family, shared}] += change;
  }

  // All rows that share an entry, as they are now.
  Result<std::vector<Row>> rows_of(const Upkeep& upkeep, const EntryKey& key) {
    Row seed_row = key.first;
    seed_row.insert(seed_row.end(), key.second.begin(), key.second.end());
    return rows_by(upkeep, upkeep.by_key, seed_row,
                   [&](const Row& row) { return entry_key(program_, upkeep, row) == key; });
  }

  template <typename Belongs>
  Result<std::vector<Row>> rows_by(const Upkeep& upkeep, const std::optional<design::Plan>& plan, const Row& seed_row,
                                   const Belongs& belongs) {
    // Nothing equals what is absent, so that needs all rows.
    const bool absent = std::any_of(seed_row.begin(), seed_row.end(), [](const Datum& at) { return at.absent(); });
    if ((!plan || absent) && !upkeep.all) return Error{"this needs rows that are not stored", "limit"};
    const design::Plan& used = plan && !absent ? *plan : *upkeep.all;
    NOAM_ASSIGN_OR_RETURN(auto answers, run_plan(used, {plan && !absent ? seed_row : Row{}}, Transaction::Moment::Now));
    std::vector<Row> out;
    for (Row& row : answers[0])
      if (belongs(row)) out.push_back(std::move(row));
    return out;
  }

  // Of each block the first entries are right, as many as the limit says. Those behind them are true, too, but not all
  // that there are: so a row that is added needs nothing to be read. Where one of the first goes, they are made anew.
  Result<void> apply_capped(const Upkeep& upkeep, const Rows& before, const Rows& now) {
    struct Rewritten {
      std::map<Key, const Row*> removed;  // by entry key
      std::map<Key, const Row*> added;
    };
    std::map<Key, Rewritten> blocks;
    const auto sort_out = [&](const Rows& rows, std::map<Key, const Row*> Rewritten::*to) {
      for (const Row& row : rows) {
        EntryKey key = entry_key(program_, upkeep, row);
        (blocks[std::move(key.first)].*to).emplace(std::move(key.second), &row);
      }
    };
    sort_out(before, &Rewritten::removed);
    sort_out(now, &Rewritten::added);
    const bool grouped = program_.design.families[upkeep.family].grouped;
    for (const auto& [block, rows] : blocks) {
      std::set<Key> gone;
      for (const auto& [key, row] : rows.removed)
        if (!rows.added.contains(key)) gone.insert(key);
      if (grouped || !gone.empty()) {
        NOAM_ASSIGN_OR_RETURN(const bool made, make_anew(upkeep, block, gone));
        if (made) continue;
      }
      for (const auto& [key, row] : rows.added) {
        if (rows.removed.contains(key)) {
          NOAM_ASSIGN_OR_RETURN(const auto held,
                                transaction_.read_entry(ref(upkeep, {block, key}), Transaction::Moment::Now));
          if (!held) continue;  // far behind
        } else if (is_time_to_cut(upkeep, block, key)) {
          transaction_.note_overfull({program_.design.families[upkeep.family].collection, block}, upkeep.family);
        }
        transaction_.put(ref(upkeep, {block, key}), only_row(upkeep, *row));
      }
    }
    return {};
  }

  // Not where all that is needed is to erase what went: that is done then.
  Result<bool> make_anew(const Upkeep& upkeep, const Key& block, const std::set<Key>& gone) {
    const Family& family = program_.design.families[upkeep.family];
    stores::ReadRequest request;
    request.block = {family.collection, block};
    request.family = upkeep.family;
    stores::Answers answers;
    NOAM_RETURN_IF_ERROR(transaction_.read({&request, 1}, Transaction::Moment::Now, answers));
    const std::vector<stores::Entry>& held = answers[0].entries;
    bool anew = family.grouped;
    if (!anew) {
      for (std::size_t i = 0; i < held.size(); ++i) {
        if (!gone.contains(held[i].key)) continue;
        // There may be more than those that are held.
        if (held.size() >= *family.limit && i < *family.limit) anew = !broken(Breakage::CappedNotRefilled);
        transaction_.erase(ref(upkeep, {block, held[i].key}));
      }
    }
    if (!anew) return false;
    NOAM_ASSIGN_OR_RETURN(const auto rows, rows_by(upkeep, upkeep.by_block, block, [&](const Row& row) {
                            return entry_key(program_, upkeep, row).first == block;
                          }));
    auto wanted = derive_entries(program_, upkeep, rows);
    cut_entries(program_, upkeep, wanted);
    for (const stores::Entry& entry : held) {
      const auto same = wanted.find({block, entry.key});
      if (same == wanted.end())
        transaction_.erase(ref(upkeep, {block, entry.key}));
      else if (same->second == entry.columns)
        wanted.erase(same);
    }
    for (auto& [key, columns] : wanted) transaction_.put(ref(upkeep, key), std::move(columns));
    return true;
  }

  // By chance, but always the same: once in as many additions as are a quarter of the limit.
  bool is_time_to_cut(const Upkeep& upkeep, const Key& block, const Key& key) const {
    const std::uint64_t every =
        std::max<std::uint64_t>(8, *program_.design.families[upkeep.family].limit / std::uint64_t{4});
    std::uint64_t hash = 0;
    for (const Key* parts : {&block, &key})
      for (const Datum& part : *parts) hash = (hash ^ hash_value(part)) * 0x9E3779B97F4A7C15U;
    return (hash >> 32U) % every == 0;
  }

  const design::Program& program_;
  Transaction& transaction_;
  const Environment& environment_;
  const std::vector<AggregateChange>& changes_;
  const std::vector<RefreshChange>& refreshes_;
  std::map<std::pair<std::uint32_t, EntryKey>, std::int64_t> appeared_;  // members, by their family and what they share
};

}  // namespace

Result<void> keep_copies(const design::Program& program, Transaction& transaction, const Environment& environment,
                         const std::vector<AggregateChange>& changes, const std::vector<RefreshChange>& refreshes) {
  return Keeping(program, transaction, environment, changes, refreshes).run();
}

}  // namespace noam::runtime
