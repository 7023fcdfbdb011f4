#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "noam/base/json_text.h"
#include "noam/cli/export_command.h"
#include "noam/cli/load_command.h"
#include "noam/cli/records.h"
#include "noam/compile/compile.h"
#include "noam/runtime/session.h"
#include "noam/stores/memory.h"
#include "tests/compiled.h"
#include "tests/forwarding_store.h"
#include "tests/scenario.h"
#include "tests/session_engine.h"
#include "tests/support.h"
#include "tests/temporary_store.h"

// Loading and exporting, at the level of the library: rows, files, what is kept of a load that ends in the middle.
namespace noam::tests {

namespace {

using cli::BadLine;
using cli::DataFormat;
using cli::DataSource;
using cli::FileLoad;
using cli::LoadEnd;
using cli::LoadReport;
using cli::LoadRun;
using model::Datum;
using runtime::LoadBatch;
using runtime::Loaded;
using runtime::Session;
using Texts = std::vector<std::string>;

constexpr const char* shop = R"(
model shop
entity User {
  name: text(8) key
  age: int = 18
  nick: text? = "none"
  tags: set<text>
  friends: set<User> inverse friends
  require age >= 0
}
entity Note { id: uuid key auto   author: User owner inverse notes   body: text }
entity Event { what: text   `_key`: int? }
entity Folder { path: text key   parent: Folder? owner inverse children }
entity Visit transient { user: User owner inverse visits   at: timestamp }
query notes_of($name) { select count(u.notes) as n from User u where u.name = $name }
query visits_of($name) { select count(*) as n from User u, u.visits v where u.name = $name }
query of_age($age) { select u.name, count(u.notes) as n from User u where u.age = $age order by u.name limit 3 }
)";

model::EntityId entity_id(const model::Model& model, const std::string& name) {
  for (std::uint32_t i = 0; i < model.entities.size(); ++i)
    if (model.entities[i].name == name) return static_cast<model::EntityId>(i);
  throw std::runtime_error("no entity " + name);
}

// A store that fails on demand, and takes as much as it is told.
class FailingStore : public ForwardingStore {
 public:
  explicit FailingStore(std::unique_ptr<stores::Store> behind) : ForwardingStore(std::move(behind)) {}

  [[nodiscard]] const stores::Capabilities& capabilities() const override { return can; }
  Result<stores::Committed> commit(const stores::WriteBatch& batch, stores::Deadline by) override {
    if (can.max_commit_changes != 0 && batch.changes.size() > can.max_commit_changes) return stores::Outcome::TooLarge;
    for (const stores::Change& change : batch.changes)
      if (const auto* put = std::get_if<stores::Put>(&change);
          put != nullptr && can.max_entry_bytes != 0 &&
          stores::entry_bytes(put->entry.key, put->columns) > can.max_entry_bytes)
        return stores::Outcome::TooLarge;
    if (left == 0) {
      if (applies_the_last) (void)behind_->commit(batch, by);
      return Error{"the disk is gone"};
    }
    if (left > 0) --left;
    return behind_->commit(batch, by);
  }
  int left = -1;                  // commits until it fails; negative: it does not
  bool applies_the_last = false;  // the commit that fails is applied all the same
  stores::Capabilities can;
};

// A model on a store of its own.
struct Database {
  explicit Database(const std::string& text = shop, const std::string& strategy = "eao",
                    runtime::SessionOptions options = {})
      : Database(model_of(text), strategy, std::move(options)) {}
  explicit Database(std::shared_ptr<const model::Model> of, const std::string& strategy = "eao",
                    runtime::SessionOptions options = {},
                    std::unique_ptr<stores::Store> behind = stores::open_memory_store())
      : store(std::move(behind)) {
    auto opened = open_session(std::move(of), strategy, store, std::move(options));
    if (!opened) throw std::runtime_error(opened.error().message);
    session = std::move(*opened);
  }

  [[nodiscard]] const model::Model& model() const { return session->model(); }

  // `applied`, or the code.
  Texts load(const std::string& entity, const Texts& lines, bool stop = false) {
    const Loaded loaded = session->load(batch(entity, lines, stop));
    EXPECT_FALSE(loaded.failure) << loaded.failure->message;
    return outcomes(loaded);
  }
  static Texts outcomes(const Loaded& loaded) {
    Texts out;
    for (const runtime::RowOutcome& row : loaded.rows) out.push_back(row ? row->code : "applied");
    return out;
  }
  [[nodiscard]] LoadBatch batch(const std::string& entity, const Texts& lines, bool stop = false) const {
    LoadBatch out;
    out.entity = entity_id(model(), entity);
    out.stop_at_refusal = stop;
    for (const std::string& line : lines) {
      auto fields = model::read_instance_json(model(), model().entity(out.entity), *parse_json(line));
      EXPECT_TRUE(fields) << fields.refusal().reason;
      if (fields) out.rows.push_back(*fields);
    }
    return out;
  }

  // All instances of an entity, a line each.
  std::string all(const std::string& entity, DataFormat format = DataFormat::JsonLines) {
    const model::EntityId id = entity_id(model(), entity);
    std::string out;
    const auto done = session->read_instances({id}, [&](model::EntityId of, const Datum::List& fields) -> Result<void> {
      out += cli::data_record(model(), model().entity(of), format, fields);
      return {};
    });
    EXPECT_TRUE(done) << done.error().message;
    return out;
  }

  std::string ask(const std::string& request) { return session->answer_line(request); }

  void expect_verified() {
    const auto found = session->verify();
    ASSERT_TRUE(found);
    for (const auto& difference : found->differences) ADD_FAILURE() << difference.collection << ": " << difference.what;
  }

