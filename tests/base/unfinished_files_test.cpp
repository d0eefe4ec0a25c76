#include "runtime/base/unfinished_files.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "runtime/base/file.h"
#include "runtime/base/folder_lock.h"
#include "tests/temporary_directory.h"

namespace fs = std::filesystem;

namespace winnow {
namespace {

std::ptrdiff_t files_in(const TemporaryDirectory& folder) {
  return std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator());
}

TEST_CASE("what a signal removes are files that are half-written and locks that are held") {
  const TemporaryDirectory folder;
  {
    const FolderLock lock(folder.path(), "test");
    AtomicFile file(folder / "a");
    CHECK(files_in(folder) == 2);
    remove_unfinished();
    CHECK(files_in(folder) == 0);
  }
  write_file_atomically(folder / "whole", "1");
  { const AtomicFile dropped(folder / "b"); }
  std::ofstream(folder / "other") << "1";
  remove_unfinished();
  CHECK(files_in(folder) == 2);
}

TEST_CASE("more unfinished files than can be remembered do no harm") {
  const TemporaryDirectory folder;
  for (int i = 0; i < 40; ++i) remember_unfinished(folder / std::to_string(i));
  remember_unfinished(folder / std::string(5000, 'a'));
  for (int i = 0; i < 40; ++i) std::ofstream(folder / std::to_string(i)) << "1";
  remove_unfinished();
  CHECK(files_in(folder) == 40 - 16);
  for (int i = 0; i < 40; ++i) forget_unfinished(folder / std::to_string(i));
  remember_unfinished(folder / "39");
  remove_unfinished();
  CHECK(files_in(folder) == 40 - 16 - 1);
  forget_unfinished(folder / "39");
}

}  // namespace
}  // namespace winnow
