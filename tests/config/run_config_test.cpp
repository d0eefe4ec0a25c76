#include "prune/config/run_config.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "runtime/base/file.h"
#include "tests/config/config_text.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

constexpr char kMinimal[] =
    "data:\n"
    "  format: cifar10\n"
    "model:\n"
    "  architecture: vgg16\n";

std::string refusal(const std::string& text, std::vector<std::string> overrides = {}) {
  const auto read = [&] { parse_config(text, overrides); };
  CHECK(error_of(read) == ErrorCode::usage);
  return message_of(read);
}

TEST_CASE("a minimal configuration has the defaults and is named after its file") {
  const RunConfig config = parse_config(kMinimal);
  CHECK(config.name == "a");
  CHECK(config.run_folder() == "runs/a");
  CHECK(config.train.epochs == TrainConfig{}.epochs);
  CHECK(config.stage.vector == 1);
  CHECK(config.evolution.pool_size == EvolutionConfig{}.pool_size);
  CHECK(config.evolution.seed == 1);
}

TEST_CASE("what pictures are brought to is read as numbers or HEIGHTxWIDTH, and written so") {
  const RunConfig config = parse_config(
      "data: {format: folder, resize: 256, crop: 224x192, interpolation: bicubic}\n"
      "model: {architecture: vgg16}\n");
  const PictureForm form = picture_form(config.data);
  CHECK(form.resize == Sides{256, 0});
  CHECK(form.crop == Sides{224, 192});
  CHECK(form.interpolation == Interpolation::bicubic);
  const RunConfig again = parse_config(write_run_config(config));
  CHECK(again.data.resize == "256");
  CHECK(again.data.crop == "224x192");
  CHECK(again.data.interpolation == "bicubic");
}

TEST_CASE("every kind of value is read where it belongs") {
  const RunConfig config =
      parse_config(std::string(kMinimal) +
                   "seed: 7\n"
                   "augment: {crop_padding: 4, flip: true}\n"
                   "train: {schedule: step, milestones: [30, 45.5], epochs: 50}\n"
                   "prune:\n"
                   "  acc_threshold: -0.02\n"
                   "  granularity: vector16\n"
                   "  budget: macs\n"
                   "  exclude: [conv1]\n"
                   "  layer_limits: {conv2: [0.1, 0.5]}\n");
  CHECK(config.seed == 7);
  CHECK(config.evolution.seed == 7);
  CHECK(config.augment.crop_padding == 4);
  CHECK(config.augment.flip);
  CHECK(config.train.rate.decay == Decay::step);
  CHECK(config.train.rate.milestones == std::vector<double>{30, 45.5});
  CHECK(config.evolution.acc_threshold == -0.02);
  CHECK(config.stage.vector == 16);
  CHECK(config.evolution.budget == Budget::macs);
  CHECK(config.evolution.exclude == std::vector<std::string>{"conv1"});
  REQUIRE(config.evolution.layer_limits.size() == 1);
  CHECK(config.evolution.layer_limits[0].max_sparsity == 0.5);
}

TEST_CASE("misspelt keys are refused with their place and the nearest key") {
  CHECK(refusal(std::string(kMinimal) + "train:\n  learnig_rate: 0.1\n") ==
        "a.yaml:6:3: unknown key 'learnig_rate' in 'train'; did you mean 'learning_rate'?");
  CHECK(refusal(std::string(kMinimal) + "trian: {}\n") ==
        "a.yaml:5:1: unknown key 'trian'; did you mean 'train'?");
  CHECK(refusal(kMinimal, {"trian.epochs=3"}) ==
        "argument 'trian.epochs=3': unknown key 'trian'; did you mean 'train'?");
}

