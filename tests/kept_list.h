#pragma once

#include <optional>
#include <string>

namespace noam::tests {

// Lists that an entry keeps are for other programs that read the store; no query of ours reads them. What is wrong with
// one of them, after rows came in any order and some of them went.
std::optional<std::string> wrong_list();

}  // namespace noam::tests
