#include "noam/stores/cassandra/slices.h"

#include <span>
#include <utility>

namespace noam::stores::cassandra {

namespace {

// What is left of a bound behind the columns that are equal.
struct Rest {
  std::span<const KeyCell> cells;
  bool inclusive = true;

  [[nodiscard]] Rest behind_first() const { return {cells.subspan(1), inclusive}; }
};

class Cutter {
 public:
  explicit Cutter(const std::vector<bool>& descending) : descending_(descending) {}

  void cut(std::optional<Rest> from, std::optional<Rest> to) {
    for (auto* bound : {&from, &to}) {
      if (!*bound || !(*bound)->cells.empty()) continue;
      if (!(*bound)->inclusive) return;
      bound->reset();
    }
    if (from && to) {
      const auto order = from->cells[0].order <=> to->cells[0].order;
      if (std::is_eq(order)) {
        within(from->cells[0], from->behind_first(), to->behind_first());
        return;
      }
      if (std::is_gt(order) != backwards()) return;
    }
    if (from && from->cells.size() > 1) within(from->cells[0], from->behind_first(), std::nullopt);
    Slice middle{equal_, std::nullopt, std::nullopt};
    set_end(from, backwards() ? middle.high : middle.low);
    set_end(to, backwards() ? middle.low : middle.high);
    out_.push_back(std::move(middle));
    if (to && to->cells.size() > 1) within(to->cells[0], std::nullopt, to->behind_first());
  }

  [[nodiscard]] std::vector<Slice> take() { return std::move(out_); }

 private:
  [[nodiscard]] bool backwards() const { return equal_.size() < descending_.size() && descending_[equal_.size()]; }

  void within(const KeyCell& cell, std::optional<Rest> from, std::optional<Rest> to) {
    equal_.push_back(cell.bytes);
    cut(from, to);
    equal_.pop_back();
  }

  // A bound that goes on in the next columns has a slice of its own.
  static void set_end(const std::optional<Rest>& bound, std::optional<Slice::End>& out) {
    if (bound) out = Slice::End{bound->cells[0].bytes, bound->inclusive && bound->cells.size() == 1};
  }

  const std::vector<bool>& descending_;
  std::vector<std::string> equal_;
  std::vector<Slice> out_;
};

}  // namespace

std::vector<Slice> slices(const KeyBound& from, const KeyBound& to, const std::vector<bool>& descending) {
  Cutter cutter(descending);
  const auto rest = [](const KeyBound& bound) -> std::optional<Rest> {
    if (bound.cells.empty()) return std::nullopt;
    return Rest{bound.cells, bound.inclusive};
  };
  cutter.cut(rest(from), rest(to));
  return cutter.take();
}

}  // namespace noam::stores::cassandra
