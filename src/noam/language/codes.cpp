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
             "A model is UTF-8 text, including its comments and texts. The bytes at this place are not valid UTF-8. "
             "Usually the file was saved in Latin-1 or a Windows encoding, or it is not a text file. noam stores and "
             "compares texts byte by byte, so it does not guess the encoding. Save the file as UTF-8.",
             "model shop\nentity Product { sku: text key }  // caf\xe9\n",
             R"(model shop
entity Product { sku: text key }  // café
)"},
    CodeInfo{ControlCharacter, "control-character", Error, "a NUL or another control character",
             "A model contains no control characters except line ends and tabs: they are invisible, and several "
             "databases cannot store U+0000 in a text. Inside a text write `\\n`, `\\t` or an escape such as "
             "`\\u{1B}`. Elsewhere delete the character; it often comes from pasted text.",
             "model shop\nentity Product { sku:\x01 text key }\n",
             R"(model shop
entity Product { sku: text key }
)"},
    CodeInfo{UnexpectedCharacter, "unexpected-character", Error, "unexpected character",
             "No name, number, text, operator or bracket begins with this character. A name begins with a letter of "
             "any script and continues with letters, digits and underscores; write any other name in backquotes. Often "
             "the character comes from pasted text: curly quotes and unusual spaces do. Delete it, replace it by its "
             "plain form, or quote the name.",
             R"(model shop
entity Product { sku: text key   unit: text = “piece” }
)",
             R"(model shop
entity Product { sku: text key   unit: text = "piece" }
)"},
    CodeInfo{UnclosedText, "unclosed-text", Error, "missing closing quote of a text",
             "A text begins and ends with a double quote on the same line. This text is still open at the end of its "
             "line. Add the closing quote. Inside a text write a line break as `\\n` and a quote as `\\\"`.",
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
    CodeInfo{InvalidEscape, "invalid-escape", Error, "invalid escape sequence",
             "A text has five escape sequences: `\\\"`, `\\\\`, `\\n`, `\\t` and `\\u{…}` with the hexadecimal number "
             "of a Unicode character other than zero. Any other is an error, so that no backslash is dropped silently. "
             "Write a plain backslash as `\\\\`.",
             R"(model shop
entity Product { sku: text key   folder: text = "new\arrivals" }
)",
             R"(model shop
entity Product { sku: text key   folder: text = "new\\arrivals" }
)"},
    CodeInfo{UnclosedName, "unclosed-name", Error, "missing closing backquote of a name",
             "A name in backquotes ends with a backquote on the same line. Backquotes are for names that would be read "
             "as something else, and for names with spaces or other characters. Add the closing backquote.",
             R"(model shop
entity Product { sku: text key   `from: text }
)",
             R"(model shop
entity Product { sku: text key   `from`: text }
)"},
    CodeInfo{InvalidNumber, "invalid-number", Error, "invalid number",
             "A number consists of decimal digits, with optional underscores between them, and at most one point with "
             "digits on both sides: `1_000`, `0.9`. Hexadecimal numbers, exponents and suffixes do not exist. Write "
             "the number in full.",
             R"(model shop
entity Product ~20k { sku: text key }
)",
             R"(model shop
entity Product ~20_000 { sku: text key }
)"},
    // syntax
    CodeInfo{Syntax, "syntax", Error, "syntax error",
             "The grammar does not allow this text at this place. The message says what was expected and what was "
             "found. Often a colon, a comma or a word is missing just before it. The parser continues at the next safe "
             "place, so one mistake does not hide the others.",
             R"(model shop
entity Product { sku: text key   price: }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
)"},
    CodeInfo{ForeignSyntax, "foreign-syntax", Error, "syntax of another language",
             "Another language writes it like this; noam has its own form for the same thing, and the hint shows it. "
             "Equality is `=`, texts are in double quotes, comments begin with `//`, and a missing value is `absent`. "
             "Only one form is accepted, so that two models with the same meaning look the same.",
             R"(model shop
entity Product { sku: text key   price: decimal }
query product($sku) { select p.price from Product p where p.sku == $sku }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
query product($sku) { select p.price from Product p where p.sku = $sku }
)"},
    CodeInfo{NotInLanguage, "not-in-language", Error, "a feature that noam does not have",
             "Some features are left out on purpose: outer joins, `having`, `union`, recursion, uniqueness beside the "
             "key, user-defined functions. A NoSQL database could not keep what they promise, or noam has a simpler "
             "form; the hint says what to write. For example, write a nested select instead of an outer join: it gives "
             "a list for every row, and the list may be empty.",
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
    CodeInfo{Unclosed, "unclosed", Error, "missing closing bracket",
             "A `{`, `(`, `[` or `<` is opened and never closed. The label shows the opening bracket; the mistake may "
             "be anywhere after it. Add the closing bracket.",
             R"(model shop
entity Product { sku: text key
)",
             R"(model shop
entity Product { sku: text key }
)"},
    CodeInfo{NestedTooDeep, "nested-too-deep", Error, "brackets or operators nested too deeply",
             "The nesting depth of brackets, operators and nested selects is limited, far above what people write. The "
             "limit keeps a damaged or generated file from exhausting the memory. Split the expression, or remove "
             "unneeded brackets.",
             deep,
             R"(model shop
entity Product { sku: text key   stock: int }
query in_stock { select p.sku from Product p where p.stock > 0 }
)"},
    CodeInfo{MissingModel, "missing-model", Error, "the file does not begin with `model name`",
             "A file begins with `model` and the name of the model; only comments may come before it. Designs, stores "
             "and messages refer to the model by this name. Add the line at the top.",
             R"(entity Product { sku: text key }
)",
             R"(model shop
entity Product { sku: text key }
)"},
    CodeInfo{UnknownDeclaration, "unknown-declaration", Error, "unknown declaration",
             "A model consists of `value`, `entity`, `query`, `command`, `group`, `mix` and `design` declarations. "
             "This word begins none of them. It may be misspelled or come from another language, or a bracket was "
             "closed too early, which leaves the rest of a declaration outside it. Correct the word or the bracket.",
             R"(model shop
entty Product { sku: text key }
)",
             R"(model shop
entity Product { sku: text key }
)"},
    CodeInfo{ClauseOrder, "clause-order", Error, "clauses in the wrong order",
             "The clauses of a select have one order: `select`, `from`, `where`, `group by`, `order by`, `limit`. They "
             "are also executed in this order, except for `select`: rows are bound, filtered, grouped, sorted and "
             "limited. Move the clause to its place.",
             R"(model shop
entity Product { sku: text key   price: decimal   stock: int }
query in_stock { select p.sku from Product p order by p.price where p.stock > 0 }
)",
             R"(model shop
