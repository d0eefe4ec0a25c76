// Runs that begin with the weights of a file.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "prune/layer_sensitivity.h"
#include "prune/start_model.h"
#include "prune/teacher_model.h"
#include "prune/training/accuracy.h"
#include "prune/training/network/initialization.h"
#include "tests/training/graphs.h"
#include "tests/training/run_bench.h"

namespace winnow {
namespace {

// Pruned weights in a file, as another program could have made them.
class GivenWeights {
 public:
  GivenWeights() {
    RunConfig config = bench.config("maker");
    config.evolution.target_sparsity = 0.7;
    run_prune(config, {.is_quiet = true});
    model = bench.pruned("maker");
    model.preprocessing = {.mean = {0.25f}, .deviation = {0.5f}};
    model.classes = {"north", "east", "south", "west"};
    save();
  }

  void save() const { save_model(file(), model); }
  std::string file() const { return bench.folder("given.safetensors"); }

  RunConfig config(const std::string& run, Masks masks) const {
    RunConfig result = bench.config(run);
    result.model = {};
    result.model.weights = file();
    result.train.epochs = 0;
    result.stage.start = Start::weights;
    result.stage.masks = masks;
    result.evolution.target_sparsity = 0.8;
    return result;
  }

  Bench bench;
  Model model;
};

ImageSet test_images(const GivenWeights& given) {
  return load_data_set(given.config("", Masks::none).data, 1).test;
}

std::vector<nlohmann::json> lines_of(const GivenWeights& given, const std::string& run) {
  std::vector<nlohmann::json> lines;
  for (const std::string& text : given.bench.metrics(run)) {
    lines.push_back(nlohmann::json::parse(text + "}"));
  }
  return lines;
}

TEST_CASE("without dense training the baseline is the file: its bits, its accuracy, its form") {
  const GivenWeights given;
  const PruneSummary summary = run_prune(given.config("run", Masks::file), {.is_quiet = true});
  const Model dense = load_model(given.bench.folder("run") + "/dense.safetensors");
  CHECK((dense.tensors == given.model.tensors));
  CHECK((dense.graph == given.model.graph));
  CHECK((dense.preprocessing == given.model.preprocessing));
  CHECK(dense.classes == given.model.classes);
  CHECK(summary.dense_accuracy == measure_accuracy(given.model, test_images(given)));
  CHECK(summary.dense_accuracy > 0.3);
  const Model pruned = given.bench.pruned("run");
  CHECK((pruned.preprocessing == given.model.preprocessing));
  CHECK(pruned.classes == given.model.classes);
}

TEST_CASE("pruning goes on from the masks of a file, or of its zeros") {
  const GivenWeights given;
  const double sparsity_given = sparsity(given.model);
  CHECK(sparsity_given >= 0.69);
  for (const Masks masks : {Masks::file, Masks::from_zeros}) {
    const std::string run = masks == Masks::file ? "file" : "zeros";
    const PruneSummary summary = run_prune(given.config(run, masks), {.is_quiet = true});
    CHECK(summary.target_met);
    CHECK(summary.sparsity >= 0.79);
    CHECK(lines_of(given, run).front().at("pool").at("min_sparsity") >= sparsity_given - 1e-9);
  }
  run_prune(given.config("none", Masks::none), {.is_quiet = true});
  CHECK(lines_of(given, "none").front().at("pool").at("min_sparsity") < sparsity_given);
}

TEST_CASE("the evolution begins with the weights that the file has, unless it starts elsewhere") {
  const GivenWeights given;
  RunConfig config = given.config("run", Masks::file);
  config.evolution.iter_nr = 1;
  config.evolution.initial_sparsity_max = 0;
  config.evolution.target_sparsity = 0.5;
  config.stage.rate.rate = 1e-30;
  run_prune(config, {.is_quiet = true});
  const Model same = given.bench.pruned("run");
  CHECK((same.tensors.at("conv.weight") == given.model.tensors.at("conv.weight")));
  config.output = given.bench.folder("random");
  config.stage.start = Start::scratch;
  config.stage.masks = Masks::none;
  run_prune(config, {.is_quiet = true});
  CHECK_FALSE((given.bench.pruned("random").tensors.at("conv.weight") ==
               given.model.tensors.at("conv.weight")));
}

TEST_CASE("a run from given weights that was stopped goes on to the same bits") {
  const GivenWeights given;
  RunConfig config = given.config("whole", Masks::file);
  config.stage.batch_norm_images = 40;
  run_prune(config, {.is_quiet = true});
  config.output = given.bench.folder("parts");
  for (int part = 0; part < 3; ++part) {
    std::int64_t asked = 0;
    const auto stop = [&] { return ++asked >= 13; };
    const auto use = part == 0 ? FolderUse::fresh : FolderUse::resume;
    const auto run = [&] {
      run_prune(config, {.use = use, .is_quiet = true, .should_stop = stop});
    };
    CHECK(error_of(run) == ErrorCode::interrupted);
  }
  run_prune(config, {.use = FolderUse::resume, .is_quiet = true});
  CHECK((given.bench.pruned("parts").tensors == given.bench.pruned("whole").tensors));
}

TEST_CASE("a run is not resumed with other weights than it began with") {
  const GivenWeights given;
  const RunConfig config = given.config("run", Masks::file);
  std::int64_t asked = 0;
  const auto stop = [&] { return ++asked >= 3; };
  CHECK(error_of([&] { run_prune(config, {.is_quiet = true, .should_stop = stop}); }) ==
        ErrorCode::interrupted);
  Model other = given.model;
  other.tensors.at("linear.bias").values<float>()[0] += 1.0f;
  save_model(config.model.weights, other);
  const auto resume = [&] { run_prune(config, {.use = FolderUse::resume, .is_quiet = true}); };
  CHECK(error_of(resume) == ErrorCode::usage);
  CHECK(message_of(resume).find("given.safetensors' has changed since '") != std::string::npos);
  save_model(config.model.weights, given.model);
  CHECK_NOTHROW(resume());
}

TEST_CASE("quantized weights count as their values") {
  GivenWeights given;
  Tensor codes(DataType::i16, given.model.tensors.at("conv.weight").shape());
  for (std::size_t i = 0; i < codes.values<std::int16_t>().size(); ++i) {
    codes.values<std::int16_t>()[i] = static_cast<std::int16_t>(i % 7);
  }
  given.model.tensors.erase("conv.weight");
  given.model.tensors.erase("conv.weight.mask");
  given.model.mask_vector.erase("conv");
  given.model.tensors.insert_or_assign("conv.weight.codes", codes);
  given.model.tensors.insert_or_assign("conv.weight.scale",
                                       Tensor::from<float>({1}, std::vector<float>{0.5f}));
  given.save();
  const Model read = *read_given_model(given.config("run", Masks::none));
  CHECK_FALSE(read.tensors.contains("conv.weight.codes"));
  CHECK(read.mask_vector.empty());
  const auto values = read.tensors.at("conv.weight").values<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    CHECK(values[i] == 0.5f * static_cast<float>(i % 7));
  }
}

struct WeightsMistake {
  const char* what;
  std::function<void(GivenWeights&, RunConfig&)> make;
  ErrorCode code;
  const char* message;
};

const std::vector<WeightsMistake> kMistakes = {
    {"no file", [](GivenWeights&, RunConfig& c) { c.model.weights += "x"; }, ErrorCode::bad_file,
     "given.safetensorsx"},
    {"another graph beside it",
     [](GivenWeights& g, RunConfig& c) {
       c.model.graph = g.bench.config("").model.graph;
       std::get<Conv>(c.model.graph->nodes[1].op).padding = {0, 0};
     },
     ErrorCode::usage, "node 2 is conv2d 'conv' in the file, with other sizes or inputs here"},
    {"the granularity of another mask", [](GivenWeights&, RunConfig& c) { c.stage.vector = 8; },
     ErrorCode::usage,
     "has granularity element, 'prune.granularity' is vector8; from-zeros makes masks that fit"},
    {"no masks",
     [](GivenWeights& g, RunConfig&) {
       for (const char* name : {"conv", "linear"}) {
         g.model.tensors.erase(std::string(name) + ".weight.mask");
       }
       g.model.mask_vector.clear();
     },
     ErrorCode::usage, "has no masks; from-zeros makes them of its zeros"},
    {"a limit below the mask",
     [](GivenWeights&, RunConfig& c) { c.evolution.max_layer_sparsity = 0.1; }, ErrorCode::usage,
     "prune.masks: layer "},
    {"classes in another order",
     [](GivenWeights& g, RunConfig&) {
       g.model.classes = {"1", "0", "2", "3"};
     },
     ErrorCode::usage, "class '1' has number 0 in "},
    {"images of another size",
     [](GivenWeights& g, RunConfig&) {
       std::get<Input>(g.model.graph.nodes[0].op).shape = {1, 9, 9};
     },
     ErrorCode::usage, "the network's input is [1, 1, 9, 9]"},
};

TEST_CASE("weights that do not fit are refused before anything is written") {
  GivenWeights given;
  const Model original = given.model;
  for (const WeightsMistake& mistake : kMistakes) {
    CAPTURE(mistake.what);
    given.model = original;
    RunConfig config = given.config("run", Masks::file);
    mistake.make(given, config);
    given.save();
    const auto run = [&] { run_prune(config, {.is_quiet = true}); };
    const auto dry_run = [&] { describe_run(config, {}); };
    const std::string message = message_of(run);
    CAPTURE(message);
    CHECK(error_of(run) == mistake.code);
    CHECK(message.find(mistake.message) != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
    CHECK(message_of(dry_run) == message);
    CHECK_FALSE(std::filesystem::exists(given.bench.folder("run")));
  }
}

TEST_CASE("a run does not replace the file that it begins with") {
  const GivenWeights given;
  RunConfig config = given.config("maker", Masks::file);
  config.model.weights = given.bench.folder("maker") + "/pruned.safetensors";
  const auto run = [&] { run_prune(config, {.use = FolderUse::overwrite, .is_quiet = true}); };
  CHECK(error_of(run) == ErrorCode::usage);
  CHECK(message_of(run).find("lies in the run folder") != std::string::npos);
  CHECK(std::filesystem::exists(config.model.weights));
}

// A run that learns from the weights given, and begins with random ones.
RunConfig taught_config(const GivenWeights& given) {
  RunConfig config = given.bench.config("taught");
  config.stage.distillation.weight = 0.5;
  config.stage.teacher = given.file();
  return config;
}

TEST_CASE("a file teaches in the baseline's place, and a run resumes with the same one only") {
  GivenWeights given;
  given.model.preprocessing = given.bench.pruned("maker").preprocessing;
  given.model.classes.clear();
  given.save();
  const RunConfig config = taught_config(given);
  RunConfig without = given.bench.config("own");
  without.stage.distillation.weight = 0.5;
  run_prune(without, {.is_quiet = true});
  std::int64_t asked = 0;
  const auto stop = [&] { return ++asked >= 3; };
  CHECK(error_of([&] { run_prune(config, {.is_quiet = true, .should_stop = stop}); }) ==
        ErrorCode::interrupted);
  const auto resume = [&] { run_prune(config, {.use = FolderUse::resume, .is_quiet = true}); };
  Model other = given.model;
  other.tensors.at("linear.bias").values<float>()[0] += 1.0f;
  save_model(given.file(), other);
  CHECK(error_of(resume) == ErrorCode::usage);
  CHECK(message_of(resume).find("prune.teacher: '") != std::string::npos);
  CHECK(message_of(resume).find("' has changed since '") != std::string::npos);
  given.save();
  resume();
  CHECK_FALSE((given.bench.pruned("taught").tensors == given.bench.pruned("own").tensors));
}

struct TeacherMistake {
  const char* what;
  std::function<void(GivenWeights&, RunConfig&)> make;
  ErrorCode code;
  const char* message;
};

const TeacherMistake kTeacherMistakes[] = {
    {"no file", [](GivenWeights&, RunConfig& c) { c.stage.teacher += "x"; }, ErrorCode::bad_file,
     "given.safetensorsx: "},
    {"images of another size",
     [](GivenWeights& g, RunConfig&) {
       std::get<Input>(g.model.graph.nodes[0].op).shape = {1, 9, 9};
     },
     ErrorCode::usage, "prune.teacher: '"},
    {"classes in another order",
     [](GivenWeights& g, RunConfig&) {
       g.model.classes = {"1", "0", "2", "3"};
     },
     ErrorCode::usage, "class '1' has number 0 in "},
    {"in the run folder",
     [](GivenWeights& g, RunConfig& c) {
       c.output = g.bench.folder("maker");
       c.stage.teacher = g.bench.folder("maker") + "/pruned.safetensors";
     },
     ErrorCode::usage, "lies in the run folder"},
};

TEST_CASE("teachers that do not fit are refused before anything is written") {
  GivenWeights given;
  given.model.preprocessing = given.bench.pruned("maker").preprocessing;
  given.model.classes.clear();
  const Model original = given.model;
  for (const TeacherMistake& mistake : kTeacherMistakes) {
    CAPTURE(mistake.what);
    given.model = original;
    RunConfig config = taught_config(given);
    mistake.make(given, config);
    given.save();
    const auto run = [&] { run_prune(config, {.use = FolderUse::overwrite, .is_quiet = true}); };
    const std::string message = message_of(run);
    CAPTURE(message);
    CHECK(error_of(run) == mistake.code);
    CHECK(message.find(mistake.message) != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
    CHECK_FALSE(std::filesystem::exists(given.bench.folder("taught")));
  }
}

TEST_CASE("a teacher of sentences knows the run's words") {
  RunConfig config;
  config.stage.teacher = "a.safetensors";
  DataSet data = striped_data();
  const Model teacher = initial_model(small_network(1, 4), 3);
  CHECK_NOTHROW(require_fit_of_teacher(config, teacher, data));
  data.preprocessing.vocabulary = {"a"};
  const auto refused = [&] { require_fit_of_teacher(config, teacher, data); };
  CHECK(error_of(refused) == ErrorCode::usage);
  CHECK(message_of(refused).find("prune.teacher: 'a.safetensors' has another vocabulary") == 0);
}

TEST_CASE("the sensitivity of a layer is the accuracy with its smallest weights gone") {
  const GivenWeights given;
  RunConfig config = given.config("run", Masks::none);
  const SensitivityResult result =
      measure_sensitivity(config, {.sparsities = {0.0, 0.9}, .is_quiet = true});
  const auto json = nlohmann::json::parse(result.json);
  CHECK(json.at("layers").size() == 2);

  const DataSet data = load_run_data(config, true, "", given.model);
  const auto accuracy = [&](const Model& model) {
    return measure_accuracy(model, data.validation);
  };
  CHECK(json.at("accuracy") == accuracy(given.model));
  Model pruned = given.model;
  Tensor& weight = pruned.tensors.at("linear.weight");
  std::vector<float> sizes;
  for (const float w : weight.values<float>()) sizes.push_back(std::abs(w));
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  const auto kept = static_cast<std::size_t>(std::lround(0.1 * static_cast<double>(sizes.size())));
  for (float& w : weight.values<float>()) {
    if (std::abs(w) < sizes[kept - 1]) w = 0;
  }
  const auto& linear = json.at("layers").at(1);
  CHECK(linear.at("name") == "linear");
  CHECK(linear.at("accuracies").at(0) == accuracy(given.model));
  CHECK(linear.at("accuracies").at(1) == accuracy(pruned));
  CHECK(result.table.find("linear") != std::string::npos);
  CHECK(result.page.find("<svg") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(given.bench.folder("run")));

  const auto refused = [&] { measure_sensitivity(config, {.sparsities = {1.0}}); };
  CHECK(message_of(refused) == "--sparsities: found 1, expected 0 or more, less than 1");
  config.model.weights.clear();
  CHECK(error_of(refused) == ErrorCode::usage);
}

}  // namespace
}  // namespace winnow
