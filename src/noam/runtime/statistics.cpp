#include "noam/runtime/statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "noam/base/check.h"
#include "noam/runtime/executor.h"

namespace noam::runtime {

using design::Family;
using design::Place;
using model::Datum;
using model::Type;
using model::TypeKind;
using stores::Key;

namespace {

constexpr std::uint64_t exact_below = 1'024;
constexpr unsigned exact_bits = 10;
constexpr unsigned fine_bits = 5;  // of a larger number

std::size_t bucket_of(std::uint64_t number) {
  if (number < exact_below) return number;
  const auto width = static_cast<unsigned>(std::bit_width(number)) - 1;  // at least exact_bits
  const std::uint64_t fine = (number >> (width - fine_bits)) & ((1U << fine_bits) - 1);
  return exact_below + ((width - exact_bits) << fine_bits) + fine;
}

// The largest number in a bucket.
std::uint64_t end_of_bucket(std::size_t bucket) {
  if (bucket < exact_below) return bucket;
  const std::size_t rest = bucket - exact_below;
  const unsigned width = static_cast<unsigned>(rest >> fine_bits) + exact_bits;
  const std::uint64_t fine = rest & ((1U << fine_bits) - 1);
  return (std::uint64_t{1} << width) + ((fine + 1) << (width - fine_bits)) - 1;
}

std::uint64_t mixed(std::uint64_t hash) {
  hash += 0x9E3779B97F4A7C15U;
  hash = (hash ^ (hash >> 30U)) * 0xBF58476D1CE4E5B9U;
  hash = (hash ^ (hash >> 27U)) * 0x94D049BB133111EBU;
  return hash ^ (hash >> 31U);
}

std::uint64_t hash_of(const Key& key) {
  std::uint64_t hash = key.size();
  for (const Datum& part : key) hash = mixed(hash ^ hash_value(part));
  return hash;
}

}  // namespace

void Spread::add(std::uint64_t number, std::uint64_t times) {
  if (times == 0) return;
  count_ += times;
  sum_ += static_cast<double>(number) * static_cast<double>(times);
  largest_ = std::max(largest_, number);
  const std::size_t bucket = bucket_of(number);
  if (buckets_.size() <= bucket) buckets_.resize(bucket + 1);
  buckets_[bucket] += times;
}

double Spread::average() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

std::uint64_t Spread::at(double share) const {
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen >= wanted && seen > 0) return std::min(end_of_bucket(bucket), largest_);
  }
  return largest_;
}

void ValueSample::add(const Datum& value) {
  const std::uint64_t hash = mixed(hash_value(value));
  if ((hash & (weight() - 1)) != 0) return;
  ++counts_[hash];
  while (counts_.size() > most) {
    ++level_;
    std::erase_if(counts_, [&](const auto& entry) { return (entry.first & (weight() - 1)) != 0; });
  }
}

double ValueSample::distinct() const { return static_cast<double>(counts_.size()) * static_cast<double>(weight()); }

namespace {

// Where a field of an instance lies in the entries of a base family.
struct FieldPlace {
  std::uint32_t field = 0;
  Place place;
};

struct BaseLayout {
  model::EntityId entity{};
  std::vector<FieldPlace> fields;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> counts;  // field, hidden column: its elements lie elsewhere
};

class Measurement {
 public:
  Measurement(const design::Program& program, stores::Store& store, std::size_t top)
      : program_(program), model_(*program.model), store_(store), top_(top) {
    for (const model::Entity& entity : model_.entities) {
      out_.entities.push_back({!entity.transient, 0, std::vector<FieldStatistics>(entity.fields.size())});
    }
    for (const model::Value& value : model_.values) out_.values.emplace_back(value.fields.size());
    out_.roles.resize(model_.roles.size());
    out_.families.resize(program.design.families.size());
    out_.collections.resize(program.design.collections.size());
    totals_.resize(program.design.collections.size());
  }

  Result<Statistics> run() {
    out_.hottest = store_.hottest(top_);
    const auto snapshot = store_.snapshot();
    // Each field is read where it lies first.
    std::vector<std::vector<char>> placed;
    for (const model::Entity& entity : model_.entities) placed.emplace_back(entity.fields.size());
    for (std::uint32_t family = 0; family < program_.design.families.size(); ++family)
      NOAM_RETURN_IF_ERROR(read_family(family, layout_of(family, placed), snapshot.get()));
    finish();
    return std::move(out_);
  }

