#include "tests/concurrency/history.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "tests/concurrency/interrupted_store.h"
#include "tests/property/compare.h"
#include "tests/reference/reference.h"

namespace noam::tests::concurrency {

const Json& Recorder::run(int thread, Json request) {
  Event event;
  event.thread = thread;
  event.request = std::move(request);
  event.begin = ++clock_;
  event.answer = session_.answer(event.request);
  event.end = ++clock_;
  event.guess = InterruptedStore::last_step();
  History& mine = events_[static_cast<std::size_t>(thread)];
  mine.push_back(std::move(event));
  return mine.back().answer;
}

History Recorder::history() const {
  History all;
  for (const History& events : events_) all.insert(all.end(), events.begin(), events.end());
  std::sort(all.begin(), all.end(), [](const Event& a, const Event& b) { return a.begin < b.begin; });
  return all;
}

std::string text(const History& history) {
  std::string out;
  for (const Event& event : history)
    out += fmt::format("thread {}, from {} to {}: {} -> {}\n", event.thread, event.begin, event.end,
                       event.request.dump(), event.answer.dump());
  return out;
}

namespace {

// The search of Wing and Gong, depth first, with the memory of Lowe: a state in which the same events are behind is
// looked at once.
class Search {
 public:
  Search(const model::Model& model, const History& history, std::int64_t time, std::size_t most_tries)
      : model_(model), history_(history), time_(time), tries_left_(most_tries), done_(history.size(), false) {}

  std::optional<std::string> run() {
    if (extend()) return std::nullopt;
    std::string out = tries_left_ == 0 ? "no serial order was found, and there was more to try\n"
                                       : "there is no serial order with these answers\n";
    out += fmt::format("{} of {} events can be put in order:\n", longest_.size(), history_.size());
    for (const std::size_t at : longest_) out += "  " + text(History{history_[at]});
    out += "and then the answers would be:\n" + stuck_ + "All events:\n" + text(history_);
    return out;
  }

 private:
  // Puts the events in order that are left. Where it can't, everything is as before.
  bool extend() {
    const std::size_t before = order_.size();
    take_those_without_effect();
    if (order_.size() == history_.size()) return true;
    std::string differences;
    for (const std::size_t at : candidates()) {
      if (tries_left_ == 0) break;
      const auto difference = try_next(at);
      if (difference) {
        differences += "  " + text(History{history_[at]}) + "    " + *difference + "\n";
        continue;
      }
      push(at);
      if (seen_.emplace(done_, reference_->dump().dump()).second && extend()) return true;
      pop(order_.size() - 1);
    }
    if (order_.size() >= longest_.size() && !differences.empty()) {
      longest_ = order_;
      stuck_ = differences;
    }
    pop(before);
    return false;
  }

  // An answer that is right here and changes nothing may as well be given here: it is in nobody's way.
  void take_those_without_effect() {
    for (bool again = true; again;) {
      again = false;
      for (const std::size_t at : candidates()) {
        if (changes_something(history_[at].answer) || tries_left_ == 0 || try_next(at)) continue;
        push(at);
        again = true;
      }
    }
  }

  static bool changes_something(const Json& answer) { return answer.value("outcome", "") == "applied"; }

  // Those that no other one which is left ended before.
  [[nodiscard]] std::vector<std::size_t> candidates() const {
    std::uint64_t first_end = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t i = 0; i < history_.size(); ++i)
      if (!done_[i]) first_end = std::min(first_end, history_[i].end);
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < history_.size(); ++i)
      if (!done_[i] && history_[i].begin <= first_end) out.push_back(i);
    std::stable_sort(out.begin(), out.end(),
                     [&](std::size_t a, std::size_t b) { return history_[a].guess < history_[b].guess; });
    return out;
  }

  // Carries out the event after those in order; the difference to what was answered.
  std::optional<std::string> try_next(std::size_t at) {
    --tries_left_;
    restore();
    const Json answer = reference_->answer(history_[at].request);
    auto difference = property::difference(model_, history_[at].request, history_[at].answer, answer);
    if (difference && changes_something(answer)) reference_.reset();
    return difference;
  }

  void push(std::size_t at) {
    order_.push_back(at);
    done_[at] = true;
  }

  void pop(std::size_t size) {
    while (order_.size() > size) {
      if (changes_something(history_[order_.back()].answer)) reference_.reset();
      done_[order_.back()] = false;
      order_.pop_back();
    }
  }

  // The evaluator can't go back, so it begins anew.
  void restore() {
    if (reference_) return;
    reference_ = std::make_unique<reference::Reference>(model_);
    reference_->set_time(time_);
    for (const std::size_t at : order_)
      if (changes_something(history_[at].answer)) reference_->answer(history_[at].request);
  }

  const model::Model& model_;
  const History& history_;
  const std::int64_t time_;
  std::size_t tries_left_;
  std::vector<bool> done_;
  std::vector<std::size_t> order_;
  std::unique_ptr<reference::Reference> reference_;  // as it is after `order_`; null: to be made
  std::set<std::pair<std::vector<bool>, std::string>> seen_;
  std::vector<std::size_t> longest_;  // the most that could be put in order
  std::string stuck_;                 // what stopped it there
};

}  // namespace

std::optional<std::string> not_serialisable(const model::Model& model, const History& history, std::int64_t time,
                                            std::size_t most_tries) {
  return Search(model, history, time, most_tries).run();
}

}  // namespace noam::tests::concurrency
