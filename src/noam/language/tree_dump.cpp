#include <algorithm>

#include "noam/language/parser.h"
#include "noam/language/unicode.h"

namespace noam::language {

namespace {

std::string_view sign(Operator op) {
  switch (op) {
    case Operator::None:
      return "none";
    case Operator::Or:
      return "or";
    case Operator::And:
      return "and";
    case Operator::Not:
      return "not";
    case Operator::Equal:
      return "=";
    case Operator::NotEqual:
      return "!=";
    case Operator::Less:
      return "<";
    case Operator::LessEqual:
      return "<=";
    case Operator::Greater:
      return ">";
    case Operator::GreaterEqual:
      return ">=";
    case Operator::In:
      return "in";
    case Operator::NotIn:
      return "not-in";
    case Operator::Contains:
      return "contains";
    case Operator::ContainsAll:
      return "contains-all";
    case Operator::ContainsAny:
      return "contains-any";
    case Operator::StartsWith:
      return "starts-with";
    case Operator::Coalesce:
      return "??";
    case Operator::Add:
      return "+";
    case Operator::Subtract:
      return "-";
    case Operator::Multiply:
      return "*";
    case Operator::Negate:
      return "negate";
  }
  return "none";
}

std::string_view word(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::Unknown:
      return "unknown";
    case ChangeKind::Insert:
      return "insert";
    case ChangeKind::Put:
      return "put";
    case ChangeKind::Update:
      return "update";
    case ChangeKind::UpdateWhere:
      return "update-where";
    case ChangeKind::Delete:
      return "delete";
    case ChangeKind::DeleteWhere:
      return "delete-where";
    case ChangeKind::Append:
      return "append";
    case ChangeKind::Add:
      return "add";
    case ChangeKind::Remove:
      return "remove";
    case ChangeKind::RemoveKey:
      return "remove-key";
    case ChangeKind::RemoveAt:
      return "remove-at";
    case ChangeKind::RemoveWhere:
      return "remove-where";
    case ChangeKind::PutInto:
      return "put-into";
    case ChangeKind::Require:
      return "require";
    case ChangeKind::For:
      return "for";
  }
  return "unknown";
}

// One line a declaration. Literals that are words have a `#`, so that a name in backquotes is never taken for one.
class Dump {
 public:
  std::string run(const Tree& tree) {
    open("model");
    name(tree.model);
    close();
    for (const Declaration& declaration : tree.declarations) {
      out_ += '\n';
      std::visit([&](const auto& d) { declared(d); }, declaration);
    }
    out_ += '\n';
    return std::move(out_);
  }

 private:
  void space() {
    if (!out_.empty() && out_.back() != '(' && out_.back() != '\n') out_ += ' ';
  }
  void open(std::string_view head) {
    space();
    out_ += '(';
    out_ += head;
  }
  void close() { out_ += ')'; }
  void atom(std::string_view text) {
    space();
    out_ += text;
  }
  void text(std::string_view value) {
    space();
    out_ += '"';
    for (const char c : value) {
      if (c == '"' || c == '\\') out_ += '\\';
      if (c == '\n') {
        out_ += "\\n";
      } else {
        out_ += c;
      }
    }
    out_ += '"';
  }
  void name(const Name& name) {
    if (name.missing()) return atom("?");
    const auto plain = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
             static_cast<unsigned char>(c) >= 0x80;
    };
    const bool digit = name.text[0] >= '0' && name.text[0] <= '9';
    if (!digit && std::all_of(name.text.begin(), name.text.end(), plain)) return atom(name.text);
    space();
    out_ += '`';
    out_ += name.text;
    out_ += '`';
  }
  void number(const Number& number) { atom(number.missing() ? "?" : number.text); }
  void duration(const Duration& duration) {
    open("duration");
    number(duration.amount);
    name(duration.unit);
    close();
  }

