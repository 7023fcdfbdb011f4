#include "noam/model/diagram.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "noam/model/estimates.h"
#include "noam/model/layout.h"
#include "noam/model/writing.h"

namespace noam::model {

namespace {

constexpr std::string_view replacement = "\uFFFD";

// The text with each code point that `escape` has an answer for written that way. What cannot be drawn is replaced.
template <typename Escape>
std::string escaped(std::string_view text, const Escape& escape) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  const auto length = static_cast<std::int32_t>(text.size());
  std::string out;
  for (std::int32_t at = 0; at < length;) {
    const std::int32_t begin = at;
    UChar32 c = 0;
    U8_NEXT(bytes, at, length, c);
    // XML has no way to write control characters and U+FFFE, U+FFFF.
    if (c < 0x20 || (c >= 0x7F && c < 0xA0) || U_IS_UNICODE_NONCHAR(c)) {
      out += replacement;
    } else if (const std::string instead = escape(c); !instead.empty()) {
      out += instead;
    } else {
      out += text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(at - begin));
    }
  }
  return out;
}

// Mermaid gives meaning to almost every sign somewhere, and takes `#62;` for `>` everywhere.
std::string mermaid_text(std::string_view text) {
  return escaped(text, [](UChar32 c) {
    const bool plain =
        c >= 0x80 || u_isalnum(c) || c == ' ' || c == '_' || c == '.' || c == ',' || c == '?' || c == '|';
    return plain ? std::string() : fmt::format("#{};", static_cast<std::int32_t>(c));
  });
}

// For HTML-like labels.
std::string html_text(std::string_view text) {
  return escaped(text, [](UChar32 c) -> std::string {
    switch (c) {
      case '&':
        return "&amp;";
      case '<':
        return "&lt;";
      case '>':
        return "&gt;";
      case '"':
        return "&quot;";
      case '\\':
        return "&#92;";  // `\\N` would be the name of the node
      case '[':
        return "&#91;";
      case ']':
        return "&#93;";
      default:
        return "";
    }
  });
}

// For double-quoted strings of dot. A backslash would begin an escape, `&` an entity.
std::string dot_text(std::string_view text) {
  return escaped(text, [](UChar32 c) -> std::string {
    switch (c) {
      case '"':
        return "\\\"";
      case '\\':
        return "\\\\";
      case '&':
        return "&amp;";
      default:
        return "";
    }
  });
}

std::string shown_name(const Field& field) { return field.hidden ? "(hidden)" : field.name; }

bool is_key(const Entity& entity, std::size_t field) {
  return std::find(entity.key.begin(), entity.key.end(), field) != entity.key.end();
}

std::string instances_note(const Model& model, std::size_t entity) {
  std::string note = model.entities[entity].transient ? "transient" : "";
  if (const auto count = instances(model, static_cast<EntityId>(entity)))
    note += (note.empty() ? "" : " ") + figure(count);
  return note;
}

// At the end of an arrow: what one instance sees there.
std::string forward_count(const Model& model, const Role& role) {
  if (!role.many) return role.optional ? "0..1" : "1";
  return figure(forward_fan_out(model, role));
}

// The value and the entity that a field's type speaks of, itself or as an element.
void for_each_named_type(const Type& type, std::vector<Type>& out) {
  if (type.kind == TypeKind::Value || type.kind == TypeKind::Reference) out.push_back(type);
  for (const auto& argument : type.arguments) for_each_named_type(argument, out);
}

std::vector<Type> named_types(const Model& model, const Field& field) {
  std::vector<Type> all;
  for_each_named_type(field.type, all);
  std::vector<Type> out;
  for (const auto& type : all) {
    if (type.id >= (type.kind == TypeKind::Value ? model.values.size() : model.entities.size())) continue;
    const auto equal = [&](const Type& other) { return other.kind == type.kind && other.id == type.id; };
    if (std::none_of(out.begin(), out.end(), equal)) out.push_back(type);
  }
  return out;
}

std::string how_many(const Field& field) {
  if (field.type.is_collection()) return field.statistic.count ? "~" + figure(*field.statistic.count) : "*";
  return field.type.optional ? "0..1" : "1";
}

// The name of a node: names of the model may be anything.
std::string node(const Type& type) { return fmt::format("{}{}", type.kind == TypeKind::Value ? "v" : "e", type.id); }
std::string node(EntityId id) { return node(reference(id)); }

