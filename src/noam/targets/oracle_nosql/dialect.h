#pragma once

#include <string>
#include <vector>

#include "noam/targets/oracle_nosql/layout.h"
#include "noam/targets/statements.h"

// SQL for Oracle NoSQL Database, each statement with the declarations of its variables. The grammar is that of the SQL
// Reference Guide: "Variable Declaration", "SELECT Expression", "INSERT Statement", "UPDATE Statement", "DELETE
// Statement".
namespace noam::targets::oracle_nosql {

class OracleDialect : public Dialect {
 public:
  // The layout must outlive it.
  explicit OracleDialect(const Layout& layout) : layout_(layout) {}

  [[nodiscard]] Native read(const Read& read) const override;
  [[nodiscard]] bool in_one_place(const FamilyOutline& a, const FamilyOutline& b) const override;
  [[nodiscard]] Native write(const Write& write) const override;
  [[nodiscard]] std::string together(const std::vector<Write>& writes) const override;
  // One statement for all that is written to a row.
  [[nodiscard]] std::vector<Native> batches(const std::vector<Write>& writes) const override;

 private:
  [[nodiscard]] Native put(const Write& write) const;
  [[nodiscard]] Native write_row(const std::vector<Write>& writes) const;
  [[nodiscard]] Native erase(const Write& write) const;

  const Layout& layout_;
};

}  // namespace noam::targets::oracle_nosql