entity Product { sku: text key   price: decimal   stock: int }
query in_stock { select p.sku from Product p where p.stock > 0 order by p.price }
)"},
    CodeInfo{
        DuplicateClause, "duplicate-clause", Error, "duplicate clause or modifier",
        "A clause or a modifier is written twice. noam does not guess whether the second one replaces the first or "
        "adds to it. Write it once: join two conditions with `and`, and separate several order terms by commas.",
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
             "Entities and values share one namespace, because both are types. A name belongs to one of them. Rename "
             "one, or merge their fields.",
             R"(model shop
entity Product { sku: text key }
entity Product { id: uuid key auto   title: text }
)",
             R"(model shop
entity Product { sku: text key   title: text }
)"},
    CodeInfo{DuplicateField, "duplicate-field", Error, "a field declared twice",
             "The fields of an entity or value have different names, so that `p.price` is unambiguous. Rename one of "
             "the two, or delete it.",
             R"(model shop
entity Product { sku: text key   price: decimal   price: float }
)",
             R"(model shop
entity Product { sku: text key   price: decimal   weight: float }
)"},
    CodeInfo{DuplicateInverse, "duplicate-inverse", Error, "an inverse whose name is already taken",
             "`inverse` names the way back from the referenced entity. The name is in the same namespace as the fields "
             "of that entity, so that `c.orders` is unambiguous. Here a field, or the inverse of another role, already "
             "has the name. Rename one of them.",
             R"(model shop
entity Customer { id: uuid key auto   email: text }
entity Order { id: uuid key auto   customer: Customer inverse orders   payer: Customer inverse orders }
)",
             R"(model shop
entity Customer { id: uuid key auto   email: text }
entity Order { id: uuid key auto   customer: Customer inverse orders   payer: Customer inverse paid_orders }
)"},
    CodeInfo{DuplicateStatement, "duplicate-statement", Error, "a query, command or group declared twice",
             "Queries, commands and groups share one namespace, because mixes and programs refer to them by name only. "
             "Rename one of them.",
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
    CodeInfo{DuplicateMix, "duplicate-mix", Error, "a mix declared twice",
             "A mix is selected by its name, so the names of mixes must be different. Rename one. If the second only "
             "changes some weights of the first, write `mix second like first { … }`.",
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
    CodeInfo{DuplicateDesign, "duplicate-design", Error, "a design declared twice",
             "A design is selected by its name, so the names of designs must be different. Rename one of them, or "
             "merge their collections.",
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
    CodeInfo{DuplicateCollection, "duplicate-collection", Error, "a collection declared twice in a design",
             "The name of a collection becomes the name of a table or collection in the database, so two collections "
             "of a design cannot share it. Rename one, or move its families to the other: families with the same block "
             "key can be in one collection.",
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
    CodeInfo{DuplicateVariable, "duplicate-variable", Error, "a variable declared twice",
             "A variable has one meaning in its whole scope. A nested select sees the variables around it, so it "
             "cannot declare them again. Use another name.",
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
             "A parameter is declared once, in the parentheses, and can be used several times in the body. Delete the "
             "second declaration, or rename it if you need another value.",
             R"(model shop
entity Product { sku: text key   price: decimal }
query between($price, $price) { select p.sku from Product p where p.price between $price and $price }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
query between($low, $high) { select p.sku from Product p where p.price between $low and $high }
)"},
    CodeInfo{DuplicateColumn, "duplicate-column", Error, "two columns with the same name",
             "The rows of an answer are objects with named columns, so the names of the columns must be different. A "
             "column without `as` is named after the last part of its path: `p.name` and `c.name` are both called "
             "`name`. Rename one with `as`.",
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
    CodeInfo{DuplicateModel, "duplicate-model", Error, "two files that declare the same model",
             "Two of the files given in one call begin with the same model name. Each file is a complete model; a "
             "model cannot be split into several files. Rename one of the models, or leave out one file. (The example "
             "shows one file; the error appears when a second file also begins with `model shop`.)",
             R"(model shop
entity Product { sku: text key }
)",
             R"(model shop
entity Product { sku: text key }
)"},
    CodeInfo{UnknownType, "unknown-type", Error, "unknown type",
             "The type of a field is a scalar (bool, int, float, decimal, text, bytes, timestamp, date, uuid, "
             "timeuuid, inet, json), an enumeration of texts, a list, set or map, or the name of an entity or value of "
             "this model. This name is none of these. Correct it, or declare the entity or value.",
             R"(model shop
entity Product { sku: text key   price: money }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
)"},
    CodeInfo{UnknownEntity, "unknown-entity", Error, "unknown entity",
             "The model does not declare an entity with this name. Names are case-sensitive. Correct the name, or "
             "declare the entity.",
             R"(model shop
entity Product { sku: text key }
command add($sku) { insert Item { sku: $sku } }
)",
             R"(model shop
entity Product { sku: text key }
command add($sku) { insert Product { sku: $sku } }
)"},
    CodeInfo{
        UnknownField, "unknown-field", Error, "unknown field",
        "The entity or value has no field and no inverse with this name. The message suggests the most similar one. An "
        "inverse exists only if a reference declares it with `inverse`. Correct the name, or declare the field.",
        R"(model shop
entity Product { sku: text key   price: decimal }
query price($sku) { select p.prize from Product p where p.sku = $sku }
)",
        R"(model shop
entity Product { sku: text key   price: decimal }
query price($sku) { select p.price from Product p where p.sku = $sku }
)"},
    CodeInfo{UnknownName, "unknown-name", Error, "unknown name",
             "A bare name in an expression is a variable, declared in `from`, by `insert … as` or by a bulk change; in "
             "`order by` it can also be a column. Bare field names are allowed only where they are unambiguous: in the "
             "`require` of an entity, in the braces of an `update`, and in a design. In a query write the variable "
             "before the field.",
             R"(model shop
entity Product { sku: text key   price: decimal }
query cheap { select p.sku from Product p where price < 10 }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
query cheap { select p.sku from Product p where p.price < 10 }
)"},
    CodeInfo{UnknownParameter, "unknown-parameter", Error, "undeclared parameter",
             "Every `$name` in a body must be declared in the parentheses after the name of the statement, or by "
             "`for`. One line then shows everything that a caller must pass. Declare it, or correct the name.",
             R"(model shop
entity Product { sku: text key   price: decimal }
query product { select p.price from Product p where p.sku = $sku }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
query product($sku) { select p.price from Product p where p.sku = $sku }
)"},
    CodeInfo{UnusedParameter, "unused-parameter", Error, "unused parameter",
             "A parameter is declared but not used. Usually a condition or a field was forgotten, and callers would "
             "pass a value without effect. Use the parameter, or delete it.",
             R"(model shop
entity Product { sku: text key   price: decimal }
command add($sku, $price, $stock) { insert Product { sku: $sku, price: $price } }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
command add($sku, $price) { insert Product { sku: $sku, price: $price } }
)"},
    CodeInfo{UnknownStatement, "unknown-statement", Error, "unknown statement or group",
             "A mix gives weights to queries, commands and groups; a group lists queries and commands. The model "
             "declares none of them with this name. Correct the name, or declare the statement.",
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
    CodeInfo{UnknownMix, "unknown-mix", Error, "unknown mix",
             "`mix b like a` takes the weights of the mix `a` and changes some of them. The model has no mix with this "
             "name. Correct the name, or declare the mix.",
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
    CodeInfo{UnknownFunction, "unknown-function", Error, "unknown function",
             "The functions are `minute hour day week month year now uuid random_text greatest least position key`, "
             "the folds `count sum min max avg`, and in designs `words`, `references` and `shard`. User-defined "
             "functions do not exist: a design must be able to maintain what a query asks, and every store must "
             "compute the same value. Compute the value in the application and store it in a field.",
             R"(model shop
entity Customer { id: uuid key auto   email: text }
query by_email($e) { select c.id from Customer c where lowercase(c.email) = $e }
)",
             R"(model shop
entity Customer { id: uuid key auto   email: text   email_lower: text }
query by_email($e) { select c.id from Customer c where c.email_lower = $e }
)"},
    CodeInfo{UnknownSource, "unknown-source", Error, "invalid source in `from`",
             "A source is an entity, a path that starts at a variable or at `Entity[key]`, or a refreshed query; in a "
             "design also `words(…)` or `references(…)`. This is none of them. For example, values exist only inside "
             "their entity and are reached through it, and a scalar has no elements. Start from the entity, and "
             "continue with a path.",
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
    CodeInfo{UnknownStrategy, "unknown-strategy", Error, "unknown strategy",
             "`rest` names the strategy that places what a design leaves out: `eao` (one entry per aggregate), `etf` "
             "(one per top-level field), `normalized` (a collection per entity, with key-only access paths) or "
             "`advised` (chosen by cost). Write one of these, or leave out `rest`; the default is `eao`.",
             R"(model shop
entity Product { sku: text key   price: decimal }
design plain { rest simple }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
design plain { rest eao }
)"},
    CodeInfo{
        UnknownTarget, "unknown-target", Error, "unknown target database",
        "`for` restricts a design to certain databases, and `with` gives options of a collection for one of them. The "
        "databases are cassandra, mongodb, dynamodb, hbase, redis, oracle-nosql and couchbase; the embedded store "
        "accepts every design and has no name here. Correct the name, or leave out `for` to allow all databases.",
        R"(model shop
entity Product { sku: text key   price: decimal }
design plain for postgres { rest eao }
)",
        R"(model shop
entity Product { sku: text key   price: decimal }
design plain for cassandra { rest eao }
)"},
    // data
    CodeInfo{KeyType, "key-type", Error, "a type that cannot be part of a key",
             "Keys are looked up by equality and stored in order, so their parts are scalars with exact equality, or "
             "references. Not allowed are float (its equality is unreliable), json, values, collections, and optional "
             "fields, because no database finds a row by a missing key. Choose another field; for numbers use decimal "
             "or int.",
             R"(model shop
entity Shelf { height: float key   room: text }
)",
             R"(model shop
entity Shelf { height: decimal key   room: text }
)"},
    CodeInfo{SeveralKeys, "several-keys", Error, "more than one key",
             "An entity has one key: either one field marked `key`, or one clause `key (a, b)` for a compound key. "
             "This entity has more. Write the clause for a compound key. If a second field must be unique, make it the "
             "key of another entity.",
             R"(model shop
entity Stock { shop: text key   product: text key   amount: int }
)",
             R"(model shop
entity Stock { shop: text   product: text   amount: int   key (shop, product) }
)"},
    CodeInfo{AutoKey, "auto-key", Error, "`auto` on a field that noam cannot generate",
             "With `auto` noam generates the key when an instance is inserted. It generates uuids and timeuuids, and "
             "only as the whole key, because these need no look at existing instances on any database. Pass other keys "
             "yourself, or use uuid or timeuuid. An insert can generate a random text with `random_text(8)`.",
             R"(model shop
entity Order { number: int key auto   placed: timestamp }
)",
             R"(model shop
entity Order { number: uuid key auto   placed: timestamp }
)"},
    CodeInfo{KeyCycle, "key-cycle", Error, "keys that contain each other",
             "A reference holds the key of the entity that it refers to, so a key with a reference contains the other "
             "key. Here the keys contain each other in a cycle, so they would be infinite. Give one of the entities a "
             "key of its own.",
             R"(model shop
entity Shop { manager: Person key }
entity Person { shop: Shop key }
)",
             R"(model shop
