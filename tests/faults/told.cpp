#include "tests/faults/told.h"

#include <gtest/gtest.h>

#include "tests/property/compare.h"

namespace noam::tests::faults {

void Told::acknowledge(const Json& command, const Json& answer) {
  const Json expected = reference_.answer(command);
  const auto difference = property::difference(*model_, command, answer, expected);
  EXPECT_FALSE(difference) << command.dump() << ": " << *difference << "\n" << answer.dump() << "\n" << expected.dump();
  acknowledged_.emplace_back(command, answer);
}

void Told::repeat(runtime::Session& session, const Json& command) {
  ++repeated_;
  acknowledge(command, session.answer(command));
}

void Told::check(runtime::Session& session, Random& random) {
  EXPECT_EQ(differences(session), "");
  for (std::size_t i = 0; i < 5 && !acknowledged_.empty(); ++i) {
    const auto& [command, answer] = i == 0 ? acknowledged_.back() : random.pick(acknowledged_);
    if (answer["outcome"] != "applied" || !command.contains("id")) continue;
    EXPECT_EQ(session.answer(command), answer) << command.dump();
  }
  for (const Json& question : all_questions()) {
    const Json answer = session.answer(question);
    const Json expected = reference_.answer(question);
    const auto difference = property::difference(*model_, question, answer, expected);
    EXPECT_FALSE(difference) << question.dump() << ": " << *difference << "\n"
                             << answer.dump() << "\n"
                             << expected.dump();
    if (difference) return;
  }
}

}  // namespace noam::tests::faults
