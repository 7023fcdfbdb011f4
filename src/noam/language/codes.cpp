#include "noam/language/codes.h"

#include <array>

namespace noam::language {

namespace {

using enum DiagnosticCode;
using enum Severity;

// Brackets as nobody writes them.
constexpr auto deep_model = [] {
  constexpr std::string_view front =
      "model shop\nentity Product { sku: text key   stock: int }\n"
      "query in_stock { select p.sku from Product p where ";
  constexpr std::string_view middle = "p.stock > 0";
  constexpr std::string_view back = " }\n";
  constexpr std::size_t depth = 256;
  std::array<char, front.size() + depth + middle.size() + depth + back.size()> text{};
  std::size_t at = 0;
  for (const char c : front) text[at++] = c;
  for (std::size_t i = 0; i < depth; ++i) text[at++] = '(';
  for (const char c : middle) text[at++] = c;
  for (std::size_t i = 0; i < depth; ++i) text[at++] = ')';
  for (const char c : back) text[at++] = c;
  return text;
}();
constexpr std::string_view deep(deep_model.data(), deep_model.size());

// code, name, severity, summary, explanation, wrong, right
constexpr std::array table = {
    // text
    CodeInfo{InvalidUtf8, "invalid-utf8", Error, "the file is not valid UTF-8",
             "A model is UTF-8 text, comments and texts included. The bytes at this place are not: usually the file "
             "was saved in Latin-1 or a Windows encoding, or it is no text at all. noam keeps and compares texts byte "
             "by byte, so it does not guess what was meant. Save the file as UTF-8.",
             "model shop\nentity Product { sku: text key }  // caf\xe9\n",
             R"(model shop
entity Product { sku: text key }  // café
)"},
    CodeInfo{ControlCharacter, "control-character", Error, "a NUL or another control character in the text",
             "Besides line ends and tabs a model holds no control characters: one cannot see them, and U+0000 cannot "
             "be stored as text in several of the databases. In a text write `\\n`, `\\t` or an escape such as "
             "`\\u{1B}`; elsewhere delete the character, which often came with a paste.",
             "model shop\nentity Product { sku:\x01 text key }\n",
             R"(model shop
entity Product { sku: text key }
)"},
    CodeInfo{UnexpectedCharacter, "unexpected-character", Error, "a character that means nothing here",
             "This character begins nothing in the language: no name, number, text, operator or bracket. Names begin "
             "with a letter of any script and go on with letters, digits and underscores; any other name stands in "
             "backquotes. Often such a character came with a paste, as curly quotes and unusual spaces do. Delete it, "
             "write the plain one, or quote the name.",
             R"(model shop
entity Product { sku: text key   unit: text = “piece” }
)",
             R"(model shop
entity Product { sku: text key   unit: text = "piece" }
)"},
    CodeInfo{UnclosedText, "unclosed-text", Error, "a text without its closing quote",
             "A text begins and ends with a double quote on the same line. The end of the line came first, so "
             "everything after the opening quote would be read as text. Close the quote; write a line break inside a "
             "text as `\\n` and a quote as `\\\"`.",
             R"(model shop
entity Product {
  sku: text key
  unit: text = "piece
}
)",
             R"(model shop
entity Product {
  sku: text key
  unit: text = "piece"
}
)"},
    CodeInfo{InvalidEscape, "invalid-escape", Error, "an escape that is none",
             "In a text a backslash begins one of five escapes: `\\\"`, `\\\\`, `\\n`, `\\t` and `\\u{…}` with the "
             "hexadecimal number of a Unicode character other than zero. Anything else is refused, so that no "
             "backslash is dropped silently. Write a plain backslash as `\\\\`.",
             R"(model shop
entity Product { sku: text key   folder: text = "new\arrivals" }
)",
             R"(model shop
entity Product { sku: text key   folder: text = "new\\arrivals" }
)"},
    CodeInfo{UnclosedName, "unclosed-name", Error, "a quoted name without its closing backquote",
             "A name in backquotes ends with a backquote on the same line. Backquotes are for names that would be "
             "read as something else, or that hold spaces or other characters. Add the closing backquote.",
             R"(model shop
entity Product { sku: text key   `from: text }
)",
             R"(model shop
entity Product { sku: text key   `from`: text }
)"},
    CodeInfo{InvalidNumber, "invalid-number", Error, "a number that is written wrongly",
             "A number is written with decimal digits, underscores between them where they help the eye, and at most "
             "one point with digits on both sides: `1_000`, `0.9`. There are no hexadecimal numbers, exponents or "
             "suffixes. Write the number out.",
             R"(model shop
entity Product ~20k { sku: text key }
)",
             R"(model shop
entity Product ~20_000 { sku: text key }
)"},
    // syntax
    CodeInfo{Syntax, "syntax", Error, "something else was expected here",
             "The text is not what the grammar allows at this place; the message says what was expected and what was "
             "found. Often a colon, a comma or a word is missing just before. The parser goes on at the next place it "
             "can trust, so one mistake does not hide the others.",
             R"(model shop
entity Product { sku: text key   price: }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
)"},
    CodeInfo{ForeignSyntax, "foreign-syntax", Error, "a form of another language",
             "This is how another language writes it; noam has another form for the same thing, and the hint says "
             "which. Equality is `=`, texts stand in double quotes, comments begin with `//`, a missing value is "
             "`absent`. Only one form is accepted, so that two models that mean the same also read the same.",
             R"(model shop
entity Product { sku: text key   price: decimal }
query product($sku) { select p.price from Product p where p.sku == $sku }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
query product($sku) { select p.price from Product p where p.sku = $sku }
)"},
    CodeInfo{NotInLanguage, "not-in-language", Error, "something noam does not have, and what to write instead",
             "noam leaves some things out on purpose: outer joins, `having`, `union`, recursion, uniqueness beside "
             "the key, functions of one's own. Each would ask something of a NoSQL database that it cannot keep, or "
             "has a plainer form here; the hint says what to write. In place of an outer join, for one, write a "
             "nested select: it gives a list for every row, which may be empty.",
             R"(model shop
entity Customer { id: uuid key auto   email: text }
entity Order { id: uuid key auto   customer: Customer inverse orders }
query orders { select c.email, o.id from Customer c left join Order o on o.customer = c.id }
)",
             R"(model shop
entity Customer { id: uuid key auto   email: text }
entity Order { id: uuid key auto   customer: Customer inverse orders }
query orders { select c.email, (select o.id from c.orders o) as orders from Customer c }
)"},
    CodeInfo{Unclosed, "unclosed", Error, "a bracket that is never closed",
             "A `{`, `(`, `[` or `<` was opened and never closed. The label shows where it was opened; the mistake "
             "may lie anywhere after it. Add the closing bracket where the part should end.",
             R"(model shop
entity Product { sku: text key
)",
             R"(model shop
entity Product { sku: text key }
)"},
    CodeInfo{NestedTooDeep, "nested-too-deep", Error, "brackets or operators nested too deeply",
             "Brackets, operators and nested selects may stand inside each other only so deep; no model that a person "
             "writes comes near. The bound keeps a damaged or machine-made file from exhausting the memory of the "
             "program that reads it. Split the expression, or drop brackets that are not needed.",
             deep,
             R"(model shop
entity Product { sku: text key   stock: int }
query in_stock { select p.sku from Product p where p.stock > 0 }
)"},
    CodeInfo{MissingModel, "missing-model", Error, "the file does not begin with `model name`",
             "A file begins with `model` and the name of the model; only comments may stand before it. The name is "
             "what designs, stores and messages call the model. Add the line at the top.",
             R"(entity Product { sku: text key }
)",
             R"(model shop
entity Product { sku: text key }
)"},
    CodeInfo{UnknownDeclaration, "unknown-declaration", Error, "a declaration that does not exist",
             "A model is made of `value`, `entity`, `query`, `command`, `group`, `mix` and `design`. The word at this "
             "place is none of them: a misspelling, a word of another language, or a bracket closed too early, which "
             "leaves the rest of a declaration outside it.",
             R"(model shop
entty Product { sku: text key }
)",
             R"(model shop
entity Product { sku: text key }
)"},
    CodeInfo{ClauseOrder, "clause-order", Error, "clauses in the wrong order",
             "The clauses of a select stand in one order: `select`, `from`, `where`, `group by`, `order by`, `limit`. "
             "It is the order in which they work: rows are bound, kept, grouped, sorted, cut. Move the clause to its "
             "place.",
             R"(model shop
entity Product { sku: text key   price: decimal   stock: int }
query in_stock { select p.sku from Product p order by p.price where p.stock > 0 }
)",
             R"(model shop
entity Product { sku: text key   price: decimal   stock: int }
query in_stock { select p.sku from Product p where p.stock > 0 order by p.price }
)"},
    CodeInfo{DuplicateClause, "duplicate-clause", Error, "a clause or modifier written twice",
             "A clause or a modifier stands twice where once is meant. noam does not guess whether the second "
             "replaces the first or adds to it. Write it once: two conditions are joined by `and`, several order "
             "terms by commas.",
             R"(model shop
entity Product { sku: text key   price: decimal   stock: int }
query bargains { select p.sku from Product p where p.stock > 0 where p.price < 10 }
)",
             R"(model shop