 private:
  struct Total {
    std::uint64_t entries = 0;
    std::uint64_t bytes = 0;
  };

  std::optional<BaseLayout> layout_of(std::uint32_t index, std::vector<std::vector<char>>& placed) const {
    const Family& family = program_.design.families[index];
    if (family.purpose != design::Purpose::Base) return std::nullopt;
    const design::FamilyLogic& logic = program_.logics[index];
    const std::uint32_t instance = logic.body.nodes[0];
    BaseLayout out;
    out.entity = logic.logical.nodes[instance].type.entity();
    const model::Entity& entity = model_.entity(out.entity);
    std::vector<char>& done = placed[static_cast<std::size_t>(out.entity)];
    if (family.elements) {
      // Those that lie in blocks of their own are counted by the head of the instance.
      return out;
    }
    for (std::uint32_t i = 0; i < family.hidden.size(); ++i)
      if (family.hidden[i].kind == design::HiddenKind::Elements) out.counts.emplace_back(family.hidden[i].of, i);
    for (const design::Held& held : logic.held) {
      const bool field = held.expr.kind == model::ExprKind::Field && held.expr.operands.size() == 1 &&
                         held.expr.operands[0].kind == model::ExprKind::Variable &&
                         held.expr.operands[0].index == instance;
      if (!field || held.expr.index >= entity.fields.size() || done[held.expr.index] != 0) continue;
      done[held.expr.index] = 1;
      out.fields.push_back({held.expr.index, held.place});
    }
    return out;
  }

  Result<void> read_family(std::uint32_t index, const std::optional<BaseLayout>& layout, const stores::Snapshot* at) {
    std::optional<Key> block;
    Total here;
    Key instance;  // of elements
    bool within = false;
    std::uint64_t elements = 0;
    const Family& family = program_.design.families[index];
    const bool grouped = family.elements && !counted_elsewhere(family);
    const auto end_instance = [&] {
      if (within) element_field(family).lengths.add(elements);
      within = false;
      elements = 0;
    };
    std::string after;
    do {
      NOAM_ASSIGN_OR_RETURN(stores::ScanPage page, store_.scan(index, after, at, stores::no_deadline));
      for (stores::ScanPage::Item& item : page.items) {
        const bool other_block = !block || *block != item.block;
        if (other_block) {
          end_instance();
          end_block(index, block, here);
          block = item.block;
          here = {};
        }
        ++here.entries;
        here.bytes += stores::entry_bytes(item.entry.key, item.entry.columns);
        if (!layout) continue;
        if (family.elements) {
          const Datum key = item.entry.key.empty() ? Datum() : item.entry.key.back();
          const Datum element = element_of(family, item.entry, key);
          take_element(field_type(family), element, key, element_field(family), role_of(family));
          if (!grouped) continue;
          Key owner(item.entry.key.begin(), item.entry.key.end() - (item.entry.key.empty() ? 0 : 1));
          if (!within || instance != owner) {
            end_instance();
            instance = std::move(owner);
            within = true;
          }
          ++elements;
        } else {
          take_entry(family, *layout, item);
        }
      }
      after = std::move(page.next);
    } while (!after.empty());
    end_instance();
    end_block(index, block, here);
    return {};
  }

  void end_block(std::uint32_t index, const std::optional<Key>& block, const Total& here) {
    if (!block) return;
    const auto count = [](Stored& stored, const Total& total) {
      stored.most_entries = std::max(stored.most_entries, total.entries);
      stored.most_bytes = std::max(stored.most_bytes, total.bytes);
    };
    Stored& family = out_.families[index];
    ++family.blocks;
    family.entries += here.entries;
    family.bytes += here.bytes;
    count(family, here);
    const std::uint32_t number = program_.design.families[index].collection;
    CollectionStatistics& collection = out_.collections[number];
    collection.stored.entries += here.entries;
    collection.stored.bytes += here.bytes;
    Total total = here;
    if (program_.design.collections[number].families.size() > 1) {
      Total& all = totals_[number][hash_of(*block)];
      if (all.entries == 0) ++collection.stored.blocks;
      all.entries += here.entries;
      all.bytes += here.bytes;
      total = all;
    } else {
      ++collection.stored.blocks;
    }
    count(collection.stored, total);
    offer(collection.largest, {*block, total.entries, total.bytes});
  }