TEST_CASE("wrong types and values out of range are refused with what is allowed") {
  const std::string train = std::string(kMinimal) + "train:\n  ";
  CHECK(refusal(train + "epochs: many\n") ==
        "a.yaml:6:11: 'train.epochs': found 'many', expected an integer with "
        "0 <= epochs <= 1000000");
  CHECK(refusal(train + "momentum: 1\n") ==
        "a.yaml:6:13: 'train.momentum': found '1', expected a number with 0 <= momentum < 1");
  CHECK(refusal(train + "nesterov: yes\n") ==
        "a.yaml:6:13: 'train.nesterov': found 'yes', expected true or false");
  CHECK(refusal(train + "epochs: [3]\n").find("found a list") != std::string::npos);
  CHECK(refusal(train + "schedule: cosin\n") ==
        "a.yaml:6:13: 'train.schedule': unknown value 'cosin'; did you mean 'cosine'?");
  CHECK(refusal(std::string(kMinimal) + "train: 3\n") ==
        "a.yaml:5:8: 'train': found '3', expected keys and values");
}

TEST_CASE("a small pool has no more clusters than solutions, unless they are given") {
  CHECK(parse_config(kMinimal, {"prune.pool_size=2"}).evolution.clusters == 2);
  CHECK(parse_config(kMinimal).evolution.clusters == 3);
  CHECK(refusal(kMinimal, {"prune.pool_size=2", "prune.clusters=3"}) ==
        "argument 'prune.clusters=3': prune.clusters: found 3, expected 1 to 2");
}

TEST_CASE("missing and contradicting keys are refused") {
  CHECK(refusal("model: {architecture: vgg16}\n")
            .find("missing key 'data.format'; known: cifar10, cifar100, idx, folder, text") !=
        std::string::npos);
  CHECK(refusal("data: {format: idx}\n").find("found none") != std::string::npos);
  CHECK(refusal(std::string(kMinimal) + "train: {epochs: 0}\nprune: {start: dense}\n")
            .find("train.epochs") != std::string::npos);
  CHECK(refusal(std::string(kMinimal) + "prune: {alpha_min: 0.4, alpha_max: 0.3}\n")
            .find("a.yaml:5:20: prune.alpha_min: found 0.4, ") == 0);
  CHECK(refusal(kMinimal, {"prune.start=dense", "train.epochs=0"})
            .find("argument 'prune.start=dense': 'prune.start' is dense, but ") == 0);
}

TEST_CASE("weights are found beside the configuration and are what the evolution starts with") {
  const std::string data = "data: {format: idx}\n";
  const RunConfig config = parse_config(data + "model: {weights: in/../net.safetensors}\n");
  CHECK(std::filesystem::path(config.model.weights).is_absolute());
  CHECK(config.model.weights.ends_with("/net.safetensors"));
  const std::string here = (std::filesystem::current_path() / "net.safetensors").string();
  CHECK(config.model.weights != here);
  const std::vector<std::string> given = {"model.weights=net.safetensors"};
  CHECK(parse_config(data + "model: {weights: other}\n", given).model.weights == here);
  CHECK(config.model.weights.find("..") == std::string::npos);
  CHECK(config.stage.start == Start::weights);
  CHECK(config.stage.masks == Masks::none);
  const RunConfig random = parse_config(
      data + "model: {weights: a}\nprune: {start: scratch, reestimate_batch_norm: 64}");
  CHECK(random.stage.start == Start::scratch);
  CHECK(random.stage.batch_norm_images == 64);
  const RunConfig written = parse_config(write_run_config(config));
  CHECK(written.model.weights == config.model.weights);
  CHECK(write_run_config(written) == write_run_config(config));
}

TEST_CASE("keys about weights that contradict each other are refused") {
  CHECK(refusal(kMinimal, {"prune.start=weights"}) ==
        "argument 'prune.start=weights': 'prune.start' is weights, but 'model.weights' names no "
        "file");
  CHECK(refusal(kMinimal, {"prune.masks=file"})
            .find("argument 'prune.masks=file': 'prune.masks' belongs to 'model.weights'") == 0);
  CHECK(refusal(kMinimal, {"model.weights=a", "prune.masks=from-zeros"})
            .find("'prune.masks' needs 'train.epochs: 0', found 60") != std::string::npos);
  CHECK(refusal(kMinimal, {"prune.masks=zeros"}).find("from-zeros") != std::string::npos);
  CHECK(refusal(kMinimal, {"prune.reestimate_batch_norm=1"}).find("at least 2") !=
        std::string::npos);
  CHECK(refusal("data: {format: idx}\nmodel: {weights: a, dropout: 0.5}\n").find("model.dropout") !=
        std::string::npos);
}