  FailingStore store;
  std::unique_ptr<Session> session;
};

}  // namespace

// --- Rows ------------------------------------------------------------------------------------------------------------

TEST(LoadRows, AreInsertedWithAllChecksEachRefusedAlone) {
  for (const std::string strategy : {"eao", "etf", "normalized"}) {
    SCOPED_TRACE(strategy);
    Database database(shop, strategy);
    EXPECT_EQ(database.load("User", {R"({"name": "ann"})", R"({"name": "muchtoolong"})", R"({"name": "ann"})",
                                     R"({"name": "ben", "age": -1})", R"({"name": "", "age": 3})",
                                     R"({"name": "cleo", "age": 7, "nick": null, "tags": ["b", "a"]})"}),
              (Texts{"applied", "value", "exists", "require", "key", "applied"}));
    EXPECT_EQ(database.all("User"), R"({"name":"ann","age":18,"nick":"none","tags":[],"friends":[]})"
                                    "\n"
                                    R"({"name":"cleo","age":7,"nick":null,"tags":["a","b"],"friends":[]})"
                                    "\n");
    // Rows of other entities, earlier commits, and the batch itself are seen.
    EXPECT_EQ(database.load("Note",
                            {R"({"author": "ann", "body": "x"})", R"({"author": "dora", "body": "x"})",
                             R"({"id": "0198c1f2-7d00-7000-8000-000000000001", "author": "ann", "body": "y"})",
                             R"({"id": "0198c1f2-7d00-7000-8000-000000000001", "author": "ann", "body": "z"})"}),
              (Texts{"applied", "owner", "applied", "exists"}));
    EXPECT_EQ(database.load("Folder", {R"({"path": "/b", "parent": "/"})", R"({"path": "/"})",
                                       R"({"path": "/a", "parent": "/"})", R"({"path": "/a/b", "parent": "/a"})"}),
              (Texts{"owner", "applied", "applied", "applied"}));
    EXPECT_EQ(database.load("Visit", {R"({"user": "ann", "at": "2026-01-01T00:00:00Z"})",
                                      R"({"user": "dora", "at": "2026-01-01T00:00:00Z"})",
                                      R"({"user": "ann", "at": "2026-01-01T00:00:00Z"})"}),
              (Texts{"applied", "owner", "applied"}));
    EXPECT_EQ(database.ask(R"({"run": "notes_of", "params": {"name": "ann"}})"), R"({"rows":[{"n":2}]})");
    EXPECT_EQ(database.ask(R"({"run": "visits_of", "params": {"name": "ann"}})"), R"({"rows":[{"n":2}]})");
    EXPECT_EQ(database.all("Visit"), "");
    database.expect_verified();
  }
}

TEST(LoadRows, OfTheWrongTypeAreRefused) {
  Database database;
  LoadBatch batch;
  batch.entity = entity_id(database.model(), "User");
  const Datum none = Datum::List{};
  batch.rows.push_back({Datum(5), Datum(1), Datum(), none, none});
  batch.rows.push_back({Datum("a"), Datum("x"), Datum(), none, none});
  batch.rows.push_back({Datum("b"), Datum(1), Datum(), Datum(Datum::List{"z", "a"}), none});
  batch.rows.push_back({Datum("c"), Datum(), Datum(), none, none});
  batch.rows.push_back({Datum("d"), Datum(1), Datum(), Datum(), Datum()});
  const Loaded loaded = database.session->load(batch);
  EXPECT_EQ(Database::outcomes(loaded), (Texts{"value", "value", "value", "required", "applied"}));
  EXPECT_EQ(loaded.rows[0]->reason, "name: expected text(8), not an int");
  EXPECT_EQ(loaded.rows[3]->reason, "age: a value is required");
}

TEST(LoadRows, StopAtTheFirstRefusalWhereThatIsAsked) {
  Database database;
  EXPECT_EQ(database.load("User", {R"({"name": "ann"})", R"({"name": "ann"})", R"({"name": "ben"})"}, true),
            (Texts{"applied", "exists"}));
  EXPECT_EQ(database.all("User"), R"({"name":"ann","age":18,"nick":"none","tags":[],"friends":[]})"
                                  "\n");
}

TEST(LoadRows, ThatAreTooManyAtOnceAreCommittedInParts) {
  Texts lines;
  for (int i = 0; i < 37; ++i) lines.push_back(R"({"name": "u)" + std::to_string(i) + "\"}");
  for (const std::size_t most : {3U, 10U, 20U}) {
    Database narrow;
    narrow.store.can.max_commit_changes = most;
    EXPECT_EQ(narrow.load("User", lines), Texts(lines.size(), "applied"));
    narrow.expect_verified();
  }
  // One that nothing takes is refused, and the others are not.
  Database database;
  database.store.can.max_entry_bytes = 1'000;
  lines[17] = R"({"name": "large", "nick": ")" + std::string(2'000, 'x') + "\"}";
  Texts expected(lines.size(), "applied");
  expected[17] = "limit";
  EXPECT_EQ(database.load("User", lines), expected);
  EXPECT_EQ(database.all("User").find("large"), std::string::npos);
  database.expect_verified();
}

TEST(LoadRows, ThatWouldTouchTooManyEntriesTogetherAreCommittedInParts) {
  runtime::SessionOptions options;
  options.max_fanout = 12;
  Database database(shop, "etf", options);
  Texts lines;
  for (int i = 0; i < 20; ++i) lines.push_back(R"({"name": "u)" + std::to_string(i) + "\"}");
  EXPECT_EQ(database.load("User", lines), Texts(lines.size(), "applied"));
  options.max_fanout = 2;
  Database narrow(shop, "etf", options);
  EXPECT_EQ(narrow.load("User", lines), Texts(lines.size(), "limit"));
  EXPECT_EQ(narrow.all("User"), "");
}

