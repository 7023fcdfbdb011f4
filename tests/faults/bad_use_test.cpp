// The program where the store is not what it should be, or can't be written: one clear line, and nothing is lost.

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/faults/folders.h"
#include "tests/faults/process.h"
#include "tests/faults/workload.h"
#include "tests/support.h"

namespace noam::tests::faults {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

constexpr const char* shop = R"(model shop
entity Item { id: int key   name: text   price: decimal }
entity Tag { word: text key   items: set<Item> inverse tags }
query item($id) { select i from Item i where i.id = $id }
query all_items { select i.id, i.name from Item i order by i.id }
query priced($price) { select i.id, i.name from Item i where i.price = $price order by i.name }
query tag($word) { select t from Tag t where t.word = $word }
command make($id, $name, $price) { insert Item { id: $id, name: $name, price: $price } }
command label($word, $items: set<Item>) { insert Tag { word: $word, items: $items } }
)";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

class BadUse : public ::testing::Test {
 protected:
  BadUse() { write_file(model(), shop); }

  [[nodiscard]] fs::path at(const std::string& name) const { return folder_.path() / name; }
  [[nodiscard]] std::string model() const { return at("shop.noam").string(); }
  [[nodiscard]] std::string url(const std::string& name) const { return "rocksdb:" + at(name).string(); }

  // A store with two items and a tag.
  void make_store(const std::string& name, const std::string& strategy = "eao") {
    expect_fine({"deploy", model(), "--store", url(name), "--strategy", strategy});
    expect_fine({"run", model(), "make", "id=1", "name=nail", "price=0.10", "--store", url(name)});
    expect_fine({"run", model(), "make", "id=2", "name=hammer", "price=12", "--store", url(name)});
    expect_fine({"run", model(), "label", "word=tool", "items=[2]", "--store", url(name)});
  }

  // Everything that was put into it is there, and every copy is right.
  void expect_whole(const std::string& name) {
    EXPECT_EQ(expect_fine({"run", model(), "all_items", "--json", "--store", url(name)}),
              "{\"rows\":[{\"id\":1,\"name\":\"nail\"},{\"id\":2,\"name\":\"hammer\"}]}\n");
    EXPECT_EQ(expect_fine({"run", model(), "tag", "word=tool", "--json", "--store", url(name)}),
              "{\"rows\":[{\"t\":{\"word\":\"tool\",\"items\":[2]}}]}\n");
    expect_fine({"verify", model(), "--store", url(name)});
  }

  static std::string expect_fine(const Texts& arguments, const std::function<void()>& prepare = {}) {
    const Ended ended = noam(arguments, {}, prepare);
    EXPECT_EQ(ended.code, 0) << fmt::format("{}", fmt::join(arguments, " ")) << "\n" << ended.out << ended.err;
    return ended.out;
  }

  // One line that begins with `noam:` and has these words; nothing on standard output.
  static void expect_line(const Ended& ended, const Texts& words) {
    EXPECT_FALSE(ended.hung);
    EXPECT_EQ(ended.out, "");
    EXPECT_TRUE(ended.err.starts_with("noam: ")) << ended.err;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
    EXPECT_TRUE(ended.err.ends_with("\n")) << ended.err;
    for (const std::string& word : words)
      EXPECT_NE(ended.err.find(word), std::string::npos) << word << "\n" << ended.err;
  }

  // Wrong use, told in one line; and nothing in the folder is another than before.
  void expect_refused(const Texts& arguments, const Texts& words, const std::function<void()>& prepare = {}) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(arguments, " ")));
    const auto before = contents(folder_.path());
    const Ended ended = noam(arguments, {}, prepare);
    EXPECT_EQ(ended.code, 2) << ended.out << ended.err;
    expect_line(ended, words);
    EXPECT_TRUE(contents(folder_.path()) == before) << "the folder was changed";
  }

  // Of the commands that open a store, each.
  void expect_not_opened(const std::string& store, const Texts& words, const std::function<void()>& prepare = {}) {
    expect_refused({"verify", model(), "--store", store}, words, prepare);
    expect_refused({"run", model(), "all_items", "--store", store}, words, prepare);
    expect_refused({"run", model(), "make", "id=9", "name=saw", "price=1", "--store", store}, words, prepare);
    expect_refused({"run", model(), "--batch", "--store", store}, words, prepare);
    expect_refused({"repair", model(), "--store", store}, words, prepare);
    expect_refused({"backup", model(), "--store", store, "--to", at("backup").string()}, words, prepare);
  }

  TemporaryFolder folder_;
};

