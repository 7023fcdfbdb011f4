#include "noam/cli/csv.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace noam::cli {

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

std::size_t line_breaks(std::string_view bytes) {
  return static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), '\n'));
}

}  // namespace

void CsvReader::feed(std::string_view bytes) {
  buffer_.erase(0, begin_);
  at_ -= begin_;
  quote_ -= std::min(quote_, begin_);
  raw_ = 0;
  begin_ = 0;
  buffer_ += bytes;
}

void CsvReader::go_on(std::size_t lines) {
  lines_ = lines;
  started_ = true;
}

// Everything before it is done with.
void CsvReader::advance(std::size_t to) {
  lines_ += line_breaks(std::string_view(buffer_).substr(begin_, to - begin_));
  begin_ = to;
  at_ = to;
}

void CsvReader::forget_cells() {
  state_ = State::CellBegins;
  cell_ = {};
  cells_.clear();
  fault_.clear();
}

void CsvReader::end_cell() {
  cells_.push_back(std::move(cell_));
  cell_ = {};
  state_ = State::CellBegins;
}

// False: more bytes have to come before a record can begin.
bool CsvReader::skip_mark_and_blanks() {
  const auto rest = [&] { return std::string_view(buffer_).substr(begin_); };
  if (!started_) {
    if (rest().size() < byte_order_mark.size() && !ended_) return false;
    if (rest().substr(0, byte_order_mark.size()) == byte_order_mark) advance(begin_ + byte_order_mark.size());
    started_ = true;
  }
  if (dropping_) {
    const std::size_t end = buffer_.find('\n', begin_);
    dropping_ = end == std::string::npos;
    advance(dropping_ ? buffer_.size() : end + 1);
    if (dropping_) return false;
  }
  while (!rest().empty()) {
    if (rest()[0] == '\n')
      advance(begin_ + 1);
    else if (rest().substr(0, 2) == "\r\n")
      advance(begin_ + 2);
    else if (rest() == "\r" && !ended_)
      return false;
    else if (rest() == "\r")
      advance(begin_ + 1);
    else
      return true;
  }
  return false;
}

CsvReader::Step CsvReader::end_of_cell(Step otherwise) {
  const char byte = buffer_[at_];
  if (byte == delimiter_) {
    end_cell();
    ++at_;
    return Step::Further;
  }
  if (byte == '\r') {
    const bool last = at_ + 1 == buffer_.size();
    if (last && !ended_) return Step::NeedsMore;
    if (!last && buffer_[at_ + 1] != '\n') return otherwise;
    at_ += last ? 1 : 2;
    return Step::RecordEnds;
  }
  if (byte != '\n') return otherwise;
  ++at_;
  return Step::RecordEnds;
}

CsvReader::Step CsvReader::step() {
  const char byte = buffer_[at_];
  // One byte beyond what a record may have, and no further, however much is there.
  const std::size_t bound = std::min(buffer_.size(), begin_ + longest_ + 1);
  switch (state_) {
    case State::CellBegins:
      if (byte == '"') {
        quote_ = at_++;
        cell_.quoted = true;
        state_ = State::Quoted;
        return Step::Further;
      }
      state_ = State::Plain;
      return Step::Further;
    case State::Plain: {
      std::size_t end = at_;
      const auto is_plain = [&](char c) { return c != delimiter_ && c != '\n' && c != '\r' && c != '"'; };
      while (end < bound && is_plain(buffer_[end])) ++end;
      cell_.text.append(buffer_, at_, end - at_);
      at_ = end;
      if (at_ == bound) return Step::Further;
      if (buffer_[at_] == '"') {
        fault_ = fmt::format("cell {} contains a quote but does not start with one", cells_.size() + 1);
        state_ = State::Skipping;
        return Step::Further;
      }
      const Step step = end_of_cell(Step::Broken);
      if (step != Step::Broken) return step;
      cell_.text += buffer_[at_++];  // a CR that is alone
      return Step::Further;
    }
    case State::Quoted: {
      const std::size_t end = std::min(buffer_.find('"', at_), bound);
      cell_.text.append(buffer_, at_, end - at_);
      at_ = end;
      if (at_ == bound) return Step::Further;
      ++at_;
      state_ = State::QuoteInQuoted;
      return Step::Further;
    }
    case State::QuoteInQuoted:
      if (byte == '"') {
        cell_.text += '"';
        ++at_;
        state_ = State::Quoted;
        return Step::Further;
      }
      return end_of_cell(Step::Broken);
    case State::Skipping:
      break;
  }
  const std::size_t end = std::min(buffer_.find('\n', at_), bound);
  at_ = std::min(end + 1, bound);
  return end < bound ? Step::RecordEnds : Step::Further;
}

bool CsvReader::give(CsvRecord& out) {
  out.line = lines_ + 1;
  if (fault_.empty()) end_cell();
  out.cells = std::move(cells_);
  out.fault = std::move(fault_);
  if (!out.fault.empty()) out.cells.clear();
  forget_cells();
  advance(at_);
  return true;
}

bool CsvReader::give_broken(CsvRecord& out, const std::string& what) {
  const std::size_t line = lines_ + 1 + line_breaks(std::string_view(buffer_).substr(begin_, quote_ - begin_));
  fault_ = fmt::format("the quote that opens cell {} in line {} {}", cells_.size() + 1, line, what);
  const std::size_t end = buffer_.find('\n', quote_);
  dropping_ = end == std::string::npos && !ended_;
  at_ = end == std::string::npos ? buffer_.size() : end + 1;
  return give(out);
}

bool CsvReader::next(CsvRecord& out) {
  raw_ = begin_;
  if (at_ == begin_ && !skip_mark_and_blanks()) return false;
  while (at_ < buffer_.size()) {
    switch (step()) {
      case Step::Further:
        break;
      case Step::RecordEnds:
        return give(out);
      case Step::Broken:
        return give_broken(out, "is closed, but more text follows");
      case Step::NeedsMore:
        return false;
    }
    if (at_ - begin_ <= longest_) continue;
    if (state_ == State::Quoted || state_ == State::QuoteInQuoted)
      return give_broken(out, fmt::format("is not closed within {} bytes", longest_));
    if (fault_.empty()) fault_ = fmt::format("the record is longer than {} bytes", longest_);
    dropping_ = true;
    return give(out);
  }
  if (!ended_ || begin_ == buffer_.size()) return false;
  if (state_ == State::Quoted) return give_broken(out, "is never closed");
  return give(out);
}

std::string csv_cell(const CsvCell& cell, char delimiter) {
  const std::string_view text = cell.text;
  const bool plain = !cell.quoted && text.find(delimiter) == std::string_view::npos &&
                     text.find_first_of("\"\r\n") == std::string_view::npos &&
                     (text.empty() || (text.front() != ' ' && text.back() != ' '));
  if (plain) return cell.text;
  std::string out = "\"";
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  return out + '"';
}

std::string csv_record(const std::vector<CsvCell>& cells, char delimiter) {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) out += delimiter;
    out += csv_cell(cells[i], delimiter);
  }
  return out + '\n';
}

}  // namespace noam::cli
