#include "noam/stores/blocks/records.h"

#include <algorithm>
#include <utility>

#include "noam/stores/encoding.h"

namespace noam::stores::blocks {

using model::Datum;

std::strong_ordering UnitRef::operator<=>(const UnitRef& other) const {
  if (const auto order = part <=> other.part; std::is_neq(order)) return order;
  return block <=> other.block;
}

TransactionId make_transaction(std::int64_t milliseconds, std::uint64_t random_a, std::uint64_t random_b) {
  TransactionId out{};
  for (std::size_t i = 0; i < 6; ++i) out[i] = static_cast<unsigned char>(milliseconds >> (8 * (5 - i)));
  for (std::size_t i = 0; i < 8; ++i) out[6 + i] = static_cast<unsigned char>(random_a >> (8 * i));
  for (std::size_t i = 0; i < 2; ++i) out[14 + i] = static_cast<unsigned char>(random_b >> (8 * i));
  out[15] |= 1U;  // never nobody
  return out;
}

std::int64_t milliseconds_of(const TransactionId& id) {
  std::int64_t out = 0;
  for (std::size_t i = 0; i < 6; ++i) out = out << 8 | id[i];
  return out;
}

namespace {

Error unreadable() { return Error{"the head of a block cannot be read"}; }

Datum unit_datum(const UnitRef& unit) {
  return Datum::List{static_cast<std::int64_t>(unit.part), Datum(Datum::List(unit.block))};
}

std::optional<UnitRef> unit_from(const Datum& datum) {
  if (!datum.is_list() || datum.as_list().size() != 2) return std::nullopt;
  const Datum::List& list = datum.as_list();
  if (!list[0].is_int() || !list[1].is_list()) return std::nullopt;
  return UnitRef{static_cast<std::uint32_t>(list[0].as_int()), list[1].as_list()};
}

Datum guard_datum(const KeptGuard& guard) { return Datum::List{guard.id, Datum(Datum::List(guard.columns))}; }

std::optional<KeptGuard> guard_from(const Datum& datum) {
  if (!datum.is_list() || datum.as_list().size() != 2) return std::nullopt;
  const Datum::List& list = datum.as_list();
  if (!list[0].is_string() || !list[1].is_list()) return std::nullopt;
  return KeptGuard{std::string(list[0].as_string()), list[1].as_list()};
}

Datum id_datum(const TransactionId& id) { return std::string(id.begin(), id.end()); }

std::optional<TransactionId> id_from(std::string_view bytes) {
  TransactionId out{};
  if (bytes.size() != out.size()) return std::nullopt;
  std::copy(bytes.begin(), bytes.end(), out.begin());
  return out;
}

// Reads each of a list. False where one is not what it should be.
template <typename Out, typename Read>
bool read_all(const Datum& list, const Read& read, std::vector<Out>& out) {
  if (!list.is_list()) return false;
  for (const Datum& datum : list.as_list()) {
    auto one = read(datum);
    if (!one) return false;
    out.push_back(std::move(*one));
  }
  return true;
}

}  // namespace

std::string write_hold(const Hold& hold) {
  Datum::List changes;
  for (const Change& change : hold.changes) {
    const EntryRef& entry = entry_of(change);
    const auto* put = std::get_if<Put>(&change);
    changes.emplace_back(Datum::List{static_cast<std::int64_t>(entry.family), Datum(Datum::List(entry.key)),
                                     put != nullptr ? Datum(Datum::List(put->columns)) : Datum()});
  }
  Datum::List guards;
  for (const KeptGuard& guard : hold.guards) guards.push_back(guard_datum(guard));
  return write_values({unit_datum(hold.home), static_cast<std::int64_t>(hold.base), hold.pure,
                       static_cast<std::int64_t>(hold.units), Datum(std::move(changes)), Datum(std::move(guards))});
}

Result<Hold> read_hold(std::string_view bytes, const UnitRef& unit, std::uint32_t collection) {
  Key all;
  if (!read_values(bytes, all) || all.size() != 6) return unreadable();
  const auto home = unit_from(all[0]);
  if (!home || !all[1].is_int() || !all[2].is_bool() || !all[3].is_int()) return unreadable();
  Hold out{*home,
           static_cast<std::uint64_t>(all[1].as_int()),
           all[2].as_bool(),
           static_cast<std::uint32_t>(all[3].as_int()),
           {},
           {}};
  const auto change_from = [&](const Datum& datum) -> std::optional<Change> {
    if (!datum.is_list() || datum.as_list().size() != 3) return std::nullopt;
    const Datum::List& list = datum.as_list();
    if (!list[0].is_int() || !list[1].is_list()) return std::nullopt;
    EntryRef entry{{collection, unit.block}, static_cast<std::uint32_t>(list[0].as_int()), list[1].as_list()};
    if (list[2].absent()) return Change(Delete{std::move(entry)});
    if (!list[2].is_list()) return std::nullopt;
    return Change(Put{std::move(entry), list[2].as_list()});
  };
  if (!read_all(all[4], change_from, out.changes) || !read_all(all[5], guard_from, out.guards)) return unreadable();
  return out;
}

std::vector<TransactionId> read_last(std::string_view bytes) {
  std::vector<TransactionId> out;
  for (; bytes.size() >= sizeof(TransactionId); bytes.remove_prefix(sizeof(TransactionId)))
    out.push_back(*id_from(bytes.substr(0, sizeof(TransactionId))));
  return out;
}

std::string add_to_last(std::string_view bytes, const TransactionId& id) {
  constexpr std::size_t most = (remembered_transactions - 1) * sizeof(TransactionId);
  if (bytes.size() > most) bytes.remove_prefix(bytes.size() - most);
  std::string out(bytes);
  out.append(id.begin(), id.end());
  return out;
}

std::string write_done(const std::vector<Mark>& marks) {
  if (marks.empty()) return {};
  Datum::List all;
  for (const Mark& mark : marks) {
    Datum::List units;
    for (const UnitRef& unit : mark.units) units.push_back(unit_datum(unit));
    all.emplace_back(Datum::List{id_datum(mark.transaction), Datum(std::move(units))});
  }
  return write_values({Datum(std::move(all))});
}

Result<std::vector<Mark>> read_done(std::string_view bytes) {
  std::vector<Mark> out;
  if (bytes.empty()) return out;
  Key all;
  if (!read_values(bytes, all) || all.size() != 1) return unreadable();
  const auto mark_from = [](const Datum& datum) -> std::optional<Mark> {
    if (!datum.is_list() || datum.as_list().size() != 2 || !datum.as_list()[0].is_string()) return std::nullopt;
    const auto id = id_from(datum.as_list()[0].as_string());
    if (!id) return std::nullopt;
    Mark mark{*id, {}};
    if (!read_all(datum.as_list()[1], unit_from, mark.units)) return std::nullopt;
    return mark;
  };
  if (!read_all(all[0], mark_from, out)) return unreadable();
  return out;
}

std::string write_guards(const Guards& guards) {
  Datum::List all;
  for (const KeptGuard& guard : guards.kept) all.push_back(guard_datum(guard));
  return write_values({guards.newest_dropped, Datum(std::move(all))});
}

Result<Guards> read_guards(std::string_view bytes) {
  Guards out;
  if (bytes.empty()) return out;
  Key all;
  if (!read_values(bytes, all) || all.size() != 2 || !all[0].is_int()) return unreadable();
  out.newest_dropped = all[0].as_int();
  if (!read_all(all[1], guard_from, out.kept)) return unreadable();
  return out;
}

std::int64_t time_of(const KeptGuard& guard) {
  return guard.columns.empty() || !guard.columns.back().is_int() ? 0 : guard.columns.back().as_int();
}

}  // namespace noam::stores::blocks
