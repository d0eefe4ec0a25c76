// `runtime run --against`: the answers of two models to the same images.
#include <filesystem>

#include "tests/commands/desk.h"
#include "tests/model/graphs.h"
#include "tests/pipeline/synthetic_idx.h"

namespace winnow {
namespace {

// Says class `answer` of `classes` whatever it sees.
DeployedModel constant_model(std::int64_t classes, std::size_t answer) {
  DeployedModel model;
  model.graph =
      graph_of({1, 28, 28}, {{"flat", Flatten{}, {}}, {"fc", Linear{784, classes, true}, {}}});
  const auto count = static_cast<std::size_t>(classes);
  model.weights["fc.weight"] =
      DenseWeight{{classes, 784}, encode_f32(std::vector<float>(count * 784, 0.0f))};
  std::vector<float> bias(count, 0.0f);
  bias[answer] = 1;
  model.weights["fc.bias"] = DenseWeight{{classes}, encode_f32(bias)};
  return model;
}

// A desk with a second model, other.wnw, and a data set.
struct TwoModels {
  Desk desk;
  std::string options;

  explicit TwoModels(const DeployedModel& other) : desk(constant_model(4, 1)) {
    write_model_file(desk.file("other.wnw"), other);
    write_synthetic_idx(std::filesystem::path(desk.model()).parent_path(), "t10k", 12, 1);
    options = "--device cpu --quiet --against " + desk.file("other.wnw") +
              " --data idx:" + std::filesystem::path(desk.model()).parent_path().string();
  }
};

}  // namespace

TEST_CASE("run --against counts what two models say of the same images") {
  const TwoModels two(constant_model(4, 2));
  const nlohmann::json json = two.desk.json_of("run", two.options);
  const nlohmann::json& against = json["against"];
  CHECK(against["model"] == two.desk.file("other.wnw"));
  CHECK(against["agreeing"] == 0);
  CHECK(against["agreement"] == 0.0);
  REQUIRE(against["classes"].size() == 4);
  CHECK(against["classes"][1]["correct"] == json["correct"]);
  CHECK(against["classes"][2]["against_correct"] == against["correct"]);
  CHECK(against["classes"][1]["samples"] == json["correct"]);  // all that show class 1
  const nlohmann::json all = {{"against", 2}, {"model", 1}, {"count", 12}};
  CHECK(against["answers"] == nlohmann::json::array({all}));
  const std::string text = two.desk.run("run", two.options).output;
  INFO(text);
  CHECK(text.find("other.wnw: ") != std::string::npos);
  CHECK(text.find("both say the same of 0: 0.00 %\n") != std::string::npos);
}

TEST_CASE("a model agrees with itself") {
  const TwoModels two(constant_model(4, 1));
  const nlohmann::json json = two.desk.json_of("run", two.options);
  CHECK(json["against"]["agreement"] == 100.0);
  CHECK(json["against"]["correct"] == json["correct"]);
}

TEST_CASE("run --against refuses models of other classes, and pictures") {
  const TwoModels two(constant_model(5, 2));
  check_refusal(
      two.desk.run("run", two.options), 2,
      {"other.wnw: of [1, 1, 28, 28] it makes [1, 5], expected [1, 1, 28, 28] and [1, 4]"});
  check_refusal(two.desk.run("run", "a.png --against " + two.desk.file("other.wnw")), 2,
                {"--against", "needs --data"});
  check_refusal(two.desk.run("run", "--quiet --data idx:/tmp --against " +
                                        two.desk.file("none.wnw") + " --device cpu"),
                3, {"none.wnw"});
}

TEST_CASE("a picture that is not there is told before the model is planned") {
  const Desk desk;
  const Outcome outcome = desk.run("run", "none.png --device cpu");
  INFO(outcome.output);
  CHECK(outcome.status == 3);
  CHECK(outcome.output.find("none.png: cannot open") != std::string::npos);
  CHECK(outcome.output.find("plan step") == std::string::npos);
}

}  // namespace winnow
