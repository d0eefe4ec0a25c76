// `runtime challenge run` as a user calls it, on small data of its own.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/base/file.h"
#include "runtime/base/sha256.h"
#include "runtime/challenge/files/text/tsv.h"
#include "tests/challenge/run_folder.h"

namespace winnow::challenge {
namespace {

void check_output(const Outcome& outcome, int status, const std::vector<std::string>& parts) {
  INFO(outcome.output);
  CHECK(outcome.status == status);
  for (const std::string& part : parts) CHECK(outcome.output.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("the CPU engines run a folder and confirm its categories") {
  const RunFolder folder;
  const ExpectedResult expected = folder.expected();
  REQUIRE(expected.categories.size() > 5);
  REQUIRE(expected.categories.size() < kRunImages - 5);
  const std::string survivors = std::to_string(expected.categories.size());
  for (const std::string engine : {"reference", "cpu", "cpu --blocks 3"}) {
    CAPTURE(engine);
    check_output(folder.run("--threads 2 --repeats 3 --engine " + engine + " --categories " +
                            folder.file("out.tsv") + " --json " + folder.file("run.json")),
                 0, {"equal, " + survivors + " images", "TeraEdges/s", "median of 3", "cpu ("});
    CHECK(read_categories_tsv(folder.file("out.tsv")) == expected.categories);
    const nlohmann::json json = folder.json();
    CHECK(json["survivors"] == expected.categories.size());
    CHECK(json["categories_sha256"] == sha256(read_text_file(folder.file("out.tsv"))));
    CHECK(json["live"] == expected.live);
    CHECK(json["peak_gpu_bytes"] == 0);
    CHECK(json["connections"] == folder.network().connections());
    CHECK(json["runs"].size() == 3);
    CHECK(json["truth"]["equal"] == true);
    CHECK(json["options"]["streams"] == 0);
    const double seconds = json["inference_ms"]["median"].get<double>() / 1e3;
    CHECK(json["tera_edges_per_second"].get<double>() ==
          doctest::Approx(static_cast<double>(kRunImages * folder.network().connections()) /
                          seconds / 1e12));
  }
}

TEST_CASE("other categories than those of the truth file are exit status 5") {
  const RunFolder folder;
  Categories wrong = folder.expected().categories;
  const std::uint32_t missing = wrong.back();
  wrong.pop_back();
  folder.write_truth(wrong);
  check_output(
      folder.run("--categories " + folder.file("out.tsv") + " --json " + folder.file("run.json")),
      5, {"1 surplus: " + std::to_string(missing + 1), "runtime: "});
  CHECK(read_categories_tsv(folder.file("out.tsv")) == folder.expected().categories);
  CHECK(folder.json()["truth"]["first_surplus"] == nlohmann::json{missing + 1});
  write_categories_tsv(folder.file("right.tsv"), folder.expected().categories);
  check_output(folder.run("--truth " + folder.file("right.tsv")), 0, {"right.tsv"});
}

TEST_CASE("a baseline does the same work in the same process") {
  const RunFolder folder;
  check_output(folder.run("--engine cpu --baseline reference --images 10:60 --json " +
                          folder.file("run.json")),
               0, {"reference: equal, ", "speed-up over it"});
  const nlohmann::json json = folder.json();
  const nlohmann::json& baseline = json["baseline"];
  CHECK(baseline["engine"] == "reference");
  CHECK(baseline["survivors"] == json["survivors"]);
  CHECK(baseline["equal_categories"] == true);
  CHECK(baseline["speed_up"].get<double>() ==
        doctest::Approx(baseline["inference_ms"]["median"].get<double>() /
                        json["inference_ms"]["median"].get<double>()));
  check_output(folder.run("--baseline refernce"), 2, {"did you mean 'reference'?"});
  check_output(folder.run("--engine fused --gpus 0,1 --baseline cpu"), 2, {"runs on no GPU"});
  check_output(folder.run("--engine grouped --no-half"), 2,
               {"engine grouped: needs fp16 activations, which --no-half forbids"});
}

TEST_CASE("parts of the images keep their numbers and are compared for themselves") {
  const RunFolder folder;
  struct Part {
    std::string option;
    std::uint32_t first, last;
  };
  for (const Part& part : {Part{"20:45", 20, 45}, {"30", 0, 30}, {"69:70", 69, 70}}) {
    CAPTURE(part.option);
    Categories expected;
    std::ranges::copy_if(folder.expected().categories, std::back_inserter(expected),
                         [&](std::uint32_t i) { return i >= part.first && i < part.last; });
    check_output(folder.run("--images " + part.option + " --categories " + folder.file("out.tsv")),
                 0, {"equal, " + std::to_string(expected.size()) + " images"});
    CHECK(read_categories_tsv(folder.file("out.tsv")) == expected);
  }
}

TEST_CASE("parts of the layers run for themselves and without the folder's truth") {
  const RunFolder folder;
  const LayerRange first_two(folder.network(), 0, 2);
  check_output(folder.run("--layers-to 2 --json " + folder.file("run.json")), 0,
               {"none to compare with", "2 (0 to 2)"});
  CHECK(folder.json()["live"] == expected_result(first_two, folder.images()).live);
  CHECK(folder.json()["connections"] == first_two.connections());
  // Only layer 3 takes as many neurons as the images have; its inputs are then the images.
  check_output(folder.run("--layers-from 1 --layers-to 3"), 2, {"neurons"});
  check_output(folder.run("--layers-from 3 --layers-to 3"), 2, {"expected first < last"});
  check_output(folder.run("--layers 2 --layers-to 3"), 2, {"--layers-to 3"});
}

TEST_CASE("mistakes are named in one line with their exit status") {
  const RunFolder folder;
  check_output(folder.run("--engine cpuu"), 2, {"'cpuu' is not known; did you mean 'cpu'?"});
  check_output(folder.run("--images 5:2"), 2, {"'5:2'", "A < B"});
  check_output(folder.run("--images x"), 2, {"'x'"});
  check_output(folder.run("--images 71"), 2, {"there are only 70"});
  check_output(folder.run("--neurons 51"), 3, {"neuron51.wsn"});
  check_output(folder.run("--truth " + folder.file("no.tsv")), 3, {"no.tsv"});
  check_output(folder.run("--engine fused --streams 0"), 2, {"--streams", "from 1 to 256"});
  check_output(folder.run("--engine fused --streams 257"), 2, {"--streams", "from 1 to 256"});
  check_output(folder.run("--engine fused --streams many"), 2, {"--streams"});
  check_output(folder.run("--engine cpu --streams 2"), 2,
               {"--streams has no effect: engine cpu runs on no GPU"});
  check_output(folder.run("--engine grouped --streams 2"), 2,
               {"engine grouped: does not divide images over streams"});
  check_output(folder.run("--engine fused --streams 2 --baseline cpu"), 2,
               {"engine cpu: does not divide images over streams"});
  check_output(folder.run("--engine fused --streams 2 --weight-memory 1MB"), 2,
               {"engine fused: weights of limited memory", "one stream only"});
  check_output(folder.run("--enginge cpu"), 2, {"did you mean '--engine'?"});
  check_output(shell(program("runtime") + " challenge run " + folder.file("nowhere")), 3,
               {"nowhere"});
  check_output(shell(program("runtime") + " challenge rum"), 2, {"did you mean 'run'?"});
}

TEST_CASE("the old name of an engine is answered with the new one") {
  const RunFolder folder;
  const std::string said = "challenge run: engine shared is called grouped";
  check_output(folder.run("--engine shared --gpus 0 --baseline cpu"), 2, {said, "runs on no GPU"});
  const Outcome outcome = folder.run("--engine shared --json " + folder.file("run.json"));
  CHECK(outcome.output.find(said) != std::string::npos);
  if (outcome.status == 0) {
    CHECK(folder.json()["engine"] == "grouped");
  } else {
    CHECK(outcome.status == 4);  // no GPU
  }
  CHECK(folder.run("--engine grouped").output.find("is called") == std::string::npos);
}

TEST_CASE("results as JSON on stdout leave the table to stderr") {
  const RunFolder folder;
  const Outcome outcome = folder.run("--json - --quiet 2>/dev/null");
  CHECK(outcome.status == 0);
  CHECK(nlohmann::json::parse(outcome.output)["engine"] == "cpu");
}

TEST_CASE("an interrupt ends a run with status 130 and without results") {
  const RunFolder folder;
  const std::string log = folder.file("log");
  // The first line of progress tells that the run has begun.
  const Outcome outcome = shell(
      program("runtime") + " challenge run " + folder.path() + " --repeats 1000000 --categories " +
      folder.file("out.tsv") + " 2>" + log + " & pid=$!; for i in $(seq 600); do [ -s " + log +
      " ] && break; sleep 0.1; done; kill -TERM $pid; wait $pid; status=$?; cat " + log +
      "; exit $status");
  check_output(outcome, 130, {"interrupted"});
  CHECK_FALSE(std::filesystem::exists(folder.file("out.tsv")));
}

}  // namespace winnow::challenge