  // A block may come again, larger.
  void offer(std::vector<BlockSize>& largest, BlockSize block) const {
    std::erase_if(largest, [&](const BlockSize& other) { return other.key == block.key; });
    const auto place =
        std::find_if(largest.begin(), largest.end(), [&](const BlockSize& other) { return other.bytes < block.bytes; });
    largest.insert(place, std::move(block));
    if (largest.size() > top_) largest.resize(top_);
  }

  void take_entry(const Family& family, const BaseLayout& layout, const stores::ScanPage::Item& item) {
    EntityStatistics& entity = out_.entities[static_cast<std::size_t>(layout.entity)];
    if (family.existence) ++entity.instances;
    const std::vector<model::Field>& fields = model_.entity(layout.entity).fields;
    for (const FieldPlace& field : layout.fields) {
      const Datum* datum = at_place(field.place, family.cells.size(), item);
      if (datum != nullptr)
        take(fields[field.field].type, *datum, entity.fields[field.field], fields[field.field].role);
    }
    for (const auto& [field, hidden] : layout.counts) {
      const Datum* datum = at_place({Place::Kind::Hidden, hidden, {}}, family.cells.size(), item);
      if (datum == nullptr || datum->absent()) continue;
      entity.fields[field].lengths.add(datum->is_list() ? datum->as_list().size()
                                                        : static_cast<std::uint64_t>(datum->as_int()));
    }
  }

  static const Datum* at_place(const Place& place, std::size_t cells, const stores::ScanPage::Item& item) {
    const Key& from = place.kind == Place::Kind::Block ? item.block
                      : place.kind == Place::Kind::Key ? item.entry.key
                                                       : item.entry.columns;
    const std::size_t index = place.index + (place.kind == Place::Kind::Hidden ? cells : 0);
    if (index >= from.size()) return nullptr;
    const Datum* found = &from[index];
    for (const std::uint32_t inner : place.inside) {
      if (!found->is_list() || inner >= found->as_list().size()) return nullptr;
      found = &found->as_list()[inner];
    }
    return found;
  }

  // What a field holds. `role`: where it refers.
  void take(const Type& type, const Datum& datum, FieldStatistics& field, const std::optional<std::uint32_t>& role) {
    if (datum.absent()) return;
    ++field.present;
    if (!type.is_collection()) return take_scalar(type, datum, field, role);
    field.lengths.add(datum.as_list().size());
    for (const Datum& item : datum.as_list()) {
      const bool map = type.kind == TypeKind::Map;
      take_element(type, map ? item.as_list()[1] : item, map ? item.as_list()[0] : Datum(), field, role);
    }
  }

  void take_element(const Type& type, const Datum& element, const Datum& key, FieldStatistics& field,
                    const std::optional<std::uint32_t>& role) {
    if (type.kind != TypeKind::Map) return take_scalar(type.element(), element, field, role);
    const bool by_key = role && model_.roles[*role].map_key;
    field.values.add(key);
    if (by_key) refer(*role, key);
    take_inside(type.element(), element, field);
    if (role && !by_key) refer(*role, element);
  }

  void take_scalar(const Type& type, const Datum& datum, FieldStatistics& field,
                   const std::optional<std::uint32_t>& role) {
    take_inside(type, datum, field);
    field.counted = type.kind != TypeKind::Value && type.kind != TypeKind::Json;
    if (field.counted) field.values.add(datum);
    if (role) refer(*role, datum);
  }

