#include "noam/cli/export_command.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "noam/base/file_io.h"
#include "noam/base/json.h"
#include "noam/cli/files.h"
#include "noam/cli/report.h"
#include "noam/language/suggest.h"
#include "noam/model/layout.h"

namespace noam::cli {

namespace {

using model::Datum;

constexpr std::size_t buffer_bytes = std::size_t{256} << 10U;

// A file under a name of its own until it is published; without that it goes.
class NewFile {
 public:
  explicit NewFile(std::string path) : path_(std::move(path)) {
    const std::filesystem::path at(path_);
    temporary_ = (at.parent_path() / ("." + at.filename().string() + ".XXXXXX")).string();
    descriptor_ = ::mkstemp(temporary_.data());
    if (descriptor_ < 0) temporary_.clear();
  }
  ~NewFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  // An error where it could not be made.
  Result<void> begin(std::string_view text) { return descriptor_ < 0 ? problem() : write(text); }

  Result<void> write(std::string_view text) {
    buffer_ += text;
    return buffer_.size() < buffer_bytes ? Result<void>() : flush();
  }

  // Everything is on the disk, still under the other name.
  Result<void> complete() {
    NOAM_RETURN_IF_ERROR(flush());
    // As any new file would have it.
    const mode_t mask = ::umask(0);
    ::umask(mask);
    constexpr mode_t usual = 0666;
    if (::fchmod(descriptor_, usual & ~mask) != 0 || ::fsync(descriptor_) != 0) return problem();
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    return closed == 0 ? Result<void>() : problem();
  }

  Result<void> publish() {
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) return problem();
    temporary_.clear();
    return {};
  }

 private:
  [[nodiscard]] Error problem() const { return file_problem(path_, "cannot be written"); }

  Result<void> flush() {
    if (!write_all(descriptor_, buffer_)) return problem();
    buffer_.clear();
    return {};
  }

  std::string path_;
  std::string temporary_;
  std::string buffer_;
  int descriptor_ = -1;
};

Result<std::vector<model::EntityId>> find_entities(const model::Model& model, const std::vector<std::string>& names) {
  std::vector<model::EntityId> out;
  std::vector<std::string_view> known;
  for (const model::Entity& entity : model.entities) known.push_back(entity.name);
  if (names.empty())
    for (std::uint32_t i = 0; i < model.entities.size(); ++i) out.push_back(static_cast<model::EntityId>(i));
  for (const std::string& name : names) {
    const auto at = std::find(known.begin(), known.end(), name);
    if (at == known.end()) {
      const auto near = language::closest(name, known);
      return Error{fmt::format("no entity `{}`; {}available: {}", name,
                               near ? fmt::format("did you mean `{}`? ", *near) : "", fmt::join(known, ", "))};
    }
    const auto id = static_cast<model::EntityId>(at - known.begin());
    if (std::find(out.begin(), out.end(), id) == out.end()) out.push_back(id);
  }
  return out;
}

constexpr const char* moments_note =
    "note: this store has no snapshots; the instances are of different moments if commands ran meanwhile\n";

// One entity to standard output.
int export_to_output(runtime::Session& session, model::EntityId id, DataFormat format) {
  const model::Model& model = session.model();
  const model::Entity& entity = model.entity(id);
  if (entity.transient) return complain(fmt::format("{} is transient: its instances are not stored", entity.name));
  std::string buffer = data_header(entity, format);
  const auto done =
      session.read_instances({id}, [&](model::EntityId /*entity*/, const Datum::List& fields) -> Result<void> {
        buffer += data_record(model, entity, format, fields);
        if (buffer.size() < buffer_bytes) return {};
        auto written = write_output(buffer);
        buffer.clear();
        return written;
      });
  if (!done) return complain(done.error().message);
  return deliver(buffer, exit_fine);
}

}  // namespace

