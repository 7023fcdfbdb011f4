#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Comma-separated values, as RFC 4180 has them.
namespace noam::cli {

struct CsvCell {
  std::string text;
  bool quoted = false;  // `""` is an empty text, nothing between two commas is nothing

  bool operator==(const CsvCell&) const = default;
};

struct CsvRecord {
  std::size_t line = 0;  // where it begins, from 1
  std::vector<CsvCell> cells;
  std::string fault;  // not empty: it is none, and this is why

  bool operator==(const CsvRecord&) const = default;
};

// Cuts bytes into records, however they come. Lines end in LF or CR LF, the last one may end without; empty lines are
// skipped; a byte order mark at the beginning is, too. A record with broken quotes is bad, and reading goes on behind
// the line in which the quote was opened, so that a quote too many does not swallow what follows it.
class CsvReader {
 public:
  explicit CsvReader(char delimiter = ',', std::size_t longest = std::size_t{64} << 20U)
      : delimiter_(delimiter), longest_(longest) {}

  void feed(std::string_view bytes);
  void end() { ended_ = true; }  // nothing more comes

  // False: it needs more bytes, or after `end` that was all.
  bool next(CsvRecord& out);
  // What the last `next` went over, also where it was false: together, all the bytes there are. Good until `feed`.
  [[nodiscard]] std::string_view raw() const { return std::string_view(buffer_).substr(raw_, begin_ - raw_); }

  // Line breaks in what was gone over.
  [[nodiscard]] std::size_t lines() const { return lines_; }

  // Goes on behind what was read before, in a reader that has read nothing: how many line breaks that had.
  void go_on(std::size_t lines);

 private:
  enum class State : std::uint8_t { CellBegins, Plain, Quoted, QuoteInQuoted, Skipping };
  enum class Step : std::uint8_t { Further, RecordEnds, Broken, NeedsMore };

  bool skip_mark_and_blanks();
  Step step();
  // Of a byte that is no quote: a delimiter, a line break, or `otherwise`.
  Step end_of_cell(Step otherwise);
  void end_cell();
  void forget_cells();
  void advance(std::size_t to);
  bool give(CsvRecord& out);
  bool give_broken(CsvRecord& out, const std::string& what);

  char delimiter_;
  std::size_t longest_;
  std::string buffer_;
  std::size_t raw_ = 0;    // where what raw() shows begins
  std::size_t begin_ = 0;  // of the record that is read
  std::size_t at_ = 0;     // the next byte to look at
  std::size_t lines_ = 0;  // line breaks before `begin_`
  bool started_ = false;   // the byte order mark was looked for
  bool ended_ = false;
  bool dropping_ = false;  // the rest of a line that is too long to be kept
  State state_ = State::CellBegins;
  std::size_t quote_ = 0;  // where the quote was opened
  CsvCell cell_;
  std::vector<CsvCell> cells_;
  std::string fault_;
};

// One cell as CsvReader reads it: in quotes where it has to be, or is an empty text that is not nothing.
std::string csv_cell(const CsvCell& cell, char delimiter = ',');
// With its line break.
std::string csv_record(const std::vector<CsvCell>& cells, char delimiter = ',');

}  // namespace noam::cli
