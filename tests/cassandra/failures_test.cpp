// What is told if the database fails.

#include "tests/cassandra/on_cassandra.h"
#include "tests/compiled.h"
#include "tests/session_engine.h"

namespace noam::tests {
namespace {

class FailuresOnCassandra : public OnCassandra {};

TEST_F(FailuresOnCassandra, AreNoReasonToRefuseACommand) {
  const ModelPointer model = model_of(R"(
    model m
    entity Thing { id: int key  n: int }
    query thing($id) { select t from Thing t where t.id = $id }
    command make($id, $n) { insert Thing { id: $id, n: $n } }
  )");
  SessionEngine engine(*model, "eao", keyspace());
  ASSERT_EQ(engine.problem(), "");
  // A statement that was not prepared before. If no node is connected, it cannot be prepared either.
  keyspace().session().execute("DROP TABLE " + keyspace().name() + ".thing");
  const Json made = engine.answer(
      {{"run", "make"}, {"params", {{"id", 1}, {"n", 1}}}, {"id", "0198c1f2-7d00-7000-8000-000000000001"}});
  EXPECT_EQ(made["outcome"], "unknown") << made.dump();
  const Json asked = engine.answer({{"run", "thing"}, {"params", {{"id", 1}}}});
  EXPECT_EQ(asked["error"]["code"], "store") << asked.dump();
}

}  // namespace
}  // namespace noam::tests
