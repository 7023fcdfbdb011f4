#include "noam/cli/csv.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace noam::cli {

namespace {

// All records of a text that comes in pieces of this size, and whether all bytes were gone over.
std::vector<CsvRecord> read(std::string_view text, std::size_t piece = 1 << 16, char delimiter = ',',
                            std::size_t longest = 1 << 20) {
  CsvReader reader(delimiter, longest);
  std::vector<CsvRecord> out;
  std::string gone_over;
  const auto take_all = [&] {
    CsvRecord record;
    bool more = true;
    while (more) {
      more = reader.next(record);
      gone_over += reader.raw();
      if (more) out.push_back(record);
    }
  };
  for (std::size_t at = 0; at < text.size(); at += piece) {
    reader.feed(text.substr(at, piece));
    take_all();
  }
  reader.end();
  take_all();
  EXPECT_EQ(gone_over, text);
  return out;
}

// A record a line: `line: a|b`, quoted cells in brackets; or `line! fault`.
std::string shown(const std::vector<CsvRecord>& records) {
  std::string out;
  for (const CsvRecord& record : records) {
    out += std::to_string(record.line);
    out += record.fault.empty() ? ": " : "! " + record.fault;
    for (std::size_t i = 0; i < record.cells.size(); ++i) {
      const CsvCell& cell = record.cells[i];
      out += (i > 0 ? "|" : "") + (cell.quoted ? "[" + cell.text + "]" : cell.text);
    }
    out += "\n";
  }
  return out;
}

}  // namespace

TEST(CsvReader, ReadsCellsAndLines) {
  EXPECT_EQ(shown(read("a,b,c\n1,2,3\n")), "1: a|b|c\n2: 1|2|3\n");
  EXPECT_EQ(shown(read("a,b\r\n1,2\r\n")), "1: a|b\n2: 1|2\n");
  EXPECT_EQ(shown(read("a,b\n1,2")), "1: a|b\n2: 1|2\n");
  EXPECT_EQ(shown(read("a,b\n1,2\r")), "1: a|b\n2: 1|2\n");
  EXPECT_EQ(shown(read("a;b\n1,5;2\n", 100, ';')), "1: a|b\n2: 1,5|2\n");
  EXPECT_EQ(shown(read(",\n")), "1: |\n");
  EXPECT_EQ(shown(read("a,")), "1: a|\n");
  EXPECT_EQ(shown(read(" a , b \n")), "1:  a | b \n");
  EXPECT_EQ(shown(read("a\rb,c\n")), "1: a\rb|c\n");
  EXPECT_EQ(shown(read("")), "");
}

TEST(CsvReader, ReadsQuotes) {
  EXPECT_EQ(shown(read(R"("a","b,c","d""e")"
                       "\n")),
            "1: [a]|[b,c]|[d\"e]\n");
  EXPECT_EQ(shown(read("\"\",\n")), "1: []|\n");
  EXPECT_EQ(shown(read("1,\"two\nlines\"\r\n2,x\n")), "1: 1|[two\nlines]\n3: 2|x\n");
  EXPECT_EQ(shown(read("\"a\r\nb\"\n")), "1: [a\r\nb]\n");
  EXPECT_EQ(shown(read("\"a\"")), "1: [a]\n");
  EXPECT_EQ(shown(read("\"a\"\r")), "1: [a]\n");
}

TEST(CsvReader, SkipsEmptyLinesAndAMarkAtTheBeginning) {
  EXPECT_EQ(shown(read("\n\r\na,b\n\n\n1,2\n\r\n\n")), "3: a|b\n6: 1|2\n");
  EXPECT_EQ(shown(read("\xEF\xBB\xBF"
                       "a,b\n\xEF\xBB\xBF,2\n")),
            "1: a|b\n2: \xEF\xBB\xBF|2\n");
  EXPECT_EQ(shown(read("\xEF\xBB\xBF\"a\",b\n")), "1: [a]|b\n");
}

TEST(CsvReader, GoesOnBehindTheLineOfABrokenQuote) {
  EXPECT_EQ(shown(read("1,\"a\n2,b\n3,c\n")),
            "1! the quote that opens cell 2 in line 1 is never closed\n2: 2|b\n3: 3|c\n");
  EXPECT_EQ(shown(read("1,\"a\n2,b\n3,\"c\"\n4,d\n")),
            "1! the quote that opens cell 2 in line 1 is closed, but more text follows\n2: 2|b\n3: 3|[c]\n4: 4|d\n");
  EXPECT_EQ(shown(read("\"a\nb\",\"c\n2,x\n")), "1! the quote that opens cell 2 in line 2 is never closed\n3: 2|x\n");
  EXPECT_EQ(shown(read("1,\"a\"x\n2,b\n")),
            "1! the quote that opens cell 2 in line 1 is closed, but more text follows\n2: 2|b\n");
  EXPECT_EQ(shown(read("\"")), "1! the quote that opens cell 1 in line 1 is never closed\n");
}