  void expr(const Expr& e) {
    switch (e.kind) {
      case ExprKind::Unknown:
        open("#unknown");
        break;
      case ExprKind::Number:
        return number(e.number);
      case ExprKind::Text:
        return text(e.text);
      case ExprKind::True:
        return atom("#true");
      case ExprKind::False:
        return atom("#false");
      case ExprKind::Absent:
        return atom("#absent");
      case ExprKind::Typed:
        open("typed");
        name(e.name);
        text(e.text);
        break;
      case ExprKind::Duration:
        open("duration");
        number(e.number);
        name(e.name);
        break;
      case ExprKind::Parameter:
        space();
        out_ += '$';
        out_ += e.name.text;
        return;
      case ExprKind::Name:
        return name(e.name);
      case ExprKind::Member:
        open(".");
        operands(e);
        name(e.name);
        return close();
      case ExprKind::Index:
        open("[]");
        break;
      case ExprKind::Call:
        open("call");
        name(e.name);
        if (e.distinct) atom("#distinct");
        if (e.star) atom("#star");
        break;
      case ExprKind::Unary:
      case ExprKind::Binary:
        open(sign(e.op));
        break;
      case ExprKind::Between:
        open("between");
        break;
      case ExprKind::IsAbsent:
        open(e.negated ? "is-not-absent" : "is-absent");
        break;
      case ExprKind::List:
        open("list");
        break;
      case ExprKind::Braces:
        open("braces");
        break;
      case ExprKind::Select:
        return e.select ? select(*e.select) : atom("#unknown");
      case ExprKind::Star:
        open("#star");
        break;
    }
    operands(e);
    close();
  }
  void operands(const Expr& e) {
    for (const Expr& operand : e.operands) expr(operand);
  }
  void labelled(std::string_view head, const Expr& e) {
    open(head);
    expr(e);
    close();
  }
  void as(const Name& given) {
    if (given.missing()) return;
    open("as");
    name(given);
    close();
  }

  void sources(const std::vector<Source>& all, std::string_view head = "from") {
    if (all.empty()) return;
    open(head);
    for (const Source& source : all) {
      open(source.history ? "history" : "source");
      expr(source.what);
      name(source.variable);
      close();
    }
    close();
  }
  void directed(const Expr& e, Direction direction) {
    if (direction == Direction::None) return expr(e);
    labelled(direction == Direction::Ascending ? "asc" : "desc", e);
  }
  void select(const Select& s) {
    open("select");
    if (s.distinct) atom("#distinct");
    for (const SelectColumn& column : s.columns) {
      open("column");
      expr(column.expr);
      if (!column.without.empty()) {
        open("without");
        for (const Name& without : column.without) name(without);
        close();
      }
      as(column.as);
      close();
    }
    sources(s.from);
    if (s.where) labelled("where", *s.where);
    if (!s.group_by.empty()) {
      open("group");
      for (const Expr& e : s.group_by) expr(e);
      close();
    }
    if (!s.order_by.empty()) {
      open("order");
      for (const OrderTerm& term : s.order_by) directed(term.expr, term.direction);
      close();
    }
    if (s.limit) labelled("limit", *s.limit);
    close();
  }

  void type(const TypeExpr& t) {
    if (t.optional) open("optional");
    switch (t.kind) {
      case TypeSyntax::Unknown:
        atom("#unknown");
        break;
      case TypeSyntax::Named:
        if (t.length.missing() && !t.about) {
          name(t.name);
          break;
        }
        open("sized");
        name(t.name);
        if (t.about) atom("~");
        number(t.length);
        close();
        break;
      case TypeSyntax::List:
      case TypeSyntax::Set:
      case TypeSyntax::Map:
        open(t.kind == TypeSyntax::List ? "list" : t.kind == TypeSyntax::Set ? "set" : "map");
        for (const TypeExpr& argument : t.arguments) type(argument);
        close();
        break;
      case TypeSyntax::Enumeration:
        open("one-of");
        for (const Text& one : t.texts) text(one.value);
        close();
        break;
    }
    if (t.optional) close();
  }
  void statistic(const Statistic& s) {
    const auto one = [&](std::string_view head, const std::optional<Number>& value) {
      if (!value) return;
      open(head);
      number(*value);
      close();
    };
    one("~", s.count);
    one("distinct", s.distinct);
    one("zipf", s.zipf);
  }
  void field(const Field& f) {
    open("field");
    name(f.name);
    type(f.type);
    if (f.key) atom("#key");
    if (f.automatic) atom("#auto");
    if (f.owner) atom("#owner");
    if (f.initial) labelled("=", *f.initial);
    statistic(f.statistic);
    if (f.inverse) {
      open("inverse");
      name(*f.inverse);
      statistic(f.inverse_statistic);
      close();
    }
    close();
  }
  void member(const Field& f) { field(f); }
  void member(const KeyClause& key) {
    open("key");
    for (const Name& part : key.parts) name(part);
    close();
  }
  void member(const TtlClause& ttl) {
    open("ttl");
    duration(ttl.period);
    if (ttl.from) name(*ttl.from);
    close();
  }
  void member(const RequireClause& require) { labelled("require", require.condition); }