TEST_CASE("a budget of time names its table, beside the configuration, and one target") {
  const std::string prune =
      "prune: {budget: time, time_table: in/../times.json, time_batch: 128, target_speedup: 2}\n";
  const RunConfig config = parse_config(kMinimal + prune);
  CHECK(config.evolution.budget == Budget::time);
  CHECK(config.evolution.target_speedup == 2.0);
  CHECK(config.time_table.ends_with("/times.json"));
  CHECK(config.time_table.find("..") == std::string::npos);
  CHECK(config.time_batch == 128);
  const RunConfig written = parse_config(write_run_config(config));
  CHECK(write_run_config(written) == write_run_config(config));
  CHECK(refusal(kMinimal, {"prune.budget=time", "prune.target_ms=2"})
            .find("argument 'prune.budget=time': 'prune.budget' is time, but 'prune.time_table' "
                  "names no file") == 0);
  CHECK(refusal(kMinimal + prune, {"prune.target_ms=2"}) ==
        "argument 'prune.target_ms=2': prune.target_ms: budget time needs either target_speedup "
        "or target_ms, found both");
  CHECK(refusal(kMinimal + prune, {"prune.target_speedup=0"}).find("found none") !=
        std::string::npos);
  CHECK(refusal(kMinimal + prune, {"prune.budget=macs"})
            .find("'prune.time_table' belongs to 'prune.budget: time'") != std::string::npos);
  CHECK(refusal(kMinimal, {"prune.target_ms=1"}).find("belongs to budget time") !=
        std::string::npos);
  CHECK(refusal(kMinimal + prune, {"prune.target_kept=5"}) ==
        "argument 'prune.target_kept=5': prune.target_kept: belongs to budget parameters or macs, "
        "found time");
  CHECK(refusal(kMinimal, {"prune.method=magnitude", "prune.allocation=least_loss",
                           "prune.granularity=channel", "prune.budget=macs"})
            .find("argument 'prune.allocation=least_loss': 'prune.allocation: least_loss' of whole "
                  "channels needs 'prune.budget: time'") == 0);
  CHECK(refusal(kMinimal, {"prune.budget=times"}).find("did you mean 'time'") != std::string::npos);
}

TEST_CASE("mixed granularities are chosen by times, of weights without masks") {
  const std::string mixed = std::string(kMinimal) + "prune: {granularity: mixed";
  const std::string time = ", budget: time, time_table: t.json, target_speedup: 2";
  const RunConfig config = parse_config(mixed + time + "}\n");
  CHECK(config.stage.vector == -1);
  CHECK(granularity_name(config.stage.vector) == "mixed");
  CHECK(parse_config(write_run_config(config)).stage.vector == -1);
  CHECK(refusal(mixed + "}\n").find("it needs 'prune.budget: time'") != std::string::npos);
  CHECK(refusal(mixed + time + ", method: fssl}\n").find("expected element or channel") !=
        std::string::npos);
  CHECK(refusal(mixed + time + ", masks: file}\n", {"model.weights=x", "train.epochs=0"})
            .find("'prune.masks' gives layers a granularity") != std::string::npos);
}

TEST_CASE("whole channels are a granularity, which balances no rows") {
  const RunConfig config = parse_config(std::string(kMinimal) + "prune: {granularity: channel}\n");
  CHECK(config.stage.vector == 0);
  CHECK(granularity_name(config.stage.vector) == "channel");
  CHECK(parse_config(write_run_config(config)).stage.vector == 0);
  CHECK(refusal(kMinimal, {"prune.granularity=channel", "prune.row_balance=true"})
            .find("argument 'prune.row_balance=true': 'prune.row_balance' balances what is kept "
                  "within rows") == 0);
  CHECK(refusal(kMinimal, {"prune.granularity=chanel"}).find("did you mean 'channel'") !=
        std::string::npos);
}

