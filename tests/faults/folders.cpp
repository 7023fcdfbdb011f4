#include "tests/faults/folders.h"

#include <algorithm>

#include "tests/support.h"

namespace noam::tests::faults {

namespace fs = std::filesystem;

std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> out;
  if (!fs::exists(folder)) return out;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).string();
    if (entry.is_directory())
      out[name + "/"] = "";
    else
      out[name] = read_file(entry.path());
  }
  return out;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> out;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.find(".new-") == std::string::npos) out.push_back(name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace noam::tests::faults