entity Product { sku: text key   price: decimal   stock: int }
query bargains { select p.sku from Product p where p.stock > 0 and p.price < 10 }
)"},
    // names
    CodeInfo{DuplicateEntity, "duplicate-entity", Error, "an entity or value declared twice",
             "Entities and values share one set of names, because both name types. A name stands for one of them. "
             "Rename one, or put the fields together.",
             R"(model shop
entity Product { sku: text key }
entity Product { id: uuid key auto   title: text }
)",
             R"(model shop
entity Product { sku: text key   title: text }
)"},
    CodeInfo{DuplicateField, "duplicate-field", Error, "a field declared twice",
             "Each field of an entity or value has a name of its own, since `p.price` must mean one thing. Rename one "
             "of the two, or delete it.",
             R"(model shop
entity Product { sku: text key   price: decimal   price: float }
)",
             R"(model shop
entity Product { sku: text key   price: decimal   weight: float }
)"},
    CodeInfo{DuplicateInverse, "duplicate-inverse", Error,
             "two things of one name in an entity, one of them an inverse",
             "`inverse` gives the entity that is referred to a name to walk back by, and that name lives among its "
             "fields: `c.orders` must mean one thing. Here it meets a field, or the inverse of another role. Give one "
             "of them another name.",
             R"(model shop
entity Customer { id: uuid key auto   email: text }
entity Order { id: uuid key auto   customer: Customer inverse orders   payer: Customer inverse orders }
)",
             R"(model shop
entity Customer { id: uuid key auto   email: text }
entity Order { id: uuid key auto   customer: Customer inverse orders   payer: Customer inverse paid_orders }
)"},
    CodeInfo{DuplicateStatement, "duplicate-statement", Error, "two queries, commands or groups of one name",
             "Queries, commands and groups share one set of names: a mix and a program that calls them give only the "
             "name. Rename one of them.",
             R"(model shop
entity Product { sku: text key   price: decimal }
query product($sku) { select p from Product p where p.sku = $sku }
command product($sku, $price) { insert Product { sku: $sku, price: $price } }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
query product($sku) { select p from Product p where p.sku = $sku }
command add_product($sku, $price) { insert Product { sku: $sku, price: $price } }
)"},
    CodeInfo{DuplicateMix, "duplicate-mix", Error, "two mixes of one name",
             "A mix is chosen by its name, so the name belongs to one mix. Rename one; if the second only changes a "
             "few weights of the first, write `mix second like first { … }`.",
             R"(model shop
entity Product { sku: text key }
query product($sku) { select p from Product p where p.sku = $sku }
command add($sku) { insert Product { sku: $sku } }
mix day { product 100  add 1 }
mix day { product 10  add 10 }
)",
             R"(model shop
entity Product { sku: text key }
query product($sku) { select p from Product p where p.sku = $sku }
command add($sku) { insert Product { sku: $sku } }
mix day { product 100  add 1 }
mix stocktaking { product 10  add 10 }
)"},
    CodeInfo{DuplicateDesign, "duplicate-design", Error, "two designs of one name",
             "A design is chosen by its name, so the name belongs to one design. Rename one of them, or put their "
             "collections together.",
             R"(model shop
entity Product { sku: text key   price: decimal }
design plain { rest eao }
design plain { rest etf }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
design plain { rest eao }
design by_field { rest etf }
)"},
    CodeInfo{DuplicateCollection, "duplicate-collection", Error, "two collections of one name in a design",
             "Within a design a collection's name becomes the name of a table or collection in the database, so no "
             "two share it. Rename one, or put its families into the other: families with the same block key can lie "
             "in one collection.",
             R"(model shop
entity Product { sku: text key   price: decimal }
design both {
  collection products of Product p by sku { entry ε: price }
  collection products of Product p by p.price { copy [p.sku] }
}
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
design both {
  collection products of Product p by sku { entry ε: price }
  collection products_by_price of Product p by p.price { copy [p.sku] }
}
)"},
    CodeInfo{DuplicateVariable, "duplicate-variable", Error, "a variable bound twice",
             "A variable stands for one thing as far as it reaches; a nested select sees the variables around it, so "
             "it may not bind them anew. Use another name.",
             R"(model shop
entity Customer { id: uuid key auto   email: text }
entity Order { id: uuid key auto   customer: Customer inverse orders }
query order_ids($id) { select x.id from Customer x, x.orders x where x.id = $id }
)",
             R"(model shop
entity Customer { id: uuid key auto   email: text }
entity Order { id: uuid key auto   customer: Customer inverse orders }
query order_ids($id) { select o.id from Customer x, x.orders o where x.id = $id }
)"},
    CodeInfo{DuplicateParameter, "duplicate-parameter", Error, "a parameter declared twice",
             "A parameter is named once in the parentheses and may be used as often as needed in the body. Delete the "
             "second, or rename it if another value was meant.",
             R"(model shop
entity Product { sku: text key   price: decimal }
query between($price, $price) { select p.sku from Product p where p.price between $price and $price }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
query between($low, $high) { select p.sku from Product p where p.price between $low and $high }
)"},
    CodeInfo{DuplicateColumn, "duplicate-column", Error, "two columns of one name",
             "The rows of an answer are objects with named columns, so two columns of one name cannot be told apart. "
             "A column without `as` takes the last name of its path: `p.name` and `c.name` are both called `name`. "
             "Name one with `as`.",
             R"(model shop
entity Category { slug: text key   name: text }
entity Product { sku: text key   name: text   category: Category inverse products }
query products($slug) { select c.name, p.name from Category c, c.products p where c.slug = $slug }
)",
             R"(model shop
entity Category { slug: text key   name: text }
entity Product { sku: text key   name: text   category: Category inverse products }
query products($slug) { select c.name as category, p.name from Category c, c.products p where c.slug = $slug }
)"},
    CodeInfo{DuplicateModel, "duplicate-model", Error, "two files that define the same model",
             "Two of the files given in one call begin with the same model name. Each file is a whole model by "
             "itself; a model is never spread over several files, and a copy of one under the same name would be "
             "taken for it. Rename one of the models, or leave one file out. (The example shows one file; it goes "
             "wrong when a second one says the same `model shop`.)",
             R"(model shop
entity Product { sku: text key }
)",
             R"(model shop
entity Product { sku: text key }
)"},
    CodeInfo{UnknownType, "unknown-type", Error, "a type that does not exist",
             "A field's type is a scalar (bool, int, float, decimal, text, bytes, timestamp, date, uuid, timeuuid, "
             "inet, json), an enumeration of texts, a list, set or map, or the name of an entity or value of this "
             "model. The name here is none of these. Correct it, or declare the entity or value.",
             R"(model shop
entity Product { sku: text key   price: money }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
)"},
    CodeInfo{UnknownEntity, "unknown-entity", Error, "an entity that does not exist",
             "A statement names an entity that the model does not declare. Names are compared exactly, upper and "
             "lower case included. Correct the name, or declare the entity.",
             R"(model shop
entity Product { sku: text key }
command add($sku) { insert Item { sku: $sku } }
)",
             R"(model shop
entity Product { sku: text key }
command add($sku) { insert Product { sku: $sku } }
)"},
    CodeInfo{UnknownField, "unknown-field", Error, "a field that does not exist",
             "The entity or value has no field, and no inverse, of this name. The message names the nearest one it "
             "has. An inverse exists only where a reference declares it with `inverse`.",
             R"(model shop
entity Product { sku: text key   price: decimal }
query price($sku) { select p.prize from Product p where p.sku = $sku }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
query price($sku) { select p.price from Product p where p.sku = $sku }
)"},
    CodeInfo{UnknownName, "unknown-name", Error, "a name that is neither a variable nor a field in reach",
             "A bare name in an expression is a variable bound in `from`, by `insert … as` or by a bulk change; in "
             "`order by` also a column. Bare field names work only where there is no doubt whose they are: in an "
             "entity's `require`, in the braces of an `update`, and in a design. In a query write the variable before "
             "the field.",
             R"(model shop
entity Product { sku: text key   price: decimal }
query cheap { select p.sku from Product p where price < 10 }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
query cheap { select p.sku from Product p where p.price < 10 }
)"},
    CodeInfo{UnknownParameter, "unknown-parameter", Error, "a parameter that is not declared",
             "Every `$name` in a body is declared in the parentheses after the statement's name, or bound by `for`. "
             "So what a caller must give is read off one line. Declare it, or correct the name.",
             R"(model shop
entity Product { sku: text key   price: decimal }
query product { select p.price from Product p where p.sku = $sku }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
query product($sku) { select p.price from Product p where p.sku = $sku }
)"},
    CodeInfo{UnusedParameter, "unused-parameter", Error, "a parameter that nothing uses",
             "A declared parameter that nothing uses is nearly always a condition or a field that was forgotten, and "
             "a caller would give it in vain. Use it, or delete it.",
             R"(model shop
entity Product { sku: text key   price: decimal }
command add($sku, $price, $stock) { insert Product { sku: $sku, price: $price } }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
command add($sku, $price) { insert Product { sku: $sku, price: $price } }
)"},
    CodeInfo{UnknownStatement, "unknown-statement", Error, "a statement or group that does not exist",
             "A mix gives weights to queries, commands and groups; a group lists queries and commands. The name here "
             "is none of those that the model declares. Correct it, or write the statement.",
             R"(model shop
entity Product { sku: text key }
query product($sku) { select p from Product p where p.sku = $sku }
mix day { products 100 }
)",
             R"(model shop
