#include "tests/faults/faulty_files.h"

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "tests/support.h"

namespace noam::tests::faults {
namespace {

TEST(FaultyFiles, KeepWhatWasToldToBeSyncedWheneverThePowerGoes) {
  for (int round = 0; round < 2'000; ++round) {
    const TemporaryFolder folder;
    const std::string path = (folder.path() / "file").string();
    FaultyFiles files{Fault{}};
    std::unique_ptr<rocksdb::FSWritableFile> file;
    ASSERT_TRUE(files.NewWritableFile(path, {}, &file, nullptr).ok());
    ASSERT_TRUE(files.sync_folder(folder.path().string()).ok());
    std::atomic<std::uint64_t> synced = 0;
    std::thread writer([&] {
      while (file->Append("x", {}, nullptr).ok() && file->Sync({}, nullptr).ok()) ++synced;
    });
    while (synced < 5) std::this_thread::yield();
    files.let_power_go();
    writer.join();
    file.reset();
    property::Random random(1);
    files.lose(random, true);
    ASSERT_EQ(std::filesystem::file_size(path), synced) << "round " << round;
  }
}

}  // namespace
}  // namespace noam::tests::faults
