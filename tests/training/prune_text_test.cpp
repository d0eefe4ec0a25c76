// Whole runs of prune on small files of sentences.
#include <doctest/doctest.h>

#include "export/export_model.h"
#include "prune/data/text_data.h"
#include "prune/training/accuracy.h"
#include "runtime/reference/reference_session.h"
#include "runtime/text/token_set.h"
#include "tests/text/sample_sentences.h"
#include "tests/training/run_bench.h"

namespace winnow {
namespace {

constexpr char kText[] = R"(
name: reviews
seed: 4
device: cpu
threads: 1
data: {format: text, validation: 40, folds: 5, fold: 2}
model: {architecture: textcnn, dropout: 0.5, embedding: 8}
train: {epochs: 6, batch_size: 16, learning_rate: 0.1, validate_every: 1}
prune:
  start: dense
  iter_nr: 6
  batch_nr: 4
  pool_size: 3
  target_sparsity: 0.7
  learning_rate: 0.05
)";

// A Bench whose data is sentences.
struct TextBench : Bench {
  TextBench()
      : Bench([this](RunConfig& config) {
          const std::string output = config.output;
          config = parse_config(kText);
          config.output = output;
          config.data.path = name();
        }) {
    write_reviews(name(), 150, 1);
  }

  std::string name() const { return texts_ / "reviews"; }

 private:
  TemporaryDirectory texts_;
};

DataSet data_of(const RunConfig& config) {
  return load_data_set(config.data, static_cast<std::uint64_t>(config.seed));
}

TEST_CASE("sentences are learnt and pruned, and what they need is in the checkpoint") {
  const TextBench bench;
  const PruneSummary summary = run_prune(bench.config("run"), {.is_quiet = true});
  CHECK(summary.target_met);
  CHECK(summary.pruned_accuracy >= 0.9);
  const Model model = bench.pruned("run");
  const DataSet data = data_of(bench.config("run"));
  CHECK(model.preprocessing.vocabulary == data.preprocessing.vocabulary);
  CHECK(model.classes == std::vector<std::string>{"neg", "pos"});
  CHECK(model.metadata.at("data_fold") == "2 of 5, seed 4, 300 sentences");
  CHECK(measure_accuracy(model, data.test, {.device = "cpu"}) == summary.pruned_accuracy);

  const auto table = model.tensors.at("embedding.weight").values<float>();
  CHECK(std::all_of(table.begin(), table.begin() + 8, [](float x) { return x == 0; }));  // padding
  const DataSet start = data;
  Model untrained = model;
  start_embedding(untrained, start, 4);
  CHECK_FALSE(untrained.tensors.at("embedding.weight") == model.tensors.at("embedding.weight"));
}

TEST_CASE("the deployed network computes what LibTorch does") {
  const TextBench bench;
  run_prune(bench.config("run"), {.is_quiet = true});
  const Model model = bench.pruned("run");
  const ImageSet test = data_of(bench.config("run")).test;
  const std::vector<float> expected = predict(model, test, {.device = "cpu"});
  const DeployedModel deployed = export_model(model, {.place = "m"}).model;
  CHECK(deployed.preprocessing.vocabulary == model.preprocessing.vocabulary);
  const auto session = make_reference_session(deployed, {.batch = test.count});
  std::vector<float> inputs(static_cast<std::size_t>(test.count * test.height));
  floats_of_tokens(test.pixels, inputs);
  std::vector<float> outputs(expected.size());
  session->run(inputs, outputs);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(outputs[i] == doctest::Approx(expected[i]).epsilon(1e-4));
  }
}

TEST_CASE("a run on sentences that is stopped or killed ends with the same bits") {
  const TextBench bench;
  run_prune(bench.config("whole"), {.is_quiet = true});
  REQUIRE_FALSE(bench.run_until("parts", 11, FolderUse::fresh));   // amid an epoch
  REQUIRE_FALSE(bench.run_until("parts", 75, FolderUse::resume));  // amid the pruning
  bench.resume("parts");
  bench.run_until_killed("killed", 90);
  bench.resume("killed");
  for (const char* run : {"parts", "killed"}) {
    CHECK((bench.pruned(run) == bench.pruned("whole")));
    CHECK(bench.metrics(run) == bench.metrics("whole"));
  }
}

TEST_CASE("a run goes on with the vocabulary of the weights that it is given") {
  const TextBench bench;
  run_prune(bench.config("first"), {.is_quiet = true});
  RunConfig config = bench.config("second");
  config.model = ModelConfig();
  config.model.weights = bench.folder("first") + "/dense.safetensors";
  config.stage.start = Start::weights;
  config.train.epochs = 0;
  config.data.fold = 0;  // another training part, so other words by itself
  run_prune(config, {.is_quiet = true});
  CHECK(bench.pruned("second").preprocessing == bench.pruned("first").preprocessing);
}

TEST_CASE("what does not fit sentences is refused with the key's place") {
  const TextBench bench;
  const auto refusal = [&](const std::function<void(RunConfig&)>& change) {
    RunConfig config = bench.config("none");
    change(config);
    const auto run = [&] { run_prune(config, {.is_quiet = true}); };
    CHECK(error_of(run) == ErrorCode::usage);
    return message_of(run);
  };
  CHECK(refusal([](RunConfig& c) {
          c.augment.flip = true;
        }).ends_with("a.yaml: augment.flip: changes images, the data is sentences"));
  CHECK(refusal([](RunConfig& c) {
          c.data.fold = 5;
        }).ends_with("data.fold: found 5, expected 0 to 4"));
  CHECK(
      refusal([](RunConfig& c) { c.model.architecture = "vgg16"; }).starts_with("vgg16: input ["));
  CHECK(refusal([](RunConfig& c) { c.data.path += "-none"; }).find("no sentences at") !=
        std::string::npos);

  const Bench images;
  RunConfig config = images.config("none");
  config.model = ModelConfig();
  config.model.architecture = "textcnn";
  CHECK(message_of([&] { run_prune(config, {.is_quiet = true}); }) ==
        "textcnn: input [1, 8, 8], expected sentences: [L] tokens (data.format: text)");
}

}  // namespace
}  // namespace winnow
