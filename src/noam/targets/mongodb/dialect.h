#pragma once

#include <string>
#include <vector>

#include "noam/targets/documents.h"
#include "noam/targets/mongodb/javascript.h"
#include "noam/targets/statements.h"

namespace noam::targets::mongodb {

// Requests as calls of the shell. What is given are variables that bear the names of the columns.
class ShellDialect : public Dialect {
 public:
  // The layout must outlive it.
  explicit ShellDialect(const documents::Layout& layout) : layout_(layout) {}

  [[nodiscard]] Native read(const Read& read) const override;
  [[nodiscard]] bool in_one_place(const FamilyOutline& a, const FamilyOutline& b) const override;
  [[nodiscard]] Native write(const Write& write) const override;
  [[nodiscard]] std::string together(const std::vector<Write>& writes) const override;

 private:
  const documents::Layout& layout_;
};

// All that a command writes to the bases of one document.
std::vector<Native> united(const documents::Layout& layout, const documents::Kind& kind,
                           const std::vector<Write>& writes);

// What `_id` is: the key itself, or a document of its parts.
Js id_of(const documents::Kind& kind, const std::vector<Js>& parts);
// The field of a document by which a part of its key is sorted and compared.
std::string sort_field(const documents::Part& part);

}  // namespace noam::targets::mongodb
