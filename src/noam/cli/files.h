#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "noam/base/result.h"
#include "noam/language/source.h"

namespace noam::cli {

// A file, or standard input where the path is `-`.
Result<language::SourceFile> read_input(const std::string& path);

// Replaces the file as one: whoever reads it sees the old text or the new one. Keeps its permissions.
Result<void> replace_file(const std::string& path, std::string_view text);

// Makes the file, or replaces it; as one, too. An error where something else has its name.
Result<void> write_file(const std::string& path, std::string_view text);

struct NamedText {
  std::string name;
  std::string text;
};

// A folder with these files, which is made where it is not there: all of them, or none. Files that are there already
// are replaced only where `replace` says so; others stay.
Result<void> write_folder(const std::string& folder, const std::vector<NamedText>& files, bool replace);

// To standard output, whole; the error says why not (a full disk, a closed pipe).
Result<void> write_output(std::string_view text);

}  // namespace noam::cli
