#include "noam/cli/load_command.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "noam/base/json.h"
#include "noam/cli/bulk_load.h"
#include "noam/cli/progress.h"
#include "noam/cli/report.h"
#include "noam/language/suggest.h"
#include "noam/model/json_text.h"
#include "noam/model/layout.h"

namespace noam::cli {

using runtime::RowOutcome;

// --- Which files -----------------------------------------------------------------------------------------------------

namespace {

std::vector<std::string_view> entity_names(const model::Model& model) {
  std::vector<std::string_view> names;
  for (const model::Entity& entity : model.entities) names.push_back(entity.name);
  return names;
}

std::string entity_hint(const model::Model& model, const std::string& name) {
  const std::vector<std::string_view> names = entity_names(model);
  const auto near = language::closest(name, names);
  return fmt::format("{}available: {}", near ? fmt::format("did you mean `{}`? ", *near) : "", fmt::join(names, ", "));
}

// Entities such that owners come before their parts; in a circle, and else, as the model has them.
std::vector<model::EntityId> owners_first(const model::Model& model) {
  std::vector<model::EntityId> out;
  std::set<model::EntityId> seen;
  const std::function<void(model::EntityId)> visit = [&](model::EntityId id) {
    if (!seen.insert(id).second) return;
    for (const std::uint32_t role : model.entity(id).owners) visit(model.roles[role].to);
    out.push_back(id);
  };
  for (std::uint32_t i = 0; i < model.entities.size(); ++i) visit(static_cast<model::EntityId>(i));
  return out;
}

Result<char> read_delimiter(const std::string& text) {
  if (text == "\\t" || text == "tab") return '\t';
  constexpr unsigned char last_ascii = 0x7E;
  if (text.size() == 1 && text[0] != '"' && text[0] != '\n' && text[0] != '\r' &&
      static_cast<unsigned char>(text[0]) <= last_ascii)
    return text[0];
  return Error{fmt::format("--delimiter `{}`: must be one character, such as `;`, or `\\t`", text)};
}

bool is_tabbed(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return ending == ".tsv";
}

// What the options say of every file.
struct Wanted {
  std::optional<model::EntityId> entity;
  std::optional<DataFormat> format;
  std::optional<char> delimiter;
  bool by_name_alone = false;
};

Result<DataSource> find_file(const model::Model& model, const Wanted& wanted, const std::string& path) {
  DataSource out;
  out.path = path;
  if (path == "-" && wanted.by_name_alone)
    return Error{"data cannot come from standard input here: give files or folders"};
  if (path == "-" && (!wanted.entity || !wanted.format))
    return Error{"standard input has no name: give --entity and --format"};
  const auto format = wanted.format ? wanted.format : format_of_file(path);
  if (!format)
    return Error{fmt::format("{}: unknown format; name the file .jsonl, .ndjson, .json, .csv or .tsv{}", path,
                             wanted.by_name_alone ? "" : ", or give --format jsonl or --format csv")};
  const auto entity = wanted.entity ? wanted.entity : entity_of_file(model, path);
  if (!entity)
    return Error{fmt::format("{}: the name of the file is not an entity{}; {}", path,
                             wanted.by_name_alone ? "" : ": rename it, or give --entity",
                             entity_hint(model, std::filesystem::path(path).stem().string()))};
  out.format = *format;
  out.entity = *entity;
  out.delimiter = wanted.delimiter ? *wanted.delimiter : is_tabbed(path) ? '\t' : ',';
  return out;
}

Result<std::vector<DataSource>> find_in_folder(const model::Model& model, const Wanted& wanted,
                                               const std::string& folder) {
  if (wanted.entity) return Error{fmt::format("{}: --entity cannot be used with a folder", folder)};
  std::vector<std::string> paths;
  std::error_code failed;
  for (auto at = std::filesystem::directory_iterator(folder, failed);
       !failed && at != std::filesystem::directory_iterator(); at.increment(failed)) {
    const std::string name = at->path().filename().string();
    const auto format = format_of_file(name);
    if (name[0] == '.' || !format || (wanted.format && *wanted.format != *format)) continue;
    if (std::error_code ignored; at->is_directory(ignored)) continue;
    paths.push_back(at->path().string());
  }
  if (failed) return Error{fmt::format("{}: cannot be read: {}", folder, failed.message())};
  if (paths.empty())
    return Error{fmt::format("{}: nothing to load: no file in this folder ends in {}", folder,
                             !wanted.format                            ? ".jsonl, .ndjson, .json, .csv or .tsv"
                             : *wanted.format == DataFormat::JsonLines ? ".jsonl, .ndjson or .json"
                                                                       : ".csv or .tsv")};
  std::sort(paths.begin(), paths.end());
  std::vector<DataSource> found;
  for (const std::string& path : paths) {
    NOAM_ASSIGN_OR_RETURN(DataSource source, find_file(model, wanted, path));
    for (const DataSource& other : found)
      if (other.entity == source.entity)
        return Error{fmt::format("{} and {} both hold {}; give the files to load by name", other.path, path,
                                 model.entity(source.entity).name)};
    found.push_back(std::move(source));
  }
  std::vector<DataSource> out;
  for (const model::EntityId id : owners_first(model))
    for (const DataSource& source : found)
      if (source.entity == id) out.push_back(source);
  return out;
}

}  // namespace

Result<std::vector<DataSource>> find_sources(const model::Model& model, const LoadOptions& options) {
  Wanted wanted;
  wanted.by_name_alone = options.by_name_alone;
  if (options.format == "csv") wanted.format = DataFormat::Csv;
  if (options.format == "jsonl") wanted.format = DataFormat::JsonLines;
  if (!options.delimiter.empty()) {
    NOAM_ASSIGN_OR_RETURN(wanted.delimiter, read_delimiter(options.delimiter));
  }
  if (!options.entity.empty()) {
    for (std::uint32_t i = 0; i < model.entities.size(); ++i)
      if (model.entities[i].name == options.entity) wanted.entity = static_cast<model::EntityId>(i);
    if (!wanted.entity)
      return Error{fmt::format("no entity `{}`; {}", options.entity, entity_hint(model, options.entity))};
  }
  std::vector<DataSource> out;
  std::set<std::string> seen;
  for (const std::string& path : options.sources) {
    std::error_code ignored;
    std::vector<DataSource> found;
    if (path != "-" && std::filesystem::is_directory(path, ignored)) {
      NOAM_ASSIGN_OR_RETURN(found, find_in_folder(model, wanted, path));
    } else {
      NOAM_ASSIGN_OR_RETURN(DataSource source, find_file(model, wanted, path));
      found.push_back(std::move(source));
    }
    for (DataSource& source : found) {
      const auto canonical = std::filesystem::weakly_canonical(source.path, ignored);
      if (!seen.insert(source.path == "-" ? "-" : canonical.string()).second)
        return Error{fmt::format("{}: given twice", source.name())};
      if (wanted.delimiter && source.format != DataFormat::Csv)
        return Error{fmt::format("{}: --delimiter can be used with CSV files only", source.name())};
      out.push_back(std::move(source));
    }
  }
  return out;
}

// --- One file --------------------------------------------------------------------------------------------------------

std::string FileLoad::note_text(const Progress& progress) {
  std::string hash;
  for (const unsigned char byte : progress.position.hash) hash += fmt::format("{:02x}", byte);
  return Json{{"bytes", progress.position.bytes},
              {"lines", progress.position.lines},
              {"records", progress.records},
              {"loaded", progress.loaded},
              {"bad", progress.bad},
              {"xxh3", hash},
              {"done", progress.done}}
      .dump();
}

std::optional<FileLoad::Progress> FileLoad::read_note_text(const std::string& text) {
  const Json json = Json::read(text).value_or(Json());
  Progress out;
  if (!json.is_object()) return std::nullopt;
  for (const auto& [name, to] :
       {std::pair("bytes", &out.position.bytes), std::pair("lines", &out.position.lines),
        std::pair("records", &out.records), std::pair("loaded", &out.loaded), std::pair("bad", &out.bad)}) {
    const auto at = json.find(name);
    if (at == json.end() || !at->is_number_unsigned()) return std::nullopt;
    *to = at->get<std::uint64_t>();
  }
  const auto hash = json.find("xxh3");
  const auto done = json.find("done");
  if (hash == json.end() || !hash->is_string() || done == json.end() || !done->is_boolean()) return std::nullopt;
  const std::string digits = hash->get<std::string>();
  if (digits.size() != 2 * out.position.hash.size()) return std::nullopt;
  for (std::size_t i = 0; i < out.position.hash.size(); ++i) {
    constexpr int hexadecimal = 16;
    out.position.hash[i] =
        static_cast<unsigned char>(std::strtoul(digits.substr(2 * i, 2).c_str(), nullptr, hexadecimal));
  }
  out.done = done->get<bool>();
  return out;
}

Result<FileLoad> FileLoad::open(runtime::Session& session, const DataSource& source, const LoadRun& run) {
  NOAM_ASSIGN_OR_RETURN(DataReader reader, DataReader::open(session.model(), source, run.interrupted));
  FileLoad out(session, source, run, std::move(reader));
  const std::string& entity = session.model().entity(source.entity).name;
  out.report_.file = source.name();
  out.report_.entity = entity;
  out.progress_.position = out.reader_.position();
  if (!out.reader_.is_file()) return out;  // nobody can read it again
  std::error_code failed;
  const auto path = std::filesystem::canonical(source.path, failed);
  if (failed) return Error{fmt::format("{}: cannot be read: {}", source.name(), failed.message())};
  out.note_ = fmt::format("load/{}/{}", entity, path.string());
  NOAM_ASSIGN_OR_RETURN(out.noted_, session.read_note(out.note_));
  if (!out.noted_ || run.again) return out;
  const auto before = read_note_text(*out.noted_);
  if (!before)
    return Error{fmt::format(
        "{}: the recorded progress has an unknown format; use --again to load the file from the start", source.name())};
  NOAM_ASSIGN_OR_RETURN(const bool same, out.reader_.go_on(before->position));
  if (!same)
    return Error{
        fmt::format("{}: has changed since its first {} lines were loaded; use --again to load it from the start",
                    source.name(), before->position.lines)};
  out.progress_ = *before;
  out.report_.skipped_before = before->loaded;
  out.report_.bad_before = before->bad;
  if (before->done && out.reader_.size() == before->position.bytes) out.report_.end = LoadEnd::AlreadyLoaded;
  out.progress_.done = false;
  return out;
}

FileLoad::Progress FileLoad::after(const std::vector<RowOutcome>& rows) const {
  Progress out = progress_;
  const bool all = rows.size() == marks_.size();
  std::size_t decided = rows.size();
  std::size_t bad = all ? bad_.size() : marks_[rows.size()].bad_before;
  out.position = all ? end_ : marks_[rows.size()].before;
  out.done = all && done_;
  if (run_.strict && !rows.empty() && rows.back()) {
    // Where it is mended, the load goes on with it.
    out.position = marks_[rows.size() - 1].before;
    out.done = false;
    bad = 0;
    --decided;
  }
  std::size_t refused = 0;
  for (std::size_t i = 0; i < decided; ++i) refused += rows[i] ? 1 : 0;
  out.records += decided + bad;
  out.loaded += decided - refused;
  out.bad += bad + refused;
  return out;
}

void FileLoad::report(const BadLine& line) {
  if (report_.errors.size() < most_bad_lines) report_.errors.push_back(line);
  ++report_.bad;
  if (run_.bad_line) run_.bad_line(line);
}

// Large commits cost less a row. But they are in the way of others, and hear of an interrupt late.
void FileLoad::adapt(std::size_t rows, std::size_t most_at_once, std::chrono::steady_clock::duration took) {
  constexpr std::chrono::milliseconds long_enough{500};
  if (most_at_once < rows) ceiling_ = std::max<std::size_t>(most_at_once, 1);
  if (took > long_enough)
    at_once_ = (at_once_ + 1) / 2;
  else if (took < long_enough / 2)
    at_once_ *= 2;
  at_once_ = std::clamp<std::size_t>(at_once_, 1, ceiling_);
}

bool FileLoad::commit(const DataPosition& end, bool done) {
  end_ = end;
  done_ = done;
  runtime::LoadBatch batch;
  batch.entity = source_.entity;
  batch.rows = std::move(rows_);
  batch.stop_at_refusal = run_.strict;
  batch.note = note_;
  batch.note_before = noted_;
  batch.note_text = [this](const std::vector<RowOutcome>& rows) { return note_text(after(rows)); };
  const auto began = std::chrono::steady_clock::now();
  const runtime::Loaded loaded = session_.load(batch);
  adapt(batch.rows.size(), loaded.most_at_once, std::chrono::steady_clock::now() - began);
  const bool stopped = run_.strict && !loaded.rows.empty() && loaded.rows.back();
  const Progress now = loaded.rows.empty() && loaded.failure ? progress_ : after(loaded.rows);
  std::vector<BadLine> bad;
  for (std::size_t i = 0; i < loaded.rows.size(); ++i)
    if (const RowOutcome& row = loaded.rows[i]) bad.push_back({marks_[i].line, row->code, row->reason});
  // Of the others, those before the first row that is not decided.
  const std::size_t others = !loaded.failure                         ? bad_.size()
                             : loaded.rows.empty() || marks_.empty() ? 0
                                                                     : marks_[loaded.rows.size()].bad_before;
  bad.insert(bad.end(), bad_.begin(), bad_.begin() + static_cast<std::ptrdiff_t>(others));
  std::sort(bad.begin(), bad.end(), [](const BadLine& a, const BadLine& b) { return a.line < b.line; });
  report_.records += now.records - progress_.records + (stopped ? 1 : 0);
  report_.loaded += now.loaded - progress_.loaded;
  report_.lines = now.position.lines;
  for (const BadLine& line : bad) report(line);
  noted_ = loaded.note;
  progress_ = now;
  rows_.clear();
  marks_.clear();
  bad_.clear();
  if (loaded.failure) {
    report_.end = LoadEnd::Failed;
    report_.message = loaded.failure->message;
    return false;
  }
  if (run_.progress) run_.progress(report_, progress_.position.bytes, reader_.is_file() ? reader_.size() : 0);
  if (stopped) report_.end = LoadEnd::Stopped;
  return !stopped;
}

LoadReport FileLoad::load() {
  const auto began = std::chrono::steady_clock::now();
  const auto ended = [&] {
    report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return report_;
  };
  report_.lines = progress_.position.lines;
  if (report_.end == LoadEnd::AlreadyLoaded) return ended();
  DataPosition before = reader_.position();
  while (true) {
    auto record = reader_.next();
    if (!record) {
      // What was read before is not lost by it.
      if (!commit(before, false)) return ended();
      const bool signal = record.error().code == "interrupted";
      report_.end = signal ? LoadEnd::Interrupted : LoadEnd::Failed;
      report_.message = record.error().message;
      return ended();
    }
    if (!*record) {
      commit(reader_.position(), true);
      return ended();
    }
    DataRecord& read = **record;
    const DataPosition after = reader_.position();
    if (read.instance) {
      marks_.push_back({read.line, before, after, bad_.size()});
      rows_.push_back(std::move(*read.instance));
    } else {
      const BadLine bad{read.line, read.instance.refusal().code, read.instance.refusal().reason};
      if (run_.strict) {
        if (!commit(before, false)) return ended();
        ++report_.records;
        report(bad);
        report_.end = LoadEnd::Stopped;
        return ended();
      }
      bad_.push_back(bad);
    }
    before = after;
    if (rows_.size() + bad_.size() < at_once_ && after.bytes - progress_.position.bytes < run_.batch_bytes) continue;
    if (!commit(after, false)) return ended();
    if (interrupted()) {
      report_.end = LoadEnd::Interrupted;
      return ended();
    }
  }
}

// --- The command -----------------------------------------------------------------------------------------------------

namespace {

volatile std::sig_atomic_t interrupt_came = 0;  // a signal has no other way to tell

// While it lives, an interrupt is noted instead of ending the program; the second one ends it.
class InterruptWatch {
 public:
  InterruptWatch() {
    interrupt_came = 0;
    struct sigaction watch {};
    watch.sa_handler = [](int) { interrupt_came = 1; };
    watch.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigemptyset(&watch.sa_mask);
    ::sigaction(SIGINT, &watch, &before_);
  }
  ~InterruptWatch() { ::sigaction(SIGINT, &before_, nullptr); }
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