// --- What is there is no store ---------------------------------------------------------------------------------------

TEST_F(BadUse, StoreThatIsNotThere) {
  expect_not_opened(url("missing"), {"store `", "missing` does not exist"});
  expect_refused({"verify", model(), "--store", url("missing")}, {"create it with `noam deploy "});
  fs::create_directory(at("empty"));
  expect_not_opened(url("empty"), {"store `", "empty` does not exist"});
  expect_refused({"deploy", model(), "--store", url("no/such/folder")}, {"no/such/folder", "cannot be created"});
}

TEST_F(BadUse, StoreThatIsSomethingElse) {
  write_file(at("file"), "text");
  expect_not_opened(url("file"), {"file` is not a folder"});
  expect_refused({"deploy", model(), "--store", url("file")}, {"file` is not a folder"});

  fs::create_directory(at("letters"));
  write_file(at("letters") / "letter.txt", "Dear Mary");
  expect_not_opened(url("letters"), {"letters` is not a noam store"});
  expect_refused({"deploy", model(), "--store", url("letters")}, {"letters` is not a noam store"});

  // A database of RocksDB, but not of noam.
  make_store("store");
  fs::copy(at("store") / "db", at("other"), fs::copy_options::recursive);
  expect_not_opened(url("other"), {"other` is not a noam store"});
  expect_refused({"deploy", model(), "--store", url("other")}, {"other` is not a noam store"});
  expect_whole("store");
}

TEST_F(BadUse, StoreWithoutItsHeadOrOfAnotherFormat) {
  make_store("store");
  const std::string head = read_file(at("store") / "noam.json");
  fs::remove(at("store") / "noam.json");
  expect_not_opened(url("store"), {"store` is not a noam store", "noam.json"});
  expect_refused({"deploy", model(), "--store", url("store")}, {"store` is not a noam store"});

  for (const auto& [text, words] :
       {std::pair(with(head, "\"format\": 2", "\"format\": 3"), Texts{"newer noam", "3"}),
        std::pair(with(head, "\"format\": 2", "\"format\": 1"), Texts{"older noam", "1", "export"}),
        std::pair(with(head, "\"format\": 2", "\"format\": 0"), Texts{"damaged"}),
        std::pair(with(head, "\"format\": 2", "\"format\": \"x\""), Texts{"damaged"}),
        std::pair(std::string(), Texts{"damaged"}), std::pair(std::string("[]"), Texts{"damaged"}),
        std::pair(head.substr(0, head.size() / 2), Texts{"damaged"})}) {
    write_file(at("store") / "noam.json", text);
    expect_not_opened(url("store"), words);
    expect_refused({"deploy", model(), "--store", url("store")}, words);
  }
  write_file(at("store") / "noam.json", head);
  expect_whole("store");
}

TEST_F(BadUse, UrlThatIsNone) {
  for (const char* store : {"nonsense", "data", "sqlite:x", ":", "rocksdb", "ROCKSDB:x"})
    expect_refused({"verify", model(), "--store", store}, {fmt::format("unknown store `{}`", store), "rocksdb:FOLDER"});
  expect_refused({"verify", model(), "--store", "rocksdb:"}, {"store `rocksdb:` has no folder", "rocksdb:data"});
  expect_refused({"backup", "--store", "rocksdb:", "--to", at("b").string()}, {"`rocksdb:`"});
  expect_refused({"backup", "--store", "memory:", "--to", at("b").string()}, {"`memory:`", "rocksdb:FOLDER"});
  expect_refused({"restore", "--store", "nonsense", "--from", at("b").string()}, {"`nonsense`"});
  expect_refused({"verify", model(), "--store", "memory:x"}, {"`memory:x`"});
  expect_refused({"verify", model(), "--store", "mongodb://host/space"}, {"mongodb is not implemented yet"});
  expect_refused({"verify", model(), "--store", "cassandra://host/Space"}, {"invalid keyspace `Space`"});
  expect_refused({"verify", model(), "--store", "cassandra://host/space?colour=red"}, {"unknown option `colour`"});
}