  // Its bytes, or what the fields of a value hold.
  void take_inside(const Type& type, const Datum& datum, FieldStatistics& field) {
    const bool sized = type.kind == TypeKind::Text || type.kind == TypeKind::Bytes || type.kind == TypeKind::Json;
    if (sized && datum.is_string()) field.bytes.add(datum.as_string().size());
    if (type.kind != TypeKind::Value || !datum.is_list()) return;
    const std::vector<model::Field>& fields = model_.value(type.value()).fields;
    std::vector<FieldStatistics>& inside = out_.values[type.id];
    for (std::size_t i = 0; i < fields.size() && i < datum.as_list().size(); ++i) {
      const Datum& held = datum.as_list()[i];
      if (held.absent() && !fields[i].type.is_collection()) ++inside[i].absent;
      take(fields[i].type, held, inside[i], std::nullopt);
    }
  }

  void refer(std::uint32_t role, const Datum& target) {
    if (references_.size() <= role) references_.resize(role + 1);
    references_[role].first.add(target);
    ++references_[role].second;
  }

  [[nodiscard]] const Type& field_type(const Family& family) const { return field_of(family).type; }
  [[nodiscard]] const std::optional<std::uint32_t>& role_of(const Family& family) const {
    return field_of(family).role;
  }
  [[nodiscard]] model::EntityId entity_of(const Family& family) const {
    const auto index = static_cast<std::size_t>(&family - program_.design.families.data());
    const design::FamilyLogic& logic = program_.logics[index];
    return logic.logical.nodes[logic.body.nodes[0]].type.entity();
  }
  [[nodiscard]] const model::Field& field_of(const Family& family) const {
    return model_.entity(entity_of(family)).fields[*family.elements];
  }
  FieldStatistics& element_field(const Family& family) {
    return out_.entities[static_cast<std::size_t>(entity_of(family))].fields[*family.elements];
  }
  // Whether the head of the instance knows how many elements there are.
  [[nodiscard]] bool counted_elsewhere(const Family& family) const {
    const model::EntityId entity = entity_of(family);
    return std::any_of(program_.design.families.begin(), program_.design.families.end(), [&](const Family& other) {
      return other.purpose == design::Purpose::Base && !other.elements && entity_of(other) == entity &&
             std::any_of(other.hidden.begin(), other.hidden.end(), [&](const design::Hidden& hidden) {
               return hidden.kind == design::HiddenKind::Elements && hidden.of == *family.elements;
             });
    });
  }

  // What has no entry is absent or empty, and what nobody refers to has no references.
  void finish() {
    for (std::size_t e = 0; e < out_.entities.size(); ++e) {
      EntityStatistics& entity = out_.entities[e];
      for (std::size_t f = 0; f < entity.fields.size(); ++f) {
        FieldStatistics& field = entity.fields[f];
        if (model_.entities[e].fields[f].type.is_collection()) {
          field.present = entity.instances;
          if (field.lengths.count() < entity.instances) field.lengths.add(0, entity.instances - field.lengths.count());
        } else if (field.present < entity.instances) {
          field.absent = entity.instances - field.present;
        }
      }
    }
    references_.resize(model_.roles.size());
    for (std::size_t r = 0; r < model_.roles.size(); ++r) {
      const model::Role& role = model_.roles[r];
      const EntityStatistics& from = out_.entities[static_cast<std::size_t>(role.from)];
      const std::uint64_t targets = out_.entities[static_cast<std::size_t>(role.to)].instances;
      RoleStatistics& out = out_.roles[r];
      out.measured = from.kept && !role.symmetric && from.instances > 0 && targets > 0;
      if (!out.measured) continue;
      const ValueSample& sample = references_[r].first;
      out.exact = sample.exact();
      out.average = static_cast<double>(references_[r].second) / static_cast<double>(targets);
      for (const auto& [hash, count] : sample.counts()) out.fan_out.add(count, sample.weight());
      if (out.fan_out.count() < targets) out.fan_out.add(0, targets - out.fan_out.count());
    }
  }

  const design::Program& program_;
  const model::Model& model_;
  stores::Store& store_;
  std::size_t top_;
  Statistics out_;
  std::vector<std::unordered_map<std::uint64_t, Total>> totals_;   // of collections with several families
  std::vector<std::pair<ValueSample, std::uint64_t>> references_;  // by role: to whom, and how many
};

}  // namespace

Result<Statistics> measure(Session& session, std::size_t top) {
  return Measurement(session.program(), session.store(), top).run();
}

}  // namespace noam::runtime