 private:
  struct sigaction before_ {};
};

// `3,000`
std::string grouped(std::uint64_t number) {
  std::string out = std::to_string(number);
  for (std::size_t at = out.size(); at > 3;) {
    at -= 3;
    out.insert(at, ",");
  }
  return out;
}

// How far a load came, some times a second.
class LoadProgress {
 public:
  void begin() { began_ = last_ = std::chrono::steady_clock::now(); }
  void show(const LoadReport& report, std::uint64_t bytes, std::uint64_t of) {
    constexpr std::chrono::milliseconds pause{200};
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < pause) return;
    last_ = now;
    const double seconds = std::chrono::duration<double>(now - began_).count();
    const auto rate = static_cast<std::uint64_t>(static_cast<double>(report.records) / seconds);
    line_.show(fmt::format("{}: {} records, {} per second{}", report.file, grouped(report.records), grouped(rate),
                           of == 0 ? "" : fmt::format(", {}%", bytes * 100 / of)));
  }
  void clear() { line_.clear(); }

 private:
  ProgressLine line_;
  std::chrono::steady_clock::time_point began_;
  std::chrono::steady_clock::time_point last_;
};

constexpr int exit_interrupted = 128 + SIGINT;

// What a person is told beside the summary; the exit code.
int conclude(const LoadReport& report, bool resumable) {
  if (report.bad > most_bad_lines)
    complain(fmt::format("{}: {} more bad lines", report.file, grouped(report.bad - most_bad_lines)));
  const std::string how = resumable ? "repeat the command to load the rest" : "the rest of the input was not loaded";
  switch (report.end) {
    case LoadEnd::Complete:
      return report.bad > 0 ? exit_refused : exit_fine;
    case LoadEnd::AlreadyLoaded:
      return exit_fine;
    case LoadEnd::Stopped:
      complain(fmt::format("{}: stopped at a bad line; loaded up to line {}{}", report.file, report.lines,
                           resumable ? "; fix the line and repeat the command to continue there" : ""));
      return exit_refused;
    case LoadEnd::Interrupted:
      complain(fmt::format("{}: interrupted; loaded up to line {}, {}", report.file, report.lines, how));
      return exit_interrupted;
    case LoadEnd::Failed:
      complain(fmt::format("{}: {}; loaded up to line {}, {}", report.file, report.message, report.lines, how));
      return exit_unknown;
  }
  return exit_fine;
}

}  // namespace