// Arrows of a field that are no roles: the value that lies in it, the entity that a value refers to.
template <typename Draw>
void for_each_plain_arrow(const Model& model, const Draw& draw) {
  const auto of = [&](const std::string& owner, bool in_value, const std::vector<Field>& fields) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      for (const auto& type : named_types(model, fields[i])) {
        const bool drawn_as_role = !in_value && type.kind == TypeKind::Reference && fields[i].role;
        if (!drawn_as_role) draw(owner, i, fields[i], type);
      }
    }
  };
  for (std::size_t i = 0; i < model.entities.size(); ++i) {
    of(fmt::format("e{}", i), false, model.entities[i].fields);
  }
  for (std::size_t i = 0; i < model.values.size(); ++i) of(fmt::format("v{}", i), true, model.values[i].fields);
}

std::string mermaid_class(const std::string& id, const std::string& name, const std::string& note, const Model& model,
                          const std::vector<Field>& fields, const Entity* entity) {
  std::string out = fmt::format("  class {}[\"{}\"] {{\n", id, mermaid_text(name));
  if (!note.empty()) out += fmt::format("    <<{}>>\n", mermaid_text(note));
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const bool key = entity != nullptr && is_key(*entity, i);
    out += fmt::format("    {}{} {}\n", mermaid_text(shown_name(fields[i])), mermaid_text(":"),
                       mermaid_text(written_type(model, fields[i]) + (key ? " key" : "")));
  }
  return out + "  }\n";
}

// A table with a row a field; each row is a port, so that arrows begin where they are declared.
std::string dot_node(const std::string& id, const std::string& name, const std::string& note, const char* head_color,
                     const Model& model, const std::vector<Field>& fields, const Entity* entity) {
  std::string out = fmt::format(
      "  {} [label=<\n    <TABLE BORDER=\"0\" CELLBORDER=\"1\" CELLSPACING=\"0\" CELLPADDING=\"4\" COLOR=\"#8a8f98\" "
      "BGCOLOR=\"white\">\n"
      "      <TR><TD PORT=\"head\" COLSPAN=\"2\" BGCOLOR=\"{}\"><B>{}</B>{}</TD></TR>\n",
      id, head_color, html_text(name),
      note.empty() ? "" : fmt::format("  <FONT POINT-SIZE=\"9\">{}</FONT>", html_text(note)));
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Field& field = fields[i];
    const bool key = entity != nullptr && is_key(*entity, i);
    const std::string shown = html_text(shown_name(field));
    std::string type = written_type(model, field);
    if (field.type.is_collection() && field.statistic.count) type += " ~" + figure(*field.statistic.count);
    out += fmt::format(
        "      <TR><TD PORT=\"l{0}\" ALIGN=\"LEFT\" SIDES=\"LTB\">{1}</TD>"
        "<TD PORT=\"r{0}\" ALIGN=\"LEFT\" SIDES=\"RTB\"><FONT COLOR=\"#505660\">{2}</FONT></TD></TR>\n",
        i, key ? fmt::format("<U>{}</U>", shown) : shown, html_text(type));
  }
  return out + "    </TABLE>>];\n";
}

// Dot lays tables out from left to right along the arrows, and bends one that would lead back around both tables.
// So that one is drawn from its head to its tail, and leaves its field on the left.
class Arrows {
 public:
  void add(const std::string& from, std::size_t field, const std::string& to, const char* head, const char* tail,
           const std::string& attributes) {
    const std::string more = attributes.empty() ? "" : ", " + attributes;
    if (from == to) {
      loops_.push_back({from, field, fmt::format("dir=both, arrowhead={}, arrowtail={}{}", head, tail, more)});
    } else if (leads_to(to, from)) {
      right_of_[to].insert(from);
      drawn_ += fmt::format("  {}:head -> {}:l{} [dir=both, arrowhead={}, arrowtail={}{}];\n", to, from, field, tail,
                            head, more);
    } else {
      right_of_[from].insert(to);
      drawn_ += fmt::format("  {}:r{} -> {}:head [dir=both, arrowhead={}, arrowtail={}{}];\n", from, field, to, head,
                            tail, more);
    }
  }

  [[nodiscard]] std::string draw() const {
    std::string out = drawn_;
    for (const auto& loop : loops_) {
      const bool left = has_room_on_the_left(loop.node);
      out += fmt::format("  {0}:{1}{2}:{3} -> {0}:head:{3} [{4}];\n", loop.node, left ? 'l' : 'r', loop.field,
                         left ? 'w' : 'e', loop.attributes);
    }
    return out;
  }

 private:
  // An arrow of a table to itself stays on the side where fewer others are.
  struct Loop {
    std::string node;
    std::size_t field = 0;
    std::string attributes;
  };

