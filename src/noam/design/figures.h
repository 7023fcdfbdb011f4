#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "noam/design/notation.h"
#include "noam/design/program.h"
#include "noam/design/sample.h"

// What is drawn of a design, before anybody knows with what. What noam keeps for itself (Family::of_noam), and hidden
// columns, are left out. `own`: placed by noam so that it finds its way; it comes after what was asked for.
namespace noam::design {

struct FigureEntry {
  Notation key;  // an access path: ε, first_name, games[0]
  Notation value;
  bool own = false;
};

struct FigureBlock {
  Notation key;
  std::vector<FigureEntry> entries;
};

struct FigureCollection {
  std::string name;
  std::string remark;  // own: what it is for
  bool own = false;
  std::vector<FigureBlock> blocks;
  std::size_t more = 0;  // blocks that are not shown
};

// Collections with their blocks: those of the sample, or without one a block each that shows the form of it.
std::vector<FigureCollection> block_figure(const Program& program, const Sample* sample);

struct FigureColumn {
  std::string name;
  Notation type;
  std::string mark;  // K, C↑, C↓, S, ++, or two of them
};

// Columns that are there together, once for each entry key that they have.
struct FigureSection {
  std::string path;  // empty: no name
  std::vector<FigureColumn> columns;
  bool own = false;
};

struct FigureTable {
  std::string name;
  bool own = false;
  std::vector<std::string> queries;     // that read it
  std::string remark;                   // own: which copies are kept by it, or what it is
  std::vector<FigureSection> sections;  // the first begins with the block key
};

// Collections as tables, in the manner of Chebotko diagrams.
std::vector<FigureTable> table_figure(const Program& program);

}  // namespace noam::design
