#pragma once

#include <string>
#include <string_view>

#include "noam/base/result.h"

// What the standard library can't say of files: descriptors, and why something failed.
namespace noam {

// `path: can't be read: No such file or directory`, from errno.
Error file_problem(const std::string& path, const char* what);

// The whole text, to a descriptor. False where it can't be; then errno tells why.
bool write_all(int descriptor, std::string_view text);

}  // namespace noam