  [[nodiscard]] bool has_room_on_the_left(const std::string& node) const {
    std::size_t before = 0;
    for (const auto& [left, right] : right_of_) before += right.count(node);
    const auto after = right_of_.find(node);
    return after != right_of_.end() && before < after->second.size();
  }

  [[nodiscard]] bool leads_to(const std::string& from, const std::string& to) const {
    std::vector<std::string> open = {from};
    std::set<std::string> seen = {from};
    while (!open.empty()) {
      const std::string at = open.back();
      open.pop_back();
      if (at == to) return true;
      const auto next = right_of_.find(at);
      if (next == right_of_.end()) continue;
      for (const auto& node : next->second) {
        if (seen.insert(node).second) open.push_back(node);
      }
    }
    return false;
  }

  std::map<std::string, std::set<std::string>> right_of_;
  std::vector<Loop> loops_;
  std::string drawn_;
};

}  // namespace

std::string mermaid(const Model& model) {
  std::string out = "classDiagram\n  direction LR\n";
  for (std::size_t i = 0; i < model.entities.size(); ++i) {
    const Entity& entity = model.entities[i];
    out += mermaid_class(fmt::format("e{}", i), entity.name, instances_note(model, i), model, entity.fields, &entity);
  }
  for (std::size_t i = 0; i < model.values.size(); ++i) {
    out += mermaid_class(fmt::format("v{}", i), model.values[i].name, "value", model, model.values[i].fields, nullptr);
  }
  for (const auto& role : model.roles) {
    const auto& fields = model.entity(role.from).fields;
    std::string label = role.field < fields.size() ? shown_name(fields[role.field]) : "?";
    if (!role.inverse.empty() && !role.symmetric) label += " / " + role.inverse;
    const char* arrow = role.owner ? "--*" : role.symmetric ? "--" : "-->";
    out += fmt::format("  {} \"{}\" {} \"{}\" {} : {}\n", node(role.from),
                       mermaid_text(figure(backward_fan_out(model, role))), arrow,
                       mermaid_text(forward_count(model, role)), node(role.to), mermaid_text(label));
  }
  for_each_plain_arrow(model, [&](const std::string& owner, std::size_t, const Field& field, const Type& type) {
    out += fmt::format("  {} {} \"{}\" {} : {}\n", owner, type.kind == TypeKind::Value ? "*--" : "..>",
                       mermaid_text(how_many(field)), node(type), mermaid_text(shown_name(field)));
  });
  return out;
}

std::string dot(const Model& model) {
  std::string out = fmt::format(
      "digraph \"{}\" {{\n"
      "  graph [rankdir=LR, nodesep=0.4, ranksep=1.2, fontname=\"Helvetica\"];\n"
      "  node [shape=plain, fontname=\"Helvetica\", fontsize=11];\n"
      "  edge [fontname=\"Helvetica\", fontsize=10, color=\"#505660\", fontcolor=\"#20242a\", arrowsize=0.8];\n",
      dot_text(model.name));
  for (std::size_t i = 0; i < model.entities.size(); ++i) {
    const Entity& entity = model.entities[i];
    out += dot_node(fmt::format("e{}", i), entity.name, instances_note(model, i),
                    entity.transient ? "#fde8c8" : "#cfe3f7", model, entity.fields, &entity);
  }
  for (std::size_t i = 0; i < model.values.size(); ++i) {
    out += dot_node(fmt::format("v{}", i), model.values[i].name, "value", "#e6e8eb", model, model.values[i].fields,
                    nullptr);
  }
  Arrows arrows;
  for (const auto& role : model.roles) {
    const char* head = role.owner ? "diamond" : role.many ? "crow" : role.optional ? "teeodot" : "tee";
    const char* tail = role.symmetric ? "crow" : "crowodot";
    const std::string label = (role.inverse.empty() ? "" : role.inverse + " ") + figure(backward_fan_out(model, role));
    arrows.add(node(role.from), role.field, node(role.to), head, tail,
               role.symmetric ? "" : fmt::format("label=\"{}\"", dot_text(label)));
  }
  for_each_plain_arrow(model, [&](const std::string& owner, std::size_t field, const Field&, const Type& type) {
    if (type.kind == TypeKind::Value) {
      arrows.add(owner, field, node(type), "none", "diamond", "");
    } else {
      arrows.add(owner, field, node(type), "vee", "none", "style=dashed");
    }
  });
  return out + arrows.draw() + "}\n";
}

}  // namespace noam::model