entity Product { sku: text key }
query product($sku) { select p from Product p where p.sku = $sku }
mix day { product 100 }
)"},
    CodeInfo{UnknownMix, "unknown-mix", Error, "a mix that does not exist",
             "`mix b like a` takes the weights of the mix `a` and changes some of them; the model has no mix of that "
             "name. Correct the name, or declare that mix.",
             R"(model shop
entity Product { sku: text key }
query product($sku) { select p from Product p where p.sku = $sku }
mix sale like normal { product 500 }
)",
             R"(model shop
entity Product { sku: text key }
query product($sku) { select p from Product p where p.sku = $sku }
mix normal { product 100 }
mix sale like normal { product 500 }
)"},
    CodeInfo{UnknownFunction, "unknown-function", Error, "a function that does not exist",
             "The functions are `minute hour day week month year now uuid random_text greatest least position key`, "
             "the folds `count sum min max avg`, and in designs `words`, `references` and `shard`. There are no "
             "functions of one's own: a design must be able to keep what a query asks, and every store must compute "
             "the same. Compute the value in the application and store it as a field.",
             R"(model shop
entity Customer { id: uuid key auto   email: text }
query by_email($e) { select c.id from Customer c where lowercase(c.email) = $e }
)",
             R"(model shop
entity Customer { id: uuid key auto   email: text   email_lower: text }
query by_email($e) { select c.id from Customer c where c.email_lower = $e }
)"},
    CodeInfo{UnknownSource, "unknown-source", Error, "something in `from` that is no source",
             "`from` takes an entity, a path that starts at a variable or at `Entity[key]`, or a refreshed query; in "
             "a design also `words(…)` or `references(…)`. This is none of them: values, for instance, have no life of "
             "their own and are reached through the entity that holds them, and a scalar has no elements to range "
             "over. Start from the entity, and go on by a path.",
             R"(model shop
value Line { title: text   qty: int }
entity Order { id: uuid key auto   lines: list<Line> }
query titles { select l.title from Line l }
)",
             R"(model shop
value Line { title: text   qty: int }
entity Order { id: uuid key auto   lines: list<Line> }
query titles { select l.title from Order o, o.lines l }
)"},
    CodeInfo{UnknownStrategy, "unknown-strategy", Error, "a strategy that does not exist",
             "`rest` names the strategy that places what a design leaves out: `eao` (one entry per aggregate), `etf` "
             "(one per top-level field), `normalized` (a collection per entity, with key-only access paths) or "
             "`advised` (chosen by cost). Write one of these, or leave `rest` out: then it is `eao`.",
             R"(model shop
entity Product { sku: text key   price: decimal }
design plain { rest simple }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
design plain { rest eao }
)"},
    CodeInfo{UnknownTarget, "unknown-target", Error, "a target database that does not exist",
             "A design may be meant for certain databases (`for`), and a collection may carry options for one "
             "(`with`). The databases are cassandra, mongodb, dynamodb, hbase, redis, oracle-nosql and couchbase; the "
             "embedded store takes every design and is not named. Correct the name, or leave it out to mean all of "
             "them.",
             R"(model shop
entity Product { sku: text key   price: decimal }
design plain for postgres { rest eao }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
design plain for cassandra { rest eao }
)"},
    // data
    CodeInfo{KeyType, "key-type", Error, "a type that can't be part of a key",
             "A key is found by equality and kept in order, so its parts are scalars with exact equality, or "
             "references: not float (equality of doubles is treacherous), not json, not values or collections, and "
             "nothing optional, because no database finds a row by a missing key. Choose another field, or use "
             "decimal or int for numbers.",
             R"(model shop
entity Shelf { height: float key   room: text }
)",
             R"(model shop
entity Shelf { height: decimal key   room: text }
)"},
    CodeInfo{SeveralKeys, "several-keys", Error, "more than one key",
             "An entity has one key, which is one field marked `key` or one clause `key (a, b)` for a key of several "
             "parts. Two fields marked `key` leave open which was meant. Write the clause for a compound key; for a "
             "second field that must be unique, make it the key of an entity of its own.",
             R"(model shop
entity Stock { shop: text key   product: text key   amount: int }
)",
             R"(model shop
entity Stock { shop: text   product: text   amount: int   key (shop, product) }
)"},
    CodeInfo{AutoKey, "auto-key", Error, "`auto` where noam can't make the value",
             "`auto` asks noam to make the key when an instance is inserted. It makes uuids and timeuuids, and only "
             "as the whole key: those need no look at what is there already, on any database. Give other keys "
             "yourself, or take uuid or timeuuid; a random text can be made in the insert with `random_text(8)`.",
             R"(model shop
entity Order { number: int key auto   placed: timestamp }
)",
             R"(model shop
entity Order { number: uuid key auto   placed: timestamp }
)"},
    CodeInfo{KeyCycle, "key-cycle", Error, "keys that need each other",
             "A reference is the key of what it refers to, so a key that holds a reference holds the other's key. "
             "Here the keys hold each other in a circle and would have no end. Give one of the entities a key of its "
             "own.",
             R"(model shop
entity Shop { manager: Person key }
entity Person { shop: Shop key }
)",
             R"(model shop
entity Shop { manager: Person key }
entity Person { id: uuid key auto   shop: Shop }
)"},
    CodeInfo{ValueCycle, "value-cycle", Error, "values nested in a circle",
             "A value lies inside the aggregate that holds it, so a value that holds itself, directly or through "
             "others, would have no end. Make one of them an entity: then it is referred to, not held. For comments "
             "that answer comments, for one, write an entity with a reference to its parent.",
             R"(model shop
value Part { name: text   parts: list<Part> }
entity Product { sku: text key   parts: list<Part> }
)",
             R"(model shop
entity Product { sku: text key   parts: list<Product> inverse part_of }
)"},
    CodeInfo{OptionalCollection, "optional-collection", Error, "a collection marked as optional",
             "A list, set or map is never absent, only empty: Cassandra, among others, cannot tell an empty set "
             "from a missing one, and every store must give the same answer. Drop the `?`. If you must tell \"none\" "
             "from \"not known\", add a field that says so.",
             R"(model shop
entity Product { sku: text key   tags: set<text>? }
)",
             R"(model shop
entity Product { sku: text key   tags: set<text> }
)"},
    CodeInfo{ElementType, "element-type", Error, "a type that can't be inside a collection",
             "Elements of lists and values of maps are scalars, references or values; elements of sets and keys of "
             "maps are scalars or references, and neither float nor json, because they are found by equality. None of "
             "them is a collection or optional. Put an inner collection into a value, and take decimal for numbers "
             "that must be equal.",
             R"(model shop
entity Product { sku: text key   sizes: list<list<int>> }
)",
             R"(model shop
value Sizes { region: text   numbers: list<int> }
entity Product { sku: text key   sizes: list<Sizes> }
)"},
    CodeInfo{LengthType, "length-type", Error, "a length on a type that has none",
             "A length says how long something may be, `text(8)` in code points and `bytes(8)` in bytes, or with `~` "
             "how long it is on average, `text(~80)`, also for json. Other types have a fixed size, and the length of "
             "a collection is a statistic after its type: `list<Line> ~4`. Drop the length.",
             R"(model shop
entity Product { sku: text(20) key   stock: int(8) }
)",
             R"(model shop
entity Product { sku: text(20) key   stock: int }
)"},
    CodeInfo{Enumeration, "enumeration", Error, "an enumeration that can't be",
             "An enumeration lists the texts a field may hold: each once, none of them empty. Here one stands "
             "twice, or is empty. Delete it; where no value is possible, write `(\"open\" | \"paid\")?`.",
             R"(model shop
entity Order { id: uuid key auto   status: "open" | "paid" | "open" }
)",
             R"(model shop
entity Order { id: uuid key auto   status: "open" | "paid" | "shipped" }
)"},
    CodeInfo{InverseType, "inverse-type", Error, "`inverse` where there is no way back",
             "`inverse` names the way back of a relationship, so it stands on a field of an entity that refers to an "
             "entity, or is a collection of such references. A scalar has no way back, and a value has none because "
             "it has no key to come back to. Drop `inverse`, or move the reference into the entity.",
             R"(model shop
entity Product { sku: text key   category: text inverse products }
)",
             R"(model shop
entity Category { slug: text key }
entity Product { sku: text key   category: Category inverse products }
)"},
    CodeInfo{SymmetricType, "symmetric-type", Error, "a symmetric role that is not a set",
             "A role that is its own way back, such as `friends: set<User> inverse friends`, says that the "
             "relationship holds both ways. It is a set of references to its own entity: each friend once, in no "
             "order of its own. Make it a set, or give the way back another name.",
             R"(model shop
entity Product { sku: text key   goes_with: list<Product> inverse goes_with }
)",
             R"(model shop
entity Product { sku: text key   goes_with: set<Product> inverse goes_with }
)"},
    CodeInfo{OwnerType, "owner-type", Error, "`owner` on something that can't own",
             "`owner` says that an instance lives and dies with another one, so it stands on a field of an entity "
             "that refers to exactly one entity. A scalar or a collection of references owns nothing. Drop `owner`, "
             "or make the field a single reference.",
             R"(model shop
entity Order { id: uuid key auto   placed: timestamp }
entity Parcel { id: uuid key auto   orders: set<Order> owner inverse parcels }
)",
             R"(model shop