TEST(LoadRows, HaveTheirNoteInTheSameCommit) {
  Database database;
  LoadBatch batch = database.batch("User", {R"({"name": "ann"})", R"({"name": "ann"})", R"({"name": "ben"})"});
  batch.note = "load/test";
  batch.note_text = [](const std::vector<runtime::RowOutcome>& rows) { return std::to_string(rows.size()); };
  EXPECT_EQ(*database.session->read_note("load/test"), std::nullopt);
  const Loaded first = database.session->load(batch);
  EXPECT_EQ(first.note, "3");
  EXPECT_EQ(*database.session->read_note("load/test"), "3");
  // Somebody else was here.
  const Loaded second = database.session->load(batch);
  ASSERT_TRUE(second.failure);
  EXPECT_EQ(second.failure->message, "another process loads the same file at the same time");
  EXPECT_TRUE(second.rows.empty());
  // What the store does not take leaves neither.
  batch = database.batch("User", {R"({"name": "cleo"})"});
  batch.note = "load/test";
  batch.note_before = "3";
  batch.note_text = [](const std::vector<runtime::RowOutcome>& /*rows*/) { return "4"; };
  database.store.left = 0;
  EXPECT_EQ(database.session->load(batch).failure->message, "the disk is gone");
  database.store.left = -1;
  EXPECT_EQ(*database.session->read_note("load/test"), "3");
  EXPECT_EQ(database.all("User").find("cleo"), std::string::npos);
  // No rows, and a note all the same.
  batch.rows.clear();
  EXPECT_FALSE(database.session->load(batch).failure);
  EXPECT_EQ(*database.session->read_note("load/test"), "4");
}

TEST(LoadRows, OfSeveralThreadsAllArrive) {
  Database database;
  ASSERT_EQ(database.load("User", {R"({"name": "ann"})"}), Texts{"applied"});
  std::vector<std::thread> threads;
  std::atomic<int> applied = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        const Loaded loaded =
            database.session->load(database.batch("Note", Texts(20, R"({"author": "ann", "body": "x"})")));
        for (const auto& row : loaded.rows) applied += row ? 0 : 1;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(applied, 800);
  EXPECT_EQ(database.ask(R"({"run": "notes_of", "params": {"name": "ann"}})"), R"({"rows":[{"n":800}]})");
  database.expect_verified();
}

// --- Instances as text -----------------------------------------------------------------------------------------------

TEST(InstanceJson, HasTheHiddenKeyUnderANameOfItsOwn) {
  Database database;
  const std::string line = R"({"what":"x","_key":5,"__key":"f0e1d2c0-0001-11f1-8000-000000000001"})"
                           "\n";
  EXPECT_EQ(database.load("Event", {line}), Texts{"applied"});
  EXPECT_EQ(database.load("Event", {line}), Texts{"exists"});
  EXPECT_EQ(database.all("Event"), line);
  EXPECT_EQ(cli::data_header(database.model().entities[2], DataFormat::Csv), "what,_key,__key\n");
}

TEST(InstanceJson, SaysWhatIsWrong) {
  Database database;
  const model::Entity& user = database.model().entities[0];
  const auto reason = [&](const std::string& text) {
    const auto read = model::read_instance_json(database.model(), user, *parse_json(text));
    return read ? "fine" : read.refusal().code + ": " + read.refusal().reason;
  };
  EXPECT_EQ(reason("[]"), "value: an instance is an object: {\"field\": value, …}");
  EXPECT_EQ(reason(R"({"nam": "a"})"), "value: no field `nam` in User");
  EXPECT_EQ(reason("{}"), "required: name: a value is required");
  EXPECT_EQ(reason(R"({"name": "a", "age": null})"), "required: age: a value is required");
  EXPECT_EQ(reason(R"({"name": "a", "age": "x"})").substr(0, 10), "value: age");
  EXPECT_EQ(reason(R"({"name": "a", "age": 9223372036854775808})").substr(0, 10), "value: age");
  EXPECT_EQ(reason(R"({"name": "a", "name": "b"})"), "fine");  // the last counts
}

// --- Files -----------------------------------------------------------------------------------------------------------

namespace {

// Files in a folder of their own, and a database to load them into.
class LoadFiles : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    const auto path = folder.path() / name;
    write_file(path, text);
    return path.string();
  }
  [[nodiscard]] DataSource source(const std::string& path, char delimiter = ',') const {
    DataSource out;
    out.path = path;
    out.entity = *cli::entity_of_file(database->model(), path);
    out.format = *cli::format_of_file(path);
    out.delimiter = delimiter;
    return out;
  }
  LoadReport load(const std::string& path, const LoadRun& run = {}, char delimiter = ',') {
    auto opened = FileLoad::open(*database->session, source(path, delimiter), run);
    if (!opened) {
      LoadReport out;
      out.end = LoadEnd::Failed;
      out.message = opened.error().message;
      const std::string place = folder.path().string() + "/";
      for (std::size_t at = 0; (at = out.message.find(place)) != std::string::npos;)
        out.message.erase(at, place.size());
      return out;
    }
    return opened->load();
  }
  // `17 code: reason`, a line each.
  static Texts bad(const LoadReport& report) {
    Texts out;
    for (const BadLine& line : report.errors)
      out.push_back(std::to_string(line.line) + " " + line.code + ": " + line.reason);
    return out;
  }
  std::string users() { return database->all("User", DataFormat::Csv); }

  TemporaryFolder folder;
  std::unique_ptr<Database> database = std::make_unique<Database>();
};

}  // namespace

