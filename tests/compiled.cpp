#include "tests/compiled.h"

#include <stdexcept>
#include <utility>

#include "noam/language/source.h"
#include "tests/support.h"

namespace noam::tests {

ModelPointer model_of(const std::string& text, const std::string& name) {
  auto model = compile_model(language::SourceFile(name, text));
  if (!model) throw std::runtime_error(model.error().message);
  return std::move(*model);
}

ModelPointer model_of_file(const std::filesystem::path& path) {
  return model_of(read_file(source_dir() / path), path.string());
}

design::Program program_of(const ModelPointer& model, const std::string& strategy) {
  auto program = compile_program(model, strategy);
  if (!program) throw std::runtime_error(program.error().message);
  return std::move(*program);
}

design::Program program_of(const std::string& text, const std::string& strategy) {
  return program_of(model_of(text), strategy);
}

Result<std::unique_ptr<runtime::Session>> open_session(const ModelPointer& model, const std::string& strategy,
                                                       stores::Store& store, runtime::SessionOptions options) {
  NOAM_ASSIGN_OR_RETURN(design::Program program, compile_program(model, strategy));
  return runtime::Session::open(std::move(program), store, std::move(options));
}

}  // namespace noam::tests