TEST_CASE("feedback is for blocks that keep their values, distillation for runs with a baseline") {
  const RunConfig config =
      parse_config(kMinimal, {"prune.feedback=true", "prune.distillation=0.5"});
  CHECK(config.stage.feedback);
  CHECK(config.stage.distillation.weight == 0.5);
  CHECK(refusal(kMinimal, {"prune.granularity=channel", "prune.feedback=true"})
            .find("argument 'prune.feedback=true': 'prune.feedback' is for single weights") == 0);
  CHECK(refusal(kMinimal, {"prune.method=fssl", "prune.feedback=true"})
            .find("argument 'prune.feedback=true': 'prune.method: fssl' drops groups") == 0);
  CHECK(parse_config(kMinimal, {"prune.feedback=true", "prune.feedback_decay=0.01"})
            .stage.feedback_decay == 0.01);
  CHECK(refusal(kMinimal, {"prune.feedback_decay=0.01"})
            .find("argument 'prune.feedback_decay=0.01': 'prune.feedback_decay' is 0.01, but "
                  "'prune.feedback' is false") == 0);
  CHECK(refusal(kMinimal, {"prune.distillation=0.5", "train.epochs=0"})
            .find("argument 'prune.distillation=0.5': 'prune.distillation' learns from the dense "
                  "baseline") == 0);
  const RunConfig taught = parse_config(
      kMinimal, {"prune.distillation=0.5", "train.epochs=0", "prune.teacher=/a/dense.safetensors"});
  CHECK(taught.stage.teacher == "/a/dense.safetensors");
  CHECK(parse_config(write_run_config(taught)).stage.teacher == taught.stage.teacher);
  CHECK(refusal(kMinimal, {"prune.teacher=dense.safetensors"})
            .find("argument 'prune.teacher=dense.safetensors': 'prune.teacher' names a file, but "
                  "'prune.distillation' is 0") == 0);
  CHECK(refusal(kMinimal, {"prune.distillation=1.5"}).find("1.5") != std::string::npos);
  CHECK(refusal(kMinimal, {"train.ema_decay=1"}).find("train.ema_decay") != std::string::npos);
}

TEST_CASE("channels are permuted for masks of vectors, by trained weights") {
  const std::string dense = std::string(kMinimal) + "prune: {start: dense, permute_channels: true";
  const RunConfig config = parse_config(dense + ", granularity: vector16}\n");
  CHECK(config.stage.permutes_channels);
  CHECK(parse_config(write_run_config(config)).stage.permutes_channels);
  CHECK(refusal(dense + "}\n").find("'prune.granularity' is element, expected vector8") !=
        std::string::npos);
  CHECK(refusal(dense + ", granularity: channel}\n").find("is channel, expected vector8") !=
        std::string::npos);
  CHECK(refusal(kMinimal, {"prune.granularity=vector8", "prune.permute_channels=true"})
            .find("argument 'prune.permute_channels=true': 'prune.permute_channels' goes by "
                  "trained weights") == 0);
  CHECK(refusal(kMinimal,
                {"prune.granularity=vector8", "prune.permute_channels=true", "prune.start=weights",
                 "model.weights=x", "train.epochs=0", "prune.masks=file"})
            .find("expected 'prune.masks: none'") != std::string::npos);
}

TEST_CASE("a Fisher criterion is for single weights and vectors") {
  CHECK(parse_config(kMinimal, {"prune.criterion=fisher"}).stage.uses_fisher);
  CHECK(!parse_config(kMinimal, {"prune.criterion=magnitude"}).stage.uses_fisher);
  CHECK(refusal(kMinimal, {"prune.granularity=channel", "prune.criterion=fisher"})
            .find("argument 'prune.criterion=fisher': 'prune.criterion: fisher' is for single") ==
        0);
  CHECK(refusal(kMinimal, {"prune.method=fssl", "prune.criterion=fisher"})
            .find("argument 'prune.criterion=fisher': 'prune.method: fssl' prunes groups by") == 0);
}

TEST_CASE("layers that are removed are a list of names") {
  CHECK(parse_config(kMinimal, {"model.remove_layers=[conv1, conv2]"}).model.removed_layers ==
        std::vector<std::string>{"conv1", "conv2"});
}