Result<std::vector<ExportedFile>> export_to_folder(runtime::Session& session,
                                                   const std::vector<model::EntityId>& entities, DataFormat format,
                                                   const std::string& folder, bool replace) {
  const model::Model& model = session.model();
  std::error_code failed;
  NewFolders folders;
  NOAM_RETURN_IF_ERROR(folders.create(folder));
  std::vector<ExportedFile> out;
  std::map<model::EntityId, std::pair<std::unique_ptr<NewFile>, std::size_t>> files;  // and its place in `out`
  for (const model::EntityId id : entities) {
    const model::Entity& entity = model.entity(id);
    out.push_back({entity.name, {}, 0});
    if (entity.transient) continue;
    const std::string path = (std::filesystem::path(folder) / data_file_name(entity, format)).string();
    if (std::filesystem::is_directory(path, failed))
      return Error{fmt::format("{}: cannot be written: it is a folder", path)};
    if (!replace && std::filesystem::exists(path, failed))
      return Error{fmt::format("{}: already exists; use --force to replace it", path)};
    out.back().file = path;
    auto file = std::make_unique<NewFile>(path);
    NOAM_RETURN_IF_ERROR(file->begin(data_header(entity, format)));
    files.emplace(id, std::pair(std::move(file), out.size() - 1));
  }
  NOAM_RETURN_IF_ERROR(session.read_instances(entities, [&](model::EntityId id, const Datum::List& fields) {
    auto& [file, place] = files.at(id);
    ++out[place].instances;
    return file->write(data_record(model, model.entity(id), format, fields));
  }));
  for (auto& [id, file] : files) NOAM_RETURN_IF_ERROR(file.first->complete());
  for (auto& [id, file] : files) NOAM_RETURN_IF_ERROR(file.first->publish());
  folders.keep();
  return out;
}

std::string export_text(const std::vector<ExportedFile>& files) {
  std::string out;
  for (const ExportedFile& file : files)
    out += file.file.empty()
               ? fmt::format("{}: transient, its instances are not stored\n", file.entity)
               : fmt::format("{}: {}\n", file.file, model::counted(file.instances, "instance", "instances"));
  return out;
}

std::string export_json(const std::vector<ExportedFile>& files, bool one_moment) {
  Json list = Json::array();
  for (const ExportedFile& file : files)
    list.push_back({{"entity", file.entity},
                    {"file", file.file.empty() ? Json() : Json(file.file)},
                    {"instances", file.instances},
                    {"transient", file.file.empty()}});
  return dumped(Json{{"schema", 1}, {"one_moment", one_moment}, {"files", std::move(list)}});
}

Command add_export_command(CommandLine& line, ExportOptions& options) {
  Command command = line.add_command("export", "Export the instances of a store to files that `noam load` can read");
  add_opening_options(command, options.opening);
  command.add_option("--to", options.folder,
                     "Output folder, created if missing; one file per entity, such as User.jsonl. Default: standard "
                     "output, for a single entity");
  command.add_option("--entity", options.entities, "Entities to export. Default: all");
  command.add_option("--format", options.format, "File format, jsonl or csv. Default: jsonl").one_of({"jsonl", "csv"});
  command.add_flag("--force", options.force, "Replace existing files");
  command.add_flag("--json", options.json, "Print the list of written files as JSON (docs/commands/export.md)");
  command.footer(
      "All files show the store at the same moment, if the store has snapshots (the embedded store has); otherwise "
      "the\n"
      "command says so. They appear only when all of them are complete. A file has one\n"
      "instance per line in key order, including keys generated by noam. If an instance is owned by another one of "
      "the\n"
      "same entity, the owner comes first. Instances of transient entities are not stored, so they are not exported.\n"
      "Exit codes: 0 success; 1 the model has errors; 2 usage error (files, arguments, stores).\n"
      "Example: noam export shop.noam --store rocksdb:data --to backup\n"
      "         noam export shop.noam --store rocksdb:data --entity Product --format csv > products.csv\n"
      "More:    docs/commands/export.md");
  return command;
}

int export_data(const ExportOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  const Opened opened = open_model(options.opening);
  if (!opened.session) return opened.code;
  const auto entities = find_entities(opened.session->model(), options.entities);
  if (!entities) return complain(entities.error().message);
  const DataFormat format = options.format == "csv" ? DataFormat::Csv : DataFormat::JsonLines;
  if (options.folder.empty()) {
    if (entities->size() != 1)
      return complain("give --entity E to write one entity to standard output, or --to FOLDER for several");
    if (options.json || options.force) return complain("--json and --force need --to FOLDER");
    return export_to_output(*opened.session, entities->front(), format);
  }
  const auto files = export_to_folder(*opened.session, *entities, format, options.folder, options.force);
  if (!files) return complain(files.error().message);
  const bool one_moment = opened.store->capabilities().snapshots;
  if (options.json) return deliver(export_json(*files, one_moment), exit_fine);
  return deliver(export_text(*files) + (one_moment ? "" : moments_note), exit_fine);
}

}  // namespace noam::cli