TEST(CsvReader, GoesOnBehindALineWithAQuoteInsideACell) {
  EXPECT_EQ(shown(read("1,5\" disk,\"x\n2,b,c\n")),
            "1! cell 2 contains a quote but does not start with one\n2: 2|b|c\n");
}

TEST(CsvReader, DropsWhatIsTooLong) {
  const std::string many(100, 'x');
  EXPECT_EQ(shown(read("1," + many + "\n2,b\n", 7, ',', 50)), "1! the record is longer than 50 bytes\n2: 2|b\n");
  EXPECT_EQ(shown(read("1,\"" + many + "\n2,b\n", 7, ',', 50)),
            "1! the quote that opens cell 2 in line 1 is not closed within 50 bytes\n2: 2|b\n");
  EXPECT_EQ(
      shown(read("1,\"a\n2,b\n" + many + "\n3,c\n", 7, ',', 50)),
      "1! the quote that opens cell 2 in line 1 is not closed within 50 bytes\n2: 2|b\n3! the record is longer than 50 "
      "bytes\n4: 3|c\n");
}

TEST(CsvReader, GivesTheSameHoweverTheBytesCome) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto draw = [&](std::size_t below) { return random() % below; };
  constexpr std::string_view alphabet = "abbb,,\"\"\"\n\n\r\xEF\xBB\xBF";
  for (int round = 0; round < 5'000; ++round) {
    std::string text;
    for (std::size_t left = draw(60); left > 0; --left) text += alphabet[draw(alphabet.size())];
    const std::size_t longest = draw(2) == 0 ? 1'000 : 3 + draw(20);
    const auto whole = read(text, 1'000, ',', longest);
    for (const std::size_t piece : {1U, 2U, 3U, 7U})
      ASSERT_EQ(shown(read(text, piece, ',', longest)), shown(whole)) << text << "\nin pieces of " << piece;
  }
}

TEST(CsvReader, ReadsWhatWasWritten) {
  EXPECT_TRUE(rc::check([] {
    const char delimiter = *rc::gen::element(',', ';', '\t', '|');
    const auto cell = rc::gen::map(
        rc::gen::pair(rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab ,;\t|\"\r\n\xC3\xA4"))),
                      rc::gen::arbitrary<bool>()),
        [](const std::pair<std::string, bool>& made) {
          return CsvCell{made.first, made.second};
        });
    const auto width = *rc::gen::inRange<std::size_t>(2, 5);
    const auto rows =
        *rc::gen::container<std::vector<std::vector<CsvCell>>>(rc::gen::container<std::vector<CsvCell>>(width, cell));
    std::string text;
    for (const auto& row : rows) text += csv_record(row, delimiter);
    const auto records = read(text, 3, delimiter);
    RC_ASSERT(records.size() == rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      RC_ASSERT(records[i].fault.empty());
      RC_ASSERT(records[i].cells.size() == width);
      for (std::size_t j = 0; j < width; ++j) {
        RC_ASSERT(records[i].cells[j].text == rows[i][j].text);
        // Nothing stays nothing, and an empty text an empty text.
        if (rows[i][j].text.empty()) RC_ASSERT(records[i].cells[j].quoted == rows[i][j].quoted);
      }
    }
  }));
}

TEST(CsvReader, ReadsALongCellInTimeThatGrowsWithIt) {
  std::string cell;
  cell.resize(10'000'000, 'x');
  const auto records = read("1,\"" + cell + "\"\n2," + cell + "\n", 65536, ',', 64U << 20U);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].cells[1].text, cell);
  EXPECT_EQ(records[1].cells[1].text, cell);
}

TEST(CsvReader, GoesOnBehindWhatWasReadBefore) {
  CsvReader reader;
  reader.go_on(7);
  reader.feed("\n1,2\n");
  reader.end();
  CsvRecord record;
  ASSERT_TRUE(reader.next(record));
  EXPECT_EQ(shown({record}), "9: 1|2\n");
}

}  // namespace noam::cli