TEST_CASE("channels of zeros are removed from weights that are given") {
  CHECK(parse_config(kMinimal, {"model.weights=x", "model.remove_zero_channels=true"})
            .model.removes_zero_channels);
  CHECK(refusal(kMinimal, {"model.remove_zero_channels=true"})
            .find("argument 'model.remove_zero_channels=true': 'model.remove_zero_channels' is for "
                  "'model.weights'") == 0);
}

TEST_CASE("fssl's groups are of single weights or whole channels, which have one stage") {
  const std::string fssl = std::string(kMinimal) + "prune: {method: fssl";
  CHECK(parse_config(fssl + ", group_strength: 0.001}\n").method.group_strength == 0.001);
  CHECK(parse_config(fssl + "}\n").method.between_channels == 0.5);
  CHECK(parse_config(fssl + ", granularity: channel}\n").method.between_channels == 1);
  CHECK(refusal(fssl + ", granularity: vector8}\n").find("expected element or channel") !=
        std::string::npos);
  CHECK(refusal(fssl + ", row_balance: true}\n").find("prune.row_balance") != std::string::npos);
  CHECK(refusal(fssl + ", granularity: channel, between_channels: 0.5}\n")
            .find("'prune.between_channels' is 0.5, expected 1") != std::string::npos);
  CHECK(refusal(fssl + ", between_channel: 0.5}\n").find("did you mean 'between_channels'") !=
        std::string::npos);
  CHECK(refusal(fssl + ", group_strength: -1}\n").find("prune.group_strength") !=
        std::string::npos);
  CHECK(refusal(kMinimal, {"prune.method=fsl"}).find("did you mean 'fssl'") != std::string::npos);
}

TEST_CASE("a pattern of layers is kept as it is written, and a bad one has its place") {
  const RunConfig config =
      parse_config(std::string(kMinimal) +
                   "prune:\n  exclude: ['/conv1\\..*/']\n  layer_limits: {'/fc\\d/': [0, 0.5]}\n");
  CHECK(config.evolution.exclude == std::vector<std::string>{"/conv1\\..*/"});
  CHECK(config.evolution.layer_limits[0].layer == "/fc\\d/");
  const RunConfig written = parse_config(write_run_config(config));
  CHECK(written.evolution.exclude == config.evolution.exclude);
  CHECK(written.evolution.layer_limits[0].layer == "/fc\\d/");
  CHECK(refusal(std::string(kMinimal) + "prune: {exclude: ['/a(/']}\n")
            .find("a.yaml:5:18: prune.exclude: found '/a(/', expected a regular expression") == 0);
}

TEST_CASE("keys that come twice, broken YAML and big files are refused") {
  CHECK(refusal("seed: 1\nseed: 2\n") == "a.yaml:2:1: key 'seed' comes twice");
  CHECK(refusal("a: [1\n").find("a.yaml:2:1: not YAML") == 0);
  CHECK(refusal("- 1\n") == "a.yaml:1:1: the file: found a list, expected keys and values");
  const TemporaryDirectory folder;
  std::ofstream(folder / "big.yaml") << std::string((1 << 20) + 1, '#');
  CHECK(error_of([&] { read_run_config(folder / "big.yaml"); }) == ErrorCode::bad_file);
  CHECK(error_of([&] { read_run_config(folder / "none.yaml"); }) == ErrorCode::bad_file);
}