TEST_F(LoadFiles, OfJsonLinesTellTheirBadLines) {
  const LoadReport report = load(file("User.jsonl",
                                      "\xEF\xBB\xBF{\"name\": \"ann\"}\r\n"
                                      "\n"
                                      "{\"name\": \"ann\"}\n"
                                      "{\"nme\": \"ben\"}\n"
                                      "{\"name\": \n"
                                      "{\"name\": \"\xFF\"}\n"
                                      "5\n"
                                      "{\"name\": \"cleo\", \"age\": 5}"));
  EXPECT_EQ(report.end, LoadEnd::Complete);
  EXPECT_EQ(report.records, 7U);
  EXPECT_EQ(report.loaded, 2U);
  EXPECT_EQ(report.bad, 5U);
  EXPECT_EQ(bad(report), (Texts{"3 exists: User \"ann\" already exists", "4 value: no field `nme` in User",
                                "5 format: invalid JSON: unexpected input at byte 10", "6 format: not valid UTF-8",
                                "7 value: an instance is an object: {\"field\": value, …}"}));
  EXPECT_EQ(users(), "ann,18,none,,\ncleo,5,none,,\n");
}

TEST_F(LoadFiles, OfCommaSeparatedValuesTellTheirBadRecords) {
  const LoadReport report = load(file("User.csv",
                                      "\xEF\xBB\xBFnick,name,tags\r\n"
                                      "x,ann,\r\n"
                                      ",ben,\"[\"\"a\"\",\"\"b\"\"]\"\r\n"
                                      "\"\",cleo,\r\n"
                                      "x,dora\r\n"
                                      "x,,\r\n"
                                      "x,\xFF,\r\n"
                                      "x,dora,[1\r\n"
                                      "x,dora,[1]\r\n"
                                      "a \"quote\",dora,\r\n"
                                      "\"two\nlines\",emil,\r\n"
                                      "x,\"fay,\r\n"
                                      "x,gus,"));
  EXPECT_EQ(report.end, LoadEnd::Complete);
  EXPECT_EQ(bad(report), (Texts{"5 format: 2 cells, but the header has 3", "6 required: name: a value is required",
                                "7 format: not valid UTF-8", "8 value: tags: expected set<text> as JSON",
                                "9 value: tags[0]: expected text, not 1",
                                "10 format: cell 1 contains a quote but does not start with one",
                                "13 format: the quote that opens cell 2 in line 13 is never closed"}));
  EXPECT_EQ(report.records, 12U);
  EXPECT_EQ(report.loaded, 5U);
  EXPECT_EQ(users(),
            "ann,18,x,,\nben,18,,\"[\"\"a\"\",\"\"b\"\"]\",\ncleo,18,\"\",,\nemil,18,\"two\nlines\",,\ngus,18,x,,\n");
}

TEST_F(LoadFiles, WithAWrongHeaderAreNotLoaded) {
  const auto message = [&](const std::string& text) { return load(file("User.csv", text)).message; };
  EXPECT_EQ(message("name,agee\nann,1\n"),
            "User.csv:1: column `agee` is not a field of User; did you mean `age`? available: name, age, nick, tags, "
            "friends");
  EXPECT_EQ(message("name;age\nann;1\n"),
            "User.csv:1: column `name;age` is not a field of User; did you mean --delimiter ';'? available: name, age, "
            "nick, tags, friends");
  EXPECT_EQ(message("name,age,name\n"), "User.csv:1: column `name` is given twice");
  EXPECT_EQ(message("age,nick\n1,x\n"), "User.csv:1: missing column `name`, which User requires");
  EXPECT_EQ(message(""), "User.csv: empty file; the first line must name the columns");
  EXPECT_EQ(message("\n\n"), "User.csv: empty file; the first line must name the columns");
  EXPECT_EQ(message("\"name\n"), "User.csv:1: the quote that opens cell 1 in line 1 is never closed");
  EXPECT_EQ(message("na\xFFme\n"), "User.csv:1: the header is not valid UTF-8");
  EXPECT_EQ(users(), "");
  EXPECT_EQ(load(file("User.csv", "\n\nage;name\n5;ann\n"), {}, ';').loaded, 1U);
}