entity Order { id: uuid key auto   placed: timestamp }
entity Parcel { id: uuid key auto   order: Order owner inverse parcels }
)"},
    CodeInfo{OwnerOptional, "owner-optional", Error, "an optional owner of another entity",
             "A part always has its owner: it is inserted only where the owner exists, and goes when the owner goes. "
             "An optional owner is allowed only where it is of the same entity, as in a tree of comments, where "
             "absent means a root. Drop the `?`, or drop `owner` if the part can live alone.",
             R"(model shop
entity Order { id: uuid key auto   placed: timestamp }
entity Parcel { id: uuid key auto   order: Order? owner inverse parcels }
)",
             R"(model shop
entity Order { id: uuid key auto   placed: timestamp }
entity Parcel { id: uuid key auto   order: Order owner inverse parcels }
)"},
    CodeInfo{Ttl, "ttl", Error, "a ttl that can't be kept",
             "`ttl 90 days from at` deletes an instance 90 days after the time in its field `at`; without `from`, "
             "after its insertion. The period is longer than nothing, and the field is a timestamp or a date of the "
             "entity itself. An entity has at most one ttl.",
             R"(model shop
entity Cart { id: uuid key auto   owner: text   ttl 30 days from owner }
)",
             R"(model shop
entity Cart { id: uuid key auto   owner: text   touched: timestamp   ttl 30 days from touched }
)"},
    CodeInfo{TransientEntity, "transient-entity", Error, "a transient entity that asks for what events don't have",
             "The instances of a transient entity are events: they are counted and folded when they arrive, and not "
             "kept. So there is nothing that a `ttl` could delete later, and no later state in which a `require` "
             "would have to hold. Leave these out, put a condition into the command that inserts, or drop `transient` "
             "and keep the instances.",
             R"(model shop
entity Product { sku: text key }
entity View transient { product: Product owner inverse views   at: timestamp   ttl 90 days from at }
)",
             R"(model shop
entity Product { sku: text key }
entity View transient { product: Product owner inverse views   at: timestamp }
)"},
    CodeInfo{DefaultValue, "default-value", Error, "a default that can't be",
             "A default is a literal of the field's type, or an empty collection: it is stored when an insert does "
             "not name the field, whoever inserts and when. It is not computed, and a key has none, since two "
             "instances would share it. For the time of the insert write `now()` in the insert itself.",
             R"(model shop
entity Order { id: uuid key auto   placed: timestamp = now() }
)",
             R"(model shop
entity Order { id: uuid key auto   placed: timestamp }
command place { insert Order { placed: now() } }
)"},
    CodeInfo{
        EntityRequire, "entity-require", Error, "a `require` in an entity that looks beyond it",
        "A `require` in an entity holds after every command that changes the aggregate, so it is checked with "
        "the aggregate alone at hand: it reads the entity's own fields and nothing else, and holds no nested select. "
        "What lies behind a reference can change without this aggregate being touched, and nobody would ask "
        "again. Put such a condition into the commands, as their `require`.",
        R"(model shop
entity Product { sku: text key   min_order: int }
entity Line { id: uuid key auto   product: Product   qty: int   require qty >= product.min_order }
)",
        R"(model shop
entity Product { sku: text key   min_order: int }
entity Line { id: uuid key auto   product: Product   qty: int   require qty > 0 }
command order($p, $qty) {
  require Product[$p].min_order <= $qty
  insert Line { product: $p, qty: $qty }
}
)"},
    CodeInfo{StatisticValue, "statistic-value", Error, "a statistic that can't be",
             "Statistics tell noam how much there is: `~n` how many, `distinct ~n` how many different values, `skew "
             "zipf(s)` how unevenly they are spread. They change no answer, only the choice of a design; but a field "
             "that has values has at least one different value, and an impossible figure would make the choice "
             "senseless. Leave out what you do not know.",
             R"(model shop
entity Product { sku: text key   brand: text distinct ~0 }
)",
             R"(model shop
entity Product { sku: text key   brand: text distinct ~300 }
)"},
    // expressions
    CodeInfo{TypeMismatch, "type-mismatch", Error, "a type that does not fit",
             "A value has another type than its place asks for. noam converts only where nothing can be lost: int "
             "literals widen, an int beside a decimal becomes a decimal. A text is not a number, and a number is not "
             "a text. Give a value of the right type, or change the type of the field.",
             R"(model shop
entity Product { sku: text key   stock: int }
command add($sku) { insert Product { sku: $sku, stock: "many" } }
)",
             R"(model shop
entity Product { sku: text key   stock: int }
command add($sku) { insert Product { sku: $sku, stock: 100 } }
)"},
    CodeInfo{NotComparable, "not-comparable", Error, "two things that can't be compared",
             "`=` compares scalars, references and values of one type. Collections and json have no equality that all "
             "databases share, and things of different types are never equal. Compare a part, ask with `contains` "
             "whether an element is in a collection, or compare `count(…)`.",
             R"(model shop
entity Product { sku: text key   tags: set<text>   labels: set<text> }
query odd { select p.sku from Product p where p.tags = p.labels }
)",
             R"(model shop
entity Product { sku: text key   tags: set<text>   labels: set<text> }
query odd { select p.sku from Product p where count(p.tags) = count(p.labels) }
)"},
    CodeInfo{NotOrdered, "not-ordered", Error, "a type without an order",
             "`<`, `between`, `order by`, `min` and `max` need a type with an order: numbers, texts, enumerations, "
             "bytes, bool, times, uuids, addresses and references (which order as their keys). Values, collections "
             "and json have none. Order by a field inside instead.",
             R"(model shop
value Size { width: int   height: int }
entity Product { sku: text key   size: Size }
query by_size { select p.sku from Product p order by p.size }
)",
             R"(model shop
value Size { width: int   height: int }
entity Product { sku: text key   size: Size }
query by_size { select p.sku from Product p order by p.size.width, p.size.height }
)"},
    CodeInfo{NotPredicate, "not-predicate", Error, "a condition that is neither true nor false",
             "`where`, `require`, `and`, `or` and `not` take conditions, which are true or false: a comparison, `is "
             "absent`, or a bool. Numbers and texts are neither. Write what is asked of them: `p.stock > 0`.",
             R"(model shop
entity Product { sku: text key   stock: int }
query available { select p.sku from Product p where p.stock }
)",
             R"(model shop
entity Product { sku: text key   stock: int }
query available { select p.sku from Product p where p.stock > 0 }
)"},
    CodeInfo{NumberRange, "number-range", Error, "a number that does not fit its type",
             "An int has 64 bits with a sign, a decimal at most 34 significant digits with a last digit between "
             "10^-100 and 10^100, a float is a finite double. These are what all the databases can hold. The number "
             "here does not fit; use another type, or a text if it is a name made of digits.",
             R"(model shop
entity Product { sku: text key   serial: int = 9_999_999_999_999_999_999 }
)",
             R"(model shop
entity Product { sku: text key   serial: decimal = 9_999_999_999_999_999_999 }
)"},
    CodeInfo{InvalidLiteral, "invalid-literal", Error, "a literal that can't be read",
             "A typed literal is a type and a text: `timestamp \"2026-01-01T00:00:00Z\"`, `date \"2026-01-01\"`, "
             "`uuid \"…\"`, `inet \"192.0.2.1\"`, `bytes \"bm9hbQ==\"` (base64). The text here does not read as that "
             "type; timestamps have at most milliseconds and are refused, not rounded, when finer. Correct the "
             "text.",
             R"(model shop
entity Order { id: uuid key auto   placed: timestamp }
query this_year { select o.id from Order o where o.placed >= timestamp "New Year" }
)",
             R"(model shop
entity Order { id: uuid key auto   placed: timestamp }
query this_year { select o.id from Order o where o.placed >= timestamp "2026-01-01T00:00:00Z" }
)"},
    CodeInfo{EnumerationText, "enumeration-text", Error, "a text that is not in the enumeration",
             "The field is an enumeration, and this text is not one of its texts, so the comparison could never hold "
             "and the assignment would always be refused. The message names the nearest one. Correct the text, or add "
             "it to the enumeration.",
             R"(model shop
entity Order { id: uuid key auto   status: "open" | "paid" }
query paid { select o.id from Order o where o.status = "payed" }
)",
             R"(model shop
entity Order { id: uuid key auto   status: "open" | "paid" }
query paid { select o.id from Order o where o.status = "paid" }
)"},
    CodeInfo{AbsentMisuse, "absent-misuse", Error, "`absent` where it can't stand",
             "`absent` is not a value but the lack of one. A comparison with it would always be false, so a question "
             "is asked with `is absent` or `is not absent`; and only an optional field can be set to it. Write `is "
             "absent`, give a value, or make the field optional with `?`.",
             R"(model shop
entity Order { id: uuid key auto   note: text? }
query without_note { select o.id from Order o where o.note = absent }
)",
             R"(model shop
entity Order { id: uuid key auto   note: text? }
query without_note { select o.id from Order o where o.note is absent }
)"},
    CodeInfo{DurationMisuse, "duration-misuse", Error, "a duration where it can't stand",
             "A duration, such as `7 days`, is added to or taken from a timestamp (or, in whole days and weeks, a "
             "date), and stands in `ttl` and `refresh every`. It is no value of its own: it cannot be stored, "
             "selected or compared. Compare two times instead: `o.placed > now() - 7 days`.",
             R"(model shop
entity Order { id: uuid key auto   placed: timestamp }
query recent { select o.id from Order o where o.placed > 7 days }
)",
             R"(model shop
