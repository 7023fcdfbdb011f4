#include "noam/cli/records.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "noam/base/json_text.h"
#include "noam/cli/csv.h"
#include "noam/cli/lines.h"
#include "noam/language/statements.h"
#include "noam/language/suggest.h"
#include "noam/model/scalars.h"

namespace noam::cli {

namespace {

using model::Datum;
using model::Refusal;
using model::TypeKind;

constexpr std::size_t chunk_bytes = std::size_t{256} << 10U;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ > STDIN_FILENO) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

// Of everything that was gone over.
class PrefixHash {
 public:
  PrefixHash() : state_(XXH3_createState()) { XXH3_128bits_reset(state_); }
  ~PrefixHash() { XXH3_freeState(state_); }
  PrefixHash(const PrefixHash&) = delete;
  PrefixHash& operator=(const PrefixHash&) = delete;

  void reset() { XXH3_128bits_reset(state_); }
  void take(std::string_view bytes) { XXH3_128bits_update(state_, bytes.data(), bytes.size()); }
  [[nodiscard]] std::array<unsigned char, 16> value() const {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state_));
    std::array<unsigned char, 16> out{};
    std::copy(std::begin(canonical.digest), std::end(canonical.digest), out.begin());
    return out;
  }

 private:
  XXH3_state_t* state_;
};

// Cuts bytes into lines, as CsvReader does into records. Empty lines are skipped.
class JsonLines {
 public:
  void feed(std::string_view bytes) {
    buffer_.erase(0, begin_);
    searched_ -= begin_;
    raw_ = 0;
    begin_ = 0;
    buffer_ += bytes;
  }
  void end() { ended_ = true; }
  void go_on(std::size_t lines) {
    lines_ = lines;
    started_ = true;
  }
  [[nodiscard]] std::string_view raw() const { return std::string_view(buffer_).substr(raw_, begin_ - raw_); }
  [[nodiscard]] std::size_t lines() const { return lines_; }

  // The line, good until `feed`; or why it is none.
  bool next(std::size_t& line, std::string_view& text, bool& too_long) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    raw_ = begin_;
    if (!started_) {
      if (buffer_.size() < byte_order_mark.size() && !ended_) return false;
      if (std::string_view(buffer_).substr(0, byte_order_mark.size()) == byte_order_mark)
        begin_ = byte_order_mark.size();
      searched_ = begin_;
      started_ = true;
    }
    while (true) {
      const std::size_t end = buffer_.find('\n', searched_);
      const bool found = end != std::string::npos;
      const std::size_t stop = found ? end : buffer_.size();
      if (!found && !ended_ && stop - begin_ <= longest_line) {
        searched_ = stop;
        return false;
      }
      text = std::string_view(buffer_).substr(begin_, stop - begin_);
      const bool dropped = dropping_;
      too_long = text.size() > longest_line && !dropped;
      dropping_ = !found && !ended_;  // its rest comes later
      line = lines_ + 1;
      begin_ = found ? end + 1 : stop;
      searched_ = begin_;
      if (found) ++lines_;
      if (too_long) return true;
      if (!dropped && text.find_first_not_of(" \t\r") != std::string_view::npos) return true;
      if (begin_ == buffer_.size()) return false;
    }
  }

 private:
  std::string buffer_;
  std::size_t raw_ = 0;
  std::size_t begin_ = 0;
  std::size_t searched_ = 0;
  std::size_t lines_ = 0;
  bool started_ = false;
  bool ended_ = false;
  bool dropping_ = false;
};

std::string number(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::optional<Refusal> refuse_bytes(std::string_view raw) {
  if (model::is_utf8_text(raw)) return std::nullopt;
  if (raw.find('\0') != std::string_view::npos) return Refusal{"format", "contains a NUL byte"};
  return Refusal{"format", "not valid UTF-8"};
}

}  // namespace

struct DataReader::State {
  State(const model::Model& of, DataSource from, int descriptor, Interrupted asked)
      : model(of),
        entity(of.entity(from.entity)),
        source(std::move(from)),
        file(descriptor),
        interrupted(std::move(asked)),
        csv(source.delimiter) {}

  const model::Model& model;
  const model::Entity& entity;
  DataSource source;
  Descriptor file;
  Interrupted interrupted;
  CsvReader csv;
  JsonLines json;
  PrefixHash hash;
  std::uint64_t bytes = 0;
  bool ended = false;
  std::vector<std::uint32_t> columns;  // the fields that they are
  std::string chunk = std::string(chunk_bytes, '\0');