TEST_CASE("YAML that others read otherwise is refused with line and column") {
  const std::string minimal = kMinimal;
  CHECK(refusal(minimal + "---\nseed: 2\n") ==
        "a.yaml:5:1: a second document begins, expected one");
  CHECK(refusal(minimal + "---\n") == "a.yaml:5:1: a second document begins, expected one");
  CHECK_NOTHROW(parse_config("---\n" + minimal + "...\n"));
  CHECK(refusal(minimal + "seed: !!int 3\n") ==
        "a.yaml:5:7: the tag 'tag:yaml.org,2002:int' is not allowed");
  CHECK(refusal(minimal + "train: !mine {epochs: 3}\n").find("a.yaml:5:8: the tag '!mine'") == 0);
  CHECK(refusal(minimal + "prune: {exclude: !!seq [a]}\n").find("a.yaml:5:18: the tag ") == 0);
  CHECK(refusal(kMinimal, {"name=!!str a"}).find("argument 'name=!!str a':1:1: the tag ") == 0);
  CHECK(parse_config(minimal + "name: \"quoted\"\n").name == "quoted");
  CHECK(parse_config(minimal + "name: 'quoted'\n").name == "quoted");
  CHECK(parse_config("\xef\xbb\xbf" + minimal + "name: \"b\"\n").name == "b");
  CHECK(parse_config(minimal + "name: &it \"quoted\"\n").name == "quoted");
  CHECK(refusal(minimal + "seed: ! 3\n") == "a.yaml:5:7: the tag '!' is not allowed");
  CHECK(refusal("\xef\xbb\xbf" + minimal + "seed: ! 3\n").find("the tag '!' is not") !=
        std::string::npos);
  CHECK(refusal(minimal + "name: &it ! a\n").find("the tag '!' is not") != std::string::npos);
  CHECK(refusal(minimal + "prune: {exclude: ! [a]}\n").find("the tag '!' is not") !=
        std::string::npos);
}

TEST_CASE("numbers that look octal are refused, whether whole or not") {
  const std::string train = std::string(kMinimal) + "train:\n  ";
  CHECK(refusal(train + "epochs: 010\n") ==
        "a.yaml:6:11: 'train.epochs': found '010', expected an integer with "
        "0 <= epochs <= 1000000");
  CHECK(refusal(train + "momentum: 00.5\n").find("a.yaml:6:13: 'train.momentum': found '00.5'") ==
        0);
  CHECK(refusal(train + "milestones: [01]\n").find("a.yaml:6:16: ") == 0);
  CHECK(parse_config(train + "epochs: 0\n  momentum: 0.5\n").train.momentum == 0.5);
}

TEST_CASE(
    "names that cannot name a folder, and texts that are none, are refused with their place") {
  const std::string minimal = kMinimal;
  for (const char* name : {"a/b", "..", ".", "\"\"", "../../etc"}) {
    CAPTURE(name);
    CHECK(refusal(minimal + "name: " + name + "\n").find("a.yaml:5:7: 'name': found ") == 0);
  }
  CHECK(refusal(kMinimal, {"name=a/b"}) ==
        "argument 'name=a/b': 'name': found 'a/b', expected a name without '/'");
  CHECK(refusal(minimal + "name: \"a\\nb\"\n") ==
        "a.yaml:5:7: 'a\\x0ab': a text with a control character");
  CHECK(refusal(minimal + "name: \"a\xc2\x85 b\"\n") ==
        "a.yaml:5:7: 'a\\xc2\\x85 b': a text with a control character");
  CHECK(refusal(minimal + "name: \"a\\Lb\"\n").find("a text with a control character") !=  // U+2028
        std::string::npos);
  CHECK(refusal(minimal + "prune: {exclude: [\"x\\ty\"]}\n").find("a.yaml:5:19: ") == 0);
  CHECK(refusal(minimal + "prune: {layer_limits: {\"x\\0y\": [0, 1]}}\n").find("a.yaml:5:24: ") ==
        0);
  CHECK(refusal(minimal + "name: a\xe4\n").find("a.yaml:5:7: 'a\\xe4': a text that is not UTF-8") ==
        0);
  CHECK(parse_config(minimal + "name: \xc3\xa4\n").name == "\xc3\xa4");
}

TEST_CASE("the number of validation images is a count, a fraction or left to us") {
  const auto validation = [](const std::string& value) {
    return parse_config("data: {format: idx, validation: " + value +
                        "}\nmodel: {architecture: lenet5}\n")
        .data.validation;
  };
  CHECK(parse_config(kMinimal).data.validation == kAutomaticValidation);
  CHECK(validation("auto") == kAutomaticValidation);
  CHECK(validation("0") == 0);
  CHECK(validation("100000") == 100000);
  CHECK(validation("0.125") == 0.125);
  for (const char* bad : {"-1", "1.5", "-0.5", "many", "[1]", "010", "1e3"}) {
    CAPTURE(bad);
    CHECK(message_of([&] {
            validation(bad);
          }).find("expected a count, a fraction between 0 and 1, or auto") != std::string::npos);
  }
  for (const double value : {kAutomaticValidation, 0.0, 100000.0, 0.125}) {
    RunConfig config = parse_config(kMinimal);
    config.data.validation = value;
    CHECK(parse_config(write_run_config(config)).data.validation == value);
  }
}

