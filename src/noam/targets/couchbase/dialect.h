#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "noam/targets/documents.h"
#include "noam/targets/statements.h"

namespace noam::targets::couchbase {

// A name between backticks: whatever words SQL++ reserves.
std::string escaped(std::string_view name);

// Where collections lie: `bucket`.`scope`, each escaped.
struct Keyspace {
  std::string bucket;
  std::string scope;

  [[nodiscard]] std::string path(std::string_view collection) const;
};

// Requests as SQL++, with named parameters; what the key-value service does in one call as well is told beside it, as
// the SDK for Node.js writes it.
class SqlDialect : public Dialect {
 public:
  // Both must outlive it.
  SqlDialect(const documents::Layout& layout, const Keyspace& keyspace) : layout_(layout), keyspace_(keyspace) {}

  [[nodiscard]] Native read(const Read& read) const override;
  [[nodiscard]] bool in_one_place(const FamilyOutline& a, const FamilyOutline& b) const override;
  [[nodiscard]] Native write(const Write& write) const override;
  [[nodiscard]] std::string together(const std::vector<Write>& writes) const override;

  // All that a command writes to the bases of one document.
  [[nodiscard]] std::vector<Native> united(const documents::Kind& kind, const std::vector<Write>& writes) const;

 private:
  const documents::Layout& layout_;
  const Keyspace& keyspace_;
};

// The field by which a part of a key is sorted and compared.
const std::string& sort_field(const documents::Part& part);

}  // namespace noam::targets::couchbase