  [[nodiscard]] bool is_csv() const { return source.format == DataFormat::Csv; }
  [[nodiscard]] Error problem() const {
    return Error{fmt::format("{}: cannot be read: {}", source.name(), std::strerror(errno))};
  }

  // As much as comes at once; nothing: that was all.
  Result<std::string_view> read() {
    while (true) {
      const ssize_t count = ::read(file.number(), chunk.data(), chunk.size());
      if (count >= 0) return std::string_view(chunk).substr(0, static_cast<std::size_t>(count));
      if (errno != EINTR) return problem();
      if (interrupted && interrupted()) return Error{"interrupted", "interrupted"};
    }
  }

  void feed(std::string_view piece) {
    ended = piece.empty();
    if (is_csv()) {
      ended ? csv.end() : csv.feed(piece);
    } else {
      ended ? json.end() : json.feed(piece);
    }
  }

  void go_over(std::string_view raw) {
    hash.take(raw);
    bytes += raw.size();
  }

  bool next_record(CsvRecord& record) {
    const bool found = csv.next(record);
    go_over(csv.raw());
    return found;
  }

  Result<bool> next_csv(CsvRecord& record) {
    while (!next_record(record)) {
      if (ended) return false;
      NOAM_ASSIGN_OR_RETURN(const std::string_view piece, read());
      feed(piece);
    }
    return true;
  }

  Result<void> check_encoding(std::string_view first) const;
  Result<void> read_header();
  [[nodiscard]] model::FieldsOrRefusal instance_of(const CsvRecord& record) const;
  [[nodiscard]] model::FieldsOrRefusal instance_of(std::string_view line) const;
};

Result<void> DataReader::State::check_encoding(std::string_view first) const {
  const auto begins = [&](std::string_view mark) { return first.substr(0, mark.size()) == mark; };
  using namespace std::string_view_literals;
  const char* encoding = nullptr;
  if (begins("\xFF\xFE\0\0"sv) || begins("\0\0\xFE\xFF"sv))
    encoding = "UTF-32";
  else if (begins("\xFF\xFE"sv) || begins("\xFE\xFF"sv))
    encoding = "UTF-16";
  if (encoding != nullptr)
    return Error{fmt::format("{}: encoded in {}, but noam reads UTF-8; convert it with `iconv -f {} -t UTF-8`",
                             source.name(), encoding, encoding)};
  constexpr std::size_t looked_at = 4096;
  if (first.substr(0, looked_at).find('\0') != std::string_view::npos)
    return Error{
        fmt::format("{}: contains NUL bytes, so it is not UTF-8; if it is UTF-16, convert it with "
                    "`iconv -f UTF-16LE -t UTF-8`",
                    source.name())};
  return {};
}

Result<void> DataReader::State::read_header() {
  CsvRecord header;
  NOAM_ASSIGN_OR_RETURN(const bool found, next_csv(header));
  if (!found) return Error{fmt::format("{}: empty file; the first line must name the columns", source.name())};
  const auto wrong = [&](const std::string& what) {
    return Error{fmt::format("{}:{}: {}", source.name(), header.line, what)};
  };
  if (!header.fault.empty()) return wrong(header.fault);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < entity.fields.size(); ++i) names.push_back(model::member_name(entity, i));
  for (const CsvCell& cell : header.cells) {
    if (!model::is_utf8_text(cell.text)) return wrong("the header is not valid UTF-8");
    const auto at = std::find(names.begin(), names.end(), cell.text);
    if (at == names.end()) {
      const std::vector<std::string_view> candidates(names.begin(), names.end());
      const auto near = language::closest(cell.text, candidates);
      const std::size_t other = cell.text.find_first_of(",;\t|");
      std::string hint;
      if (header.cells.size() == 1 && other != std::string::npos)
        hint = fmt::format("did you mean --delimiter '{}'? ",
                           cell.text[other] == '\t' ? std::string("\\t") : std::string(1, cell.text[other]));
      else if (near)
        hint = fmt::format("did you mean `{}`? ", *near);
      return wrong(fmt::format("column `{}` is not a field of {}; {}available: {}", model::shortened(cell.text),
                               entity.name, hint, fmt::join(names, ", ")));
    }
    const auto field = static_cast<std::uint32_t>(at - names.begin());
    if (std::find(columns.begin(), columns.end(), field) != columns.end())
      return wrong(fmt::format("column `{}` is given twice", cell.text));
    columns.push_back(field);
  }
  for (std::uint32_t i = 0; i < entity.fields.size(); ++i) {
    const model::Field& field = entity.fields[i];
    if (field.automatic || field.initial || field.type.optional || field.type.is_collection()) continue;
    if (std::find(columns.begin(), columns.end(), i) == columns.end())
      return wrong(fmt::format("missing column `{}`, which {} requires", names[i], entity.name));
  }
  return {};
}

