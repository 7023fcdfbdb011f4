#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "noam/base/result.h"
#include "noam/model/instance_json.h"
#include "noam/model/model.h"

// Files of instances (docs/commands/load.md), one entity each: as JSON lines, or as comma-separated values.
namespace noam::cli {

enum class DataFormat : std::uint8_t { JsonLines, Csv };

// Where instances are read from.
struct DataSource {
  std::string path;  // `-`: standard input
  model::EntityId entity{};
  DataFormat format = DataFormat::JsonLines;
  char delimiter = ',';

  [[nodiscard]] std::string name() const { return path == "-" ? "<stdin>" : path; }
};

// How far a source was read: what lies before, and its XXH3 of 128 bits, so that it is known again.
struct DataPosition {
  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;  // line breaks
  std::array<unsigned char, 16> hash{};

  bool operator==(const DataPosition&) const = default;
};

struct DataRecord {
  std::size_t line = 0;             // where it begins, from 1
  model::FieldsOrRefusal instance;  // `format`: it is not even a record
};

// Reads a source record by record; what it holds does not grow with the source.
class DataReader {
 public:
  // Asked where a signal came while it waited: true ends the reading with an error of the code `interrupted`.
  using Interrupted = std::function<bool()>;

  // Opens it, and checks what is asked of the whole of it: that it can be read, that it is no UTF-16 or UTF-32, and of
  // comma-separated values their header.
  static Result<DataReader> open(const model::Model& model, const DataSource& source, Interrupted interrupted = {});

  // The next record; nothing: that was all.
  Result<std::optional<DataRecord>> next();
  // Behind the last one; at the end behind everything.
  [[nodiscard]] DataPosition position() const;

  // Goes on behind this position, where what lies before it is what it was; else false.
  Result<bool> go_on(const DataPosition& from);

  // A regular file: it can be read again, and has a size.
  [[nodiscard]] bool is_file() const;
  [[nodiscard]] std::uint64_t size() const;

  DataReader(DataReader&&) noexcept;
  DataReader& operator=(DataReader&&) noexcept;
  ~DataReader();

 private:
  struct State;
  explicit DataReader(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

// How instances are written so that DataReader reads them as they were: the text before the first one, and one each,
// with their line breaks.
std::string data_header(const model::Entity& entity, DataFormat format);
std::string data_record(const model::Model& model, const model::Entity& entity, DataFormat format,
                        const model::Datum::List& fields);

// `Order.jsonl`: the file of an entity; what no file name can hold is written as %2F.
std::string data_file_name(const model::Entity& entity, DataFormat format);
// The entity that a file is named after: as it is written in the model, else whatever the case where one alone fits.
std::optional<model::EntityId> entity_of_file(const model::Model& model, const std::string& path);
// By the ending of a file.
std::optional<DataFormat> format_of_file(const std::string& path);

}  // namespace noam::cli