TEST_F(LoadFiles, InOtherEncodingsAreRefusedWithTheRemedy) {
  using namespace std::string_literals;
  const std::string remedy = ", but noam reads UTF-8; convert it with `iconv -f UTF-16 -t UTF-8`";
  EXPECT_EQ(load(file("User.csv", "\xFF\xFEn\0a\0"s)).message, "User.csv: encoded in UTF-16" + remedy);
  EXPECT_EQ(load(file("User.csv", "\xFE\xFF\0n\0a"s)).message, "User.csv: encoded in UTF-16" + remedy);
  EXPECT_EQ(load(file("User.jsonl", "\xFF\xFE\0\0{\0\0\0"s)).message.substr(0, 29), "User.jsonl: encoded in UTF-32");
  EXPECT_EQ(load(file("User.jsonl", "{\0}\0"s)).message.substr(0, 30), "User.jsonl: contains NUL bytes");
  // A NUL further behind is of one record.
  std::string text = "name\n";
  for (int i = 0; i < 2'000; ++i) text += "u" + std::to_string(i) + "\n";
  const LoadReport report = load(file("User.csv", text + "x\0y\nlast\n"s));
  EXPECT_EQ(report.loaded, 2'001U);
  EXPECT_EQ(bad(report), Texts{"2002 format: contains a NUL byte"});
}

TEST_F(LoadFiles, HaveLargeFields) {
  std::string large;
  large.resize(10'000'000, 'x');
  EXPECT_EQ(load(file("User.csv", "name,nick\nann,\"" + large + "\"\nben," + large + "\n")).loaded, 2U);
  EXPECT_EQ(load(file("User.jsonl", R"({"name": "cleo", "nick": ")" + large + "\"}\n")).loaded, 1U);
  EXPECT_GT(users().size(), 3 * large.size());
}

TEST_F(LoadFiles, ThatCantBeReadSaySo) {
  EXPECT_EQ(load((folder.path() / "User.csv").string()).message, "User.csv: cannot be read: No such file or directory");
}

TEST_F(LoadFiles, AreReadThroughAnyNumberOfBatches) {
  std::string text = "name,age\n";
  for (int i = 0; i < 50; ++i) text += "u" + std::to_string(i % 45) + "," + std::to_string(i % 7 - 1) + "\n";
  const std::string path = file("User.csv", text);
  std::string expected;
  for (const std::size_t records : {1U, 2U, 7U, 49U, 50U, 51U, 1000U}) {
    database = std::make_unique<Database>();
    LoadRun run;
    run.batch_records = records;
    const LoadReport report = load(path, run);
    EXPECT_EQ(report.records, 50U);
    if (expected.empty()) expected = users();
    EXPECT_EQ(users(), expected);
    EXPECT_EQ(report.loaded + report.bad, 50U);
    database->expect_verified();
  }
}

TEST_F(LoadFiles, GoOnBehindTheLastCommit) {
  std::string text = "name,age\n";
  for (int i = 0; i < 40; ++i)
    text += "u" + std::to_string(i) + (i % 9 == 4 ? "\n" : i % 9 == 5 ? ",-3\n" : ",\"3\"\n");
  {
    const std::string path = file("User.csv", text);
    LoadRun run;
    run.batch_records = 6;
    (void)load(path, run);
    const std::string expected = users();
    const int commits = 7;
    for (int stop = 0; stop <= commits; ++stop) {
      // By an interrupt; by a store that fails, and did not apply the last commit, or did.
      for (const int kind : {0, 1, 2}) {
        SCOPED_TRACE(std::to_string(stop) + " " + std::to_string(kind));
        database = std::make_unique<Database>();
        int left = stop;
        LoadRun first = run;
        if (kind == 0) first.interrupted = [&] { return --left <= 0; };
        if (kind > 0) database->store.left = stop;
        database->store.applies_the_last = kind == 2;
        const LoadReport begun = load(path, first);
        database->store.left = -1;
        const LoadReport rest = load(path, run);
        EXPECT_EQ(users(), expected);
        if (begun.end == LoadEnd::Complete) {
          EXPECT_EQ(rest.end, LoadEnd::AlreadyLoaded);
          EXPECT_EQ(rest.records, 0U);
        } else if (kind == 2 && stop == commits - 1) {
          EXPECT_EQ(rest.end, LoadEnd::AlreadyLoaded);
        } else {
          EXPECT_EQ(rest.end, LoadEnd::Complete);
        }
        if (kind != 2) {
          EXPECT_EQ(begun.loaded + rest.loaded, 32U);
          EXPECT_EQ(begun.bad + rest.bad, 8U);
          EXPECT_EQ(rest.skipped_before, begun.loaded);
        }
        EXPECT_EQ(load(path, run).end, LoadEnd::AlreadyLoaded);
        database->expect_verified();
      }
    }
  }
}

TEST_F(LoadFiles, TellTheLinesOfTheFileAlsoWhereTheyGoOn) {
  const std::string path =
      file("User.jsonl", "{\"name\": \"a\"}\n\n{\"name\": \"b\"}\n{\"name\": \"c\"}\n\n{\"name\": \"a\"}\n");
  LoadRun run;
  run.batch_records = 2;
  run.interrupted = [] { return true; };
  const LoadReport begun = load(path, run);
  EXPECT_EQ(begun.end, LoadEnd::Interrupted);
  EXPECT_EQ(begun.lines, 3U);
  run.interrupted = {};
  EXPECT_EQ(bad(load(path, run)), Texts{"6 exists: User \"a\" already exists"});
}

TEST_F(LoadFiles, ThatChangedAreRefusedUntilTheyAreLoadedAgain) {
  const std::string path = file("User.csv", "name\na\nb\nc\nd\n");
  LoadRun run;
  run.batch_records = 2;
  run.interrupted = [] { return true; };
  EXPECT_EQ(load(path, run).loaded, 2U);
  run.interrupted = {};
  const std::string changed =
      "User.csv: has changed since its first 3 lines were loaded; use --again to load it from the start";
  file("User.csv", "name\na\nx\nc\nd\n");
  EXPECT_EQ(load(path, run).message, changed);
  file("User.csv", "name\na\n");
  EXPECT_EQ(load(path, run).message, changed);
  EXPECT_EQ(users(), "a,18,none,,\nb,18,none,,\n");
  run.again = true;
  file("User.csv", "name\na\nx\nc\n");
  const LoadReport again = load(path, run);
  EXPECT_EQ(again.loaded, 2U);
  EXPECT_EQ(bad(again), Texts{"2 exists: User \"a\" already exists"});
  EXPECT_EQ(again.skipped_before, 0U);
  run.again = false;
  EXPECT_EQ(load(path, run).end, LoadEnd::AlreadyLoaded);
  // What comes behind the rest is loaded.
  file("User.csv", "name\na\nx\nc\ne\nf");
  EXPECT_EQ(load(path, run).loaded, 2U);
  // A last line that had no end may have been another one.
  file("User.csv", "name\na\nx\nc\ne\nfoo\n");
  EXPECT_EQ(load(path, run).message,
            "User.csv: has changed since its first 5 lines were loaded; use --again to load it from the start");
  file("User.csv", "name\na\nx\nc\ne\nf\ng\n");
  EXPECT_EQ(load(path, run).loaded, 1U);
  EXPECT_EQ(load(path, run).end, LoadEnd::AlreadyLoaded);
}

TEST_F(LoadFiles, AreKnownByWhereTheyLie) {
  const std::string path = file("User.csv", "name\na\n");
  std::filesystem::create_symlink(path, folder.path() / "user.csv");
  EXPECT_EQ(load(path).loaded, 1U);
  EXPECT_EQ(load((folder.path() / "user.csv").string()).end, LoadEnd::AlreadyLoaded);
  EXPECT_EQ(load((folder.path() / "." / "User.csv").string()).end, LoadEnd::AlreadyLoaded);
}

TEST_F(LoadFiles, EndAtTheFirstBadLineWhereThatIsAsked) {
  for (const std::size_t records : {1U, 2U, 100U}) {
    for (const std::string& wrong : {std::string("a"), std::string("x,y"), std::string("\"x")}) {
      SCOPED_TRACE(std::to_string(records) + " " + wrong);
      database = std::make_unique<Database>();
      LoadRun run;
      run.strict = true;
      run.batch_records = records;
      const std::string path = file("User.csv", "name\na\nb\nc\n" + wrong + "\nd\n");
      const LoadReport report = load(path, run);
      EXPECT_EQ(report.end, LoadEnd::Stopped);
      EXPECT_EQ(report.loaded, 3U);
      EXPECT_EQ(report.bad, 1U);
      EXPECT_EQ(report.records, 4U);
      EXPECT_EQ(report.lines, 4U);
      EXPECT_EQ(report.errors[0].line, 5U);
      EXPECT_EQ(users(), "a,18,none,,\nb,18,none,,\nc,18,none,,\n");
      // It stops there again; mended, it goes on.
      EXPECT_EQ(load(path, run).errors[0].line, 5U);
      file("User.csv", "name\na\nb\nc\ne\nd\n");
      const LoadReport rest = load(path, run);
      EXPECT_EQ(rest.end, LoadEnd::Complete);
      EXPECT_EQ(rest.loaded, 2U);
      EXPECT_EQ(rest.skipped_before, 3U);
    }
  }
}

TEST_F(LoadFiles, KeepTheFirstBadLinesAndCountThemAll) {
  std::string text = "name\n";
  for (int i = 0; i < 500; ++i) text += "a\n";
  std::size_t told = 0;
  LoadRun run;
  run.bad_line = [&](const BadLine& /*line*/) { ++told; };
  const LoadReport report = load(file("User.csv", text), run);
  EXPECT_EQ(report.bad, 499U);
  EXPECT_EQ(told, 499U);
  EXPECT_EQ(report.errors.size(), cli::most_bad_lines);
  EXPECT_EQ(report.errors[0].line, 3U);
}

// --- Which files -----------------------------------------------------------------------------------------------------

TEST_F(LoadFiles, OfAFolderComeOwnersFirst) {
  for (const char* name : {"Visit.csv", "Note.jsonl", "User.csv", "Folder.ndjson", "readme.txt", ".hidden.csv"})
    file(name, "");
  cli::LoadOptions options;
  options.sources = {folder.path().string()};
  const auto names = [&]() -> Texts {
    const auto found = cli::find_sources(database->model(), options);
    if (!found) return {found.error().message.substr(found.error().message.find(": ") + 2)};
    Texts out;
    for (const DataSource& source : *found) out.push_back(std::filesystem::path(source.path).filename().string());
    return out;
  };
  EXPECT_EQ(names(), (Texts{"User.csv", "Note.jsonl", "Folder.ndjson", "Visit.csv"}));
  options.format = "csv";
  EXPECT_EQ(names(), (Texts{"User.csv", "Visit.csv"}));
  options.format = "";
  file("user.json", "");
  EXPECT_NE(names()[0].find("both hold User"), std::string::npos) << names()[0];
  file("Nobody.csv", "");
  options.format = "csv";
  EXPECT_EQ(names()[0].substr(0, 45), "the name of the file is not an entity: rename");
}

TEST(DataFileNames, HoldWhateverAnEntityIsCalled) {
  const auto model = model_of(
      "model m\nentity `a/b` { id: int key }\nentity `.x %` { id: int key }\nquery q { select "
      "count(*) as n from `a/b` x }\nquery r { select count(*) as n from `.x %` x }");
  EXPECT_EQ(cli::data_file_name(model->entities[0], DataFormat::Csv), "a%2Fb.csv");
  EXPECT_EQ(cli::data_file_name(model->entities[1], DataFormat::JsonLines), "%2Ex%20%25.jsonl");
  for (const model::Entity& entity : model->entities)
    EXPECT_EQ(&model->entity(*cli::entity_of_file(*model, "x/" + cli::data_file_name(entity, DataFormat::Csv))),
              &entity);
}

// --- There and back --------------------------------------------------------------------------------------------------

namespace {

std::vector<model::EntityId> all_entities(const model::Model& model) {
  std::vector<model::EntityId> out;
  for (std::uint32_t i = 0; i < model.entities.size(); ++i) out.push_back(static_cast<model::EntityId>(i));
  return out;
}

// The files of a folder by their names.
std::map<std::string, std::string> contents(const std::filesystem::path& folder) {
  std::map<std::string, std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    out[entry.path().filename().string()] = read_file(entry.path());
  return out;
}

void export_all(Session& session, const std::filesystem::path& folder, DataFormat format) {
  const auto done = cli::export_to_folder(session, all_entities(session.model()), format, folder.string(), false);
  ASSERT_TRUE(done) << done.error().message;
}

void load_all(Session& session, const std::filesystem::path& folder) {
  cli::LoadOptions options;
  options.sources = {folder.string()};
  const auto sources = cli::find_sources(session.model(), options);
  ASSERT_TRUE(sources) << sources.error().message;
  for (const DataSource& source : *sources) {
    auto load = FileLoad::open(session, source, {});
    ASSERT_TRUE(load) << load.error().message;
    const LoadReport report = load->load();
    for (const BadLine& bad : report.errors) ADD_FAILURE() << report.file << ":" << bad.line << ": " << bad.reason;
    ASSERT_EQ(report.end, LoadEnd::Complete) << report.message;
  }
}

// What is exported loads under every design, and is exported as it was.
void expect_round_trip(Session& from, const std::shared_ptr<const model::Model>& model, std::size_t& instances) {
  for (const DataFormat format : {DataFormat::JsonLines, DataFormat::Csv}) {
    const TemporaryFolder folder;
    export_all(from, folder.path() / "first", format);
    const auto expected = contents(folder.path() / "first");
    for (const auto& [name, text] : expected)
      instances += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    int number = 0;
    for (const std::string& design : strategies_of(*model)) {
      SCOPED_TRACE(design + (format == DataFormat::Csv ? " csv" : " jsonl"));
      Database database(model, design);
      load_all(*database.session, folder.path() / "first");
      const auto again = folder.path() / std::to_string(number++);
      export_all(*database.session, again, format);
      EXPECT_EQ(contents(again), expected);
      database.expect_verified();
    }
  }
}

}  // namespace

TEST(RoundTrip, KeepsTheDataOfEveryScenario) {
  std::size_t instances = 0;
  for (const auto& path : files_below("tests/scenarios", ".scenario")) {
    SCOPED_TRACE(path.string());
    const ParsedScenario parsed = parse_scenario(read_file(path));
    const auto model = model_of(read_file(source_dir() / parsed.scenario.model));
    SessionEngine engine(*model, "eao");
    ASSERT_TRUE(run_scenario(parsed.scenario, engine).empty());
    expect_round_trip(engine.session(), model, instances);
  }
  EXPECT_GE(instances, 200U);
}

TEST(RoundTrip, KeepsValuesOfEveryType) {
  const auto model = model_of(read_file(source_dir() / "tests/models/types.noam"));
  Database database(model);
  EXPECT_EQ(database.load("Place",
                          {R"({"town": "a,b\"c", "number": -3, "name": ""})", R"({"town": " x ", "number": 0})",
                           R"({"town": "null", "number": 9223372036854775807, "name": "null"})"}),
            Texts(3, "applied"));
  Texts lines;
  for (const char* members : {
           "",
           R"("yes": true, "number": -9223372036854775808, "ratio": -1.5e-300, "price": "-0.000001", "name": "")",
           R"("yes": false, "number": 0, "ratio": 1e300, "price": "12345678901234567890.1234567890", "name": " ä ")",
           R"("name": "two\nlines\r\n,\"quoted\"; \t'", "short": "äöü", "state": "open", "bits": "null")",
           R"("name": "null", "bits": "", "at": "0001-01-01T00:00:00.000Z", "day": "9999-12-31", "note": "text")",
           R"("bits": "true", "token": "00000000-0000-0000-0000-000000000000", "note": {"a": [1, null, 1.5, "x"]})",
           R"("bits": "AAEC", "event": "f0e1d2c0-0001-11f1-8000-000000000001", "address": "::1", "note": [])",
           R"("address": "10.0.0.1", "note": 5, "other": "t0", "place": ["null", 1], "point": {"x": 1, "label": "a"})",
           R"("point": {"x": -1, "y": 2, "label": ""}, "numbers": [3, 1, 2, 1], "points": [{"x": 1}, {"x": 2}])",
           R"("tags": ["", "a", "\"", "b,c"], "near": [["x", 1], ["\"", 2]], "prices": [["a", "1.5"], ["", "0"]])",
           R"("visits": [[["a", 1], 5], [["b", 2], -5]], "note": true)",
       }) {
    lines.push_back("{\"id\": \"t" + std::to_string(lines.size()) + "\"" + (*members == '\0' ? "" : ", ") + members +
                    "}");
  }
  EXPECT_EQ(database.load("Thing", lines), Texts(lines.size(), "applied"));
  EXPECT_EQ(database.load("Entry", {R"({"thing": "t0", "at": "2026-01-01T00:00:00Z", "amount": 5})",
                                    R"({"thing": "t1", "at": "2026-01-01T00:00:00Z", "amount": -5})"}),
            Texts(2, "applied"));
  std::size_t instances = 0;
  expect_round_trip(*database.session, model, instances);
  EXPECT_GE(instances, 20U);
}