model::FieldsOrRefusal DataReader::State::instance_of(const CsvRecord& record) const {
  if (!record.fault.empty()) return Refusal{"format", record.fault};
  if (auto wrong = refuse_bytes(csv.raw())) return std::move(*wrong);
  if (record.cells.size() != columns.size())
    return Refusal{"format", fmt::format("{}, but the header has {}", number(record.cells.size(), "cell", "cells"),
                                         columns.size())};
  Datum::List fields(entity.fields.size());
  std::vector<bool> given(entity.fields.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const model::Field& field = entity.fields[columns[i]];
    const CsvCell& cell = record.cells[i];
    // Of an optional field or a collection nothing is nothing, whatever its default.
    if (cell.text.empty() && !cell.quoted) {
      given[columns[i]] = field.type.optional || field.type.is_collection();
      fields[columns[i]] = model::nothing(field.type);
      continue;
    }
    given[columns[i]] = true;
    const std::string name = model::member_name(entity, columns[i]);
    const auto json = language::read_argument(model, field.type, cell.text);
    if (!json) return Refusal{"value", fmt::format("{}: {}", name, json.error().message)};
    if (field.automatic && json->is_null()) continue;
    auto datum = model::read_json(model, field.type, *json, name);
    if (!datum) return datum.refusal();
    fields[columns[i]] = std::move(*datum);
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const model::Field& field = entity.fields[i];
    if (given[i] || field.automatic) continue;
    fields[i] = model::initial_value(field);
    if (fields[i].absent() && !field.type.optional)
      return Refusal{"required", fmt::format("{}: a value is required", model::member_name(entity, i))};
  }
  return fields;
}

model::FieldsOrRefusal DataReader::State::instance_of(std::string_view line) const {
  if (auto wrong = refuse_bytes(line)) return std::move(*wrong);
  const auto text = parse_json(line);
  if (!text) return Refusal{"format", "invalid JSON: " + text.error().message};
  return model::read_instance_json(model, entity, *text);
}

DataReader::DataReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
DataReader::DataReader(DataReader&&) noexcept = default;
DataReader& DataReader::operator=(DataReader&&) noexcept = default;
DataReader::~DataReader() = default;

Result<DataReader> DataReader::open(const model::Model& model, const DataSource& source, Interrupted interrupted) {
  const int descriptor = source.path == "-" ? STDIN_FILENO : ::open(source.path.c_str(), O_RDONLY | O_CLOEXEC);
  auto state = std::make_unique<State>(model, source, descriptor, std::move(interrupted));
  if (descriptor < 0) return state->problem();
  // A mark of the encoding has up to four bytes, and a pipe may give fewer at once.
  constexpr std::size_t mark = 4;
  std::string first;
  do {
    NOAM_ASSIGN_OR_RETURN(const std::string_view piece, state->read());
    state->feed(piece);
    first += piece;
  } while (!state->ended && first.size() < mark);
  NOAM_RETURN_IF_ERROR(state->check_encoding(first));
  if (state->is_csv()) NOAM_RETURN_IF_ERROR(state->read_header());
  return DataReader(std::move(state));
}

Result<std::optional<DataRecord>> DataReader::next() {
  State& state = *state_;
  if (state.is_csv()) {
    CsvRecord record;
    NOAM_ASSIGN_OR_RETURN(const bool found, state.next_csv(record));
    if (!found) return std::optional<DataRecord>();
    return std::optional(DataRecord{record.line, state.instance_of(record)});
  }
  while (true) {
    std::size_t line = 0;
    std::string_view text;
    bool too_long = false;
    const bool found = state.json.next(line, text, too_long);
    state.go_over(state.json.raw());
    if (found && too_long)
      return std::optional(
          DataRecord{line, Refusal{"format", fmt::format("the line is longer than {} MiB", longest_line >> 20U)}});
    if (found) return std::optional(DataRecord{line, state.instance_of(text)});
    if (state.ended) return std::optional<DataRecord>();
    NOAM_ASSIGN_OR_RETURN(const std::string_view piece, state.read());
    state.feed(piece);
  }
}

DataPosition DataReader::position() const {
  return {state_->bytes, state_->is_csv() ? state_->csv.lines() : state_->json.lines(), state_->hash.value()};
}