// --- Who may not -----------------------------------------------------------------------------------------------------

constexpr uid_t nobody = 65534;

// Root may write everywhere.
void become_nobody() {
  if (::geteuid() != 0) return;
  if (::setgroups(0, nullptr) != 0 || ::setgid(nobody) != 0 || ::setuid(nobody) != 0) ::_exit(126);
}

void allow(const fs::path& folder, mode_t folders, mode_t files) {
  ::chmod(folder.c_str(), folders | S_IWUSR);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    ::chmod(entry.path().c_str(), entry.is_directory() ? folders : files);
  ::chmod(folder.c_str(), folders);
}

TEST_F(BadUse, StoreThatMayNotBeWritten) {
  make_store("store");
  make_store("backup");
  allow(folder_.path(), 0755, 0644);
  if (noam({"--version"}, {}, become_nobody).code != 0) GTEST_SKIP() << "nobody but its owner may run the program here";
  allow(at("store"), 0555, 0444);
  const std::string store = url("store");
  for (const Texts& command : {Texts{"verify", model()},
                               {"run", model(), "all_items"},
                               {"deploy", model()},
                               {"run", model(), "make", "id=9", "name=saw", "price=1"},
                               {"repair", model()}}) {
    Texts arguments = command;
    arguments.insert(arguments.end(), {"--store", store});
    expect_refused(arguments, {"store`", "ermission denied"}, become_nobody);
  }
  expect_refused({"backup", "--store", store, "--to", at("x").string()}, {"ermission denied"}, become_nobody);
  if (::geteuid() == 0) {
    // Where it may not be read either.
    allow(at("store"), 0700, 0600);
    expect_not_opened(store, {"store`", "ermission denied"}, become_nobody);
    // Nor may a new one be made where nobody may write.
    expect_refused({"deploy", model(), "--store", url("new")}, {"new", "ermission denied"}, become_nobody);
    expect_refused({"restore", "--store", url("new"), "--from", at("backup").string()}, {"ermission denied"},
                   become_nobody);
  }
  allow(at("store"), 0755, 0644);
  expect_whole("store");
}

TEST_F(BadUse, StoreThatAnotherProcessHas) {
  make_store("store");
  Process first({noam_program(), "run", model(), "--batch", "--store", url("store")});
  ASSERT_TRUE(first.write("{\"run\": \"item\", \"params\": {\"id\": 1}}\n"));
  ASSERT_TRUE(first.read_line(in(patience))) << first.err;
  expect_not_opened(url("store"),
                    {"store` is in use by process " + std::to_string(first.id()), "one process at a time"});
  // The first has not noticed.
  ASSERT_TRUE(first.write("{\"run\": \"make\", \"params\": {\"id\": 3, \"name\": \"saw\", \"price\": 4}}\n"));
  EXPECT_EQ(first.read_line(in(patience)), "{\"outcome\":\"applied\"}");
  first.close_input();
  EXPECT_TRUE(first.read_until(in(patience)));
  EXPECT_EQ(first.wait(), 0) << first.err;
  EXPECT_EQ(expect_fine({"run", model(), "item", "id=3", "--json", "--store", url("store")}),
            "{\"rows\":[{\"i\":{\"id\":3,\"name\":\"saw\",\"price\":\"4\"}}]}\n");
  // Who is killed has it no longer.
  Process second({noam_program(), "run", model(), "--batch", "--store", url("store")});
  ASSERT_TRUE(second.write("{\"run\": \"item\", \"params\": {\"id\": 1}}\n"));
  ASSERT_TRUE(second.read_line(in(patience))) << second.err;
  second.kill();
  second.wait();
  expect_fine({"verify", model(), "--store", url("store")});
}

// --- Another model ---------------------------------------------------------------------------------------------------

