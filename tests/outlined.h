#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "noam/design/program.h"
#include "noam/targets/outline.h"
#include "noam/targets/statements.h"
#include "noam/targets/target.h"
#include "tests/compiled.h"
#include "tests/support.h"

namespace noam::tests {

inline std::string example_text(const std::string& name) {
  return read_file(source_dir() / "examples" / name / (name + ".noam"));
}

inline design::Program example_program(const std::string& name, const std::string& strategy) {
  return program_of(example_text(name), strategy);
}

inline std::string file_of(const targets::Generated& generated, const std::string& path) {
  for (const targets::File& file : generated.files)
    if (file.path == path) return file.text;
  ADD_FAILURE() << "no " << path;
  return {};
}

inline void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n" << text;
}

// A model on a design, as targets see it, and how they lay it out.
template <class Layout>
class Outlined {
 public:
  Outlined(const std::string& text, const std::string& strategy)
      : program_(program_of(text, strategy)), outline_(targets::outline(program_)), layout_(outline_) {}
  Outlined(const Outlined&) = delete;
  Outlined& operator=(const Outlined&) = delete;

  [[nodiscard]] const design::Program& program() const { return program_; }
  [[nodiscard]] const targets::Outline& outline() const { return outline_; }
  [[nodiscard]] const Layout& layout() const { return layout_; }

  [[nodiscard]] const targets::FamilyOutline& family(const std::string& label) const {
    for (const auto& collection : outline_.collections)
      for (const auto& family : collection.families)
        if (family.label == label) return family;
    ADD_FAILURE() << "no family " << label;
    return outline_.collections[0].families[0];
  }

  [[nodiscard]] targets::Read read(const std::string& label) const {
    targets::Read out;
    out.family = &family(label);
    out.collection = &outline_.collection_of(out.family->index);
    return out;
  }

  [[nodiscard]] targets::Write write(const std::string& label, targets::WriteKind kind) const {
    targets::Write out;
    out.family = &family(label);
    out.collection = &outline_.collection_of(out.family->index);
    out.kind = kind;
    return out;
  }

 private:
  design::Program program_;
  targets::Outline outline_;
  Layout layout_;
};

}  // namespace noam::tests
