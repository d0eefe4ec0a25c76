#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/output_path.h"
#include "runtime/base/suggest.h"
#include "runtime/base/version.h"
#include "runtime/bench/compare.h"
#include "runtime/cli/number_checks.h"
#include "runtime/cli/program.h"
#include "runtime/cli/progress.h"
#include "runtime/commands/agreement_json.h"
#include "runtime/commands/commands.h"
#include "runtime/commands/run_sentences.h"
#include "runtime/commands/run_text.h"
#include "runtime/images/image_reader.h"
#include "runtime/images/image_set.h"
#include "runtime/images/selection.h"
#include "runtime/model/class_order.h"
#include "runtime/plan/plan_json.h"
#include "runtime/text/token_set.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

struct RunOptions {
  ModelOptions model;
  std::vector<std::string> samples;  // files of pictures, or sentences
  std::string data;                  // FORMAT:PLACE
  std::string split = "test";
  std::string against;  // another model of the same samples and classes
  std::int64_t limit = 0;
  std::int64_t batch = 0;  // 0: 1 for samples, 128 for a data set
  int top = 5;
  double min_accuracy = 0;  // percent; below it the exit status is 5
};

bool ends_with_softmax(const DeployedModel& model) {
  return std::holds_alternative<Softmax>(model.graph.nodes.back().op);
}

void softmax(std::span<float> row) {
  const float largest = *std::max_element(row.begin(), row.end());
  for (float& x : row) x = std::exp(x - largest);
  const float sum = std::accumulate(row.begin(), row.end(), 0.0f);
  for (float& x : row) x /= sum;
}

std::string class_name(const DeployedModel& model, std::size_t index) {
  return index < model.classes.size() ? model.classes[index] : std::to_string(index);
}

// The `top` most probable classes of one output row.
Json top_classes(const DeployedModel& model, std::span<const float> row, int top) {
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  const auto count = std::min<std::size_t>(static_cast<std::size_t>(top), row.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
      [&](std::size_t a, std::size_t b) { return row[a] != row[b] ? row[a] > row[b] : a < b; });
  Json result = Json::array();
  for (std::size_t i = 0; i < count; ++i) {
    result.push_back({{"class", class_name(model, order[i])},
                      {"index", order[i]},
                      {"probability", row[order[i]]}});
  }
  return result;
}

Json kernels_json(Session& session) {
  Json kernels = Json::array();
  for (const LayerPlan& layer : session.layers()) {
    kernels.push_back({{"name", layer.name}, {"family", layer.family}, {"kernel", layer.kernel}});
  }
  return kernels;
}

Json classify_pictures(Engine& engine, const RunOptions& options) {
  const Shape& shape = std::get<Input>(engine.model().graph.nodes.front().op).shape;
  if (shape.size() != 3) {
    fail(ErrorCode::usage, options.model.model, ": takes samples of shape ", to_string(shape),
         ", not pictures");
  }
  const auto inputs = static_cast<std::size_t>(engine.input_size());
  const auto outputs = static_cast<std::size_t>(engine.output_size());
  std::vector<float> output(outputs * options.samples.size());
  const auto read = [&](std::int64_t first, std::span<std::uint8_t> batch) {
    for (std::size_t i = 0; i < batch.size() / inputs; ++i) {
      const std::string& file = options.samples[static_cast<std::size_t>(first) + i];
      std::ranges::copy(
          read_picture(file, shape[0], shape[1], shape[2], engine.model().preprocessing.pictures),
          batch.begin() + static_cast<std::ptrdiff_t>(i * inputs));
    }
  };
  const auto write = [&](std::int64_t first, std::span<const float> batch) {
    std::ranges::copy(batch, output.begin() + first * static_cast<std::int64_t>(outputs));
  };
  engine.run_bytes(static_cast<std::int64_t>(options.samples.size()), read, write);
  Json images = Json::array();
  for (std::size_t i = 0; i < options.samples.size(); ++i) {
    const auto row = std::span(output).subspan(i * outputs, outputs);
    if (!ends_with_softmax(engine.model())) softmax(row);
    images.push_back(
        {{"file", options.samples[i]}, {"top", top_classes(engine.model(), row, options.top)}});
  }
  return images;
}

Json classify_sentences(Engine& engine, const RunOptions& options) {
  const auto inputs = static_cast<std::size_t>(engine.input_size());
  const auto outputs = static_cast<std::size_t>(engine.output_size());
  std::vector<float> input(inputs * options.samples.size());
  std::vector<float> output(outputs * options.samples.size());
  Json sentences = Json::array();
  for (std::size_t i = 0; i < options.samples.size(); ++i) {
    const TokenSentence tokens =
        engine.tokenize(options.samples[i], std::span(input).subspan(i * inputs, inputs));
    if (tokens.words == 0) {
      fail(ErrorCode::usage, "run: found ", in_quotes(options.samples[i]), ", expected a sentence");
    }
    sentences.push_back(
        {{"sentence", options.samples[i]}, {"words", tokens.words}, {"unknown", tokens.unknown}});
  }
  engine.run(input, output);
  for (std::size_t i = 0; i < options.samples.size(); ++i) {
    const auto row = std::span(output).subspan(i * outputs, outputs);
    if (!ends_with_softmax(engine.model())) softmax(row);
    sentences[i]["top"] = top_classes(engine.model(), row, options.top);
  }
  return sentences;
}