entity Shop { manager: Person key }
entity Person { id: uuid key auto   shop: Shop }
)"},
    CodeInfo{ValueCycle, "value-cycle", Error, "values that contain each other",
             "A value is stored inside the aggregate that holds it, so a value that contains itself, directly or "
             "through others, would be infinite. Make one of them an entity: entities are referenced, not contained. "
             "For example, for comments that answer comments write an entity with a reference to its parent.",
             R"(model shop
value Part { name: text   parts: list<Part> }
entity Product { sku: text key   parts: list<Part> }
)",
             R"(model shop
entity Product { sku: text key   parts: list<Product> inverse part_of }
)"},
    CodeInfo{OptionalCollection, "optional-collection", Error, "a collection marked as optional",
             "A list, set or map can be empty, but never absent: Cassandra, among others, cannot distinguish an empty "
             "set from a missing one, and every store must give the same answer. Remove the `?`. To distinguish "
             "\"none\" from \"not known\", add a field for it.",
             R"(model shop
entity Product { sku: text key   tags: set<text>? }
)",
             R"(model shop
entity Product { sku: text key   tags: set<text> }
)"},
    CodeInfo{ElementType, "element-type", Error, "invalid element type of a collection",
             "Elements of lists and values of maps are scalars, references or values. Elements of sets and keys of "
             "maps are scalars or references, but not float or json, because they are found by equality. None of them "
             "is a collection or optional. Put an inner collection into a value; use decimal for numbers that are "
             "compared for equality.",
             R"(model shop
entity Product { sku: text key   sizes: list<list<int>> }
)",
             R"(model shop
value Sizes { region: text   numbers: list<int> }
entity Product { sku: text key   sizes: list<Sizes> }
)"},
    CodeInfo{LengthType, "length-type", Error, "a length on a type without a length",
             "A length limits text in code points, `text(8)`, and bytes in bytes, `bytes(8)`. With `~` it is the "
             "average length, `text(~80)`, which is also allowed for json. Other types have a fixed size. The size of "
             "a collection is a statistic after its type: `list<Line> ~4`. Remove the length.",
             R"(model shop
entity Product { sku: text(20) key   stock: int(8) }
)",
             R"(model shop