TEST(RoundTrip, KeepsKeysOwnersAndWhatEachSideHolds) {
  Database database;
  ASSERT_EQ(database.load("User", {R"({"name": "b", "friends": ["a", "nobody"]})", R"({"name": "a", "nick": null})",
                                   R"({"name": "c", "nick": "", "friends": ["c"]})"}),
            Texts(3, "applied"));
  ASSERT_EQ(database.load("Note", Texts(3, R"({"author": "a", "body": "x"})")), Texts(3, "applied"));
  ASSERT_EQ(database.load("Event", Texts(3, R"({"what": "x"})")), Texts(3, "applied"));
  // Owners whose keys come after those of their parts.
  ASSERT_EQ(database.load("Folder",
                          {R"({"path": "z"})", R"({"path": "y", "parent": "z"})", R"({"path": "a", "parent": "y"})",
                           R"({"path": "b", "parent": "y"})", R"({"path": "x", "parent": "a"})", R"({"path": "c"})"}),
            Texts(6, "applied"));
  EXPECT_EQ(database.all("Folder", DataFormat::Csv), "z,\ny,z\na,y\nb,y\nc,\nx,a\n");
  std::size_t instances = 0;
  expect_round_trip(*database.session, model_of(shop), instances);
}

TEST(RoundTrip, GoesThroughTheEmbeddedStore) {
  const auto model = model_of(read_file(source_dir() / "examples/microblog/microblog.noam"));
  const ParsedScenario parsed = parse_scenario(read_file(source_dir() / "tests/scenarios/microblog/posts.scenario"));
  SessionEngine engine(*model, "eao");
  ASSERT_TRUE(run_scenario(parsed.scenario, engine).empty());
  const TemporaryFolder folder;
  export_all(engine.session(), folder.path() / "memory", DataFormat::Csv);
  Database embedded(model, "seed003", {}, make_temporary_store());
  load_all(*embedded.session, folder.path() / "memory");
  export_all(*embedded.session, folder.path() / "embedded", DataFormat::Csv);
  EXPECT_EQ(contents(folder.path() / "embedded"), contents(folder.path() / "memory"));
  embedded.expect_verified();
}