entity Order { id: uuid key auto   placed: timestamp }
query recent { select o.id from Order o where o.placed > now() - 7 days }
)"},
    CodeInfo{WordsMisuse, "words-misuse", Error, "`contains all` or `contains any` on something that is not text",
             "`contains all` and `contains any` look for words, so a text stands on both sides; the right one is cut "
             "into words by the same rule. For a set, list or map ask for one element with `contains`, and join "
             "several with `and` or `or`.",
             R"(model shop
entity Product { sku: text key   tags: set<text> }
query tagged($tags) { select p.sku from Product p where p.tags contains all $tags }
)",
             R"(model shop
entity Product { sku: text key   tags: set<text> }
query tagged($a, $b) { select p.sku from Product p where p.tags contains $a and p.tags contains $b }
)"},
    CodeInfo{ParameterConflict, "parameter-conflict", Error, "two uses of a parameter that ask for different types",
             "A parameter has the type that its use asks for. Two uses here ask for types that no single value has. "
             "Use two parameters, or declare the type and correct the other use.",
             R"(model shop
entity Product { sku: text key   stock: int }
query product($x) { select p from Product p where p.sku = $x or p.stock = $x }
)",
             R"(model shop
entity Product { sku: text key   stock: int }
query product($sku, $stock) { select p from Product p where p.sku = $sku or p.stock = $stock }
)"},
    CodeInfo{ParameterType, "parameter-type", Error, "a parameter whose type can't be told",
             "Nothing that is done with this parameter tells its type, so a caller's value could not be checked. "
             "Declare it: `$at: timestamp`, `$lines: list<Line>`.",
             R"(model shop
entity Product { sku: text key   price: decimal }
query priced($label) { select p.sku, $label as label from Product p }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
query priced($label: text) { select p.sku, $label as label from Product p }
)"},
    CodeInfo{WrongArguments, "wrong-arguments", Error, "arguments that a function does not take",
             "The function takes other arguments, in number or in type: `hour` one time, `now` and `uuid` none, "
             "`random_text` a length, `greatest` and `least` two or more that compare, `position` the variable of a "
             "list element, `key` the variable of a map entry, `shard` an expression and a number, `words` a text, "
             "`references` a role to many that the first entity of the collection keeps. The message says which it "
             "takes.",
             R"(model shop
entity Order { id: uuid key auto   placed: timestamp }
query hours { select o.id, hour(o.placed, 2) as hour from Order o }
)",
             R"(model shop
entity Order { id: uuid key auto   placed: timestamp }
query hours { select o.id, hour(o.placed) as hour from Order o }
)"},
    CodeInfo{FunctionMisplaced, "function-misplaced", Error, "a function that can't stand here",
             "The function exists, but not here. `uuid()` and `random_text(…)` belong to commands, where they follow "
             "from the command's id so that a repeat gives the same; `shard`, `words` and `references` belong to "
             "designs, the latter two as sources only. The message says where it belongs.",
             R"(model shop
entity Product { sku: text key   price: decimal }
query sample { select p.sku, random_text(8) as token from Product p }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
query sample { select p.sku from Product p }
command add($price) { insert Product { sku: random_text(8), price: $price } }
)"},
    CodeInfo{EntityMisuse, "entity-misuse", Error, "an entity's name where a value is meant",
             "The name of an entity stands for all its instances, not for one, so it is no value. Give the key with "
             "it, `Customer[$id]`, or bind a variable in `from` and use that.",
             R"(model shop
entity Customer { id: uuid key auto   email: text }
entity Order { id: uuid key auto   customer: Customer inverse orders }
command order { insert Order { customer: Customer } }
)",
             R"(model shop
entity Customer { id: uuid key auto   email: text }
entity Order { id: uuid key auto   customer: Customer inverse orders }
command order($customer) { insert Order { customer: Customer[$customer] } }
)"},
    CodeInfo{PathStep, "path-step", Error, "a path that goes through many, or on from where it ends",
             "A path in an expression leads to one value: each step but the last goes through a value or a reference "
             "to one. Here it goes on from a collection or an inverse, which is many, or from a scalar, which has "
             "nothing inside. Bind the many in `from` (`c.orders o`) and go on from that variable, or fold them. From "
             "a variable over `references(…)`, in a design, a path leads to the parts of the key only, since the "
             "target need not exist.",
             R"(model shop
entity Customer { id: uuid key auto   email: text }
entity Order { id: uuid key auto   customer: Customer inverse orders   placed: timestamp }
query dates($id) { select c.orders.placed from Customer c where c.id = $id }
)",
             R"(model shop
entity Customer { id: uuid key auto   email: text }
entity Order { id: uuid key auto   customer: Customer inverse orders   placed: timestamp }
query dates($id) { select o.placed from Customer c, c.orders o where c.id = $id }
)"},
    CodeInfo{IndexMisuse, "index-misuse", Error, "an index that does not fit",
             "`x[…]` takes a position of a list, a key of a map, or after an entity's name as many keys as the "
             "entity's key has parts. A set has no positions, a scalar nothing inside. Ask a set with `contains`, and "
             "give a compound key in the order of its declaration.",
             R"(model shop
entity Product { sku: text key   tags: set<text> }
query first_tag($sku) { select p.tags[0] as tag from Product p where p.sku = $sku }
)",
             R"(model shop
entity Product { sku: text key   tags: list<text> }
query first_tag($sku) { select p.tags[0] as tag from Product p where p.sku = $sku }
)"},
    // queries
    CodeInfo{FoldMisplaced, "fold-misplaced", Error, "a fold where it can't stand",
             "A fold (count, sum, min, max, avg) is worked out over rows, after `where` has kept them, so it stands "
             "in `select` and `order by`. In `where` and `group by` the rows are not there yet, and a fold in a fold "
             "has no meaning. To keep only some groups, ask for them in order with a `limit`, or filter by the value "
             "of a nested select: `where (select count(*) from c.orders o) > 3`.",
             R"(model shop
entity Customer { id: uuid key auto   email: text }
entity Order { id: uuid key auto   customer: Customer inverse orders }
query regulars { select c.email from Customer c, c.orders o where count(*) > 3 }
)",
             R"(model shop
entity Customer { id: uuid key auto   email: text }
entity Order { id: uuid key auto   customer: Customer inverse orders }
query regulars { select c.email from Customer c where count(c.orders) > 3 }
)"},
    CodeInfo{FoldMix, "fold-mix", Error, "folds beside row values without `group by`",
             "A fold without `group by` gives one row for all; a plain column gives one for each row. Both cannot "
             "stand in one answer. Add `group by` with the plain columns, or use a value of the row, such as "
             "`count(c.orders)`, in place of the fold.",
             R"(model shop
entity Product { sku: text key   category: text   price: decimal }
query dearest { select p.category, max(p.price) as price from Product p }
)",
             R"(model shop
entity Product { sku: text key   category: text   price: decimal }
query dearest { select p.category, max(p.price) as price from Product p group by p.category }
)"},
    CodeInfo{NotGrouped, "not-grouped", Error, "a column that the groups don't determine",
             "With `group by` a column is a fold, one of the grouped expressions, or something they determine: "
             "grouping by a variable, or by all parts of its key, determines its fields. This column may differ "
             "within a group, and taking any one would answer differently from store to store. Add it to `group by`, "
             "or fold it with min or max.",
             R"(model shop
entity Product { sku: text key   category: text   brand: text }
query brands { select p.category, p.brand, count(*) as n from Product p group by p.category }
)",
             R"(model shop
entity Product { sku: text key   category: text   brand: text }
query brands { select p.category, p.brand, count(*) as n from Product p group by p.category, p.brand }
)"},
    CodeInfo{CountToOne, "count-to-one", Error, "counting a reference to one",
             "`count(x)` of a collection or of a role to many is the number of its elements, a value of the row. A "
             "reference to one is either there or not, so counting it would look like a value and be a fold. Ask `is "
             "absent`, or count rows with `count(*)`.",
             R"(model shop
entity Customer { id: uuid key auto   email: text }
entity Order { id: uuid key auto   customer: Customer inverse orders }
query orders { select count(o.customer) as n from Order o }
)",
             R"(model shop
entity Customer { id: uuid key auto   email: text }
entity Order { id: uuid key auto   customer: Customer inverse orders }
query orders { select count(*) as n from Order o }
)"},
    CodeInfo{DistinctType, "distinct-type", Error, "`distinct` on what can't be compared",
             "`select distinct` and `count(distinct …)` take scalars and references, which can be told apart on every "
             "store and kept as keys. Aggregates, values, collections and json cannot. Select the key, or the fields "
             "that matter.",
             R"(model shop
entity Product { sku: text key   tags: set<text> }
query tag_sets { select distinct p.tags from Product p }
)",
             R"(model shop
entity Product { sku: text key   tags: set<text> }
query tags { select distinct t from Product p, p.tags t }
)"},
    CodeInfo{OrderOfDistinct, "order-of-distinct", Error, "ordering distinct rows by something not selected",
             "`select distinct` makes one row of several, and these may differ in what is not selected; so distinct "
             "rows are ordered by selected columns only. Select the column too, or group: `group by p.brand order by "
             "max(p.price)`.",
             R"(model shop
entity Product { sku: text key   brand: text   price: decimal }
query brands { select distinct p.brand from Product p order by p.price }
)",
             R"(model shop
