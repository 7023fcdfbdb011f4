#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace noam::language {

enum class Severity : std::uint8_t { Error, Warning, Lint };

// One code a kind of mistake. Each has a row in the table of codes.cpp and a golden file that shows it.
enum class DiagnosticCode : std::uint8_t {
  // text
  InvalidUtf8,
  ControlCharacter,
  UnexpectedCharacter,
  UnclosedText,
  InvalidEscape,
  UnclosedName,
  InvalidNumber,
  // syntax
  Syntax,
  ForeignSyntax,
  NotInLanguage,
  Unclosed,
  NestedTooDeep,
  MissingModel,
  UnknownDeclaration,
  ClauseOrder,
  DuplicateClause,
  // names
  DuplicateEntity,
  DuplicateField,
  DuplicateInverse,
  DuplicateStatement,
  DuplicateMix,
  DuplicateDesign,
  DuplicateCollection,
  DuplicateVariable,
  DuplicateParameter,
  DuplicateColumn,
  DuplicateModel,
  UnknownType,
  UnknownEntity,
  UnknownField,
  UnknownName,
  UnknownParameter,
  UnusedParameter,
  UnknownStatement,
  UnknownMix,
  UnknownFunction,
  UnknownSource,
  UnknownStrategy,
  UnknownTarget,
  // data
  KeyType,
  SeveralKeys,
  AutoKey,
  KeyCycle,
  ValueCycle,
  OptionalCollection,
  ElementType,
  LengthType,
  Enumeration,
  InverseType,
  SymmetricType,
  OwnerType,
  OwnerOptional,
  Ttl,
  TransientEntity,
  DefaultValue,
  EntityRequire,
  StatisticValue,
  // expressions
  TypeMismatch,
  NotComparable,
  NotOrdered,
  NotPredicate,
  NumberRange,
  InvalidLiteral,
  EnumerationText,
  AbsentMisuse,
  DurationMisuse,
  WordsMisuse,
  ParameterConflict,
  ParameterType,
  WrongArguments,
  FunctionMisplaced,
  EntityMisuse,
  PathStep,
  IndexMisuse,
  // queries
  FoldMisplaced,
  FoldMix,
  NotGrouped,
  CountToOne,
  DistinctType,
  OrderOfDistinct,
  ColumnName,
  LimitValue,
  MissingVariable,
  NestedSelect,
  RefreshParameter,
  RefreshCycle,
  RefreshPeriod,
  NotRefreshed,
  WithoutMisuse,
  TransientQuery,
  // commands
  MissingField,
  KeyUpdate,
  OverlappingTargets,
  ChangeTarget,
  CollectionKind,
  ThenMisuse,
  BulkAlone,
  BulkPredicate,
  TransientChange,
  LoopSource,
  // mixes
  DuplicateEntry,
  MixCycle,
  MixValue,
  // designs
  KeysDoNotDetermine,
  PlacedTwice,
  BaseKey,
  BaseKeyUpdated,
  FoldInEntry,
  FoldNotKept,
  FamilyPath,
  FamilyElements,
  FamilyClause,
  DuplicateFamily,
  DesignExpression,
  DesignColumn,
  // advice
  LimitWithoutOrder,
  NeverAbsent,
  BaseInSeveralBlocks,
  UnusedValue,
  UnknownAllow,
};

struct CodeInfo {
  DiagnosticCode code;
  std::string_view name;  // what stands in brackets: `duplicate-entity`
  Severity severity;
  std::string_view summary;      // a line
  std::string_view explanation;  // a paragraph: why it is so, what to do
  std::string_view wrong;        // a model that shows it
  std::string_view right;        // the same, mended
};

// `error`, `warning`, `lint`
std::string_view severity_name(Severity severity);

// All codes, in the order of the enumeration.
std::span<const CodeInfo> all_codes();
const CodeInfo& info(DiagnosticCode code);
std::optional<DiagnosticCode> find_code(std::string_view name);

}  // namespace noam::language
