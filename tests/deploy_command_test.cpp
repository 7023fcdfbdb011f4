#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support.h"

// `noam deploy` as a person meets it, and what the other commands say of the design of a store.
namespace noam::tests {

namespace {

class DeployCommand : public testing::Test {
 protected:
  // A copy of the example, so that its store lies beside it.
  std::string model(const std::string& name) const {
    const auto path = folder.path() / (name + ".noam");
    std::filesystem::copy_file(source_dir() / "examples" / name / (name + ".noam"), path,
                               std::filesystem::copy_options::skip_existing);
    return path.string();
  }
  [[nodiscard]] std::string store(const std::string& name) const {
    return "rocksdb:" + (folder.path() / (name + ".data")).string();
  }

  // Without the store that the other tests are given.
  static ProgramRun noam(const std::vector<std::string>& arguments) {
    std::vector<std::string> command{"/usr/bin/env", "-u", "NOAM_STORE", noam_program()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run_program(command);
  }

  // What is printed, with `n` for every number, and without the place of the store.
  std::string deployed(const std::string& name, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"deploy", model(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramRun run = noam(arguments);
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    const std::string begin = store(name) + ": ";
    EXPECT_EQ(run.out.rfind(begin, 0), 0U) << run.out;
    return std::regex_replace(run.out.substr(std::min(begin.size(), run.out.size())), std::regex(" [0-9]+ "), " n ");
  }

  TemporaryFolder folder;
};

}  // namespace

TEST_F(DeployCommand, SaysWhichDesignItTookAndWhichOthersThereAre) {
  EXPECT_EQ(deployed("microblog"),
            "created under `eao` (default), n collections with n families; the model also has the design `seed003`: "
            "choose it with --strategy\n");
  EXPECT_EQ(deployed("microblog"), "already exists under `eao`, n collections with n families\n");
  EXPECT_EQ(deployed("game"),
            "created under `eao` (default), n collections with n families; the model also has the designs `figure8`, "
            "`figure9`, `figure10`, `figure11`, `independent_pairs`, `figure13`: choose one with --strategy\n");
}

TEST_F(DeployCommand, SaysNoMoreOfAChosenDesign) {
  EXPECT_EQ(deployed("microblog", {"--strategy", "seed003"}),
            "created under `seed003`, n collections with n families\n");
  EXPECT_EQ(deployed("microblog"), "already exists under `seed003`, n collections with n families\n");
  // Nothing lies there yet, so the design can still be another one.
  EXPECT_EQ(deployed("microblog", {"--strategy", "etf"}),
            "had no entries, changed to `etf`, n collections with n families\n");
}

TEST_F(DeployCommand, SaysNothingOfDesignsThatAModelHasNot) {
  write_file(folder.path() / "shop.noam", "model shop\nentity Product { sku: text key }\n");
  const ProgramRun run = noam({"deploy", (folder.path() / "shop.noam").string()});
  EXPECT_EQ(run.code, 0);
  EXPECT_TRUE(std::regex_search(run.out, std::regex(": created under `eao` \\(default\\), [0-9]+ collections? with "
                                                    "[0-9]+ families\n$")))
      << run.out;
}

TEST_F(DeployCommand, IsRefusedWhereAStoreHasEntriesOfAnotherDesign) {
  deployed("microblog");
  ASSERT_EQ(noam({"run", model("microblog"), "register", "username=ann", "id=1"}).code, 0);
  const std::string message = "noam: store `" + store("microblog") +
                              "` was deployed under `eao`, not under `seed003`; leave out --strategy to use it as it "
                              "is, or deploy `seed003` to another store, given by --store\n";
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"deploy", model("microblog")},
        {"run", model("microblog"), "numbers", "username=ann"},
        {"verify", model("microblog")},
        {"stats", model("microblog")},
        {"export", model("microblog"), "--to", (folder.path() / "out").string()}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--strategy", "seed003"});
    const ProgramRun run = noam(arguments);
    EXPECT_EQ(run.code, 2) << command[0];
    EXPECT_EQ(run.err, message) << command[0];
    EXPECT_EQ(run.out, "") << command[0];
  }
  // What it says is possible.
  EXPECT_EQ(noam({"run", model("microblog"), "numbers", "username=ann"}).code, 0);
  EXPECT_EQ(noam({"deploy", model("microblog"), "--strategy", "seed003", "--store", store("other")}).code, 0);
}

}  // namespace noam::tests