ImageSet load_set(const RunOptions& options, const DataPlace& place, const Engine& engine) {
  const DeployedModel& model = engine.model();
  const Shape& shape = std::get<Input>(model.graph.nodes.front().op).shape;
  if (place.format == ImageFormat::text) {
    require_sentences(model, options.model.model);
    ImageSet set = load_sentences(place.directory, options.split, model);
    if (options.limit > 0) thin_out(set, options.limit);
    return set;
  }
  if (options.split == "all") {
    fail(ErrorCode::usage, "--split: found all, of images expected train or test");
  }
  FolderOptions folder;
  if (shape.size() == 3) {
    folder.channels = shape[0];
    folder.form = model.preprocessing.pictures;
    if (!folder.form.is_given()) folder.size = shape[1];
  }
  ImageSet set = read_image_set(place.format, place.directory,
                                options.split == "train" ? Split::train : Split::test, folder);
  const Shape found = set.sample_shape();
  if (found != shape) {
    fail(ErrorCode::usage, options.data, ": images of ", to_string(found), ", the model expects ",
         to_string(shape));
  }
  require_classes(options.data, set.classes, options.model.model, model.classes,
                  engine.output_size());
  if (options.limit > 0) thin_out(set, options.limit);
  return set;
}

struct Score {
  std::vector<std::int32_t> answers;  // the most probable class of each sample
  std::int64_t correct = 0;
  double seconds = 0;  // of Engine::run_bytes, with normalisation and copies
};

// Batches are read, normalised and copied while others are computed.
Score score_set(Engine& engine, const ImageSet& set, std::int64_t batch, bool is_quiet) {
  Score score;
  score.answers.resize(static_cast<std::size_t>(set.count));
  const std::int64_t classes = engine.output_size();
  Progress progress(set.holds_tokens() ? "run: sentence" : "run: image", set.count, is_quiet);
  ImageReader reader(set, batch);
  const auto read = [&](std::int64_t, std::span<std::uint8_t> inputs) {
    std::ranges::copy(reader.next(), inputs.begin());
  };
  const auto write = [&](std::int64_t first, std::span<const float> outputs) {
    const auto count = static_cast<std::int64_t>(outputs.size()) / classes;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto row = outputs.begin() + i * classes;
      const auto answer = static_cast<std::int32_t>(std::max_element(row, row + classes) - row);
      score.answers[static_cast<std::size_t>(first + i)] = answer;
      score.correct += answer == set.labels[first + i];
    }
    progress.update(first + count);
  };
  const auto start = std::chrono::steady_clock::now();
  if (set.holds_tokens()) {
    engine.run(
        set.count,
        [&](std::int64_t, std::span<float> inputs) { floats_of_tokens(reader.next(), inputs); },
        write);
  } else {
    engine.run_bytes(set.count, read, write);
  }
  score.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return score;
}

// The other model, which must take the same samples and tell the same number of classes.
std::optional<DeployedModel> open_other(const RunOptions& options, const DeployedModel& model) {
  if (options.against.empty()) return std::nullopt;
  DeployedModel other =
      open_model(options.against, options.batch, open_options(options.model, "run"));
  const auto ends = [](const DeployedModel& one) {
    const std::vector<Shape> shapes = infer_shapes(one.graph, 1);
    return std::pair(shapes.front(), shapes.back());
  };
  if (other.preprocessing.pictures != model.preprocessing.pictures) {
    fail(ErrorCode::usage, options.against, ": brings pictures into another form than ",
         options.model.model, ", expected the same");
  }
  if (other.preprocessing.vocabulary != model.preprocessing.vocabulary) {
    fail(ErrorCode::usage, options.against, ": has another vocabulary than ", options.model.model,
         ", expected the same");
  }
  const auto [input, output] = ends(model);
  const auto [other_input, other_output] = ends(other);
  if (input == other_input && output == other_output) return other;
  fail(ErrorCode::usage, options.against, ": of ", to_string(other_input), " it makes ",
       to_string(other_output), ", expected ", to_string(input), " and ", to_string(output), " as ",
       options.model.model, " has");
}

// Names of all classes that outputs and labels may have.
std::vector<std::string> class_names(const DeployedModel& model, std::int64_t outputs,
                                     const ImageSet& set) {
  const std::size_t count = std::max(static_cast<std::size_t>(outputs), set.classes.size());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(class_name(model, i));
  return names;
}

