#pragma once

#include <filesystem>
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

// Creates what is missing of a folder, its parents included. The folders that it created are removed with it, unless
// they are kept or hold something by then.
class NewFolders {
 public:
  NewFolders() = default;
  ~NewFolders();
  NewFolders(const NewFolders&) = delete;
  NewFolders& operator=(const NewFolders&) = delete;

  Result<void> create(const std::filesystem::path& folder);
  void keep() { created_.clear(); }

 private:
  std::vector<std::filesystem::path> created_;  // parents first
};

// The folder that holds a file or folder of this name; empty: the current one.
std::filesystem::path folder_around(const std::filesystem::path& path);

// A folder with these files, created if missing: all of them, or none. Existing files are replaced only if `replace`
// is set; others stay.
Result<void> write_folder(const std::string& folder, const std::vector<NamedText>& files, bool replace);

// To standard output, whole; the error says why not (a full disk, a closed pipe).
Result<void> write_output(std::string_view text);

}  // namespace noam::cli
