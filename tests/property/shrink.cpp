#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "tests/property/case.h"

namespace noam::tests::property {

namespace {

// Whether a piece mentions the word, in whatever it is made of.
bool has(const std::string& piece, std::string_view word) { return mentions(piece, word); }
bool has(const Source& source, std::string_view word) { return source.variable == word || has(source.what, word); }

template <typename Piece>
void drop_where(std::vector<Piece>& pieces, const std::function<bool(const Piece&)>& unwanted) {
  pieces.erase(std::remove_if(pieces.begin(), pieces.end(), unwanted), pieces.end());
}

template <typename Piece>
void drop_with(std::vector<Piece>& pieces, const std::string& word) {
  drop_where<Piece>(pieces, [&](const Piece& piece) { return has(piece, word); });
}

// Takes the word out of the select, with everything that mentions it; where that is a source, also what its variable
// is in. Nothing is left of a select without sources or columns.
bool forget(Select& select, const std::string& word);

// A fragment that mentions the word goes, unless only a nested select inside does and something of it is left.
bool forget(Fragment& fragment, const std::string& word) {
  if (mentions(fragment.before, word) || mentions(fragment.after, word)) return false;
  return std::all_of(fragment.select.begin(), fragment.select.end(),
                     [&](Select& nested) { return forget(nested, word); });
}

void forget(std::vector<Fragment>& fragments, const std::string& word) {
  std::vector<Fragment> kept;
  for (Fragment& fragment : fragments)
    if (forget(fragment, word)) kept.push_back(std::move(fragment));
  fragments = std::move(kept);
}

// The sources that go with the word, one after the other: each takes those along that come from it.
std::vector<std::string> forget(std::vector<Source>& from, const std::string& word) {
  std::vector<std::string> words = {word};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string at = words[i];
    for (const Source& source : from)
      if (has(source, at) && std::find(words.begin(), words.end(), source.variable) == words.end())
        words.push_back(source.variable);
  }
  for (const std::string& at : words) drop_with(from, at);
  return words;
}

bool forget(Select& select, const std::string& word) {
  for (const std::string& gone : forget(select.from, word)) {
    std::vector<Column> kept;
    std::vector<std::string> lost;
    for (Column& column : select.columns) {
      if (column.as != gone && forget(column.expr, gone))
        kept.push_back(std::move(column));
      else
        lost.push_back(column.as);
    }
    select.columns = std::move(kept);
    for (std::vector<Fragment>* pieces : {&select.where, &select.group_by, &select.order_by}) forget(*pieces, gone);
    for (const std::string& column : lost)
      if (!column.empty()) forget(select.order_by, column);
    if (mentions(select.limit, gone)) select.limit.clear();
  }
  return !select.from.empty() && !select.columns.empty();
}

bool forget(Change& change, const std::string& word);

void forget(std::vector<Change>& changes, const std::string& word) {
  std::vector<Change> kept;
  for (Change& change : changes) {
    const std::string bound = change.tail.starts_with("as ") ? change.tail.substr(3) : std::string();
    if (forget(change, word)) {
      kept.push_back(std::move(change));
      continue;
    }
    if (bound.empty()) continue;
    // What the lost insert bound is gone too: the rest is done without it.
    std::vector<Change> rest(std::make_move_iterator(changes.begin() + (&change - changes.data()) + 1),
                             std::make_move_iterator(changes.end()));
    forget(rest, word);
    forget(rest, bound);
    for (Change& later : rest) kept.push_back(std::move(later));
    break;
  }
  changes = std::move(kept);
}

bool forget(Change& change, const std::string& word) {
  if (mentions(change.head, word)) return false;
  const bool asked = !change.where.empty();
  forget(change.where, word);
  if (asked && change.where.empty()) return false;
  const bool assigned = !change.assignments.empty();
  std::vector<Assignment> kept;
  for (Assignment& assignment : change.assignments)
    if (!mentions(assignment.target, word) && forget(assignment.value, word)) kept.push_back(std::move(assignment));
  change.assignments = std::move(kept);
  if (mentions(change.tail, word)) change.tail.clear();
  forget(change.body, word);
  if (change.head.starts_with("for ")) return !change.body.empty();
  return !assigned || !change.assignments.empty() || change.head.starts_with("insert ");
}

void forget(std::vector<Cell>& cells, const std::string& word) {
  std::vector<Cell> kept;
  for (Cell& cell : cells) {
    if (mentions(cell.text, word)) continue;
    if (cell.open != 0) {
      for (const std::string& gone : forget(cell.from, word)) {
        forget(cell.cells, gone);
        drop_with(cell.order_by, gone);
      }
      if (cell.cells.empty()) continue;
    }
    kept.push_back(std::move(cell));
  }
  cells = std::move(kept);
}

void forget(Design& design, const std::string& word) {
  for (Collection& collection : design.collections) {
    if (collection.from.empty()) continue;
    if (mentions(collection.from.front().what, word)) {
      collection.from.clear();
      continue;
    }
    for (const std::string& lost : forget(collection.from, word)) {
      drop_with(collection.by, lost);
      std::vector<Family> kept;
      for (Family& family : collection.families) {
        if (mentions(family.path, lost)) continue;
        const bool keyed = !family.key.empty();
        const bool celled = !family.cells.empty();
        for (const std::string& gone : forget(family.from, lost)) {
          drop_with(family.key, gone);
          forget(family.cells, gone);
          drop_with(family.where, gone);
        }
        if ((keyed && family.key.empty()) || (celled && family.cells.empty())) continue;
        kept.push_back(std::move(family));
      }
      collection.families = std::move(kept);
    }
  }
  drop_where<Collection>(design.collections, [](const Collection& collection) {
    return collection.from.empty() || collection.by.empty() || collection.families.empty();
  });
}

std::string text(const Command& command) {
  Case one;
  one.commands.push_back(command);
  one.commands.back().parameters.clear();
  return text(one);
}

// Drops what nothing uses any more: parameters, values in the calls, calls of what is not there.
void tidy(Case& one) {
  std::set<std::string> statements;
  const auto keep_parameters = [&](const std::string& name, std::vector<Parameter>& parameters,
                                   const std::string& body) {
    statements.insert(name);
    std::vector<std::string> unused;
    for (const Parameter& parameter : parameters)
      if (!mentions(body, parameter.name)) unused.push_back(parameter.name);
    drop_where<Parameter>(parameters, [&](const Parameter& parameter) {
      return std::find(unused.begin(), unused.end(), parameter.name) != unused.end();
    });
    for (Step& step : one.steps) {
      if (step.name != name || !step.params.is_object()) continue;
      for (const std::string& parameter : unused) step.params.erase(parameter);
    }
  };
  for (Query& query : one.queries) keep_parameters(query.name, query.parameters, text(query.select));
  for (Command& command : one.commands) keep_parameters(command.name, command.parameters, text(command));
  drop_where<Step>(one.steps, [&](const Step& step) { return !step.name.empty() && !statements.contains(step.name); });
}

// Members of values in the calls that bear the name.
void forget(Json& json, const std::string& word) {
  if (json.is_object()) json.erase(word);
  if (json.is_structured())
    for (Json& inner : json) forget(inner, word);
}

void forget(Case& one, const std::string& word) {
  for (Step& step : one.steps) forget(step.params, word);
  std::vector<std::string> more;  // what is lost besides
  const auto lose_fields = [&](const std::vector<Field>& fields) {
    for (const Field& field : fields) {
      more.push_back(field.name);
      for (const std::string& mark : field.marks)
        if (mark.starts_with("inverse ")) more.push_back(mark.substr(8));
    }
  };
  for (const Value& value : one.values)
    if (value.name == word) lose_fields(value.fields);
  for (const Entity& entity : one.entities)
    if (entity.name == word) lose_fields(entity.fields);
  drop_where<Value>(one.values, [&](const Value& value) { return value.name == word; });
  drop_where<Entity>(one.entities, [&](const Entity& entity) { return entity.name == word; });
  const auto lose_parameters = [&](const std::vector<Parameter>& parameters) {
    for (const Parameter& parameter : parameters)
      if (mentions(parameter.type, word)) more.push_back(parameter.name);
  };
  for (const Query& query : one.queries) lose_parameters(query.parameters);
  for (const Command& command : one.commands) lose_parameters(command.parameters);
  const auto forget_fields = [&](std::vector<Field>& fields) {
    for (Field& field : fields) {
      if (field.name != word && mentions(field.type, word)) more.push_back(field.name);
      for (const std::string& mark : field.marks)
        if (mark.starts_with("inverse ") && field.name == word && mark.substr(8) != word)
          more.push_back(mark.substr(8));
      drop_where<std::string>(field.marks, [&](const std::string& mark) {
        return mark.starts_with("inverse ") && mark.substr(8) == word;
      });
    }
    drop_where<Field>(fields, [&](const Field& field) { return field.name == word; });
  };
  for (Value& value : one.values) forget_fields(value.fields);
  for (Entity& entity : one.entities) {
    forget_fields(entity.fields);
    drop_with(entity.key, word);
    drop_with(entity.require, word);
    if (mentions(entity.ttl, word)) entity.ttl.clear();
  }
  for (const Value& value : one.values)
    if (value.fields.empty()) more.push_back(value.name);
  std::vector<Query> queries;
  for (Query& query : one.queries) {
    if (query.name == word) continue;
    if (forget(query.select, word))
      queries.push_back(std::move(query));
    else if (!query.refresh.empty())
      more.push_back(query.name);
  }
  one.queries = std::move(queries);
  for (Command& command : one.commands) forget(command.changes, word);
  drop_where<Command>(one.commands,
                      [&](const Command& command) { return command.name == word || command.changes.empty(); });
  for (Design& design : one.designs) forget(design, word);
  for (const std::string& next : more)
    if (next != word) forget(one, next);
}

// Collects candidates, each made by a change of a copy.
class Candidates {
 public:
  explicit Candidates(const Case& one) : one_(one), size_(size(one)) {}