// --- Killed ----------------------------------------------------------------------------------------------------------

TEST(LoadKilled, GoesOnBehindWhatIsInTheStore) {
  const auto model = model_of(shop);
  const TemporaryFolder folder;
  std::string text = "name,age\n";
  for (int i = 0; i < 60; ++i) text += "u" + std::to_string(i) + (i % 9 == 4 ? ",-3\n" : ",\"3\"\n");
  const std::string path = (folder.path() / "User.csv").string();
  write_file(path, text);
  DataSource source;
  source.path = path;
  source.entity = entity_id(*model, "User");
  source.format = DataFormat::Csv;
  LoadRun run;
  run.batch_records = 7;
  Database whole(model);
  ASSERT_EQ(FileLoad::open(*whole.session, source, run)->load().loaded, 53U);
  stores::RocksdbOptions options = small_store();
  options.existing = stores::Existing::Allowed;
  options.table_bytes = 500;  // most commits are tables of their own, and some are not
  const std::string place = (folder.path() / "store").string();
  // Each run is killed after two commits, until one comes to its end.
  int runs = 0;
  for (bool complete = false; !complete; ++runs) {
    ASSERT_LT(runs, 10);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto opened = stores::open_rocksdb_store(place, options);
      if (!opened) ::_exit(1);
      Database database(model, "eao", {}, std::move(*opened));
      int left = 2;
      run.progress = [&](const LoadReport& /*report*/, std::uint64_t /*bytes*/, std::uint64_t /*of*/) {
        if (--left == 0) ::kill(::getpid(), SIGKILL);
      };
      auto load = FileLoad::open(*database.session, source, run);
      ::_exit(load && load->load().end == LoadEnd::Complete ? 0 : 2);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    complete = WIFEXITED(status);
    ASSERT_TRUE(!complete || WEXITSTATUS(status) == 0);
  }
  EXPECT_EQ(runs, 5);
  auto opened = stores::open_rocksdb_store(place, options);
  ASSERT_TRUE(opened) << opened.error().message;
  Database database(model, "eao", {}, std::move(*opened));
  EXPECT_EQ(FileLoad::open(*database.session, source, {})->load().end, LoadEnd::AlreadyLoaded);
  EXPECT_EQ(database.all("User"), whole.all("User"));
  database.expect_verified();
}