entity Product { sku: text(20) key   stock: int }
)"},
    CodeInfo{Enumeration, "enumeration", Error, "invalid enumeration",
             "An enumeration lists the texts that a field may hold. Each is listed once, and none is empty. This text "
             "is empty or listed before. Delete it; to allow a missing value, write `(\"open\" | \"paid\")?`.",
             R"(model shop
entity Order { id: uuid key auto   status: "open" | "paid" | "open" }
)",
             R"(model shop
entity Order { id: uuid key auto   status: "open" | "paid" | "shipped" }
)"},
    CodeInfo{InverseType, "inverse-type", Error, "`inverse` on a field that is not a reference of an entity",
             "`inverse` names the opposite direction of a relationship. It belongs to a field of an entity that is a "
             "reference "
             "or a collection of references. A scalar refers to nothing, and a value cannot be referred to because it "
             "has no key. "
             "Remove `inverse`, or move the reference to the entity.",
             R"(model shop
entity Product { sku: text key   category: text inverse products }
)",
             R"(model shop
entity Category { slug: text key }
entity Product { sku: text key   category: Category inverse products }
)"},
    CodeInfo{SymmetricType, "symmetric-type", Error, "a symmetric role that is not a set",
             "A role that is its own inverse, such as `friends: set<User> inverse friends`, declares a relationship "
             "that holds in both directions. It must be a set of references to its own entity: each friend once, "
             "without an order. Make it a set, or give the inverse another name.",
             R"(model shop
entity Product { sku: text key   goes_with: list<Product> inverse goes_with }
)",
             R"(model shop
entity Product { sku: text key   goes_with: set<Product> inverse goes_with }
)"},
    CodeInfo{OwnerType, "owner-type", Error, "`owner` on a field that is not a reference",
             "`owner` declares that an instance exists only as long as another one. It belongs to a field of an entity "
             "that refers to exactly one entity. A scalar or a collection of references cannot be an owner. Remove "
             "`owner`, or make the field a single reference.",
             R"(model shop
entity Order { id: uuid key auto   placed: timestamp }
entity Parcel { id: uuid key auto   orders: set<Order> owner inverse parcels }
)",
             R"(model shop
entity Order { id: uuid key auto   placed: timestamp }
entity Parcel { id: uuid key auto   order: Order owner inverse parcels }
)"},
    CodeInfo{OwnerOptional, "owner-optional", Error, "an optional owner of another entity",
             "A part always has its owner: it can be inserted only if the owner exists, and it is deleted with the "
             "owner. An owner may be optional only if it is of the same entity, as in a tree of comments; an absent "
             "owner then marks a root. Remove the `?`, or remove `owner` if the part can exist alone.",
             R"(model shop
entity Order { id: uuid key auto   placed: timestamp }
entity Parcel { id: uuid key auto   order: Order? owner inverse parcels }
)",
             R"(model shop
entity Order { id: uuid key auto   placed: timestamp }
entity Parcel { id: uuid key auto   order: Order owner inverse parcels }
)"},
    CodeInfo{Ttl, "ttl", Error, "invalid ttl",
             "`ttl 90 days from at` deletes an instance 90 days after the time in its field `at`; without `from`, 90 "
             "days after its insertion. The period must be greater than zero, and the field must be a timestamp or a "
             "date of the entity itself. An entity has at most one ttl.",
             R"(model shop
entity Cart { id: uuid key auto   owner: text   ttl 30 days from owner }
)",
             R"(model shop
entity Cart { id: uuid key auto   owner: text   touched: timestamp   ttl 30 days from touched }
)"},
    CodeInfo{
        TransientEntity, "transient-entity", Error, "`ttl` or `require` in a transient entity",
        "The instances of a transient entity are events: they are counted and folded on arrival, and not stored. So "
        "there is nothing that `ttl` could delete later, and no later state that `require` could check. Remove these "
        "clauses and put the condition into the command that inserts, or remove `transient` to store the instances.",
        R"(model shop
entity Product { sku: text key }
entity View transient { product: Product owner inverse views   at: timestamp   ttl 90 days from at }
)",
        R"(model shop
entity Product { sku: text key }
entity View transient { product: Product owner inverse views   at: timestamp }
)"},
    CodeInfo{DefaultValue, "default-value", Error, "invalid default",
             "A default is a literal of the type of the field, or an empty collection. It is stored if an insert does "
             "not give the field. It is not computed, and a key has no default, because two instances would share it. "
             "For the time of the insert write `now()` in the insert itself.",
             R"(model shop
entity Order { id: uuid key auto   placed: timestamp = now() }
)",
             R"(model shop
entity Order { id: uuid key auto   placed: timestamp }
command place { insert Order { placed: now() } }
)"},
    CodeInfo{EntityRequire, "entity-require", Error, "`require` in an entity reads other data than its own",
             "A `require` in an entity holds after every command that changes the aggregate. It is checked with only "
             "this aggregate at hand, so it reads only its own fields and has no nested select. Data behind a "
             "reference can change without this aggregate, and the condition would not be checked again. Put the "
             "condition into the commands, as their `require`.",
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
    CodeInfo{StatisticValue, "statistic-value", Error, "invalid statistic",
             "Statistics describe the amount of data: `~n` is a number of instances or elements, `distinct ~n` the "
             "number of different values, `skew zipf(s)` how unevenly they are distributed. They do not change "
             "answers, only the choice of a design, and an impossible figure would mislead it. Correct the figure, or "
             "leave it out if you do not know it.",
             R"(model shop
entity Product { sku: text key   brand: text distinct ~0 }
)",
             R"(model shop
entity Product { sku: text key   brand: text distinct ~300 }
)"},
    // expressions
    CodeInfo{TypeMismatch, "type-mismatch", Error, "type mismatch",
             "A value has another type than the one required at its place. noam converts only without loss: int "
             "literals widen, and an int beside a decimal becomes a decimal. It does not convert between texts and "
             "numbers. Give a value of the right type, or change the type of the field.",
             R"(model shop
entity Product { sku: text key   stock: int }
command add($sku) { insert Product { sku: $sku, stock: "many" } }
)",
             R"(model shop
