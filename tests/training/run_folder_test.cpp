#include "prune/run/run_folder.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

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
    put(first.metrics());
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
  put(path + "/metrics.jsonl");
  CHECK(message_of([&] { late.open(); }).find("holds a run already") != std::string::npos);
}

TEST_CASE("what a killed program left does not make a folder used") {
  const TemporaryDirectory directory;
  put(directory / "run/run.lock");
  put(directory / "run/config.yaml.tmp-1-0");
  CHECK_NOTHROW(RunFolder(directory / "run", FolderUse::fresh).open());
  CHECK(fs::is_empty(directory / "run"));
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

TEST_CASE("a configuration of the user's own is no run to replace") {
  const TemporaryDirectory directory;
  put(directory / "run/config.yaml");
  for (const FolderUse use : {FolderUse::fresh, FolderUse::resume, FolderUse::overwrite}) {
    CHECK(message_of([&] { RunFolder(directory / "run", use); }) ==
          directory / "run" + ": is not empty and holds no run of prune; choose another folder");
  }
}

TEST_CASE("what is no file at the name of one is refused before anything is removed") {
  for (const char* name : {"config.yaml", "metrics.jsonl", "pruned.safetensors"}) {
    const TemporaryDirectory directory;
    put(directory / "run/prune.json");
    put(directory / "run/config.yaml");
    fs::remove(directory / "run" + "/" + name);
    REQUIRE(mkfifo((directory / "run" + "/" + name).c_str(), 0600) == 0);
    CAPTURE(std::string(name));
    const auto overwrite = [&] { RunFolder(directory / "run", FolderUse::overwrite).open(); };
    CHECK(error_of(overwrite) == ErrorCode::usage);
    CHECK(message_of(overwrite).find(std::string(name) + ": cannot be written: is no regular") !=
          std::string::npos);
    CHECK(fs::exists(directory / "run/prune.json"));
  }
}

TEST_CASE("metrics that are shorter than the checkpoint says are refused") {
  const TemporaryDirectory directory;
  put(directory / "run/config.yaml");
  put(directory / "run/metrics.jsonl");
  const RunFolder folder(directory / "run", FolderUse::resume);
  CHECK_NOTHROW(folder.require_metrics(2));
  const auto check = [&] { folder.require_metrics(3); };
  CHECK(error_of(check) == ErrorCode::bad_file);
  CHECK(message_of(check) ==
        folder.metrics() +
            ": found 2 bytes, expected at least 3 as the checkpoint says; begin "
            "anew with --overwrite");
  fs::remove(folder.metrics());
  CHECK(message_of(check).find(": is missing, found 0 bytes, ") != std::string::npos);
}

}  // namespace
}  // namespace winnow
