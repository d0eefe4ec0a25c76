#include "runtime/report/report.h"

#include <doctest/doctest.h>

#include <fstream>

#include "runtime/base/file.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

void put(const TemporaryDirectory& folder, const std::string& name, const std::string& text) {
  std::ofstream(folder / name) << text;
}

constexpr char kPrune[] =
    R"({"name":"a<b","network":"lenet5","data":"idx","dense_accuracy":0.915,"accuracy":0.912,
        "sparsity":0.93,"layers":[{"name":"conv1","weights":150,"sparsity":0.5}]})";
constexpr char kBench[] =
    R"([{"device":"cpu","batch":128,"precision":"f32",
         "dense":{"network_ms":{"median":12.8},"layers":[{"name":"conv1","ms":{"median":4}}]},
         "sparse":{"error":"none"},
         "chosen":{"network_ms":{"median":6.4},
                   "layers":[{"name":"conv1","kernel":"direct","ms":{"median":2}}]}}])";

TEST_CASE("a run folder becomes a table and a page") {
  const TemporaryDirectory folder;
  put(folder, "prune.json", kPrune);
  put(folder, "bench.json", kBench);
  put(folder, "metrics.jsonl",
      "{\"stage\":\"dense\",\"epoch\":1,\"loss\":0.7,\"accuracy\":0.8}\n"
      "{\"stage\":\"prune\",\"iteration\":1,\"loss\":0.5,\"accuracy\":0.9,\"weight_sparsity\":0.3,"
      "\"action\":\"mutation\",\"migration\":{\"rate\":0.1}}\n");
  const std::string table = summary_table(read_run_facts(folder.path()));
  CHECK(table.find("91.50 %") != std::string::npos);
  CHECK(table.find("0.1000 ms") != std::string::npos);  // 12.8 ms / 128 images
  CHECK(table.find("2.00x dense") != std::string::npos);

  const std::string page = read_text_file(write_report(folder.path()));
  CHECK(page.find("mutation 1") != std::string::npos);
  CHECK(page.find("a<b") == std::string::npos);
  CHECK(page.find("<script") == std::string::npos);
  CHECK(page.find("nan") == std::string::npos);
}

TEST_CASE("a folder without a run and damaged files are refused") {
  const TemporaryDirectory folder;
  CHECK(error_of([&] { read_run_facts(folder.path()); }) == ErrorCode::bad_file);
  put(folder, "prune.json", "{\"name\":");
  CHECK(error_of([&] { read_run_facts(folder.path()); }) == ErrorCode::bad_file);
  put(folder, "prune.json", kPrune);
  put(folder, "metrics.jsonl", "{}\nnot json\n");
  CHECK(message_of([&] { read_run_facts(folder.path()); }).find("metrics.jsonl:2:") !=
        std::string::npos);
}

}  // namespace
}  // namespace winnow
