#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "noam/targets/hbase/layout.h"
#include "noam/targets/statements.h"

// What reads and writes are as commands of `hbase shell`, which is Ruby. Values that are not known yet are global
// variables. The shell has no conditional writes and none of several cells: helpers() has.
namespace noam::targets::hbase {

// The file `noam.rb`: methods that statements call, the same for all models.
std::string_view helpers();

class ShellDialect : public Dialect {
 public:
  explicit ShellDialect(const Layout& layout) : layout_(layout) {}

  [[nodiscard]] Native read(const Read& read) const override;
  [[nodiscard]] bool in_one_place(const FamilyOutline& a, const FamilyOutline& b) const override;
  [[nodiscard]] Native write(const Write& write) const override;
  [[nodiscard]] std::string together(const std::vector<Write>& writes) const override;

 private:
  const Layout& layout_;
};

// A command's writes to base families: one request a row, and what lies in other rows than the head of its aggregate
// after that.
std::vector<Native> base_requests(const Layout& layout, const std::vector<Write>& writes);

// Every statement, with a command's writes to bases put together.
std::vector<ListedStatement> all_commands(const Layout& layout);

}  // namespace noam::targets::hbase