int load_all(runtime::Session& session, const LoadOptions& options, const std::function<int()>& then) {
  const auto sources = find_sources(session.model(), options);
  if (!sources) return complain(sources.error().message);
  const InterruptWatch watch;
  LoadProgress line;
  std::string file;  // that is loaded
  LoadRun run;
  run.strict = options.strict;
  run.again = options.again;
  run.interrupted = [] { return interrupt_came != 0; };
  run.progress = [&](const LoadReport& report, std::uint64_t bytes, std::uint64_t of) { line.show(report, bytes, of); };
  std::size_t told = 0;
  run.bad_line = [&](const BadLine& bad) {
    if (told++ >= most_bad_lines) return;
    line.clear();
    complain(fmt::format("{}:{}: {} [{}]", file, bad.line, bad.reason, bad.code));
  };
  // All of them are looked at before anything is loaded.
  std::vector<FileLoad> loads;
  for (const DataSource& source : *sources) {
    auto load = FileLoad::open(session, source, run);
    if (!load) {
      complain(load.error().code == "interrupted" ? fmt::format("{}: interrupted; nothing was loaded", source.name())
                                                  : load.error().message);
      return load.error().code == "interrupted" ? exit_interrupted : exit_wrong_use;
    }
    loads.push_back(std::move(*load));
  }
  int code = exit_fine;
  bool whole = true;
  std::vector<LoadReport> reports;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    told = 0;
    file = (*sources)[i].name();
    line.begin();
    reports.push_back(loads[i].load());
    line.clear();
    const LoadReport& report = reports.back();
    const int ended = conclude(report, (*sources)[i].path != "-");
    code = std::max(code, ended);
    if (!options.json)
      if (const int written = deliver(load_text(report), ended); written == exit_wrong_use) return written;
    whole = report.end == LoadEnd::Complete || report.end == LoadEnd::AlreadyLoaded;
    if (!whole) break;
  }
  if (then && whole) code = std::max(code, then());
  if (then && !whole) complain("nothing was written to the store");
  return options.json ? deliver(load_json(reports), code) : code;
}