// What the other model says of the same samples, planned and run like the first one.
Json compare_with(DeployedModel other, const RunOptions& options, const ImageSet& set,
                  const Score& score, const std::vector<std::string>& classes,
                  const std::shared_ptr<TimingCache>& cache) {
  Engine engine(std::move(other), device_from(options.model.device),
                session_options(options.model, options.batch, "run: the other model", cache));
  const Score against = score_set(engine, set, options.batch, options.model.is_quiet);
  Json json = {{"model", options.against}};
  json.update(agreement_json({set.labels, score.answers, against.answers}, classes));
  return json;
}

// Before any work: what is to be read and written. The place of a data set, if one is.
std::optional<DataPlace> check_files(const RunOptions& options) {
  if (options.samples.empty() == options.data.empty()) {
    fail(ErrorCode::usage, "run: give either picture files, sentences, or --data FORMAT:PLACE");
  }
  if (options.data.empty() && !options.against.empty()) {
    fail(ErrorCode::usage, "run: --against compares answers to labelled samples: it needs --data");
  }
  ProgramFiles files{.inputs = options.samples, .outputs = {}, .own = {}, .json = {}};
  files.inputs.push_back(options.model.model);
  if (!options.against.empty()) files.inputs.push_back(options.against);
  files.json = options.model.json;
  for (const std::string& path : files.inputs) require_text_path(path);
  require_text_path(options.data);
  require_distinct_outputs(files);
  if (options.data.empty()) return std::nullopt;
  return data_place_from(options.data);
}

int run(RunOptions& options) {
  const std::optional<DataPlace> place = check_files(options);
  if (options.batch == 0) options.batch = options.data.empty() ? 1 : 128;
  const auto cache = open_cache(options.model);
  const Device device = device_from(options.model.device);
  const SessionOptions session = session_options(options.model, options.batch, "run", cache);
  DeployedModel model =
      open_model(options.model.model, options.batch, open_options(options.model, "run"));
  // What is missing is told before the model is planned, which may take seconds.
  const bool takes_sentences = !model.preprocessing.vocabulary.empty();
  if (!takes_sentences) {
    for (const std::string& picture : options.samples) MappedFile{picture};
  }
  std::optional<DeployedModel> other = open_other(options, model);
  Engine engine(std::move(model), device, session);
  Json result = {{"command", "run"},
                 {"version", version_text()},
                 {"model", options.model.model},
                 {"device", engine.session().device()},
                 {"precision", options.model.precision},
                 {"batch", options.batch},
                 {"timings", counts_json(engine.session().timing_counts())}};
  double accuracy = 100;
  if (!place && takes_sentences) {
    result["sentences"] = classify_sentences(engine, options);
  } else if (!place) {
    result["images"] = classify_pictures(engine, options);
  } else {
    const ImageSet set = load_set(options, *place, engine);
    const Score score = score_set(engine, set, options.batch, options.model.is_quiet);
    accuracy = 100.0 * static_cast<double>(score.correct) / static_cast<double>(set.count);
    result["data"] = options.data;
    result["samples"] = set.count;
    result["correct"] = score.correct;
    result["accuracy"] = accuracy;
    result["samples_per_second"] = static_cast<double>(set.count) / score.seconds;
    if (other) {
      const auto classes = class_names(engine.model(), engine.output_size(), set);
      result["against"] = compare_with(std::move(*other), options, set, score, classes, cache);
    }
  }
  tell_of(cache);
  result["kernels"] = kernels_json(engine.session());
  std::fputs(run_result_text(result).c_str(), options.model.json == "-" ? stderr : stdout);
  write_json_output(options.model.json, result.dump(2));
  if (accuracy < options.min_accuracy) {
    fail(ErrorCode::quality, options.model.model, ": accuracy ", accuracy, " % is below ",
         options.min_accuracy, " %");
  }
  return 0;
}

}  // namespace

Command add_run_command(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  add_model_options(app, options->model);
  add_choice_option(app, options->model);
  app.add_option("samples", options->samples,
                 "What to classify: PNG or JPEG files, or sentences, as the model takes them");
  app.add_option("--data", options->data,
                 "Data set as FORMAT:PLACE; formats cifar10, cifar100, idx, folder, text");
  app.add_option("--split", options->split, "train or test; of text also all")
      ->check(CLI::IsMember({"train", "test", "all"}))
      ->capture_default_str();
  app.add_option(
      "--against", options->against,
      "With --data: another model, the dense one for example, whose answers are compared");
  app.add_option("--limit", options->limit,
                 "Use at most this many samples, evenly spread; 0 for all")
      ->check(whole_number(0))
      ->capture_default_str();
  app.add_option("--batch", options->batch,
                 "Batch size; 0: 1 for pictures and sentences, 128 for a data set")
      ->check(whole_number(0, 1 << 20))
      ->capture_default_str();
  app.add_option("--top", options->top, "Classes listed per picture or sentence")
      ->check(whole_number(1, 1000))
      ->capture_default_str();
  app.add_option("--min-accuracy", options->min_accuracy,
                 "Percent; exit with status 5 if the accuracy is lower")
      ->check(number_between(0, 100));
  app.footer("Example: runtime run vgg16.wnw cat.png --device cuda --precision f16");
  return [options] { return run(*options); };
}

}  // namespace winnow