TEST_F(BadUse, ModelThatDiffersIsToldWhatDiffers) {
  make_store("store");
  struct Case {
    std::string text;
    Texts words;
  };
  const std::string without_tags = [] {
    std::string out;
    std::size_t begin = 0;
    const std::string text = shop;
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
      const std::string line = text.substr(begin, end - begin + 1);
      if (line.find("Tag") == std::string::npos) out += line;
      begin = end + 1;
    }
    return out;
  }();
  const std::vector<Case> cases{
      {with(shop, "price: decimal }", "price: decimal   stock: int? }"), {"`Item`", "`stock`", "not in the store"}},
      {with(with(with(shop, "   price: decimal }", " }"),
                 "query priced($price) { select i.id, i.name from Item i where i.price = $price order by i.name }\n",
                 ""),
            "command make($id, $name, $price) { insert Item { id: $id, name: $name, price: $price } }\n",
            "command make($id, $name) { insert Item { id: $id, name: $name } }\n"),
       {"`Item`", "`price`", "only in the store"}},
      {with(shop, "price: decimal", "price: int"), {"`price`", "`int`", "`decimal`"}},
      {with(shop, "name: text", "name: text?"), {"`name`", "`text?`", "`text`"}},
      {with(with(shop, "items: set<Item> inverse tags", "items: list<Item>"), "$items: set<Item>",
            "$items: list<Item>"),
       {"`Tag`", "`items`"}},
      {without_tags, {"`Tag`", "only in the store"}},
      {std::string(shop) + "entity Shelf { id: int key }\n", {"`Shelf`", "not in the store"}},
  };
  const std::string other = at("other.noam").string();
  for (const Case& one : cases) {
    SCOPED_TRACE(one.text);
    write_file(other, one.text);
    Texts words = one.words;
    words.insert(words.end(), {"store `", "another design", "use the model and strategy it was deployed with",
                               "deploy this design to a new store"});
    for (const Texts& command : {Texts{"verify"}, {"deploy"}, {"repair"}}) {
      Texts arguments{command[0], other, "--store", url("store")};
      const Ended ended = noam(arguments);
      EXPECT_EQ(ended.code, 2);
      expect_line(ended, words);
    }
  }
  for (const char* strategy : {"etf", "normalized"}) {
    const Ended ended = noam({"verify", model(), "--strategy", strategy, "--store", url("store")});
    EXPECT_EQ(ended.code, 2);
    expect_line(ended, {fmt::format("was deployed under `eao`, not under `{}`", strategy), "leave out --strategy"});
  }
  expect_refused({"verify", model(), "--strategy", "nonsense", "--store", url("store")}, {"no strategy or design"});
  expect_whole("store");
}

TEST_F(BadUse, ModelInAnotherOrderIsTheSame) {
  make_store("store");
  Texts lines;
  std::size_t begin = 0;
  const std::string text = shop;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    lines.push_back(text.substr(begin, end - begin + 1));
    begin = end + 1;
  }
  std::reverse(lines.begin() + 1, lines.end());
  write_file(model(), fmt::format("{}", fmt::join(lines, "")));
  expect_whole("store");
  expect_fine({"deploy", model(), "--store", url("store")});
  expect_fine({"run", model(), "make", "id=3", "name=saw", "price=4", "--store", url("store")});
  write_file(model(), shop);
  EXPECT_EQ(expect_fine({"run", model(), "priced", "price=4", "--json", "--store", url("store")}),
            "{\"rows\":[{\"id\":3,\"name\":\"saw\"}]}\n");
  expect_fine({"verify", model(), "--store", url("store")});
}

// --- Backups ---------------------------------------------------------------------------------------------------------

