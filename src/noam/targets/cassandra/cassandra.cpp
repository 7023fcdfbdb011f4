#include "noam/targets/cassandra/cassandra.h"

namespace noam::targets::cassandra {

const Capabilities capabilities{};
const std::span<const Option> options{};

Generated generate(const Outline& /*outline*/, const design::Sample* /*sample*/) { return {}; }
std::vector<Measure> measure(const Outline& /*outline*/) { return {}; }
std::vector<ListedStatement> statements(const Outline& /*outline*/) { return {}; }

}  // namespace noam::targets::cassandra