TEST_CASE("arguments replace values, make sections, and are named when they are wrong") {
  const RunConfig config = parse_config(
      kMinimal, {"train.epochs=3", "seed=9", "prune.exclude=[conv1, conv2]", "data.limit=5"});
  CHECK(config.train.epochs == 3);
  CHECK(config.seed == 9);
  CHECK(config.evolution.exclude.size() == 2);
  CHECK(config.data.limit == 5);
  CHECK(refusal(kMinimal, {"train.epoch=3"}) ==
        "argument 'train.epoch=3': unknown key 'epoch' in 'train'; did you mean 'epochs'?");
  CHECK(refusal(kMinimal, {"train.epochs=x"}).find("argument 'train.epochs=x': ") == 0);
  CHECK(refusal(kMinimal, {"epochs"}).find("expected key=value") != std::string::npos);
  CHECK(refusal(kMinimal, {"data.format.x=1"}).find("inside a value") != std::string::npos);
}

TEST_CASE("places are those of keys given, else the file, else nothing") {
  const RunConfig config =
      parse_config(std::string(kMinimal) + "prune: {exclude: [a]}\n", {"data.validation=0"});
  CHECK(config.place("prune.exclude").ends_with("/a.yaml:5:18: "));
  CHECK(config.place("data.validation") == "argument 'data.validation=0': ");
  CHECK(config.place("train.batch_size").ends_with("/a.yaml: "));
  CHECK(RunConfig{}.place("seed").empty());
}

TEST_CASE("a configuration that was written is known from one of a user") {
  const TemporaryDirectory folder;
  const std::string file = folder / "config.yaml";
  std::ofstream(file) << kMinimal;
  CHECK_FALSE(is_written_config(file));
  std::ofstream(file) << write_run_config(parse_config(std::string(kMinimal) + "name: \"a: b\"\n"));
  CHECK(is_written_config(file));
  std::ofstream(file, std::ios::app) << "# mine\n";
  CHECK_FALSE(is_written_config(file));
  std::ofstream(file) << "{}";
  CHECK_FALSE(is_written_config(file));
  CHECK_FALSE(is_written_config(folder / "none.yaml"));
}

TEST_CASE("a written configuration reads back equal") {
  const RunConfig config =
      parse_config(std::string(kMinimal) +
                   "name: \"a: strange # name\"\n"
                   "train: {learning_rate: 0.1234567890123, warmup_epochs: 0.5}\n"
                   "prune: {layer_limits: {conv2: [0.1, 0.5]}, exclude: [x, y]}\n");
  const std::string text = write_run_config(config);
  const RunConfig again = parse_config(text);
  CHECK(write_run_config(again) == text);
  CHECK(again.name == config.name);
  CHECK(again.train.rate.rate == config.train.rate.rate);
  CHECK(again.evolution.layer_limits[0].layer == "conv2");
}

TEST_CASE("every configuration in configs/ is valid") {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(WINNOW_ROOT "/configs")) {
    if (entry.path().extension() != ".yaml") continue;
    CAPTURE(entry.path().string());
    CHECK(message_of([&] { read_run_config(entry.path().string()); }) == "");
    ++count;
  }
  CHECK(count >= 3);
}

TEST_CASE("docs/commands.md explains every key") {
  const std::string text = read_text_file(WINNOW_ROOT "/docs/commands.md");
  for (const std::string& key : run_config_keys()) {
    const std::string name = key.substr(key.rfind('.') + 1);
    CAPTURE(key);
    CHECK(text.find("`" + name + "`") != std::string::npos);
  }
}

}  // namespace
}  // namespace winnow
