#include "tests/temporary_folder.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

#include <unistd.h>

namespace noam::tests {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  const fs::path in_memory = "/dev/shm";
  const fs::path above = ::access(in_memory.c_str(), W_OK) == 0 ? in_memory : fs::temp_directory_path();
  std::string name = (above / "noam-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("can't make a temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace noam::tests
