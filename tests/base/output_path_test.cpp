#include "runtime/base/output_path.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "runtime/base/file.h"
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

TEST_CASE("a name must leave room for the temporary file beside it") {
  const TemporaryDirectory folder;
  const auto named = [&](std::size_t length) { return folder / std::string(length, 'x'); };
  const std::string longest = named(255 - kTemporarySuffixBytes);
  CHECK_NOTHROW(require_output_file(longest));
  CHECK_NOTHROW(write_file_atomically(longest, std::string_view("{}")));
  const std::string path = named(256 - kTemporarySuffixBytes);
  CHECK(error_of([&] { require_output_file(path); }) == ErrorCode::usage);
  CHECK(message_of([&] { require_output_file(path); }) ==
        path + ": cannot be written: a name of 232 bytes, at most 231 are possible");
  CHECK_NOTHROW(require_output_folder(named(255)));
  CHECK(message_of([&] { require_output_folder(named(256) + "/run"); }).find("at most 255 are") !=
        std::string::npos);
  std::string deep = folder.path();
  while (deep.size() < 4096) deep += "/abcdefghi";
  CHECK(message_of([&] { require_output_file(deep); }).find(": a path of ") != std::string::npos);
  CHECK(message_of([&] { require_output_folder(deep); }).find(": a path of ") != std::string::npos);
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

// A folder with an input, other names for it, and the function's answers.
class Folder {
 public:
  Folder() {
    std::ofstream(path("in")) << "x";
    std::filesystem::create_symlink("in", path("link"));
    std::filesystem::create_directories(path("run"));
  }
  std::string path(const std::string& name) const { return directory_ / name; }

  std::string refusal(const ProgramFiles& files) const {
    const auto check = [&] { require_distinct_outputs(files); };
    CHECK(error_of(check).value_or(ErrorCode::usage) == ErrorCode::usage);
    return message_of(check);
  }

 private:
  TemporaryDirectory directory_;
};

TEST_CASE("an output that is an input is refused, however it is spelled") {
  const Folder folder;
  const std::string in = folder.path("in");
  CHECK(folder.refusal({{in}, {folder.path("out")}, {folder.path("own")}, "-"}).empty());
  for (const char* name : {"in", "./in", "run/../in", "link"}) {
    CAPTURE(std::string(name));
    const std::string same = folder.path(name);
    CHECK(folder.refusal({{in}, {same}, {}}) == same + ": would replace the input " + in);
    CHECK(folder.refusal({{in}, {}, {}, same}) == same + ": would replace the input " + in);
  }
}

TEST_CASE("outputs that are each other are refused, there or not") {
  const Folder folder;
  const std::string a = folder.path("a"), b = folder.path("run/../a");
  CHECK(folder.refusal({{}, {a}, {}, a}) == a + ": two results cannot share one file");
  CHECK(folder.refusal({{}, {a, b}, {}}) ==
        a + " and " + b + ": two results cannot share one file");
  CHECK(folder.refusal({{}, {}, {b}, a}) ==
        a + " and " + b + ": two results cannot share one file");
  std::ofstream(a) << "x";
  CHECK(folder.refusal({{}, {a}, {b}}).find("two results") != std::string::npos);
  CHECK(folder.refusal({{}, {folder.path("c")}, {folder.path("c/d")}}) ==
        folder.path("c") + ": cannot be a file, " + folder.path("c/d") + " shall lie in it");
  CHECK(folder.refusal({{}, {folder.path("none/c")}, {}}).find("cannot be written") !=
        std::string::npos);
  CHECK(folder.refusal({{}, {}, {folder.path("none/c")}}).find("cannot be written") !=
        std::string::npos);
}

TEST_CASE("names that other files of a run have are refused where a run lies") {
  const Folder folder;
  const std::string metrics = folder.path("run/metrics.jsonl");
  CHECK(folder.refusal({{}, {metrics}, {}}).empty());
  std::ofstream(folder.path("run/config.yaml")) << "name: a\n";
  CHECK(folder.refusal({{}, {metrics}, {}})
            .starts_with(metrics + ": would replace a file of the run in "));
  CHECK(folder.refusal({{}, {}, {}, folder.path("run/config.yaml")}).find("a file of the run") !=
        std::string::npos);
  CHECK(folder.refusal({{}, {}, {folder.path("run/quantize.json")}}).empty());
  CHECK(folder.refusal({{}, {}, {}, folder.path("run/bench.json")}).empty());
}

}  // namespace
}  // namespace winnow
