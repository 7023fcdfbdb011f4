#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "noam/base/result.h"
#include "noam/cli/arguments.h"
#include "noam/cli/opening.h"
#include "noam/cli/records.h"
#include "noam/model/model.h"
#include "noam/runtime/session.h"

// `noam load`: files of instances into a store (docs/commands/load.md).
namespace noam::cli {

struct LoadOptions {
  OpeningOptions opening;
  std::vector<std::string> sources;  // files, folders, `-`
  std::string entity;
  std::string format;
  std::string delimiter;
  bool strict = false;
  bool again = false;
  bool json = false;
  bool bulk = false;
  bool by_name_alone = false;  // nothing but the names of the files says what they are
};

Command add_load_command(CommandLine& line, LoadOptions& options);
int load_data(const LoadOptions& options);
// All files, each told of; then, if all were read to their ends, what is left to do. Returns the exit code.
int load_all(runtime::Session& session, const LoadOptions& options, const std::function<int()>& then = {});

// The files to load, in an order in which owners come before their parts where they come from a folder.
Result<std::vector<DataSource>> find_sources(const model::Model& model, const LoadOptions& options);

struct BadLine {
  std::size_t line = 0;
  std::string code;
  std::string reason;

  bool operator==(const BadLine&) const = default;
};

enum class LoadEnd : std::uint8_t {
  Complete,
  AlreadyLoaded,  // by an earlier run: nothing was done
  Stopped,        // at a bad line
  Interrupted,
  Failed,  // the store or the file; `message` tells
};

// What became of one file in this run.
struct LoadReport {
  std::string file;
  std::string entity;
  LoadEnd end = LoadEnd::Complete;
  std::string message;             // Failed
  std::size_t records = 0;         // read
  std::size_t loaded = 0;          // of these
  std::size_t bad = 0;             // of these
  std::size_t skipped_before = 0;  // loaded by earlier runs
  std::size_t bad_before = 0;      // in earlier runs; who was killed may have told nobody of them
  std::size_t lines = 0;           // of the file that are decided, in this run and earlier ones
  std::vector<BadLine> errors;     // the first of them
  double seconds = 0;
};

// What a run of a load asks and tells.
struct LoadRun {
  bool strict = false;  // the first bad line ends it
  bool again = false;   // from the start, whatever was loaded before
  // Of one commit, at most. The first ones are smaller, and so are those that the store does not take at once, or that
  // take long.
  std::size_t batch_records = 20'000;
  std::size_t batch_bytes = std::size_t{4} << 20U;
  std::function<bool()> interrupted;  // asked after each commit, and where a signal came while it waited for input
  std::function<void(const LoadReport& so_far, std::uint64_t bytes, std::uint64_t of)> progress;  // after each commit
  std::function<void(const BadLine& line)> bad_line;
};

// A file that is ready to be loaded: it can be read, its header is right, and how far it was loaded before is known.
class FileLoad {
 public:
  // An error where the file can't be read, its header is wrong, or what was loaded of it is not there any more.
  static Result<FileLoad> open(runtime::Session& session, const DataSource& source, const LoadRun& run);

  // Once.
  LoadReport load();

 private:
  static constexpr std::size_t first_records = 1'000;  // of the first commit

  // What the note says, in the same commit as the rows.
  struct Progress {
    DataPosition position;
    std::uint64_t records = 0;
    std::uint64_t loaded = 0;
    std::uint64_t bad = 0;
    bool done = false;
  };
  // A row that is not committed yet.
  struct Mark {
    std::size_t line = 0;
    DataPosition before;
    DataPosition after;
    std::size_t bad_before = 0;  // records of the batch that are none
  };

  FileLoad(runtime::Session& session, DataSource source, LoadRun run, DataReader reader)
      : session_(session),
        source_(std::move(source)),
        run_(std::move(run)),
        reader_(std::move(reader)),
        at_once_(std::min(first_records, run_.batch_records)),
        ceiling_(run_.batch_records) {}

  static std::string note_text(const Progress& progress);
  static std::optional<Progress> read_note_text(const std::string& text);
  // What the progress is once the first rows of the batch are decided.
  [[nodiscard]] Progress after(const std::vector<runtime::RowOutcome>& rows) const;
  // Commits what was read, up to `end`. False: it goes no further.
  bool commit(const DataPosition& end, bool done);
  // How many records the next commit may have, after one of so many rows.
  void adapt(std::size_t rows, std::size_t most_at_once, std::chrono::steady_clock::duration took);
  void report(const BadLine& line);
  [[nodiscard]] bool interrupted() const { return run_.interrupted && run_.interrupted(); }

  runtime::Session& session_;
  DataSource source_;
  LoadRun run_;
  DataReader reader_;
  std::string note_;  // its name; empty: none is kept
  std::optional<std::string> noted_;
  Progress progress_;  // committed
  LoadReport report_;

  std::size_t at_once_;  // records of the next commit
  std::size_t ceiling_;  // more were too many

  // The batch.
  std::vector<model::Datum::List> rows_;
  std::vector<Mark> marks_;
  std::vector<BadLine> bad_;
  DataPosition end_;
  bool done_ = false;
};

inline constexpr std::size_t most_bad_lines = 20;  // that are told one by one

// `User.csv: 3,000 loaded, 2 bad (1.2 s)`
std::string load_text(const LoadReport& report);
std::string load_json(const std::vector<LoadReport>& reports);

}  // namespace noam::cli