entity Product { sku: text key   stock: int }
command add($sku) { insert Product { sku: $sku, stock: 100 } }
)"},
    CodeInfo{NotComparable, "not-comparable", Error, "operands that cannot be compared",
             "`=` compares scalars, references and values of the same type. Collections and json have no equality that "
             "all databases share, and different types are never equal. Compare a part, test with `contains` whether "
             "an element is in a collection, or compare `count(…)`.",
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
             "bytes, bool, times, uuids, addresses and references (ordered by their keys). Values, collections and "
             "json have none. Use a field inside it instead.",
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
    CodeInfo{NotPredicate, "not-predicate", Error, "a condition that is not a bool",
             "`where`, `require`, `and`, `or` and `not` need a condition that is true or false: a comparison, `is "
             "absent`, or a bool. Numbers and texts are not conditions. Write a comparison: `p.stock > 0`.",
             R"(model shop
entity Product { sku: text key   stock: int }
query available { select p.sku from Product p where p.stock }
)",
             R"(model shop
entity Product { sku: text key   stock: int }
query available { select p.sku from Product p where p.stock > 0 }
)"},
    CodeInfo{NumberRange, "number-range", Error, "a number outside the range of its type",
             "An int has 64 bits with a sign, a decimal at most 34 significant digits with a last digit between "
             "10^-100 and 10^100, and a float is a finite double. All databases can store these ranges. This number is "
             "outside. Use another type, or a text if it is an identifier made of digits.",
             R"(model shop
entity Product { sku: text key   serial: int = 9_999_999_999_999_999_999 }
)",
             R"(model shop
entity Product { sku: text key   serial: decimal = 9_999_999_999_999_999_999 }
)"},
    CodeInfo{InvalidLiteral, "invalid-literal", Error, "invalid typed literal",
             "A typed literal is a type and a text: `timestamp \"2026-01-01T00:00:00Z\"`, `date \"2026-01-01\"`, `uuid "
             "\"…\"`, `inet \"192.0.2.1\"`, `bytes \"bm9hbQ==\"` (base64). This text is not valid for the type. A "
             "timestamp has at most milliseconds; a finer one is an error and is not rounded. Correct the text.",
             R"(model shop
entity Order { id: uuid key auto   placed: timestamp }
query this_year { select o.id from Order o where o.placed >= timestamp "New Year" }
)",
             R"(model shop
entity Order { id: uuid key auto   placed: timestamp }
query this_year { select o.id from Order o where o.placed >= timestamp "2026-01-01T00:00:00Z" }
)"},
    CodeInfo{EnumerationText, "enumeration-text", Error, "a text that is not in the enumeration",
             "The field is an enumeration, and this text is not in its list. The comparison would always be false, and "
             "the assignment would always be refused. The message suggests the most similar text. Correct the text, or "
             "add it to the enumeration.",
             R"(model shop
entity Order { id: uuid key auto   status: "open" | "paid" }
query paid { select o.id from Order o where o.status = "payed" }
)",
             R"(model shop
entity Order { id: uuid key auto   status: "open" | "paid" }
query paid { select o.id from Order o where o.status = "paid" }
)"},
    CodeInfo{AbsentMisuse, "absent-misuse", Error, "`absent` cannot be used here",
             "`absent` is not a value but the lack of one. A comparison with it would always be false; use `is absent` "
             "or `is not absent`. Only an optional field can be set to it. Write `is absent`, give a value, or make "
             "the field optional with `?`.",
             R"(model shop
entity Order { id: uuid key auto   note: text? }
query without_note { select o.id from Order o where o.note = absent }
)",
             R"(model shop
entity Order { id: uuid key auto   note: text? }
query without_note { select o.id from Order o where o.note is absent }
)"},
    CodeInfo{DurationMisuse, "duration-misuse", Error, "a duration cannot be used here",
             "A duration, such as `7 days`, can be added to or subtracted from a timestamp (or, in whole days and "
             "weeks, a date), and is used in `ttl` and `refresh every`. It is not a value: it cannot be stored, "
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
             "`contains all` and `contains any` search for words, so both operands are texts; the right one is split "
             "into words by the same rule. For a set, list or map test one element with `contains`, and join several "
             "tests with `and` or `or`.",
             R"(model shop
entity Product { sku: text key   tags: set<text> }
query tagged($tags) { select p.sku from Product p where p.tags contains all $tags }
)",
             R"(model shop
entity Product { sku: text key   tags: set<text> }
query tagged($a, $b) { select p.sku from Product p where p.tags contains $a and p.tags contains $b }
)"},
    CodeInfo{ParameterConflict, "parameter-conflict", Error, "a parameter used with two different types",
             "A parameter gets its type from its uses. Two uses need types that no single value has. Use two "
             "parameters, or declare the type and correct the other use.",
             R"(model shop
entity Product { sku: text key   stock: int }
query product($x) { select p from Product p where p.sku = $x or p.stock = $x }
)",
             R"(model shop
entity Product { sku: text key   stock: int }
query product($sku, $stock) { select p from Product p where p.sku = $sku or p.stock = $stock }
)"},
    CodeInfo{ParameterType, "parameter-type", Error, "the type of a parameter is unknown",
             "No use of this parameter determines its type, so noam could not check the value of a caller. Declare the "
             "type: `$at: timestamp`, `$lines: list<Line>`.",
             R"(model shop
entity Product { sku: text key   price: decimal }
query priced($label) { select p.sku, $label as label from Product p }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
query priced($label: text) { select p.sku, $label as label from Product p }
)"},
    CodeInfo{
        WrongArguments, "wrong-arguments", Error, "wrong arguments of a function",
        "The number or the types of the arguments are wrong. `hour` takes one time, `now` and `uuid` nothing, "
        "`random_text` a length, `greatest` and `least` two or more comparable values, `position` the variable of a "
        "list element, `key` the variable of a map entry, `shard` an expression and a number, `words` a text, "
        "`references` a role to many of the first entity of the collection. The message says what the function takes.",
        R"(model shop
entity Order { id: uuid key auto   placed: timestamp }
query hours { select o.id, hour(o.placed, 2) as hour from Order o }
)",
        R"(model shop
entity Order { id: uuid key auto   placed: timestamp }
query hours { select o.id, hour(o.placed) as hour from Order o }
)"},
    CodeInfo{
        FunctionMisplaced, "function-misplaced", Error, "a function cannot be used here",
        "The function exists, but not at this place. `uuid()` and `random_text(…)` are for commands; they are computed "
        "from the command id, so that a repeated command gives the same result. `shard`, `words` and `references` are "
        "for designs, the latter two only as sources. The message says where the function is allowed.",
        R"(model shop
entity Product { sku: text key   price: decimal }
query sample { select p.sku, random_text(8) as token from Product p }
)",
        R"(model shop