TEST_F(BadUse, BackupToWhereItCanNotBe) {
  make_store("store");
  fs::create_directory(at("full"));
  write_file(at("full") / "letter.txt", "Dear Mary");
  write_file(at("file"), "text");
  fs::create_directory(at("empty"));
  for (const auto& [to, words] :
       {std::pair(at("full"), Texts{"full: already exists and is not empty"}),
        std::pair(at("file"), Texts{"file: already exists and is not a folder"}),
        std::pair(at("store"), Texts{"store: already exists and is not empty"}),
        std::pair(at("file") / "below", Texts{"file: not a folder"}),
        std::pair(at("file") / "below" / "it", Texts{"below: cannot be created: Not a directory"}),
        std::pair(fs::path("/proc/backup"), Texts{"/proc/backup: cannot be created"})}) {
    const Texts before = names_in(folder_.path());
    const Ended ended = noam({"backup", "--store", url("store"), "--to", to.string()});
    EXPECT_EQ(ended.code, 2) << ended.out;
    expect_line(ended, words);
    EXPECT_EQ(names_in(folder_.path()), before);
  }
  EXPECT_EQ(read_file(at("full") / "letter.txt"), "Dear Mary");
  expect_fine({"backup", "--store", url("store"), "--to", at("empty").string()});
  expect_whole("empty");
  // Parents are created, and removed if the backup fails.
  const Ended failed = noam({"backup", "--store", url("store"), "--to", (at("new") / std::string(300, 'a')).string()});
  EXPECT_EQ(failed.code, 2);
  expect_line(failed, {"cannot be created", "File name too long"});
  EXPECT_FALSE(fs::exists(at("new")));
  expect_fine({"backup", "--store", url("store"), "--to", at("no/such").string() + "/"});
  expect_whole("no/such");
  expect_whole("store");
}

TEST_F(BadUse, RestoreOfWhatIsNoBackup) {
  make_store("store");
  expect_fine({"backup", "--store", url("store"), "--to", at("backup").string()});
  fs::create_directory(at("letters"));
  write_file(at("letters") / "letter.txt", "Dear Mary");
  write_file(at("file"), "text");
  const auto restore = [&](const std::string& to, const std::string& from) {
    return Texts{"restore", "--store", url(to), "--from", at(from).string()};
  };
  expect_refused(restore("store", "backup"), {"store: already exists and is not empty"});
  expect_refused(restore("letters", "backup"), {"letters: already exists and is not empty"});
  expect_refused(restore("file", "backup"), {"file: already exists and is not a folder"});
  expect_refused(restore("new", "missing"), {"backup `", "missing` does not exist"});
  expect_refused(restore("new", "file"), {"file` is not a backup"});
  expect_refused(restore("new", "letters"), {"letters` is not a backup"});
  expect_refused(restore("no/such", "backup"), {"no/such: cannot be created"});

  // Each file of the backup, damaged or gone. The store shares some of them, and must not see it.
  fs::rename(at("backup"), at("linked"));
  fs::copy(at("linked"), at("backup"), fs::copy_options::recursive);
  const auto whole = contents(at("backup"));
  for (const auto& [file, text] : whole) {
    const bool needed = file.ends_with(".sst") || file.find("MANIFEST") != std::string::npos ||
                        file.ends_with("CURRENT") || file == "noam.json";
    if (!needed) continue;
    SCOPED_TRACE(file);
    std::string damaged = text;
    damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x10);
    write_file(at("backup") / file, damaged);
    expect_refused(restore("new", "backup"), {"backup"});
    fs::remove(at("backup") / file);
    expect_refused(restore("new", "backup"), {"backup"});
    write_file(at("backup") / file, text);
  }
  EXPECT_TRUE(contents(at("backup")) == whole);
  expect_fine(restore("new", "backup"));
  expect_whole("new");
  expect_whole("store");
}

// --- A disk that is full ---------------------------------------------------------------------------------------------

// Bytes that can't be made smaller, as text.
std::string noise(Random& random, std::size_t size) {
  static const std::string letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  std::string out;
  while (out.size() < size) out += letters[random.below(letters.size())];
  return out;
}

class FullDisk : public BadUse {
 protected:
  static Json make(std::size_t id, const std::string& name) {
    return request("make", {{"id", id}, {"name", name}, {"price", "1"}});
  }

  // Sends commands until one is not applied, or there were too many.
  void fill(Process& process, std::size_t bytes) {
    for (int i = 0; i < 2000; ++i) {
      const Json answer = send(process, bytes);
      if (answer.value("outcome", "") != "applied") {
        expect_told(answer);
        return;
      }
    }
    ADD_FAILURE() << "it was never full";
  }

