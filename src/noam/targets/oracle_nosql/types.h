#pragma once

#include <span>
#include <string>
#include <string_view>

#include "noam/model/datum.h"
#include "noam/schemas/names.h"
#include "noam/targets/outline.h"

// Types and values of Oracle NoSQL Database's SQL.
namespace noam::targets::oracle_nosql {

// Letters, digits and underscores, a letter first; case is kept but does not tell names apart. Fields have at most 64
// characters, tables 256 (Java Direct Driver Developer's Guide, "Name Constraints").
extern const NameRules field_rules;
extern const NameRules table_rules;

// `LONG`, `ARRAY(RECORD(moves STRING, comments STRING))`.
std::string type_text(const model::Model& model, const model::Type& type);
// Of a column of a table, where a uuid is `STRING AS UUID`.
std::string column_type(const model::Model& model, const model::Type& type);

// Whether values of the type can stand in a primary key as they are, and sort there as noam sorts them.
bool sorts_in_key(const model::Model& model, const model::Type& type);

// An expression for the value: what INSERT casts to the type of its column. Absent is NULL.
std::string literal(const model::Model& model, const model::Type& type, const model::Datum& datum);
std::string text_literal(std::string_view text);

// What a column of a primary key holds for an optional text, since it can't be null: absent is U+0001; a text that is
// empty or begins with U+0001 has it twice before it. Keys are compared as modified UTF-8, where U+0001 is the smallest
// character (U+0000 is not).
std::string never_null(const std::string* text);

}  // namespace noam::targets::oracle_nosql
