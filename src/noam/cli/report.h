#pragma once

#include <string>

#include "noam/base/json.h"
#include "noam/compile/compile.h"
#include "noam/language/diagnostics.h"
#include "noam/language/source.h"

// How commands tell what became of their work.
namespace noam::cli {

// One line for a person on standard error; the exit code of wrong use.
int complain(const std::string& message);

// To standard output, whole; the given code, or that of wrong use where it can't be written.
int deliver(const std::string& text, int code);

bool color_wanted(int descriptor);

// `2 errors, 1 lint`
std::string summary(const language::Diagnostics& diagnostics);

// A model that a command reads, and its text. None: what is wrong was said on standard error, and the exit code is
// `code`.
struct ReadModel {
  language::SourceFile source{"", ""};
  ModelPointer model;
  int code = 0;
};
ReadModel read_model(const std::string& path);

// For people and programs: indented, with a line break. File names may hold any bytes; JSON may not.
std::string dumped(const Json& value);

}  // namespace noam::cli
