#include "prune/run_folder.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

void put(const std::string& path) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path) << "{}";
}

TEST_CASE("to overwrite a run removes it with all that was made of it, and nothing else") {
  const TemporaryDirectory directory;
  const std::string path = directory / "run";
  for (const char* name : {"config.yaml", "metrics.jsonl", "prune.json", "quantize.json",
                           "export.json", "run.json", "bench.json", "report.html"}) {
    put(path + "/" + name);
  }
  put(path + "/thesis.txt");
  put(path + "/plots/run.json");
  {
    RunFolder folder(path, FolderUse::overwrite);
    CHECK(fs::exists(path + "/bench.json"));  // until nothing can refuse the new run any more
    folder.open();
  }
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(path)) left.push_back(entry.path().filename());
  std::sort(left.begin(), left.end());
  CHECK(left == std::vector<std::string>{"plots", "thesis.txt"});
  CHECK(fs::exists(path + "/plots/run.json"));
}

TEST_CASE("a run folder has one writer, from the moment that it is there") {
  const TemporaryDirectory directory;
  const std::string path = directory / "run";
  const auto refusal = [&](FolderUse use) {
    CHECK(error_of([&] { RunFolder(path, use); }) == ErrorCode::usage);
    return message_of([&] { RunFolder(path, use); });
  };
  {
    RunFolder first(path, FolderUse::fresh), second(path, FolderUse::fresh);
    CHECK_FALSE(fs::exists(path));
    first.open();
    put(first.config());
    CHECK(message_of([&] { second.open(); }).find(path + ": in use by prune, process ") == 0);
    CHECK(refusal(FolderUse::resume).find(path + ": in use by prune, process ") == 0);
    CHECK(refusal(FolderUse::overwrite).find(": in use by ") != std::string::npos);
  }
  CHECK(refusal(FolderUse::fresh).find("holds a run already") != std::string::npos);
  CHECK_NOTHROW(RunFolder(path, FolderUse::resume));
}

TEST_CASE("a run that was begun meanwhile is not run over") {
  const TemporaryDirectory directory;
  const std::string path = directory / "run";
  RunFolder late(path, FolderUse::fresh);
  put(path + "/config.yaml");
  CHECK(message_of([&] { late.open(); }).find("holds a run already") != std::string::npos);
}

TEST_CASE("a lock left by a killed program does not make a folder used") {
  const TemporaryDirectory directory;
  put(directory / "run/run.lock");
  CHECK_NOTHROW(RunFolder(directory / "run", FolderUse::fresh).open());
}

TEST_CASE("a folder that cannot be made is refused at once") {
  const TemporaryDirectory directory;
  put(directory / "file");
  for (const char* name : {"file", "file/run", "run\xff"}) {
    CAPTURE(std::string(name));
    CHECK(error_of([&] { check_run_folder(directory / name, FolderUse::fresh); }) ==
          ErrorCode::usage);
  }
}

}  // namespace
}  // namespace winnow
