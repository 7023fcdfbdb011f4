#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "noam/model/model.h"

// A model made by hand for the tests of this folder, and what it is made with.
namespace noam::model::sample {

inline Field field(std::string name, Type type) {
  Field out;
  out.name = std::move(name);
  out.type = std::move(type);
  return out;
}

inline Type text(std::uint32_t max_length = 0) {
  Type type = scalar(TypeKind::Text);
  type.max_length = max_length;
  return type;
}

inline Type integer() { return scalar(TypeKind::Int); }

inline Type enumeration(std::vector<std::string> names) {
  Type type = scalar(TypeKind::Enumeration);
  type.names = std::move(names);
  return type;
}

inline Type value_type(std::uint32_t id) {
  Type type = scalar(TypeKind::Value);
  type.id = id;
  return type;
}

inline Type map_of(Type key, Type value) {
  Type type = scalar(TypeKind::Map);
  type.arguments = {std::move(key), std::move(value)};
  return type;
}

inline Type row(TypeKind kind, std::vector<std::string> names, std::vector<Type> types) {
  Type type = scalar(kind);
  type.names = std::move(names);
  type.arguments = std::move(types);
  return type;
}

inline Expr constant(Type type, Literal held) {
  Expr expr;
  expr.kind = ExprKind::Constant;
  expr.type = std::move(type);
  expr.constant = std::move(held);
  return expr;
}

inline Expr number(std::int64_t held) { return constant(integer(), held); }
inline Expr words(std::string held) { return constant(text(), std::move(held)); }

inline Expr parameter(std::uint32_t index, Type type = text()) {
  Expr expr;
  expr.kind = ExprKind::Parameter;
  expr.index = index;
  expr.type = std::move(type);
  return expr;
}

inline Expr variable(std::uint32_t index, Type type) {
  Expr expr;
  expr.kind = ExprKind::Variable;
  expr.index = index;
  expr.type = std::move(type);
  return expr;
}

inline Expr member(ExprKind kind, Expr of, std::uint32_t index, Type type) {
  Expr expr;
  expr.kind = kind;
  expr.index = index;
  expr.type = std::move(type);
  expr.operands.push_back(std::move(of));
  return expr;
}

inline Expr field_of(const Model& model, Expr of, std::uint32_t index) {
  Type type = model.fields(of.type)[index].type;
  return member(ExprKind::Field, std::move(of), index, std::move(type));
}

inline Expr inverse_of(const Model& model, Expr of, std::uint32_t role) {
  return member(ExprKind::Inverse, std::move(of), role,
                collection_of(TypeKind::Set, reference(model.roles[role].from)));
}

inline Expr call(Function function, std::vector<Expr> operands, Type type = scalar(TypeKind::Bool)) {
  Expr expr;
  expr.kind = ExprKind::Call;
  expr.function = function;
  expr.type = std::move(type);
  expr.operands = std::move(operands);
  return expr;
}

inline Expr fold(Fold fold, std::vector<Expr> operands, Type type = integer()) {
  Expr expr;
  expr.kind = ExprKind::Fold;
  expr.fold = fold;
  expr.type = std::move(type);
  expr.operands = std::move(operands);
  return expr;
}

inline Expr count_of(Expr of) {
  Expr expr;
  expr.kind = ExprKind::CountOf;
  expr.type = integer();
  expr.operands.push_back(std::move(of));
  return expr;
}

inline Expr instance(EntityId entity, std::vector<Expr> key) {
  Expr expr;
  expr.kind = ExprKind::Instance;
  expr.index = static_cast<std::uint32_t>(entity);
  expr.type = reference(entity);
  expr.operands = std::move(key);
  return expr;
}

inline Expr nested(Select select, Type type) {
  Expr expr;
  expr.kind = ExprKind::Select;
  expr.type = std::move(type);
  expr.select.push_back(std::move(select));
  return expr;
}

inline Column column(std::string name, Expr expr) {
  Column out;
  out.name = std::move(name);
  out.expr = std::move(expr);
  return out;
}

inline Variable variable_over(std::string name, SourceKind kind, Type type, Expr source = {}) {
  Variable out;
  out.name = std::move(name);
  out.kind = kind;
  out.type = std::move(type);
  out.source = std::move(source);
  return out;
}

inline Parameter parameter_named(std::string name, Type type) {
  Parameter out;
  out.name = std::move(name);
  out.type = std::move(type);
  return out;
}

constexpr EntityId user{0};
constexpr EntityId tweet{1};
constexpr EntityId visit{2};

// Fields and roles of `blog`, by their place.
enum UserField : std::uint32_t { Username, Follows, Addresses };
enum TweetField : std::uint32_t { Id, Author, At, Content, Status };
enum VisitField : std::uint32_t { OfTweet, VisitAt };
enum BlogRole : std::uint32_t { RoleFollows, RoleAuthor, RoleTweet };

// Users that follow each other and write; visits that are not kept.
inline Model blog() {
  Model model;
  model.name = "blog";

  Value address;
  address.name = "Address";
  address.fields = {field("street", text()), field("city", text(40)), field("zip", optional(text()))};
  model.values.push_back(address);

  Entity users;
  users.name = "User";
  users.statistic.count = 1'000'000;
  users.fields = {field("username", text(20)), field("follows", collection_of(TypeKind::Set, reference(user))),
                  field("addresses", map_of(text(), value_type(0)))};
  users.fields[Follows].statistic.count = 50;
  users.fields[Follows].role = RoleFollows;
  users.fields[Addresses].statistic.count = 2;
  users.key = {Username};
  users.inverses = {RoleFollows, RoleAuthor};
  model.entities.push_back(users);

  Entity tweets;
  tweets.name = "Tweet";
  tweets.statistic.count = 50'000'000;
  tweets.fields = {field("id", scalar(TypeKind::Uuid)), field("author", reference(user)),
                   field("at", scalar(TypeKind::Timestamp)), field("content", text()),
                   field("status", enumeration({"draft", "sent"}))};
  tweets.fields[Id].automatic = true;
  tweets.fields[Author].role = RoleAuthor;
  tweets.fields[Content].about_bytes = 120;
  tweets.fields[Status].initial = constant(tweets.fields[Status].type, std::string("draft"));
  tweets.key = {Id};
  tweets.inverses = {RoleTweet};
  tweets.ttl = Ttl{std::int64_t{90} * 24 * 60, At};
  model.entities.push_back(tweets);

  Entity visits;
  visits.name = "Visit";
  visits.transient = true;
  visits.fields = {field("tweet", reference(tweet)), field("at", scalar(TypeKind::Timestamp)),
                   field("", scalar(TypeKind::TimeUuid))};
  visits.fields[OfTweet].role = RoleTweet;
  visits.fields[2].automatic = true;
  visits.fields[2].hidden = true;
  visits.key = {2};
  visits.owners = {RoleTweet};
  model.entities.push_back(visits);

  Role follows;
  follows.from = user;
  follows.field = Follows;
  follows.to = user;
  follows.inverse = "followers";
  follows.many = true;
  Role author;
  author.from = tweet;
  author.field = Author;
  author.to = user;
  author.inverse = "tweets";
  author.backward.count = 50;
  Role of_tweet;
  of_tweet.from = visit;
  of_tweet.field = OfTweet;
  of_tweet.to = tweet;
  of_tweet.inverse = "visits";
  of_tweet.owner = true;
  of_tweet.backward.count = 3;
  model.roles = {follows, author, of_tweet};

  const Expr instance_of_tweet = variable(0, reference(tweet));
  model.entities[1].require = {
      call(Function::Not, {call(Function::Equal, {field_of(model, instance_of_tweet, Content), words("")})})};
  return model;
}

// Adds `query newest($username, $limit?)`: what those write whom somebody follows.
inline void add_newest(Model& model) {
  Query query;
  query.name = "newest";
  query.parameters = {parameter_named("username", text()),
                      parameter_named("since", optional(scalar(TypeKind::Timestamp)))};
  const Expr u = variable(0, reference(user));
  const Expr a = variable(1, reference(user));
  const Expr t = variable(2, reference(tweet));
  query.variables = {variable_over("u", SourceKind::Entity, u.type),
                     variable_over("a", SourceKind::Path, a.type, field_of(model, u, Follows)),
                     variable_over("t", SourceKind::Path, t.type, inverse_of(model, a, RoleAuthor))};
  Select& select = query.select;
  select.from = {0, 1, 2};
  select.columns = {column("id", field_of(model, t, Id)), column("username", field_of(model, a, Username)),
                    column("n", count_of(inverse_of(model, t, RoleTweet)))};
  select.where = call(Function::And,
                      {call(Function::Equal, {field_of(model, u, Username), parameter(0)}),
                       call(Function::Greater, {field_of(model, t, At), parameter(1, scalar(TypeKind::Timestamp))})});
  select.order_by = {OrderTerm{field_of(model, t, At), true}, OrderTerm{field_of(model, t, Id), false}};
  select.limit = number(25);
  query.row = row(TypeKind::Row, {"id", "username", "n"}, {scalar(TypeKind::Uuid), text(20), integer()});
  model.queries.push_back(query);
}

// Adds `command post($author, $content)`, which inserts, and `command follow($a, $b)`, which adds.
inline void add_commands(Model& model) {
  Command post;
  post.name = "post";
  post.parameters = {parameter_named("author", reference(user)), parameter_named("content", text())};
  post.variables = {variable_over("", SourceKind::Inserted, reference(tweet))};
  Change insert;
  insert.kind = ChangeKind::Insert;
  insert.entity = tweet;
  insert.variable = 0;
  const Expr made = variable(0, reference(tweet));
  insert.assignments = {{field_of(model, made, Author), parameter(0, reference(user))},
                        {field_of(model, made, At), call(Function::Now, {}, scalar(TypeKind::Timestamp))},
                        {field_of(model, made, Content), parameter(1)}};
  post.changes = {insert};
  model.commands.push_back(post);

  Command follow;
  follow.name = "follow";
  follow.parameters = {parameter_named("a", reference(user)), parameter_named("b", reference(user))};
  follow.variables = {variable_over("", SourceKind::Target, reference(user), instance(user, {parameter(0)}))};
  Change add;
  add.kind = ChangeKind::Add;
  add.entity = user;
  add.variable = 0;
  add.target = instance(user, {parameter(0)});
  add.argument = parameter(1, reference(user));
  add.path = field_of(model, variable(0, reference(user)), Follows);
  follow.changes = {add};
  model.commands.push_back(follow);
}

// `blog` with a query, two commands, a group, two mixes and a design.
inline Model whole_blog() {
  Model model = blog();
  add_newest(model);
  add_commands(model);
  model.groups = {Group{"Writing", {{true, 0}, {true, 1}}, {}}};
  Mix day;
  day.name = "day";
  day.rate_per_second = 500;
  day.weights = {{{false, 0}, 90}, {{true, 0}, 8}, {{true, 1}, 2}};
  Mix night;
  night.name = "night";
  night.like = "day";
  night.weights = {{{false, 0}, 1}, {{true, 0}, 2}};
  model.mixes = {day, night};

  WrittenCollection tweets;
  tweets.name = "tweets_by_author";
  tweets.variables = {variable_over("t", SourceKind::Entity, reference(tweet))};
  tweets.from = {0};
  const Expr t = variable(0, reference(tweet));
  const auto part = [&](TweetField which, bool descending, std::string name) {
    Part out;
    out.expr = field_of(model, t, which);
    out.descending = descending;
    out.name = std::move(name);
    return out;
  };
  const auto cell = [&](TweetField which) {
    Cell out;
    out.expr = field_of(model, t, which);
    out.name = model.entities[1].fields[which].name;
    return out;
  };
  tweets.by = {part(Author, false, "author")};
  tweets.options = {{"cassandra", "caching", words("ALL")}};
  WrittenFamily base;
  base.key = {part(At, true, "date_time"), part(Id, false, "id")};
  base.cells = {cell(Content), cell(Status)};
  WrittenFamily counter;
  counter.copy = true;
  counter.path = {"numbers"};
  Cell count;
  count.expr = count_of(inverse_of(model, t, RoleTweet));
  count.name = "visits";
  counter.cells = {count};
  counter.limit = 10;
  tweets.families = {base, counter};
  WrittenDesign design;
  design.name = "by hand";
  design.targets = {"cassandra"};
  design.collections = {tweets};
  design.rest = "eao";
  model.designs = {design};
  return model;
}

}  // namespace noam::model::sample
