#include "noam/targets/readme.h"

#include <algorithm>

#include <fmt/format.h>

#include "noam/model/writing.h"

namespace noam::targets {

namespace {

// Where the attribute is, and whether that is where it lives.
struct Found {
  bool base = false;
  std::string place;
};

class AttributePlaces {
 public:
  AttributePlaces(const Outline& outline, const PlaceName& place) : outline_(outline), place_(place) {}

  [[nodiscard]] std::vector<Found> find(const Attribute& attribute) const {
    std::vector<Found> out;
    const auto add = [&](bool base, std::string place) {
      if (std::none_of(out.begin(), out.end(), [&](const Found& found) { return found.place == place; }))
        out.push_back({base, std::move(place)});
    };
    for (const CollectionOutline& collection : outline_.collections) {
      for (const FamilyOutline& family : collection.families) {
        const auto look = [&](const std::vector<Column>& columns) {
          for (const Column& column : columns)
            if (column.attribute == attribute && !column.same_as) add(family.base, place_(collection, family, column));
        };
        look(collection.block);
        look(family.key);
        look(family.values);
      }
    }
    std::stable_partition(out.begin(), out.end(), [](const Found& found) { return found.base; });
    return out;
  }

 private:
  const Outline& outline_;
  const PlaceName& place_;
};

std::string places(const std::vector<Found>& found, bool base) {
  std::vector<std::string> out;
  for (const Found& at : found)
    if (at.base == base) out.push_back(at.place);
  return fmt::format("{}", fmt::join(out, "; "));
}

std::string attributes(const Outline& outline, const PlaceName& place) {
  const AttributePlaces finder(outline, place);
  const model::Model& model = outline.model();
  std::vector<std::vector<std::string>> rows;
  for (std::uint32_t e = 0; e < model.entities.size(); ++e) {
    const model::Entity& entity = model.entities[e];
    for (std::uint32_t f = 0; f < entity.fields.size(); ++f) {
      if (entity.fields[f].hidden) continue;
      const auto found = finder.find({static_cast<model::EntityId>(e), f});
      std::string base = places(found, true);
      if (base.empty())
        base = entity.transient ? "not kept: an event, of which the copies below keep what is asked for" : "";
      rows.push_back({fmt::format("`{}.{}`", entity.name, entity.fields[f].name),
                      fmt::format("`{}`", model::to_string(model, entity.fields[f].type)), base, places(found, false)});
    }
  }
  return markdown_table({"attribute", "type", "lives in", "copied to"}, rows);
}

std::string kept(const Outline& outline, const PlaceName& place) {
  std::vector<std::vector<std::string>> rows;
  for (const CollectionOutline& collection : outline.collections)
    for (const FamilyOutline& family : collection.families)
      for (const auto* columns : {&family.key, &family.values})
        for (const Column& column : *columns)
          if (!column.attribute && !column.meaning.empty())
            rows.push_back({place(collection, family, column), column.meaning});
  return rows.empty() ? std::string() : markdown_table({"place", "what it is"}, rows);
}

}  // namespace

std::string markdown_table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows) {
  const auto line = [](const std::vector<std::string>& cells) {
    std::string out = "|";
    for (const std::string& cell : cells) {
      out += ' ';
      for (const char c : cell) {
        if (c == '|')
          out += "\\|";
        else
          out += c == '\n' ? ' ' : c;
      }
      out += " |";
    }
    return out + "\n";
  };
  std::string out = line(head);
  out += line(std::vector<std::string>(head.size(), "---"));
  for (const auto& row : rows) out += line(row);
  return out;
}

std::string readme(const Outline& outline, std::string_view title, const Capabilities& capabilities,
                   const std::vector<Section>& first, const PlaceName& place, const std::vector<Section>& last) {
  std::string out = fmt::format(
      "# {}\n\nMade by noam from the model `{}` under the design `{}`. Made again, it replaces these files: change the "
      "model\nor the design instead.\n",
      title, outline.model().name, outline.program->design.name);
  const auto add = [&](std::string_view heading, std::string_view text) {
    out += fmt::format("\n## {}\n\n{}", heading, text);
    if (!text.empty() && text.back() != '\n') out += '\n';
  };
  for (const Section& section : first) add(section.title, section.text);
  add("Where everything lives", attributes(outline, place));
  const std::string others = kept(outline, place);
  if (!others.empty()) add("What is worked out", others);
  add("How statements are read",
      "Their steps are those of the plan, as `noam design --explain` tells them. A step without a request is done by "
      "the\nprogram that asks. A request stands once, and is sent for each instance that a command changes. "
      "Placeholders bear the\nnames of columns; those of a bound end in `_from` and `_to`. `noam_version` is the "
      "version of an aggregate that was\nread, `noam_next_version` one more, `noam_limit` how many entries are "
      "wanted.\n\n"
      "A change writes only the values that differ. Where entries go while the command writes others, the placeholders "
      "of "
      "those\nthat go end in `_gone`: `cat_gone` is the old value, `cat` the new one. Do not erase an entry that is "
      "also "
      "written.\n");
  add("Who writes",
      "The requests are for applications that use these data without noam. noam's own store keeps more than the "
      "requests do:\nwhich commands were applied, and the state of each copy. noam's own store and these requests must "
      "never write to one\nkeyspace or database: give each its own.\n");
  add("What the database promises",
      markdown_table({"", ""}, {{"atomic", std::string(capabilities.atomic)},
                                {"conditional writes", std::string(capabilities.conditional)},
                                {"order", std::string(capabilities.order)},
                                {"counters", std::string(capabilities.counters)},
                                {"expiry", std::string(capabilities.expiry)}}));
  std::vector<std::vector<std::string>> limits;
  for (const Limit& limit : capabilities.limits)
    limits.push_back(
        {std::string(limit.about), shown_amount(limit, limit.value), limit.hard ? "refused beyond it" : "advice"});
  add("Limits", markdown_table({"of what", "at most", ""}, limits));
  for (const Section& section : last) add(section.title, section.text);
  return out;
}

}  // namespace noam::targets
