#pragma once

#include <string>
#include <vector>

#include "noam/base/json.h"
#include "noam/targets/dynamodb/layout.h"
#include "noam/targets/statements.h"

// What reads and writes are as requests of DynamoDB's API. Values that are not known yet stand as texts that begin
// with `:`; the README that is generated tells what they mean.
namespace noam::targets::dynamodb {

struct Request {
  std::string operation;  // `GetItem`
  Json body;
  std::string note;

  bool operator==(const Request&) const = default;
};

Request read_request(const Layout& layout, const Read& read);

// To an entry of a copy.
Request copy_request(const Layout& layout, const Write& write);

// A command's writes to base families: one request an item, since an item can be named but once in a transaction.
// Where the head of an aggregate lies elsewhere, its version is raised, too.
std::vector<Request> base_requests(const Layout& layout, const std::vector<Write>& writes);

// All or none.
Request transaction(const std::vector<Request>& requests);

// The first line is the operation, the rest the request.
std::string print_request(const Request& request);

class RequestDialect : public Dialect {
 public:
  explicit RequestDialect(const Layout& layout) : layout_(layout) {}

  [[nodiscard]] Native read(const Read& read) const override;
  [[nodiscard]] bool in_one_place(const FamilyOutline& a, const FamilyOutline& b) const override;
  [[nodiscard]] Native write(const Write& write) const override;
  [[nodiscard]] std::string together(const std::vector<Write>& writes) const override;

 private:
  const Layout& layout_;
};

// Every statement, with a command's writes to bases put together.
std::vector<ListedStatement> all_requests(const Layout& layout);

}  // namespace noam::targets::dynamodb
