#include "runtime/base/folder_lock.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>

#include "runtime/base/file.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

TEST_CASE("a folder is held by one at a time, and the second is told by whom") {
  const TemporaryDirectory folder;
  auto first = std::make_unique<FolderLock>(folder.path(), "prune");
  const auto second = [&] { FolderLock(folder.path(), "quantize"); };
  CHECK(error_of(second) == ErrorCode::usage);
  const std::string message = message_of(second);
  CAPTURE(message);
  CHECK(message.find(folder.path() + ": in use by prune, process " + std::to_string(getpid()) +
                     " on ") == 0);
  CHECK(message.find(", since 20") != std::string::npos);
  CHECK(message.find('\n') == std::string::npos);

  first.reset();
  CHECK_FALSE(std::filesystem::exists(folder / FolderLock::kFileName));
  CHECK(error_of(second) == std::nullopt);
}

TEST_CASE("a lock ends with its process, however that ends") {
  const TemporaryDirectory folder;
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const FolderLock lock(folder.path(), "prune");
    (void)!write(ready[1], "x", 1);
    while (true) pause();
  }
  char byte = 0;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  const auto take = [&] { FolderLock(folder.path(), "prune"); };
  CHECK(message_of(take).find("process " + std::to_string(child)) != std::string::npos);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  CHECK(std::filesystem::exists(folder / FolderLock::kFileName));
  CHECK(error_of(take) == std::nullopt);
  for (const int end : ready) close(end);
}

TEST_CASE("a folder that is not there cannot be held") {
  const TemporaryDirectory folder;
  CHECK(error_of([&] { FolderLock(folder / "none", "prune"); }) == ErrorCode::bad_file);
}

}  // namespace
}  // namespace winnow
