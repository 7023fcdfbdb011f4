#pragma once

#include <string>
#include <string_view>

#include "noam/base/result.h"
#include "noam/cql/cell.h"
#include "noam/cql/values.h"
#include "noam/model/datum.h"
#include "noam/model/model.h"

// Data of a model as columns of Cassandra hold it, and back. The types of columns are those of schemas/cassandra.
namespace noam::stores::cassandra {

class ColumnValues {
 public:
  // The model must outlive it.
  explicit ColumnValues(const model::Model& model) : model_(model) {}

  // Adds the value of a column. `cql_type` is what the table has, which may be another type than the usual one of the
  // type. An error if the column cannot hold the value.
  Result<void> append(const model::Type& type, std::string_view cql_type, const model::Datum& datum,
                      cql::Values& out) const;
  Result<model::Datum> read(const model::Type& type, std::string_view cql_type, const cql::Cell& cell) const;

  [[nodiscard]] const model::Model& model() const { return model_; }

  // Whether values of the type come back from such a column as they were.
  [[nodiscard]] bool keeps(const model::Type& type, std::string_view cql_type) const;

 private:
  Result<void> append_usual(const model::Type& type, const model::Datum& datum, cql::Values& out) const;
  Result<void> append_fields(const std::vector<model::Type>& types, const model::Datum& datum, cql::Values& out) const;
  Result<void> append_elements(const model::Type& type, const model::Datum& datum, cql::Values& out) const;
  Result<model::Datum> read_usual(const model::Type& type, const cql::Cell& cell) const;
  Result<model::Datum> read_fields(const std::vector<model::Type>& types, const cql::Cell& cell) const;
  Result<model::Datum> read_elements(const model::Type& type, const cql::Cell& cell) const;
  Result<model::Datum> read_json_text(const model::Type& type, const cql::Cell& cell) const;
  [[nodiscard]] std::vector<model::Type> field_types(const model::Type& type) const;

  const model::Model& model_;
};

}  // namespace noam::stores::cassandra