  void declared(const ValueDecl& value) {
    open("value");
    name(value.name);
    for (const Field& f : value.fields) field(f);
    close();
  }
  void declared(const EntityDecl& entity) {
    open("entity");
    name(entity.name);
    if (entity.transient) atom("#transient");
    statistic(entity.statistic);
    for (const EntityMember& m : entity.members) std::visit([&](const auto& it) { member(it); }, m);
    close();
  }
  void parameters(const std::vector<ParameterDecl>& all) {
    for (const ParameterDecl& parameter : all) {
      open("parameter");
      name(parameter.name);
      if (parameter.type) type(*parameter.type);
      close();
    }
  }
  void declared(const QueryDecl& query) {
    open("query");
    name(query.name);
    parameters(query.parameters);
    if (query.refresh) {
      open("refresh");
      duration(*query.refresh);
      if (query.keep) number(*query.keep);
      close();
    }
    select(query.select);
    close();
  }

  void change(const Change& c) {
    open(word(c.kind));
    if (c.then) atom("#then");
    if (c.all) atom("#all");
    if (!c.entity.missing()) name(c.entity);
    if (!c.variable.missing()) {
      open("variable");
      name(c.variable);
      close();
    }
    const auto part = [&](std::string_view head, const Expr& e) {
      if (e.kind != ExprKind::Unknown || !(e.span == Span{})) labelled(head, e);
    };
    part("key", c.key);
    part("argument", c.argument);
    part("target", c.target);
    if (c.where) labelled("where", *c.where);
    if (c.limit) labelled("limit", *c.limit);
    for (const Assignment& assignment : c.assignments) {
      open(":");
      expr(assignment.target);
      expr(assignment.value);
      close();
    }
    for (const Change& inner : c.body) change(inner);
    close();
  }
  void declared(const CommandDecl& command) {
    open("command");
    name(command.name);
    parameters(command.parameters);
    for (const Change& c : command.changes) change(c);
    close();
  }
  void declared(const GroupDecl& group) {
    open("group");
    name(group.name);
    for (const Name& statement : group.statements) name(statement);
    close();
  }
  void declared(const MixDecl& mix) {
    open("mix");
    name(mix.name);
    if (mix.like) {
      open("like");
      name(*mix.like);
      close();
    }
    if (mix.rate) {
      open("at");
      number(*mix.rate);
      name(mix.rate_unit);
      close();
    }
    for (const MixEntry& entry : mix.entries) {
      open("");
      name(entry.name);
      number(entry.weight);
      close();
    }
    close();
  }

  void parts(std::string_view head, const std::vector<DesignPart>& all) {
    open(head);
    for (const DesignPart& part : all) {
      if (part.as.missing()) {
        directed(part.expr, part.direction);
        continue;
      }
      open("part");
      directed(part.expr, part.direction);
      as(part.as);
      close();
    }
    close();
  }
  void column(const DesignColumn& c) {
    open(c.shape == ColumnShape::Plain ? "column" : c.shape == ColumnShape::Object ? "object" : "list");
    if (c.shape == ColumnShape::Plain) {
      expr(c.expr);
      as(c.as);
    } else {
      name(c.as);
      for (const DesignColumn& inner : c.nested.columns) column(inner);
      sources(c.nested.from);
      if (!c.nested.order_by.empty()) parts("order", c.nested.order_by);
      limit(c.nested.limit);
    }
    close();
  }
  void limit(const std::optional<Number>& value) {
    if (!value) return;
    open("limit");
    number(*value);
    close();
  }
  void family(const FamilyDecl& f) {
    open(f.copy ? "copy" : "entry");
    for (const Name& step : f.path) name(step);
    if (f.elements) atom("#elements");
    if (!f.key.empty()) parts("key", f.key);
    if (f.has_columns) {
      open("columns");
      for (const DesignColumn& c : f.columns) column(c);
      close();
    }
    sources(f.from);
    if (f.where) labelled("where", *f.where);
    limit(f.limit);
    close();
  }
  void declared(const DesignDecl& design) {
    open("design");
    name(design.name);
    if (!design.targets.empty()) {
      open("for");
      for (const Name& target : design.targets) name(target);
      close();
    }
    for (const CollectionDecl& collection : design.collections) {
      open("collection");
      name(collection.name);
      sources(collection.from, "of");
      parts("by", collection.by);
      for (const TargetOptions& with : collection.with) {
        open("with");
        name(with.target);
        for (const TargetOption& option : with.options) {
          open(":");
          name(option.name);
          expr(option.value);
          close();
        }
        close();
      }
      for (const FamilyDecl& f : collection.families) family(f);
      close();
    }
    if (design.rest) {
      open("rest");
      name(*design.rest);
      close();
    }
    close();
  }

  std::string out_;
};

}  // namespace

std::string dump(const Tree& tree) { return Dump().run(tree); }

}  // namespace noam::language