Result<bool> DataReader::go_on(const DataPosition& from) {
  State& state = *state_;
  if (::lseek(state.file.number(), 0, SEEK_SET) < 0) return state.problem();
  state.hash.reset();
  char last = '\n';
  for (std::uint64_t left = from.bytes; left > 0;) {
    NOAM_ASSIGN_OR_RETURN(std::string_view piece, state.read());
    if (piece.empty()) return false;
    piece = piece.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left, piece.size())));
    state.hash.take(piece);
    left -= piece.size();
    last = piece.back();
  }
  if (state.hash.value() != from.hash) return false;
  if (::lseek(state.file.number(), static_cast<off_t>(from.bytes), SEEK_SET) < 0) return state.problem();
  NOAM_ASSIGN_OR_RETURN(const std::string_view piece, state.read());
  // A last line that had no line break may have grown.
  if (last != '\n' && !piece.empty() && piece[0] != '\n' && piece[0] != '\r') return false;
  state.bytes = from.bytes;
  state.csv = CsvReader(state.source.delimiter);
  state.json = JsonLines();
  state.csv.go_on(from.lines);
  state.json.go_on(from.lines);
  state.feed(piece);
  return true;
}

bool DataReader::is_file() const {
  struct stat info {};
  return state_->source.path != "-" && ::fstat(state_->file.number(), &info) == 0 && S_ISREG(info.st_mode);
}

std::uint64_t DataReader::size() const {
  struct stat info {};
  return ::fstat(state_->file.number(), &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

namespace {

std::string dumped_line(const Json& json) { return json.dump(); }

CsvCell cell_of(const model::Model& model, const model::Type& type, const Datum& datum) {
  if (datum.absent() || (type.is_collection() && datum.as_list().empty())) return {};
  const model::Type* plain = &type;
  while (plain->kind == TypeKind::Reference && model.entity(plain->entity()).key.size() == 1) {
    const model::Entity& target = model.entity(plain->entity());
    plain = &target.fields[target.key[0]].type;
  }
  const Json json = model::write_json(model, type, datum);
  if (plain->kind == TypeKind::Text || plain->kind == TypeKind::Enumeration) {
    const auto& text = json.text();
    return {text, text.empty()};
  }
  // Bytes may look like JSON's null, or like nothing.
  if (json.is_string() && plain->kind != TypeKind::Json) {
    const auto& text = json.text();
    if (!text.empty() && text != "null") return {text, false};
  }
  return {dumped_line(json), false};
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string file_stem(const model::Entity& entity) {
  std::string out;
  for (const char c : entity.name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool held = byte > 0x20 && byte != 0x7F && c != '/' && c != '\\' && c != '%' && !(c == '.' && out.empty());
    out += held ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return out;
}

}  // namespace

std::string data_header(const model::Entity& entity, DataFormat format) {
  if (format == DataFormat::JsonLines) return {};
  std::vector<CsvCell> cells;
  for (std::size_t i = 0; i < entity.fields.size(); ++i) cells.push_back({model::member_name(entity, i), false});
  return csv_record(cells);
}

std::string data_record(const model::Model& model, const model::Entity& entity, DataFormat format,
                        const Datum::List& fields) {
  if (format == DataFormat::JsonLines) return dumped_line(model::write_instance_json(model, entity, fields)) + "\n";
  std::vector<CsvCell> cells;
  for (std::size_t i = 0; i < fields.size(); ++i) cells.push_back(cell_of(model, entity.fields[i].type, fields[i]));
  return csv_record(cells);
}

std::string data_file_name(const model::Entity& entity, DataFormat format) {
  return file_stem(entity) + (format == DataFormat::Csv ? ".csv" : ".jsonl");
}

std::optional<model::EntityId> entity_of_file(const model::Model& model, const std::string& path) {
  const std::string stem = std::filesystem::path(path).stem().string();
  std::optional<model::EntityId> near;
  bool several = false;
  for (std::uint32_t i = 0; i < model.entities.size(); ++i) {
    const auto id = static_cast<model::EntityId>(i);
    const std::string own = file_stem(model.entities[i]);
    if (own == stem) return id;
    if (lower(own) != lower(stem)) continue;
    several = near.has_value();
    near = id;
  }
  return several ? std::nullopt : near;
}

std::optional<DataFormat> format_of_file(const std::string& path) {
  const std::string ending = lower(std::filesystem::path(path).extension().string());
  if (ending == ".jsonl" || ending == ".ndjson" || ending == ".json") return DataFormat::JsonLines;
  if (ending == ".csv" || ending == ".tsv") return DataFormat::Csv;
  return std::nullopt;
}

}  // namespace noam::cli
