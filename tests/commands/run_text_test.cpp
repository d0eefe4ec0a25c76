#include "runtime/commands/run_text.h"

#include <doctest/doctest.h>

#include "runtime/base/file.h"
#include "tests/commands/desk.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

Json on_device() {
  return {{"device", "cuda:0 (NVIDIA H200)"},
          {"precision", "f16"},
          {"kernels", Json::array({{{"name", "conv1"}, {"family", "dense"}, {"kernel", "a"}},
                                   {{"name", "conv2"}, {"family", "gathered"}, {"kernel", "b"}},
                                   {{"name", "fc"}, {"family", "dense"}, {"kernel", "c"}}})}};
}

}  // namespace

TEST_CASE("run answers pictures with a line each, and says what computed them") {
  Json result = on_device();
  const Json cat = {{"class", "cat"}, {"index", 3}, {"probability", 0.934f}};
  const Json dog = {{"class", "dog"}, {"index", 5}, {"probability", 0.0512f}};
  result["images"] = Json::array({{{"file", "a.png"}, {"top", Json::array({cat, dog})}},
                                  {{"file", "b.png"}, {"top", Json::array({dog})}}});
  CHECK(run_result_text(result) ==
        "a.png: cat 93.4 %, dog 5.1 %\n"
        "b.png: dog 5.1 %\n"
        "cuda:0 (NVIDIA H200), f16: 2 steps by dense, 1 by gathered\n");
}

TEST_CASE("run answers sentences with a line each, and says how many words are unknown") {
  Json result = on_device();
  const Json top = {{"class", "pos"}, {"index", 1}, {"probability", 0.982}};
  const auto sentence = [&](const char* text, int unknown) {
    return Json{
        {"sentence", text}, {"words", 3}, {"unknown", unknown}, {"top", Json::array({top})}};
  };
  result["sentences"] = Json::array({sentence("a fine film", 0), sentence("a xyzzy film", 1)});
  CHECK(
      run_result_text(result).starts_with("a fine film: pos 98.2 %\n"
                                          "a xyzzy film: pos 98.2 % (1 of 3 words unknown)\n"));
}

TEST_CASE("a class without a name is called by its number") {
  Json result = on_device();
  const Json top = {{"class", "3"}, {"index", 3}, {"probability", 0.5}};
  result["images"] = Json::array({{{"file", "a.png"}, {"top", Json::array({top})}}});
  CHECK(run_result_text(result).starts_with("a.png: class 3 50.0 %\n"));
}

TEST_CASE("run answers a data set with its accuracy") {
  Json result = on_device();
  result["samples"] = 10000;
  result["correct"] = 9318;
  result["accuracy"] = 93.18;
  result["samples_per_second"] = 25999.7;
  CHECK(run_result_text(result) ==
        "9318 of 10000 correct: 93.18 %, 26000 samples/s\n"
        "cuda:0 (NVIDIA H200), f16: 2 steps by dense, 1 by gathered\n");
}

TEST_CASE("run says how often two models agree") {
  Json result = on_device();
  result["samples"] = 200;
  result["correct"] = 180;
  result["accuracy"] = 90.0;
  result["samples_per_second"] = 10.0;
  result["against"] = {{"model", "d\x1b.wnw"},
                       {"correct", 183},
                       {"accuracy", 91.5},
                       {"agreeing", 195},
                       {"agreement", 97.5}};
  CHECK(run_result_text(result) ==
        "180 of 200 correct: 90.00 %, 10 samples/s\n"
        "d\\x1b.wnw: 183 of 200 correct: 91.50 %; both say the same of 195: 97.50 %\n"
        "cuda:0 (NVIDIA H200), f16: 2 steps by dense, 1 by gathered\n");
}

TEST_CASE("names of files and classes cannot speak to the terminal") {
  Json result = on_device();
  const Json top = {{"class", "c\x1b[2J"}, {"index", 0}, {"probability", 1.0}};
  result["images"] = Json::array({{{"file", "a\n.png"}, {"top", Json::array({top})}}});
  CHECK(run_result_text(result).starts_with("a\\x0a.png: c\\x1b[2J 100.0 %\n"));
}

}  // namespace winnow