entity Product { sku: text key   price: decimal }
query sample { select p.sku from Product p }
command add($price) { insert Product { sku: random_text(8), price: $price } }
)"},
    CodeInfo{EntityMisuse, "entity-misuse", Error, "an entity name used as a value",
             "The name of an entity means all its instances, so it is not a value. Add the key, `Customer[$id]`, or "
             "bind a variable in `from` and use it.",
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
    CodeInfo{PathStep, "path-step", Error, "invalid step in a path",
             "A path in an expression leads to one value: each step but the last is a value or a reference to one "
             "entity. This path continues after a collection or an inverse, which has many elements, or after a "
             "scalar, which has no fields. Bind the elements in `from` (`c.orders o`) and continue from that variable, "
             "or fold them. In a design, a path from a variable over `references(…)` leads only to the parts of the "
             "key, because the target may not exist.",
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
    CodeInfo{IndexMisuse, "index-misuse", Error, "invalid index",
             "`x[…]` takes a position of a list, a key of a map, or, after the name of an entity, as many keys as the "
             "key of the entity has parts. A set has no positions, and a scalar has no elements. Test a set with "
             "`contains`, and give the parts of a compound key in the order of their declaration.",
             R"(model shop
entity Product { sku: text key   tags: set<text> }
query first_tag($sku) { select p.tags[0] as tag from Product p where p.sku = $sku }
)",
             R"(model shop
entity Product { sku: text key   tags: list<text> }
query first_tag($sku) { select p.tags[0] as tag from Product p where p.sku = $sku }
)"},
    // queries
    CodeInfo{FoldMisplaced, "fold-misplaced", Error, "a fold cannot be used here",
             "A fold (count, sum, min, max, avg) is computed over rows after `where` has filtered them, so it is "
             "allowed in `select` and `order by`. In `where` and `group by` there are no rows yet, and a fold inside a "
             "fold has no meaning. To keep only some groups, order them and add a `limit`, or filter by a nested "
             "select: `where (select count(*) from c.orders o) > 3`.",
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
    CodeInfo{FoldMix, "fold-mix", Error, "folds and plain columns without `group by`",
             "A fold without `group by` gives one row in total; a plain column gives one per row. One answer cannot "
             "have both. Add `group by` with the plain columns, or replace the fold by a value of the row, such as "
             "`count(c.orders)`.",
             R"(model shop
entity Product { sku: text key   category: text   price: decimal }
query dearest { select p.category, max(p.price) as price from Product p }
)",
             R"(model shop
entity Product { sku: text key   category: text   price: decimal }
query dearest { select p.category, max(p.price) as price from Product p group by p.category }
)"},
    CodeInfo{
        NotGrouped, "not-grouped", Error, "a column that the groups do not determine",
        "With `group by`, a column is a fold, one of the grouped expressions, or an expression that they determine: "
        "grouping by a variable, or by all parts of its key, determines its fields. This column may differ within a "
        "group, and stores would pick different values. Add it to `group by`, or fold it with min or max.",
        R"(model shop
entity Product { sku: text key   category: text   brand: text }
query brands { select p.category, p.brand, count(*) as n from Product p group by p.category }
)",
        R"(model shop
entity Product { sku: text key   category: text   brand: text }
query brands { select p.category, p.brand, count(*) as n from Product p group by p.category, p.brand }
)"},
    CodeInfo{CountToOne, "count-to-one", Error, "counting a single reference",
             "`count(x)` of a collection or of a role to many is the number of its elements, which is a value of the "
             "row. A single reference is either set or absent, so its count would look like a value of the row but be "
             "a fold. Use `is absent`, or count rows with `count(*)`.",
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
    CodeInfo{DistinctType, "distinct-type", Error, "`distinct` on a type that cannot be compared",
             "`select distinct` and `count(distinct …)` take scalars and references, which every store can compare and "
             "use as keys. Aggregates, values, collections and json are not allowed. Select the key, or single fields.",
             R"(model shop
entity Product { sku: text key   tags: set<text> }
query tag_sets { select distinct p.tags from Product p }
)",
             R"(model shop
entity Product { sku: text key   tags: set<text> }
query tags { select distinct t from Product p, p.tags t }
)"},
    CodeInfo{OrderOfDistinct, "order-of-distinct", Error, "distinct rows ordered by something that is not selected",
             "`select distinct` merges several rows into one, and these may differ in everything that is not selected. "
             "So distinct rows can be ordered only by selected columns. Select the column too, or group: `group by "
             "p.brand order by max(p.price)`.",
             R"(model shop
entity Product { sku: text key   brand: text   price: decimal }
query brands { select distinct p.brand from Product p order by p.price }
)",
             R"(model shop
entity Product { sku: text key   brand: text   price: decimal }
query brands { select distinct p.brand from Product p order by p.brand }
)"},
    CodeInfo{ColumnName, "column-name", Error, "a column without a name",
             "A column is named after the last part of its path, or after its function or fold. Arithmetic, literals "
             "and nested selects have no such name, but every column of a row needs one. Add `as` and a name.",
             R"(model shop
entity Product { sku: text key   price: decimal   stock: int }
query worth { select p.sku, p.price * p.stock from Product p }
)",
             R"(model shop