TEST(Export, ReplacesNothingUnlessItIsTold) {
  Database database;
  ASSERT_EQ(database.load("User", {R"({"name": "a"})"}), Texts{"applied"});
  const TemporaryFolder folder;
  const auto entities = all_entities(database.model());
  const auto to = folder.path() / "new" / "folder";
  const auto files = cli::export_to_folder(*database.session, entities, DataFormat::Csv, to.string(), false);
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_EQ(files->size(), 5U);
  EXPECT_EQ((*files)[0].instances, 1U);
  EXPECT_EQ((*files)[4].file, "");  // transient
  const auto before = contents(to);
  EXPECT_EQ(before.size(), 4U);
  EXPECT_EQ(before.at("User.csv"), "name,age,nick,tags,friends\na,18,none,,\n");
  std::filesystem::remove(to / "User.csv");
  ASSERT_EQ(database.load("User", {R"({"name": "b"})"}), Texts{"applied"});
  const auto refused = cli::export_to_folder(*database.session, entities, DataFormat::Csv, to.string(), false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, (to / "Note.csv").string() + ": already exists; use --force to replace it");
  EXPECT_EQ(contents(to).size(), 3U);  // nothing half-written
  ASSERT_TRUE(cli::export_to_folder(*database.session, entities, DataFormat::Csv, to.string(), true));
  EXPECT_EQ(contents(to).at("User.csv"), "name,age,nick,tags,friends\na,18,none,,\nb,18,none,,\n");
  EXPECT_EQ(contents(to).size(), 4U);
  const auto nowhere = cli::export_to_folder(*database.session, entities, DataFormat::Csv, "/dev/null/x", false);
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().message.rfind("/dev/null/x: cannot be created", 0), 0U);
}

}  // namespace noam::tests