  Json send(Process& process, std::size_t bytes) {
    const std::size_t id = next_++;
    if (!process.write(make(id, noise(random_, bytes)).dump() + "\n")) return {};
    const auto line = process.read_line(in(patience));
    if (!line) {
      ADD_FAILURE() << "no answer: " << process.err;
      return {};
    }
    Json answer = Json::parse(*line);
    if (answer.value("outcome", "") == "applied") acknowledged_.insert(id);
    return answer;
  }

  // Nobody knows whether it was applied, and why is said in one line.
  void expect_told(const Json& answer) {
    EXPECT_EQ(answer.value("outcome", ""), "unknown") << answer.dump();
    const std::string reason = answer.value("reason", "");
    EXPECT_NE(reason.find("cannot be written"), std::string::npos) << reason;
    EXPECT_EQ(reason.find('\n'), std::string::npos) << reason;
  }

  static void end(Process& process) {
    process.close_input();
    EXPECT_TRUE(process.read_until(in(patience)));
    EXPECT_EQ(process.wait(), 0) << process.err;
  }

  // Everything that was acknowledged is there, and no copy differs; of the others some may be there.
  void expect_acknowledged(const std::string& store) {
    const Json items = Json::parse(expect_fine({"run", model(), "all_items", "--json", "--store", store}));
    std::set<std::size_t> there;
    for (const Json& row : items["rows"]) there.insert(row["id"].get<std::size_t>());
    for (const std::size_t id : acknowledged_) EXPECT_TRUE(there.contains(id)) << id;
    expect_fine({"verify", model(), "--store", store});
    EXPECT_GT(acknowledged_.size(), 0U);
  }

  // One command a process.
  Ended run_make(const std::string& store, std::size_t bytes, const std::function<void()>& prepare = {}) {
    const std::size_t id = next_++;
    const Ended ended = noam({"run", model(), "make", fmt::format("id={}", id), "name=" + noise(random_, bytes),
                              "price=1", "--store", store},
                             {}, prepare);
    if (ended.code == 0) acknowledged_.insert(id);
    return ended;
  }

  // 2: it could not even be opened; 4: nobody knows.
  static void expect_failed(const Ended& ended) {
    EXPECT_FALSE(ended.hung);
    EXPECT_TRUE(ended.code == 2 || ended.code == 4) << ended.code << ended.out << ended.err;
    if (ended.code == 2) expect_line(ended, {"store"});
    const bool told =
        ended.out.starts_with("unknown: store `") && ended.out.find("cannot be written") < ended.out.find('\n');
    EXPECT_TRUE(told || ended.code == 2) << ended.out;
  }

  Random random_{seed()};
  std::size_t next_ = 100;
  std::set<std::size_t> acknowledged_;
};

// No file may be longer than this; who tries is told, instead of being ended by a signal.
template <rlim_t bytes>
void limit_files() {
  const rlimit limit{bytes, bytes};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  ::signal(SIGXFSZ, SIG_IGN);
}