entity Product { sku: text key   price: decimal   stock: int }
query worth { select p.sku, p.price * p.stock as worth from Product p }
)"},
    CodeInfo{LimitValue, "limit-value", Error, "invalid limit",
             "A limit is a whole number from 0 up, or a parameter with such a value. It is the same for the whole "
             "query, so it cannot depend on a row. Write a number or a parameter.",
             R"(model shop
entity Product { sku: text key   price: decimal }
query cheapest { select p.sku from Product p order by p.price limit -5 }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
query cheapest { select p.sku from Product p order by p.price limit 5 }
)"},
    CodeInfo{MissingVariable, "missing-variable", Error, "a source without a variable",
             "Every source in `from` needs a variable, and fields are written with it. A name in the query is then "
             "never a field by accident, and a field added to the model later does not change the meaning of a query. "
             "Add a variable after the source.",
             R"(model shop
entity Product { sku: text key   price: decimal }
query how_many { select count(*) as n from Product }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
query how_many { select count(*) as n from Product p }
)"},
    CodeInfo{NestedSelect, "nested-select", Error, "a nested select cannot be used here",
             "A nested select is a column: a list of rows; with the literal `limit 1` a single row; with one column "
             "made of folds a single value. Only a single value can be compared or used in a calculation, and `in` "
             "takes a list or a set, not rows. Bind the path in `from`, or fold the nested rows to one value, such as "
             "`(select count(*) from …) > 0`.",
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
             "A refreshed query is executed periodically and its rows are stored. Nobody can pass parameters to it, "
             "and all readers get the same rows. Remove the parameters, so that it stores the rows for all of them, "
             "and filter in a second query that reads it.",
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
    CodeInfo{RefreshCycle, "refresh-cycle", Error, "refreshed queries that read each other",
             "A refreshed query reads itself, directly or through others, so no order of refreshing gives each the "
             "rows that it needs. Break the cycle: let one of them read the entities.",
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
    CodeInfo{RefreshPeriod, "refresh-period", Error, "invalid refresh period or count",
             "`refresh every` takes a duration greater than zero, and `keep` a number of refreshes from 1 up. The last "
             "answer is always stored; older ones can be read through `history`. Write how old the answer may become, "
             "and how many answers to keep; the default is one.",
             R"(model shop
entity Product { sku: text key   stock: int }
query low refresh every 10 minutes keep 0 { select p.sku from Product p where p.stock < 10 }
)",
             R"(model shop
entity Product { sku: text key   stock: int }
query low refresh every 10 minutes { select p.sku from Product p where p.stock < 10 }
)"},
    CodeInfo{NotRefreshed, "not-refreshed", Error, "a query that is not refreshed used as a source",
             "A query can be a source only if its rows are stored, that is, if it is refreshed; `history` needs the "
             "same. Other queries are not views. Write the path and the conditions in the query that needs them, or "
             "add `refresh every …` if an older answer is acceptable.",
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
    CodeInfo{WithoutMisuse, "without-misuse", Error, "`without` cannot be used here",
             "`select p without reviews` gives the whole aggregate except the named fields. It follows a variable of "
             "an entity and names own fields of that entity, not inverses, which are not part of the aggregate. In "
             "other cases list the columns that you want.",
             R"(model shop
entity Product { sku: text key   name: text   reviews: list<text> }
query product($sku) { select p.name without reviews from Product p where p.sku = $sku }
)",
             R"(model shop
entity Product { sku: text key   name: text   reviews: list<text> }
query product($sku) { select p without reviews from Product p where p.sku = $sku }
)"},
    CodeInfo{TransientQuery, "transient-query", Error, "a query that needs the instances of a transient entity",
             "The instances of a transient entity are not stored. Only folds over them are, grouped by their own "
             "fields, by time functions of these and by references, and filtered by equality or ranges on the grouped "
             "expressions. This query needs the instances themselves. Use a fold, or remove `transient` and accept the "
             "cost of storing every event.",
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
    CodeInfo{MissingField, "missing-field", Error, "missing required field",
             "`insert`, `put` and a written value must give every field that is neither optional nor has a default; "
             "collections start empty. Without it the instance would be invalid, and every call would be refused. Give "
             "the field, declare a default, or make it optional.",
             R"(model shop
entity Product { sku: text key   name: text   price: decimal }
command add($sku, $name) { insert Product { sku: $sku, name: $name } }
)",
             R"(model shop
entity Product { sku: text key   name: text   price: decimal }
command add($sku, $name, $price) { insert Product { sku: $sku, name: $name, price: $price } }
)"},
    CodeInfo{KeyUpdate, "key-update", Error, "a command updates a key",
             "A key never changes: it determines where the aggregate is stored in every database, and every reference "
             "holds it. Insert an instance with the new key and delete the old one, or use a generated key and store "
             "what may change in another field.",
             R"(model shop
entity Product { sku: text key   name: text }
command rename($sku, $new) { update Product[$sku] { sku: $new } }
)",
             R"(model shop
entity Product { sku: text key   name: text }
command rename($sku, $name) { update Product[$sku] { name: $name } }
)"},
    CodeInfo{OverlappingTargets, "overlapping-targets", Error, "overlapping targets of an update",
             "All values of an update are computed from the state before it, and its targets are set at once. If two "
             "targets are the same, or one is inside the other, the result is ambiguous. Write each target once, or "
             "write two updates.",
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
    CodeInfo{
        ChangeTarget, "change-target", Error, "a target that cannot be changed",
        "A command changes the own fields of an aggregate that it names by key: `Product[$sku]`, or a variable of an "
        "insert. An inverse, a field of a referenced entity and a row of a refreshed query are stored elsewhere. "
        "Change the data at its place: to move an order to another customer, set the `customer` of the order.",
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
             "Each kind of collection has its own changes: `append` for lists, `add` for sets, `put … into` and "
             "`remove key` for maps, `remove x` for lists and sets, `remove p[$i]` for positions of lists. The change "
             "defines what happens to order and duplicates. Use the one for this collection.",
             R"(model shop
entity Product { sku: text key   tags: set<text> }
command tag($sku, $tag) { append $tag to Product[$sku].tags }
)",
             R"(model shop
entity Product { sku: text key   tags: set<text> }
command tag($sku, $tag) { add $tag to Product[$sku].tags }
)"},
    CodeInfo{ThenMisuse, "then-misuse", Error, "`then` cannot be used here",
             "`then` before a change means: if the instance does not exist, skip the change and continue. This is "
             "possible for `update`, `delete` and changes of collections. `insert` and `put` create the instance, "
             "`require` is a condition, and `for` has no instance of its own. Remove `then`.",
             R"(model shop
entity Product { sku: text key   stock: int }
command add($sku) { then insert Product { sku: $sku, stock: 0 } }
)",
             R"(model shop