entity Product { sku: text key   brand: text   price: decimal }
query brands { select distinct p.brand from Product p order by p.brand }
)"},
    CodeInfo{ColumnName, "column-name", Error, "a column that needs a name",
             "A column takes the last name of its path, or the name of its function or fold. Arithmetic, literals and "
             "nested selects have no such name, and a row is an object whose columns are found by name. Add `as` and "
             "a name.",
             R"(model shop
entity Product { sku: text key   price: decimal   stock: int }
query worth { select p.sku, p.price * p.stock from Product p }
)",
             R"(model shop
entity Product { sku: text key   price: decimal   stock: int }
query worth { select p.sku, p.price * p.stock as worth from Product p }
)"},
    CodeInfo{LimitValue, "limit-value", Error, "a limit that can't be",
             "A limit is a whole number from 0 up, or a parameter that holds one. It is the same for the whole query, "
             "so it cannot be computed from rows. Write a number or a parameter.",
             R"(model shop
entity Product { sku: text key   price: decimal }
query cheapest { select p.sku from Product p order by p.price limit -5 }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
query cheapest { select p.sku from Product p order by p.price limit 5 }
)"},
    CodeInfo{MissingVariable, "missing-variable", Error, "a source without a variable",
             "Every source in `from` gets a variable, and fields are named through it. So a name in the query is "
             "never a field by accident, and a field added to the model later changes no query. Add a variable after "
             "the source.",
             R"(model shop
entity Product { sku: text key   price: decimal }
query how_many { select count(*) as n from Product }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
query how_many { select count(*) as n from Product p }
)"},
    CodeInfo{NestedSelect, "nested-select", Error, "a nested select that can't stand here",
             "A nested select is a column: a list of rows, with the literal `limit 1` a row, and with one column made "
             "of folds a single value. Only the single value can be compared or calculated with, and `in` takes a "
             "list or a set, not rows. Elsewhere bind the path in `from`, or fold the nested rows to one value, such "
             "as `(select count(*) from …) > 0`.",
             R"(model shop
entity Customer { id: uuid key auto   email: text }
entity Order { id: uuid key auto   customer: Customer inverse orders   placed: timestamp }
query active { select c.email from Customer c where c.id in (select o.customer from Order o) }
)",
             R"(model shop
entity Customer { id: uuid key auto   email: text }
entity Order { id: uuid key auto   customer: Customer inverse orders   placed: timestamp }
query active { select c.email from Customer c where (select count(*) from c.orders o) > 0 }
)"},
    CodeInfo{RefreshParameter, "refresh-parameter", Error, "a refreshed query with parameters",
             "A refreshed query is worked out by the clock and its rows are stored, so there is nobody to give it "
             "parameters, and one answer for everybody. Write it without, with the rows of all parameters, and filter "
             "in a second query that reads it.",
             R"(model shop
entity Product { sku: text key   brand: text   stock: int }
query most_stock($brand) refresh every 1 hour {
  select p.sku, p.stock from Product p where p.brand = $brand order by p.stock desc limit 10
}
)",
             R"(model shop
entity Product { sku: text key   brand: text   stock: int }
query most_stock refresh every 1 hour {
  select p.sku, p.brand, p.stock from Product p order by p.stock desc limit 1000
}
query most_stock_of($brand) {
  select m.sku, m.stock from most_stock m where m.brand = $brand order by m.stock desc limit 10
}
)"},
    CodeInfo{RefreshCycle, "refresh-cycle", Error, "refreshed queries in a circle",
             "A refreshed query reads itself, directly or through others; then no order of refreshing gives each the "
             "rows it needs. Break the circle: let one of them read the entities.",
             R"(model shop
entity Product { sku: text key   stock: int }
query low refresh every 1 hour { select h.sku from high h }
query high refresh every 1 hour { select l.sku from low l }
)",
             R"(model shop
entity Product { sku: text key   stock: int }
query low refresh every 1 hour { select p.sku from Product p where p.stock < 10 }
query high refresh every 1 hour { select p.sku from Product p where p.stock > 1_000 }
)"},
    CodeInfo{RefreshPeriod, "refresh-period", Error, "a refresh that can't be",
             "`refresh every` takes a duration longer than nothing, and `keep` a number of refreshes from 1 up: the "
             "last answer is always there, older ones stay readable through `history`. Write how old the answer may "
             "become, and how many to keep; without `keep` it is one.",
             R"(model shop
entity Product { sku: text key   stock: int }
query low refresh every 10 minutes keep 0 { select p.sku from Product p where p.stock < 10 }
)",
             R"(model shop
entity Product { sku: text key   stock: int }
query low refresh every 10 minutes { select p.sku from Product p where p.stock < 10 }
)"},
    CodeInfo{NotRefreshed, "not-refreshed", Error, "a query as a source that is not refreshed",
             "A query can be a source only where its rows are stored, that is, where it is refreshed; `history` needs "
             "the same. A plain query is not a view: write its path and conditions into the query that needs them, or "
             "add `refresh every …` if an older answer will do.",
             R"(model shop
entity Product { sku: text key   stock: int }
query low { select p.sku, p.stock from Product p where p.stock < 10 }
query gone { select l.sku from low l where l.stock = 0 }
)",
             R"(model shop
entity Product { sku: text key   stock: int }
query low refresh every 10 minutes { select p.sku, p.stock from Product p where p.stock < 10 }
query gone { select l.sku from low l where l.stock = 0 }
)"},
    CodeInfo{WithoutMisuse, "without-misuse", Error, "`without` on something that is no aggregate",
             "`select p without reviews` gives the whole aggregate but for the named fields, so it stands after a "
             "variable of an entity and names own fields of that entity, not ways back, which are not in it anyway. "
             "Elsewhere list the columns you want.",
             R"(model shop
entity Product { sku: text key   name: text   reviews: list<text> }
query product($sku) { select p.name without reviews from Product p where p.sku = $sku }
)",
             R"(model shop
entity Product { sku: text key   name: text   reviews: list<text> }
query product($sku) { select p without reviews from Product p where p.sku = $sku }
)"},
    CodeInfo{TransientQuery, "transient-query", Error, "a query that would need the instances of a transient entity",
             "The instances of a transient entity are not kept: only folds over them are, grouped by their own "
             "fields, by time functions of these and by references, under equality or ranges on the grouped "
             "expressions. This query would need the instances themselves. Ask for a fold, or drop `transient` and "
             "pay for keeping every event.",
             R"(model shop
entity Product { sku: text key }
entity View transient { product: Product owner inverse views   at: timestamp   ip: inet }
query viewers($sku) { select v.at, v.ip from Product p, p.views v where p.sku = $sku }
)",
             R"(model shop
entity Product { sku: text key }
entity View transient { product: Product owner inverse views   at: timestamp   ip: inet }
query viewers($sku) { select v.ip, count(*) as n from Product p, p.views v where p.sku = $sku group by v.ip }
)"},
    // commands
    CodeInfo{MissingField, "missing-field", Error, "a required field that is not given",
             "`insert`, `put` and a written value name every field that is neither optional nor has a default; "
             "collections start empty. Without it the instance could not exist, and every call would be refused. Give "
             "the field, give it a default, or make it optional.",
             R"(model shop
entity Product { sku: text key   name: text   price: decimal }
command add($sku, $name) { insert Product { sku: $sku, name: $name } }
)",
             R"(model shop
entity Product { sku: text key   name: text   price: decimal }
command add($sku, $name, $price) { insert Product { sku: $sku, name: $name, price: $price } }
)"},
    CodeInfo{KeyUpdate, "key-update", Error, "changing a key",
             "A key never changes: it is where the aggregate lies in every database, and what every reference to it "
             "holds. Insert an instance with the new key and delete the old one, or use a generated key and keep what "
             "may change in another field.",
             R"(model shop
entity Product { sku: text key   name: text }
command rename($sku, $new) { update Product[$sku] { sku: $new } }
)",
             R"(model shop
entity Product { sku: text key   name: text }
command rename($sku, $name) { update Product[$sku] { name: $name } }
)"},
    CodeInfo{OverlappingTargets, "overlapping-targets", Error, "two targets of an update that overlap",
             "All right sides of an update see the state before it, and its targets are set at once. Two targets that "
             "are the same, or one inside the other, leave open which wins. Name each place once, or write two "
             "updates in a row.",
             R"(model shop
value Address { street: text   city: text }
entity Customer { id: uuid key auto   address: Address }
command move($id, $a, $city) { update Customer[$id] { address: $a, address.city: $city } }
)",
             R"(model shop
value Address { street: text   city: text }
entity Customer { id: uuid key auto   address: Address }
command move($id, $a) { update Customer[$id] { address: $a } }
)"},
    CodeInfo{ChangeTarget, "change-target", Error, "a change of something that can't be changed",
             "A command changes the own fields of an aggregate that it names by its key: `Product[$sku]`, or a "
             "variable of an insert. An inverse, a field of something referred to, or a part of a refreshed query is "
             "kept elsewhere. Change it where it is kept: to move an order to a customer, set the order's `customer`.",
             R"(model shop
entity Customer { id: uuid key auto   email: text }
entity Order { id: uuid key auto   customer: Customer inverse orders }
command take_over($c, $o) { add Order[$o] to Customer[$c].orders }
)",
             R"(model shop
entity Customer { id: uuid key auto   email: text }
entity Order { id: uuid key auto   customer: Customer inverse orders }
command take_over($c, $o) { update Order[$o] { customer: $c } }
)"},
    CodeInfo{CollectionKind, "collection-kind", Error, "a change that does not fit the kind of collection",
             "Each kind of collection has its changes: `append` for lists, `add` for sets, `put … into` and `remove "
             "key` for maps, `remove x` for lists and sets, `remove p[$i]` for positions of lists. The word says what "
             "happens with order and duplicates, so it must fit. Use the one that belongs to this collection.",
             R"(model shop
entity Product { sku: text key   tags: set<text> }
command tag($sku, $tag) { append $tag to Product[$sku].tags }
)",
             R"(model shop
