#pragma once

#include <string>

#include "noam/language/source.h"
#include "noam/language/tree.h"

namespace noam::language {

// The text in its one canonical layout, comments kept where they were. The tree must come from this source and from a
// parse without errors. print(parse(print(parse(x)))) is print(parse(x)).
//
// Lines are at most 120 code points wide, where that can be had; comments at the end of a line do not count.
// What stands in braces stays on one line if it fits, has no comment inside, and no line break followed its opening
// brace in the source; else it has a line for each member, indented by 2 (the entries of mixes and groups fill lines).
// A declaration or collection that takes several lines has its braces broken. Lists fill lines; an item that takes
// several lines stands apart. Whatever else takes several lines goes on with an indentation of 4.
// One blank line follows `model`. Two declarations, or two collections of a design, have a blank line between them if
// either takes several lines; else they stay together or apart as they were, and so do members. Blank lines are never
// doubled, and none follows an opening brace or precedes a closing one.
// A comment with something before it on its line stays at the end of a line, others stay on lines of their own; where a
// line can't be broken, a comment goes to the next place where it can.
// The modifiers of a field and the clauses of a family are put in one order, unless comments stand between them.
// Parentheses stay around operators; around other things they go, where that changes nothing.
std::string print(const Tree& tree, const SourceFile& source);

}  // namespace noam::language