entity Product { sku: text key   stock: int }
command add($sku) { insert Product { sku: $sku, stock: 0 } }
)"},
    CodeInfo{BulkAlone, "bulk-alone", Error, "a bulk change that is not the only change",
             "A bulk change (`update … where`, `delete … where`) changes any number of instances, each in a step of "
             "its own, so it cannot be atomic together with other changes. It must be the only change of its command, "
             "not inside `for` and not after `then`. Write two commands.",
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
    CodeInfo{BulkPredicate, "bulk-predicate", Error, "a bulk condition reads other data than the instance",
             "The condition of a bulk change reads only the own fields of the instance: it is checked again for each "
             "instance when it is changed, with only that aggregate at hand. Store the needed data in a field, or "
             "query for the keys and run a command for each.",
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
    CodeInfo{
        TransientChange, "transient-change", Error, "a change of a transient instance",
        "An instance of a transient entity is an event: it is inserted, folded and not stored, so it cannot be "
        "updated, put or deleted. Insert another event, or remove `transient`. Deleting the owner deletes its folds.",
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
    CodeInfo{LoopSource, "loop-source", Error, "`for` over something that is not a list or set",
             "`for` iterates over a list, or over a set in its order, from a parameter or from an aggregate; at most "
             "1,000 elements. This is not a list or a set. Pass a list. Change the entries of a map with `put … into` "
             "and `remove key`, and instances that match a condition with a bulk change.",
             R"(model shop
entity Product { sku: text key   stock: int }
command restock($n: int) { for $i in $n { update Product["a"] { stock: stock + $i } } }
)",
             R"(model shop
entity Product { sku: text key   stock: int }
command restock($skus: list<text>) { for $s in $skus { update Product[$s] { stock: stock + 1 } } }
)"},
    // mixes
    CodeInfo{DuplicateEntry, "duplicate-entry", Error, "a statement listed twice in a mix or group",
             "A mix lists each statement or group once, and a group lists each statement once. A second entry is "
             "usually a mistake. Delete one, or write the sum. (A statement that has a weight of its own and is also "
             "in a group gets the sum of both.)",
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
    CodeInfo{MixCycle, "mix-cycle", Error, "mixes that are based on each other",
             "`like` takes the weights of another mix. Here the mixes form a cycle, so none of them has weights to "
             "start with. Write the weights in one of them.",
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
    CodeInfo{MixValue, "mix-value", Error, "invalid weight or rate",
             "A weight is a number from 0 up: how often a statement runs compared to the others. A rate (`at 500/s`) "
             "is how often all statements run together, so it is greater than 0. A mix has at least one weight greater "
             "than 0. Correct the number.",
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
    CodeInfo{KeysDoNotDetermine, "keys-do-not-determine", Error, "keys of a family that do not identify a row",
             "Block key and entry key together identify an entry. If two rows can have the same keys, the second "
             "overwrites the first and data is lost silently, a classic mistake in tables written by hand. Add the "
             "missing part to the entry key, usually the key of the last variable; the message names it.",
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
    CodeInfo{
        PlacedTwice, "placed-twice", Error, "a field in two entries",
        "The base of a field is in exactly one `entry`; two bases could contradict each other. Any further place is a "
        "copy, which noam keeps equal to the base. Write `copy` for the second place, or leave out the field there.",
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
    CodeInfo{
        BaseKey, "base-key", Error, "a base family with a key that is not an own field",
        "The keys of a base family are own fields of its entity, so that the aggregate alone determines its place. "
        "Data behind a reference, a fold or a field of another entity can change without the aggregate, and the base "
        "would have to move. Use own fields in the keys of an `entry`, and write a `copy` for the other order.",
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
    CodeInfo{BaseKeyUpdated, "base-key-updated", Error, "a base family with a key that a command updates",
             "Apart from the key of the entity, a base family can have own fields in its keys only if no command "
             "updates them: an update would move the aggregate to another block, and no block store does this in one "
             "step. Place the base by the key and write a `copy` with the field as its key, or remove the command.",
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
    CodeInfo{
        FoldInEntry, "fold-in-entry", Error, "a fold in a base family",
        "An `entry` holds the data itself. A fold is computed from data, so it is derived and belongs to a `copy`. "
        "Families with equal keys still become one row or document. Move the fold to a `copy` beside the entry.",
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
    CodeInfo{FoldNotKept, "fold-not-kept", Error, "a fold that cannot be maintained",
             "A stored fold is adjusted by every change and must always equal a fresh computation. The sum of floats "
             "is the double nearest to the exact sum, which cannot be computed from the previous sum and a change. An "
             "average consists of a sum and a count. Neither is stored. Use decimal, store sum and count, or let the "
             "query compute it.",
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
    CodeInfo{FamilyPath, "family-path", Error, "invalid path of a family",
             "The path of an `entry` is an own field of the entity, as a whole: the data stored there. An inverse is "
             "stored with the entities that refer, and a part of a field is stored with the field. Name the field, or "
             "write a `copy`, whose path may be any name.",
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
    CodeInfo{FamilyElements, "family-elements", Error, "`[*]` on a field without elements",
             "`[*]` stores each element of a list, set or map in an entry of its own, so it follows a field that is a "
             "collection. Scalars and values have no elements. Remove `[*]`.",
             R"(model shop
entity Product { sku: text key   name: text   price: decimal }
design d { collection products of Product p by sku { entry name[*]   entry ε: price } }
)",
             R"(model shop
entity Product { sku: text key   name: text   price: decimal }
design d { collection products of Product p by sku { entry name   entry ε: price } }
)"},
    CodeInfo{FamilyClause, "family-clause", Error, "a clause that is not allowed in this family",
             "`from`, `where` and `limit` choose the rows of a copy. A base holds every instance of its entity, so an "
             "`entry` has none of these clauses: an aggregate that it leaves out would be lost. Write a `copy` for the "
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
    CodeInfo{DuplicateFamily, "duplicate-family", Error, "duplicate family",
             "Two families of one collection have the same path, keys and columns, so the second one adds nothing. "
             "Families with equal keys become one native row or document anyway. Merge their columns, or give one of "
             "them a path of its own.",
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
    CodeInfo{DesignExpression, "design-expression", Error, "an expression that is not allowed in a design",
             "The contents of a design depend only on the data, not on the time or on a caller: fields, paths to one, "
             "constants, time functions, arithmetic, `shard`, `position`, folds. `now()`, parameters and nested "
             "selects are not allowed. Put the condition into the query; a copy may hold more rows than a query needs.",
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
    CodeInfo{DesignColumn, "design-column", Error, "a column that is not allowed in this family",
             "A column of an `entry` is an own field of the entity, or `*` for those not placed elsewhere. A column of "
             "a `copy` is a field, a path to one, a single fold, or a nested object or list of these. A calculation "
             "with folds is not allowed, because each fold is stored and maintained by itself. Store the folds, and "
             "let the query calculate.",
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
    CodeInfo{LimitWithoutOrder, "limit-without-order", Lint, "`limit` without `order by`",
             "Without `order by`, a limit cuts in the order of the keys. The result is the same on every store, but "
             "seldom the one you want: it is the first ten by key, not the newest or the cheapest. Add `order by`, or "
             "allow it with `// allow: limit-without-order`.",
             R"(model shop
entity Product { sku: text key   price: decimal }
query some { select p.sku from Product p limit 10 }
)",
             R"(model shop
entity Product { sku: text key   price: decimal }
query some { select p.sku from Product p order by p.price limit 10 }
)"},
    CodeInfo{NeverAbsent, "never-absent", Lint, "testing for absence of something that is never absent",
             "The operand of `is absent` or `??` always has a value, so the result is known. Perhaps a `?` is missing "
             "in the type, or you meant another field. Remove the test, or make the field optional.",
             R"(model shop
entity Product { sku: text key   name: text }
query unnamed { select p.sku from Product p where p.name is absent }
)",
             R"(model shop
entity Product { sku: text key   name: text? }
query unnamed { select p.sku from Product p where p.name is absent }
)"},
    CodeInfo{BaseInSeveralBlocks, "base-in-several-blocks", Lint, "a base spread over several blocks",
             "The base of one entity is spread over blocks with different keys, so reading or changing the whole "
             "aggregate takes several blocks. On a store with single-block atomicity such a command costs several "
             "conditional writes. This can be worth it for a large part that is seldom read. To accept it, write `// "
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
    CodeInfo{UnusedValue, "unused-value", Lint, "unused value type",
             "No field and no parameter uses this value type. It is left over, or the field that should use it is "
             "missing. Use it or delete it.",
             R"(model shop
value Address { street: text   city: text }
entity Customer { id: uuid key auto   email: text }
)",
             R"(model shop
value Address { street: text   city: text }
entity Customer { id: uuid key auto   email: text   home: Address }
)"},
    CodeInfo{UnknownAllow, "unknown-allow", Warning, "`allow` with an unknown code",
             "A comment `// allow: code` silences a lint on its line, or on the next line if it is alone on its line. "
             "This one names an unknown code, or the code of an error, which cannot be silenced. Correct the name; "
             "`noam explain` lists all codes.",
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