entity Product { sku: text key   tags: set<text> }
command tag($sku, $tag) { add $tag to Product[$sku].tags }
)"},
    CodeInfo{ThenMisuse, "then-misuse", Error, "`then` before a change that can't be forgiven",
             "`then` before a change says: if the instance is absent, do nothing, and go on. That can be said of "
             "`update`, `delete` and the changes of collections. `insert` and `put` make the instance, `require` is a "
             "condition, and a `for` has no instance of its own; before them `then` has nothing to forgive. Drop it.",
             R"(model shop
entity Product { sku: text key   stock: int }
command add($sku) { then insert Product { sku: $sku, stock: 0 } }
)",
             R"(model shop
entity Product { sku: text key   stock: int }
command add($sku) { insert Product { sku: $sku, stock: 0 } }
)"},
    CodeInfo{BulkAlone, "bulk-alone", Error, "a bulk change that does not stand alone",
             "A bulk change (`update … where`, `delete … where`) works through as many instances as there are, each "
             "as a command of its own, so it cannot be all or none together with other changes. It is the only change "
             "of its command, not inside `for` and not after `then`. Write two commands.",
             R"(model shop
entity Product { sku: text key   stock: int   listed: bool }
command clean_up($sku) {
  update Product p where p.stock = 0 { listed: false }
  delete Product[$sku]
}
)",
             R"(model shop
entity Product { sku: text key   stock: int   listed: bool }
command unlist_empty { update Product p where p.stock = 0 { listed: false } }
command clean_up($sku) { delete Product[$sku] }
)"},
    CodeInfo{BulkPredicate, "bulk-predicate", Error, "a bulk predicate that looks beyond the instance",
             "The condition of a bulk change reads the instance's own fields only: it is checked again for each "
             "instance at the moment it is changed, with that aggregate alone at hand. Keep what you ask for in a "
             "field, or query for the keys and run a command for each.",
             R"(model shop
entity Category { slug: text key   closed: bool }
entity Product { sku: text key   category: Category inverse products   listed: bool }
command unlist { update Product p where p.category.closed { listed: false } }
)",
             R"(model shop
entity Category { slug: text key   closed: bool }
entity Product { sku: text key   category: Category inverse products   listed: bool }
command unlist($category) { update Product p where p.category = $category { listed: false } }
)"},
    CodeInfo{TransientChange, "transient-change", Error, "a change of a transient instance",
             "An instance of a transient entity is an event that happened: it is inserted, folded and not kept, so "
             "there is nothing to update, put or delete. Insert another event, or drop `transient`. Deleting the "
             "owner takes its folds with it.",
             R"(model shop
entity Product { sku: text key }
entity View transient { id: timeuuid key auto   product: Product owner inverse views   at: timestamp }
command forget($id) { delete View[$id] }
)",
             R"(model shop
entity Product { sku: text key }
entity View transient { id: timeuuid key auto   product: Product owner inverse views   at: timestamp }
command forget($sku) { delete Product[$sku] }
)"},
    CodeInfo{LoopSource, "loop-source", Error, "`for` over something that is no list or set",
             "`for` runs over a list, or over a set in its order, which a caller gives or an aggregate holds; at most "
             "1,000 elements. This is neither. Pass a list; a map's entries are changed by `put … into` and `remove "
             "key`, and instances found by a condition by a bulk change.",
             R"(model shop
entity Product { sku: text key   stock: int }
command restock($n: int) { for $i in $n { update Product["a"] { stock: stock + $i } } }
)",
             R"(model shop
entity Product { sku: text key   stock: int }
command restock($skus: list<text>) { for $s in $skus { update Product[$s] { stock: stock + 1 } } }
)"},
    // mixes
    CodeInfo{DuplicateEntry, "duplicate-entry", Error, "a statement weighted or grouped twice",
             "A mix names each statement or group once, and a group lists each statement once; a second time is a "
             "slip more often than a wish to add. Delete one, or write the sum. (A statement that is weighted by "
             "itself and also through a group has the sum of both.)",
             R"(model shop
entity Product { sku: text key }
query product($sku) { select p from Product p where p.sku = $sku }
mix day { product 100  product 20 }
)",
             R"(model shop
entity Product { sku: text key }
query product($sku) { select p from Product p where p.sku = $sku }
mix day { product 120 }
)"},
    CodeInfo{MixCycle, "mix-cycle", Error, "mixes like each other in a circle",
             "`like` takes the weights of another mix. Here the mixes take them from each other in a circle, so none "
             "has weights to begin with. Write the weights out in one of them.",
             R"(model shop
entity Product { sku: text key }
query product($sku) { select p from Product p where p.sku = $sku }
mix day like night { product 100 }
mix night like day { product 1 }
)",
             R"(model shop
entity Product { sku: text key }
query product($sku) { select p from Product p where p.sku = $sku }
mix day { product 100 }
mix night like day { product 1 }
)"},
    CodeInfo{MixValue, "mix-value", Error, "a weight or rate that can't be",
             "Weights are numbers from 0 up that say how often a statement runs beside the others, and a rate (`at "
             "500/s`) says how often all of them run together, so it is above 0. A mix has at least one weight above "
             "0. Write a number that can be.",
             R"(model shop
entity Product { sku: text key }
query product($sku) { select p from Product p where p.sku = $sku }
mix day at 0/s { product 100 }
)",
             R"(model shop
entity Product { sku: text key }
query product($sku) { select p from Product p where p.sku = $sku }
mix day at 500/s { product 100 }
)"},
    // designs
    CodeInfo{KeysDoNotDetermine, "keys-do-not-determine", Error, "keys of a family that do not determine its row",
             "Block key and entry key together say which row an entry is. If two rows can have the same keys, the "
             "second overwrites the first, and data is lost without a word: the classic mistake of tables written by "
             "hand. Add what is missing to the entry key, usually the key of the last variable; the message names it.",
             R"(model shop
entity Product { sku: text key   brand: text   price: decimal }
design d {
  collection products of Product p by sku { entry ε: * }
  collection by_brand of Product p by p.brand { copy [p.price]: p.sku }
}
)",
             R"(model shop
entity Product { sku: text key   brand: text   price: decimal }
design d {
  collection products of Product p by sku { entry ε: * }
  collection by_brand of Product p by p.brand { copy [p.price, p.sku] }
}
)"},
    CodeInfo{PlacedTwice, "placed-twice", Error, "a field that lies in two entries",
             "The base of a field lies in exactly one `entry`; otherwise there would be two truths about it. Any "
             "further place is a copy, which noam keeps equal to the base. Write `copy` for the second, or leave the "
             "field out there.",
             R"(model shop
entity Product { sku: text key   name: text   price: decimal }
design d {
  collection products of Product p by sku { entry ε: name, price   entry price }
}
)",
             R"(model shop
entity Product { sku: text key   name: text   price: decimal }
design d {
  collection products of Product p by sku { entry ε: name, price }
  collection prices of Product p by p.sku { copy ε: p.price }
}
)"},
    CodeInfo{BaseKey, "base-key", Error, "a base family under something that is not its own",
             "A base family lies under own fields of its entity, so that an aggregate can be placed by looking at it "
             "alone. What lies behind a reference, a fold or another entity's field can change without it, and the "
             "base would have to move. Use own fields in the keys of an `entry`, and make a `copy` for the other "
             "order.",
             R"(model shop
entity Category { slug: text key   section: text }
entity Product { sku: text key   price: decimal   category: Category inverse products }
design d { collection products of Product p by p.category.section as section { entry [sku]: price, category } }
)",
             R"(model shop
entity Category { slug: text key   section: text }
entity Product { sku: text key   price: decimal   category: Category inverse products }
design d {
  collection products of Product p by sku { entry ε: price, category }
  collection by_section of Product p by p.category.section as section { copy [p.sku]: p.price }
}
)"},
    CodeInfo{BaseKeyUpdated, "base-key-updated", Error, "a base family under a field that a command changes",
             "A base may lie under other own fields than the key only where no command updates them: to change the "
             "field would be to move the aggregate to another block, which no block store does in one step. Place the "
             "base by the key and make a `copy` under the field, or drop the command.",
             R"(model shop
entity Product { sku: text key   brand: text   price: decimal }
command rebrand($sku, $brand) { update Product[$sku] { brand: $brand } }
design d { collection products of Product p by brand { entry [sku]: price } }
)",
             R"(model shop
entity Product { sku: text key   brand: text   price: decimal }
command rebrand($sku, $brand) { update Product[$sku] { brand: $brand } }
design d {
  collection products of Product p by sku { entry ε: brand, price }
  collection by_brand of Product p by p.brand { copy [p.sku]: p.price }
}
)"},
    CodeInfo{FoldInEntry, "fold-in-entry", Error, "a fold in a base family",
             "An `entry` holds the data itself; a fold is worked out from data, so it is derived and lies in a "
             "`copy`. Families with equal keys become one row or document all the same. Move the fold into a `copy` "
             "beside the entry.",
             R"(model shop
entity Product { sku: text key   name: text }
entity Review { id: uuid key auto   product: Product inverse reviews   stars: int }
design d { collection products of Product p by sku { entry ε: name, count(*) as n } }
)",
             R"(model shop