std::string load_text(const LoadReport& report) {
  const auto some = [](std::size_t count, const char* what) {
    return count > 0 ? fmt::format(", {} {}", grouped(count), what) : "";
  };
  if (report.end == LoadEnd::AlreadyLoaded)
    return fmt::format("{}: already loaded, {} of {}{}; use --again to load it again\n", report.file,
                       grouped(report.skipped_before), report.entity, some(report.bad_before, "bad"));
  return fmt::format("{}: {} loaded{}{}{} ({:.1f} s)\n", report.file, grouped(report.loaded), some(report.bad, "bad"),
                     some(report.skipped_before, "loaded before"), some(report.bad_before, "bad before"),
                     report.seconds);
}

std::string load_json(const std::vector<LoadReport>& reports) {
  static constexpr std::array ends = {"complete", "already_loaded", "stopped", "interrupted", "failed"};
  Json files = Json::array();
  for (const LoadReport& report : reports) {
    Json errors = Json::array();
    for (const BadLine& bad : report.errors)
      errors.push_back({{"line", bad.line}, {"code", bad.code}, {"reason", bad.reason}});
    files.push_back({{"file", report.file},
                     {"entity", report.entity},
                     {"end", ends[static_cast<std::size_t>(report.end)]},
                     {"records", report.records},
                     {"loaded", report.loaded},
                     {"bad", report.bad},
                     {"skipped_before", report.skipped_before},
                     {"bad_before", report.bad_before},
                     {"lines", report.lines},
                     {"errors", std::move(errors)}});
  }
  return dumped(Json{{"schema", 1}, {"files", std::move(files)}});
}