TEST_F(FullDisk, FilesThatMayNotGrow) {
  make_store("store");
  const std::string store = url("store");
  {
    Process process({noam_program(), "run", model(), "--batch", "--store", store}, limit_files<200'000>);
    fill(process, 10'000);
    // Queries are answered all the same, commands are not applied from here on.
    ASSERT_TRUE(process.write("{\"run\": \"item\", \"params\": {\"id\": 1}}\n"));
    EXPECT_EQ(process.read_line(in(patience)), "{\"rows\":[{\"i\":{\"id\":1,\"name\":\"nail\",\"price\":\"0.1\"}}]}");
    for (int i = 0; i < 5; ++i) expect_told(send(process, 10'000));
    end(process);
  }
  expect_acknowledged(store);
  // One that is longer than any file may be; and one where not even the store can be opened.
  expect_failed(run_make(store, 100'000, limit_files<60'000>));
  expect_acknowledged(store);
  expect_failed(run_make(store, 10, limit_files<1>));
  expect_acknowledged(store);
  EXPECT_EQ(run_make(store, 100'000).code, 0);
  expect_acknowledged(store);
}

TEST_F(FullDisk, FilesThatMayNotGrowAreNotLoaded) {
  make_store("store");
  const std::string store = url("store");
  std::string rows;
  constexpr std::size_t count = 1'000;
  for (std::size_t i = 0; i < count; ++i)
    rows += Json{{"id", 1'000 + i}, {"name", noise(random_, 500)}, {"price", "2"}}.dump() + "\n";
  write_file(at("Item.jsonl"), rows);
  const Texts load{"load", model(), at("Item.jsonl").string(), "--store", store};
  const Ended failed = noam(load, {}, limit_files<250'000>);
  EXPECT_EQ(failed.code, 4) << failed.out << failed.err;
  EXPECT_EQ(std::count(failed.err.begin(), failed.err.end(), '\n'), 1) << failed.err;
  EXPECT_NE(failed.err.find("repeat the command to load the rest"), std::string::npos) << failed.err;
  expect_fine({"verify", model(), "--store", store});
  expect_fine(load);
  const Json all = Json::parse(expect_fine({"run", model(), "all_items", "--json", "--store", store}));
  EXPECT_EQ(all["rows"].size(), count + 2);
  expect_fine({"verify", model(), "--store", store});
}

TEST_F(FullDisk, BackupAndRestoreLeaveNothing) {
  make_store("store");
  const std::string store = url("store");
  {
    Process process({noam_program(), "run", model(), "--batch", "--store", store});
    for (int i = 0; i < 30; ++i) ASSERT_EQ(send(process, 10'000)["outcome"], "applied");
    end(process);
  }
  expect_fine({"backup", "--store", store, "--to", at("backup").string()});
  expect_refused({"restore", "--store", url("new"), "--from", at("backup").string()}, {"backup"}, limit_files<50'000>);
  const Ended ended = noam({"backup", "--store", store, "--to", at("other").string()}, {}, limit_files<1>);
  EXPECT_EQ(ended.code, 2) << ended.out;
  expect_line(ended, {});
  EXPECT_EQ(names_in(folder_.path()), Texts({"backup", "shop.noam", "store"}));
  expect_acknowledged(store);
  expect_acknowledged(url("backup"));
}

// A small file system in memory, where the test may make one; it is seen by this process and its children alone.
class SmallDisk {
 public:
  explicit SmallDisk(const fs::path& folder) : folder_(folder) {
    fs::create_directory(folder);
    mounted_ = ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
               ::mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=4m") == 0;
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  }

  [[nodiscard]] bool mounted() const { return mounted_; }
  void grow() const { ASSERT_EQ(::mount("tmpfs", folder_.c_str(), "tmpfs", MS_REMOUNT, "size=64m"), 0); }
  void shrink_to_what_it_has() const {
    const fs::space_info space = fs::space(folder_);
    const std::string size = fmt::format("size={}", space.capacity - space.available);
    ASSERT_EQ(::mount("tmpfs", folder_.c_str(), "tmpfs", MS_REMOUNT, size.c_str()), 0);
  }

 private:
  fs::path folder_;
  bool mounted_ = false;
};

TEST_F(FullDisk, DiskThatIsFull) {
  const SmallDisk disk(at("disk"));
  if (!disk.mounted()) GTEST_SKIP() << "no file system may be mounted here";
  const std::string store = url("disk/store");
  expect_fine({"deploy", model(), "--store", store});
  {
    Process process({noam_program(), "run", model(), "--batch", "--store", store});
    fill(process, 50'000);
    // It is mended while the process goes on: what it acknowledges is there afterwards.
    disk.grow();
    for (int i = 0; i < 10; ++i) (void)send(process, 1'000);
    end(process);
  }
  expect_acknowledged(store);

  disk.shrink_to_what_it_has();
  expect_failed(run_make(store, 20'000));
  disk.grow();
  expect_acknowledged(store);

  disk.shrink_to_what_it_has();
  const Ended backup = noam({"backup", "--store", store, "--to", at("disk/backup").string()});
  EXPECT_EQ(backup.code, 2) << backup.out;
  EXPECT_EQ(names_in(at("disk")), Texts({"store"}));
  disk.grow();
  expect_acknowledged(store);
  EXPECT_EQ(run_make(store, 20'000).code, 0);
  expect_acknowledged(store);
}

}  // namespace
}  // namespace noam::tests::faults