  void add(const std::function<void(Case&)>& change) {
    Case made = one_;
    change(made);
    tidy(made);
    if (size(made) < size_) all_.push_back(std::move(made));
  }

  // One candidate a piece of the list that is left out; the list is found anew in each copy.
  template <typename Piece>
  void drop_each(const std::function<std::vector<Piece>*(Case&)>& find) {
    Case look = one_;
    const std::size_t count = find(look)->size();
    for (std::size_t i = 0; i < count; ++i)
      add([&](Case& made) {
        std::vector<Piece>* list = find(made);
        list->erase(list->begin() + static_cast<std::ptrdiff_t>(i));
      });
  }

  std::vector<Case> take() { return std::move(all_); }

 private:
  const Case& one_;
  std::size_t size_;
  std::vector<Case> all_;
};

// The selects of a statement, outer ones first, found by a path of numbers.
void visit_selects(Select& select, const std::function<void(Select&)>& visit) {
  visit(select);
  const auto inside = [&](std::vector<Fragment>& fragments) {
    for (Fragment& fragment : fragments)
      for (Select& nested : fragment.select) visit_selects(nested, visit);
  };
  for (Column& column : select.columns)
    for (Select& nested : column.expr.select) visit_selects(nested, visit);
  inside(select.where);
  inside(select.group_by);
  inside(select.order_by);
}

void visit_changes(std::vector<Change>& changes, const std::function<void(std::vector<Change>&)>& visit) {
  visit(changes);
  for (Change& change : changes) visit_changes(change.body, visit);
}

void visit_selects(Case& one, const std::function<void(Select&)>& visit) {
  for (Query& query : one.queries) visit_selects(query.select, visit);
  for (Command& command : one.commands)
    visit_changes(command.changes, [&](std::vector<Change>& changes) {
      for (Change& change : changes) {
        for (Fragment& fragment : change.where)
          for (Select& nested : fragment.select) visit_selects(nested, visit);
        for (Assignment& assignment : change.assignments)
          for (Select& nested : assignment.value.select) visit_selects(nested, visit);
      }
    });
}

Select* select_number(Case& one, std::size_t number) {
  Select* found = nullptr;
  std::size_t at = 0;
  visit_selects(one, [&](Select& select) {
    if (at++ == number) found = &select;
  });
  return found;
}

std::vector<Change>* changes_number(Case& one, std::size_t number) {
  std::vector<Change>* found = nullptr;
  std::size_t at = 0;
  for (Command& command : one.commands)
    visit_changes(command.changes, [&](std::vector<Change>& changes) {
      if (at++ == number) found = &changes;
    });
  return found;
}

void cut_steps(const Case& one, Candidates& out) {
  const std::size_t count = one.steps.size();
  for (std::size_t length = count / 2; length >= 1; length /= 2)
    for (std::size_t begin = 0; begin < count; begin += length)
      out.add([&](Case& made) {
        const std::size_t end = std::min(begin + length, count);
        made.steps.erase(made.steps.begin() + static_cast<std::ptrdiff_t>(begin),
                         made.steps.begin() + static_cast<std::ptrdiff_t>(end));
      });
}

void cut_designs(const Case& one, Candidates& out) {
  for (std::size_t d = 0; d < one.designs.size(); ++d) {
    const Design& design = one.designs[d];
    out.drop_each<Collection>([&](Case& made) { return &made.designs[d].collections; });
    if (!design.rest.empty()) out.add([&](Case& made) { made.designs[d].rest.clear(); });
    for (std::size_t c = 0; c < design.collections.size(); ++c) {
      const Collection& collection = design.collections[c];
      const auto in = [d, c](Case& made) -> Collection& { return made.designs[d].collections[c]; };
      if (collection.families.size() > 1) out.drop_each<Family>([&](Case& made) { return &in(made).families; });
      if (collection.by.size() > 1) out.drop_each<std::string>([&](Case& made) { return &in(made).by; });
      for (std::size_t v = 1; v < collection.from.size(); ++v)
        out.add([&](Case& made) {
          const std::string variable = in(made).from[v].variable;
          Design alone;
          alone.collections.push_back(in(made));
          forget(alone, variable);
          if (!alone.collections.empty()) in(made) = std::move(alone.collections.front());
        });
      for (std::size_t f = 0; f < collection.families.size(); ++f) {
        const Family& family = collection.families[f];
        const auto at = [d, c, f](Case& made) -> Family& { return made.designs[d].collections[c].families[f]; };
        if (family.key.size() > 1) out.drop_each<std::string>([&](Case& made) { return &at(made).key; });
        out.drop_each<Cell>([&](Case& made) { return &at(made).cells; });
        out.drop_each<std::string>([&](Case& made) { return &at(made).where; });
        if (!family.limit.empty()) out.add([&](Case& made) { at(made).limit.clear(); });
        for (std::size_t i = 0; i < family.cells.size(); ++i) {
          if (family.cells[i].open == 0) continue;
          out.drop_each<Cell>([&](Case& made) { return &at(made).cells[i].cells; });
          out.drop_each<std::string>([&](Case& made) { return &at(made).cells[i].order_by; });
          if (!family.cells[i].limit.empty()) out.add([&](Case& made) { at(made).cells[i].limit.clear(); });
        }
      }
    }
  }
}

void cut_selects(const Case& one, Candidates& out) {
  Case look = one;
  std::vector<Select*> selects;
  visit_selects(look, [&](Select& select) { selects.push_back(&select); });
  for (std::size_t s = 0; s < selects.size(); ++s) {
    const Select& select = *selects[s];
    const auto at = [s](Case& made) -> Select& { return *select_number(made, s); };
    for (std::size_t v = 1; v < select.from.size(); ++v)
      out.add([&](Case& made) { forget(at(made), select.from[v].variable); });
    if (select.columns.size() > 1)
      for (std::size_t i = 0; i < select.columns.size(); ++i)
        out.add([&](Case& made) {
          Select& target = at(made);
          const std::string name = target.columns[i].as;
          target.columns.erase(target.columns.begin() + static_cast<std::ptrdiff_t>(i));
          if (!name.empty()) forget(target.order_by, name);
        });
    out.drop_each<Fragment>([&](Case& made) { return &at(made).where; });
    out.drop_each<Fragment>([&](Case& made) { return &at(made).group_by; });
    out.drop_each<Fragment>([&](Case& made) { return &at(made).order_by; });
    if (!select.limit.empty()) out.add([&](Case& made) { at(made).limit.clear(); });
    if (select.distinct) out.add([&](Case& made) { at(made).distinct = false; });
  }
}

void cut_commands(const Case& one, Candidates& out) {
  Case look = one;
  std::vector<std::vector<Change>*> lists;
  for (Command& command : look.commands)
    visit_changes(command.changes, [&](std::vector<Change>& changes) { lists.push_back(&changes); });
  for (std::size_t l = 0; l < lists.size(); ++l) {
    const std::vector<Change>& list = *lists[l];
    const auto at = [l](Case& made) -> std::vector<Change>& { return *changes_number(made, l); };
    if (list.size() > 1) out.drop_each<Change>([&](Case& made) { return &at(made); });
    for (std::size_t i = 0; i < list.size(); ++i) {
      out.drop_each<Assignment>([&](Case& made) { return &at(made)[i].assignments; });
      if (list[i].where.size() > 1) out.drop_each<Fragment>([&](Case& made) { return &at(made)[i].where; });
      if (!list[i].tail.empty()) out.add([&](Case& made) { at(made)[i].tail.clear(); });
      if (list[i].then) out.add([&](Case& made) { at(made)[i].then = false; });
    }
  }
}

void cut_data(const Case& one, Candidates& out) {
  const auto cut_fields = [&](const std::vector<Field>& fields, const std::function<std::vector<Field>&(Case&)>& find) {
    for (const Field& field : fields) out.add([&](Case& made) { forget(made, field.name); });
    for (std::size_t f = 0; f < fields.size(); ++f)
      for (std::size_t m = 0; m < fields[f].marks.size(); ++m)
        out.add([&](Case& made) {
          const std::string mark = fields[f].marks[m];
          std::vector<std::string>& marks = find(made)[f].marks;
          marks.erase(marks.begin() + static_cast<std::ptrdiff_t>(m));
          if (mark.starts_with("inverse ") && mark.substr(8) != fields[f].name) forget(made, mark.substr(8));
        });
  };
  for (std::size_t i = 0; i < one.entities.size(); ++i) {
    const Entity& entity = one.entities[i];
    cut_fields(entity.fields, [i](Case& made) -> std::vector<Field>& { return made.entities[i].fields; });
    if (!entity.ttl.empty()) out.add([&](Case& made) { made.entities[i].ttl.clear(); });
    out.drop_each<std::string>([&](Case& made) { return &made.entities[i].require; });
  }
  for (std::size_t i = 0; i < one.values.size(); ++i)
    cut_fields(one.values[i].fields, [i](Case& made) -> std::vector<Field>& { return made.values[i].fields; });
}

void cut(Json& list, std::size_t at) { list.erase(list.begin() + static_cast<std::ptrdiff_t>(at)); }

// Lists in the parameters become shorter, members are left out.
void cut_parameters(const Case& one, Candidates& out) {
  for (std::size_t s = 0; s < one.steps.size(); ++s) {
    if (!one.steps[s].params.is_object()) continue;
    for (const auto& [name, value] : one.steps[s].params.items()) {
      const std::string parameter = name;
      if (value.is_array())
        for (std::size_t i = 0; i < value.size(); ++i)
          out.add([&](Case& made) { cut(made.steps[s].params[parameter], i); });
      if (value.is_object() && !value.contains("$known"))
        for (const auto& [member, inner] : value.items()) {
          const std::string dropped = member;
          out.add([&](Case& made) { made.steps[s].params[parameter].erase(dropped); });
        }
    }
  }
}

}  // namespace

std::size_t size(const Case& one) {
  std::size_t out = text(one).size();
  for (const Step& step : one.steps) out += 20 + step.name.size() + step.params.dump().size();
  return out;
}

std::vector<Case> simpler(const Case& one) {
  Candidates out(one);
  cut_steps(one, out);
  for (const Entity& entity : one.entities) out.add([&](Case& made) { forget(made, entity.name); });
  for (const Value& value : one.values) out.add([&](Case& made) { forget(made, value.name); });
  for (const Query& query : one.queries) out.add([&](Case& made) { forget(made, query.name); });
  for (const Command& command : one.commands) out.add([&](Case& made) { forget(made, command.name); });
  cut_designs(one, out);
  cut_selects(one, out);
  cut_commands(one, out);
  cut_data(one, out);
  cut_parameters(one, out);
  return out.take();
}

}  // namespace noam::tests::property