Command add_load_command(CommandLine& line, LoadOptions& options) {
  Command command = line.add_command("load", "Load instances from files into a store");
  add_opening_options(command, options.opening);
  command
      .add_option("SOURCE", options.sources,
                  "Files named after their entities, such as User.jsonl (JSON lines) or User.csv; folders with such "
                  "files, loaded owners first; or `-` for standard input, with --entity and --format")
      .required();
  command.add_option("--entity", options.entity, "Entity in the files, whatever their names");
  command.add_option("--format", options.format, "Format of the files, jsonl or csv, whatever their names")
      .one_of({"jsonl", "csv"});
  command.add_option("--delimiter", options.delimiter,
                     "CSV delimiter: one character, or \\t. Default: a comma, in .tsv files a tab");
  command.add_flag("--strict", options.strict, "Stop at the first bad line; the lines before it stay loaded");
  command.add_flag("--again", options.again, "Load the files from the start, even if they were loaded before");
  command.add_flag("--bulk", options.bulk,
                   "Create a store on servers and fill it with plain writes, before anybody can open it");
  command.add_flag("--json", options.json, "Print the result of each file as JSON (docs/commands/load.md)");
  command.footer(
      "Each line is inserted as by `insert` in a command: with all checks, and with an update of all copies. Bad "
      "lines\n"
      "are reported on standard error and skipped. The store records the progress of each file in the same commit as\n"
      "its rows: after a crash or an interrupt, repeat the command to continue.\n"
      "On `memory:` nothing is kept: use it to find bad lines.\n"
      "Exit codes: 0 all lines are loaded; 1 the model has errors; 2 usage error (files, headers, arguments, stores);\n"
      "3 some lines were bad; 4 the store or a file failed during the load: repeat it; 130 interrupted: repeat it.\n"
      "Example: noam load shop.noam --store rocksdb:data Customer.csv Order.jsonl\n"
      "         zcat visits.csv.gz | noam load shortener.noam --store rocksdb:data - --entity Visit --format csv\n"
      "More:    docs/commands/load.md");
  return command;
}

int load_data(const LoadOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  if (options.opening.path == "-" &&
      std::find(options.sources.begin(), options.sources.end(), "-") != options.sources.end())
    return complain("standard input cannot be both the model and the data");
  if (options.bulk) return load_in_bulk(options);
  const Opened opened = open_model(options.opening);
  if (!opened.session) return opened.code;
  return load_all(*opened.session, options);
}

}  // namespace noam::cli
