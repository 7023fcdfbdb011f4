#pragma once

#include <string>

#include "noam/model/model.h"

// The data of a model as a picture: entities with their fields and keys, values inside them, roles with both names and
// how many there are in each direction. Any name can be drawn.
namespace noam::model {

// For Mermaid, a class diagram; https://mermaid.js.org.
std::string mermaid(const Model& model);

// For Graphviz: `noam show --diagram dot app.noam | dot -Tsvg`.
std::string dot(const Model& model);

}  // namespace noam::model
