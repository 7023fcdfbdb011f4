#include "tests/damage.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "noam/compile/compile.h"

namespace noam::tests {

namespace {

using model::Datum;

// Another value than this one, and one that a place for numbers can hold.
Datum another(const Datum& datum) {
  if (datum.is_int()) return datum.as_int() + 1;
  if (datum.is_decimal()) return datum.as_decimal() + model::Decimal(1);
  return datum.absent() ? Datum(std::int64_t{1}) : Datum();
}

// One that no other entry of the test has as its key.
Datum far_from(const Datum& datum) {
  if (datum.is_int()) return datum.as_int() + 1'000'000'007;
  if (datum.is_string()) return std::string(datum.as_string()) + "~";
  return another(datum);
}

struct Harm {
  const char* name;
  stores::Change change;
};

std::vector<Harm> harms(const design::Family& family, std::uint32_t index, const stores::ScanPage::Item& item) {
  const stores::EntryRef entry{{family.collection, item.block}, index, item.entry.key};
  std::vector<Harm> out{{"an entry that is gone", stores::Delete{entry}}};
  if (!item.entry.columns.empty()) {
    stores::Key columns = item.entry.columns;
    columns.back() = another(columns.back());
    out.push_back({"an entry that was changed", stores::Put{entry, std::move(columns)}});
  }
  if (!item.entry.key.empty()) {
    stores::EntryRef stray = entry;
    stray.key.back() = far_from(stray.key.back());
    out.push_back({"an entry that belongs to nobody", stores::Put{stray, item.entry.columns}});
  }
  return out;
}

}  // namespace

std::optional<std::string> unseen_damage(SessionEngine& engine) {
  const design::Program& program = engine.session().program();
  for (const design::Upkeep& upkeep : program.upkeep) {
    if (!upkeep.all) continue;  // of events, which are not kept
    const design::Family& family = program.design.families[upkeep.family];
    const auto page = engine.store().scan(upkeep.family, {}, nullptr, stores::no_deadline);
    if (!page) return page.error().message;
    if (page->items.empty()) continue;
    for (Harm& harm : harms(family, upkeep.family, page->items.front())) {
      const std::string where = fmt::format("{}: {}", program.design.collection_of(family).name, harm.name);
      stores::WriteBatch batch;
      batch.changes.push_back(std::move(harm.change));
      if (const auto done = engine.store().commit(batch, stores::no_deadline); !done) return done.error().message;
      if (!engine.verify()) return where + " was not told";
      if (const auto mended = engine.session().repair(); !mended) return where + ": " + mended.error().message;
      if (const auto left = engine.verify()) return where + " was not mended: " + *left;
    }
  }
  return std::nullopt;
}

namespace {

const char* const colours = R"(
model colours

entity Thing { id: int key   colour: text }

command add($id, $colour) { insert Thing { id: $id, colour: $colour } }
query all_of($colour) { select t.id from Thing t where t.colour = $colour }

design by_colour { collection colours of Thing t by colour { copy [id] } }
)";

}  // namespace

std::optional<std::string> use_of_broken_copy() {
  const auto model = compile_model(language::SourceFile("colours.noam", colours));
  if (!model) return model.error().message;
  SessionEngine engine(**model, "by_colour");
  if (!engine.problem().empty()) return engine.problem();
  const auto add = [&](int id) {
    return engine.answer({{"run", "add"}, {"params", {{"id", id}, {"colour", "red"}}}}).value("outcome", "");
  };
  const auto ask = [&] { return engine.answer({{"run", "all_of"}, {"params", {{"colour", "red"}}}}); };
  if (add(1) != "applied" || add(2) != "applied") return "a command was not applied";
  const design::Program& program = engine.session().program();
  const std::uint32_t family = program.upkeep[0].family;
  stores::WriteBatch batch;
  batch.changes.emplace_back(stores::Delete{{{program.design.families[family].collection, {"red"}}, family, {1}}});
  if (const auto done = engine.store().commit(batch, stores::no_deadline); !done) return done.error().message;
  if (ask()["rows"].size() != 1) return "nothing is broken";
  if (!engine.verify()) return "it was not told";
  if (const auto answer = ask(); !answer.contains("error") || answer["error"]["code"] != "broken")
    return "it was read: " + answer.dump();
  if (add(3) != "applied") return "a command waits for the copy";
  if (const auto mended = engine.session().repair(); !mended) return mended.error().message;
  const auto answer = ask();
  return answer["rows"].size() == 3 ? std::nullopt : std::optional("it was not mended: " + answer.dump());
}

}  // namespace noam::tests
