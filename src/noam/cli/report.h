#pragma once

#include <string>

#include "noam/base/json.h"
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

// What is wrong with a model, on standard error; the exit code of a wrong model.
int complain_of_model(const language::Diagnostics& diagnostics, const language::SourceFile& source);

// For people and programs: indented, with a line break. File names may hold any bytes; JSON may not.
std::string dumped(const Json& value);

}  // namespace noam::cli
