#include "runtime/base/output_path.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

TEST_CASE("a file can be written into a folder that is there, or over a file") {
  const TemporaryDirectory folder;
  std::ofstream(folder / "old.json") << "{}";
  CHECK_NOTHROW(require_output_file(folder / "new.json"));
  CHECK_NOTHROW(require_output_file(folder / "old.json"));
  CHECK_NOTHROW(require_output_file("new.json"));
  CHECK_FALSE(std::filesystem::exists(folder / "new.json"));
  const auto refusal = [](const std::string& path) {
    CHECK(error_of([&] { require_output_file(path); }) == ErrorCode::usage);
    return message_of([&] { require_output_file(path); });
  };
  CHECK(refusal(folder / "none/new.json") ==
        folder / "none/new.json: cannot be written: " + (folder / "none") + " is not there");
  CHECK(refusal(folder.path()) == folder.path() + ": cannot be written: is no regular file");
  CHECK(refusal(folder / "old.json/new").find("cannot be written") != std::string::npos);
  CHECK(refusal("") == "the path of an output is empty");
  CHECK(refusal(folder / "\xe4.json").find("is not UTF-8") != std::string::npos);
}

TEST_CASE("a folder can be made below folders that can be made") {
  const TemporaryDirectory folder;
  std::ofstream(folder / "file") << "x";
  std::filesystem::create_symlink(folder / "gone", folder / "link");
  CHECK_NOTHROW(require_output_folder(folder / "a/b/c"));
  CHECK_NOTHROW(require_output_folder(folder.path()));
  CHECK_FALSE(std::filesystem::exists(folder / "a"));
  for (const char* bad : {"file", "file/run", "link/run", "run\xe4"}) {
    CAPTURE(std::string(bad));
    CHECK(error_of([&] { require_output_folder(folder / bad); }) == ErrorCode::usage);
  }
}

}  // namespace
}  // namespace winnow
