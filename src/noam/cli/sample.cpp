#include "noam/cli/sample.h"

#include <algorithm>
#include <compare>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "noam/base/check.h"
#include "noam/cli/load_command.h"
#include "noam/cli/records.h"
#include "noam/design/narration.h"
#include "noam/runtime/session.h"
#include "noam/stores/memory.h"

namespace noam::cli {

namespace {

constexpr std::int64_t moment = 1'735'689'600'000;  // 2025-01-01T00:00:00Z

Result<void> load_file(runtime::Session& session, const DataSource& source) {
  std::string bad;
  LoadRun run;
  run.strict = true;
  run.bad_line = [&](const BadLine& line) {
    if (bad.empty()) bad = fmt::format("{}:{}: {} [{}]", source.name(), line.line, line.reason, line.code);
  };
  NOAM_ASSIGN_OR_RETURN(FileLoad load, FileLoad::open(session, source, run));
  const LoadReport report = load.load();
  if (!bad.empty()) return Error{bad};
  if (report.end == LoadEnd::Complete) return {};
  return Error{fmt::format("{}: {}", source.name(), report.message)};
}

std::strong_ordering in_order(const std::vector<model::Datum>& a, const std::vector<model::Datum>& b,
                              const std::vector<model::Part>& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (a[i] != b[i]) return parts[i].descending ? b[i] <=> a[i] : a[i] <=> b[i];
  return std::strong_ordering::equal;
}

// Sums of ints are kept exactly, as decimals; databases have ints for them.
Result<void> make_int(const design::Design& design, std::uint32_t family, const model::Cell& cell,
                      model::Datum& datum) {
  if (cell.shape != model::CellShape::Plain || cell.expr.type.kind != model::TypeKind::Int || !datum.is_decimal())
    return {};
  const auto number = datum.as_decimal().to_int();
  if (!number)
    return Error{fmt::format("`{}` of {} is {}: other databases cannot store it, because it does not fit an int",
                             cell.name, design::family_label(design, family), datum.as_decimal().text())};
  datum = *number;
  return {};
}

Result<std::vector<design::SampleEntry>> read_family(stores::Store& store, const design::Design& design,
                                                     std::uint32_t index) {
  const design::Family& family = design.families[index];
  const std::vector<model::Part>& by = design.collection_of(family).by;
  std::vector<design::SampleEntry> out;
  std::string after;
  do {
    NOAM_ASSIGN_OR_RETURN(stores::ScanPage page, store.scan(index, after, nullptr, stores::no_deadline));
    for (stores::ScanPage::Item& item : page.items) {
      check(item.block.size() == by.size() && item.entry.key.size() == family.key.size() &&
                item.entry.columns.size() == family.width(),
            "an entry has what its family says");
      for (std::size_t i = 0; i < family.cells.size(); ++i)
        NOAM_RETURN_IF_ERROR(make_int(design, index, family.cells[i], item.entry.columns[i]));
      out.push_back({std::move(item.block), std::move(item.entry.key), std::move(item.entry.columns)});
    }
    after = page.next;
  } while (!after.empty());
  std::sort(out.begin(), out.end(), [&](const design::SampleEntry& a, const design::SampleEntry& b) {
    const auto blocks = in_order(a.block, b.block, by);
    return std::is_lt(std::is_eq(blocks) ? in_order(a.key, b.key, family.key) : blocks);
  });
  return out;
}

}  // namespace

Result<design::Sample> read_sample(const design::Program& program, const std::vector<std::string>& paths) {
  LoadOptions options;
  options.sources = paths;
  options.by_name_alone = true;
  NOAM_ASSIGN_OR_RETURN(const std::vector<DataSource> sources, find_sources(*program.model, options));
  const std::unique_ptr<stores::Store> store = stores::open_memory_store();
  runtime::SessionOptions session_options;
  session_options.clock = [] { return moment; };
  NOAM_ASSIGN_OR_RETURN(const std::unique_ptr<runtime::Session> session,
                        runtime::Session::open(program, *store, std::move(session_options)));
  for (const DataSource& source : sources) NOAM_RETURN_IF_ERROR(load_file(*session, source));
  for (const model::Query* query : runtime::in_order_of_refresh(*program.model))
    NOAM_RETURN_IF_ERROR(session->refresh(query->name));
  return sample_of(*store, program);
}

Result<design::Sample> sample_of(stores::Store& store, const design::Program& program) {
  design::Sample out;
  for (std::uint32_t i = 0; i < program.design.families.size(); ++i) {
    out.families.emplace_back();
    if (program.design.families[i].of_noam()) continue;
    NOAM_ASSIGN_OR_RETURN(out.families.back(), read_family(store, program.design, i));
  }
  return out;
}

}  // namespace noam::cli