entity Product { sku: text key   name: text }
entity Review { id: uuid key auto   product: Product inverse reviews   stars: int }
design d {
  collection products of Product p by sku {
    entry ε: name
    copy ε: count(*) as n from p.reviews r
  }
}
)"},
    CodeInfo{FoldNotKept, "fold-not-kept", Error, "a fold that can't be kept",
             "A kept fold moves with every change and must stay exactly what a fresh count would give. The sum of "
             "floats is the double nearest to the exact sum, which the last result and a change do not tell, and an "
             "average is made of a sum and a count: neither is kept. Use decimal, keep sum and count, or let the "
             "query work it out when it is asked.",
             R"(model shop
entity Product { sku: text key   name: text }
entity Review { id: uuid key auto   product: Product inverse reviews   weight: float }
design d {
  collection products of Product p by sku {
    entry ε: name
    copy ε: sum(r.weight) as weight from p.reviews r
  }
}
)",
             R"(model shop
entity Product { sku: text key   name: text }
entity Review { id: uuid key auto   product: Product inverse reviews   weight: decimal }
design d {
  collection products of Product p by sku {
    entry ε: name
    copy ε: sum(r.weight) as weight from p.reviews r
  }
}
)"},
    CodeInfo{FamilyPath, "family-path", Error, "a family whose path names nothing",
             "The path of an `entry` names an own field of the entity, as a whole: the data that lies there. An "
             "inverse is kept by the aggregates that refer, and a part of a field goes with the field. Name the "
             "field, or write a `copy`, whose path may be any name.",
             R"(model shop
entity Product { sku: text key   name: text }
entity Review { id: uuid key auto   product: Product inverse reviews   stars: int }
design d { collection products of Product p by sku { entry ε: name   entry reviews[*] } }
)",
             R"(model shop
entity Product { sku: text key   name: text }
entity Review { id: uuid key auto   product: Product inverse reviews   stars: int }
design d { collection products of Product p by sku { entry ε: name   copy reviews[r.id]: r.stars from p.reviews r } }
)"},
    CodeInfo{FamilyElements, "family-elements", Error, "`[*]` on something that has no elements",
             "`[*]` gives each element of a list, set or map an entry of its own, so the field it follows is a "
             "collection of the entity. Scalars and values have no elements. Drop `[*]`.",
             R"(model shop
entity Product { sku: text key   name: text   price: decimal }
design d { collection products of Product p by sku { entry name[*]   entry ε: price } }
)",
             R"(model shop
entity Product { sku: text key   name: text   price: decimal }
design d { collection products of Product p by sku { entry name   entry ε: price } }
)"},
    CodeInfo{FamilyClause, "family-clause", Error, "a clause that this family can't have",
             "`from`, `where` and `limit` choose which rows a copy holds. A base holds every instance of its entity, "
             "so an `entry` has none of them: an aggregate that is left out would be lost. Write a `copy` for the "
             "chosen rows.",
             R"(model shop
entity Product { sku: text key   price: decimal   listed: bool }
design d { collection products of Product p by sku { entry ε: price, listed where p.listed } }
)",
             R"(model shop
entity Product { sku: text key   price: decimal   listed: bool }
design d {
  collection products of Product p by sku { entry ε: price, listed }
  collection listed of Product p by "listed" as list { copy [p.sku]: p.price where p.listed }
}
)"},
    CodeInfo{DuplicateFamily, "duplicate-family", Error, "a family written twice",
             "Two families of one collection have the same path and keys and hold the same, so the second adds "
             "nothing. Families with equal keys become one native row or document anyway: put their columns together, "
             "or give one of them a path of its own.",
             R"(model shop
entity Product { sku: text key   brand: text   price: decimal }
design d {
  collection products of Product p by sku { entry ε: * }
  collection by_brand of Product p by p.brand { copy [p.sku]   copy [p.sku] }
}
)",
             R"(model shop
entity Product { sku: text key   brand: text   price: decimal }
design d {
  collection products of Product p by sku { entry ε: * }
  collection by_brand of Product p by p.brand { copy [p.sku] }
}
)"},
    CodeInfo{DesignExpression, "design-expression", Error, "an expression that a design can't hold",
             "What a design holds follows from the data alone and stays right when only the clock moves: fields, "
             "paths to one, constants, time functions, arithmetic, `shard`, `position`, folds. `now()`, parameters "
             "and nested selects have no value when nobody asks. Leave the condition to the query; a copy may be "
             "wider than what a query wants.",
             R"(model shop
entity Order { id: uuid key auto   placed: timestamp }
design d {
  collection orders of Order o by id { entry ε: * }
  collection recent of Order o by "recent" as list { copy [o.placed desc, o.id] where o.placed > now() - 7 days }
}
)",
             R"(model shop
entity Order { id: uuid key auto   placed: timestamp }
design d {
  collection orders of Order o by id { entry ε: * }
  collection by_day of Order o by day(o.placed) as day { copy [o.placed desc, o.id] }
}
)"},
    CodeInfo{DesignColumn, "design-column", Error, "a column that a family can't have",
             "A column of an `entry` is an own field of the entity as it is, or `*` for those not placed elsewhere. A "
             "column of a `copy` is a field, a path to one, a single fold, or a nested object or list of these; a "
             "calculation with folds is none of them, because a fold is kept by itself and moves with every change. "
             "Keep the folds, and let the query calculate.",
             R"(model shop
entity Product { sku: text key   name: text }
entity Review { id: uuid key auto   product: Product inverse reviews   stars: int }
design d {
  collection products of Product p by sku {
    entry ε: *
    copy ε: sum(r.stars) - count(*) as above_one from p.reviews r
  }
}
)",
             R"(model shop
entity Product { sku: text key   name: text }
entity Review { id: uuid key auto   product: Product inverse reviews   stars: int }
design d {
  collection products of Product p by sku {
    entry ε: *
    copy ε: sum(r.stars) as stars, count(*) as n from p.reviews r
  }
}
)"},
    // advice
    CodeInfo{LimitWithoutOrder, "limit-without-order", Lint, "a limit without an order",
             "Without `order by` a limit cuts in the order of the keys. That is the same everywhere, but seldom what "
             "was meant: the first ten by key, not the newest or the cheapest. Say the order, or allow it with `// "
             "allow: limit-without-order`.",
             R"(model shop
entity Product { sku: text key   price: decimal }
query some { select p.sku from Product p limit 10 }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
query some { select p.sku from Product p order by p.price limit 10 }
)"},
    CodeInfo{NeverAbsent, "never-absent", Lint, "asking whether something is absent that never is",
             "`is absent` and `??` ask about something that always has a value, so the answer is known. Perhaps a `?` "
             "is missing in the type, or another field was meant. Drop the question, or make the field optional.",
             R"(model shop
entity Product { sku: text key   name: text }
query unnamed { select p.sku from Product p where p.name is absent }
)",
             R"(model shop
entity Product { sku: text key   name: text? }
query unnamed { select p.sku from Product p where p.name is absent }
)"},
    CodeInfo{BaseInSeveralBlocks, "base-in-several-blocks", Lint, "a base over several blocks",
             "The base of one entity is spread over blocks with different keys, so reading or changing the aggregate "
             "as one takes several blocks. On a store that is atomic over one block such a command costs several "
             "conditional writes. That can pay for a large, seldom read part; if it is meant, allow it with `// "
             "allow: base-in-several-blocks`.",
             R"(model game
value Round { moves: text }
entity Game { id: text key   state: text   rounds: list<Round> }
design pairs {
  collection games of Game g by id { entry ε: state }
  collection rounds of Game g, g.rounds r by g.id, position(r) { entry ε: r.* }
}
)",
             R"(model game
value Round { moves: text }
entity Game { id: text key   state: text   rounds: list<Round> }
design together { collection games of Game g by id { entry ε: state   entry rounds[*] } }
)"},
    CodeInfo{UnusedValue, "unused-value", Lint, "a value type that nothing uses",
             "A value type that no field and no parameter uses stores nothing. It is left over, or a field that "
             "should have it was forgotten. Use it or delete it.",
             R"(model shop
value Address { street: text   city: text }
entity Customer { id: uuid key auto   email: text }
)",
             R"(model shop
value Address { street: text   city: text }
entity Customer { id: uuid key auto   email: text   home: Address }
)"},
    CodeInfo{UnknownAllow, "unknown-allow", Warning, "an `allow` that names no code",
             "A comment `// allow: code` silences a lint on its line, or on the next one when it stands alone. This "
             "one names no code, or the code of an error, which cannot be silenced. Correct the name; `noam explain` "
             "lists all of them.",
             R"(model shop
entity Product { sku: text key   price: decimal }
query some { select p.sku from Product p order by p.price limit 10 }  // allow: limit-without-sense
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
query some { select p.sku from Product p limit 10 }  // allow: limit-without-order
)"},
};

}  // namespace

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "error";
    case Severity::Warning:
      return "warning";
    case Severity::Lint:
      return "lint";
  }
  return "error";
}

std::span<const CodeInfo> all_codes() { return table; }

const CodeInfo& info(DiagnosticCode code) { return table.at(static_cast<std::size_t>(code)); }

std::optional<DiagnosticCode> find_code(std::string_view name) {
  for (const CodeInfo& row : table)
    if (row.name == name) return row.code;
  return std::nullopt;
}

}  // namespace noam::language
