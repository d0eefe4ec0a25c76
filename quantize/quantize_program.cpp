#include "quantize/quantize_program.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

#include "quantize/activation_range.h"
#include "quantize/data_source.h"
#include "quantize/measured_network.h"
#include "quantize/quantize_model.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/folder_lock.h"
#include "runtime/base/output_path.h"
#include "runtime/base/run_names.h"
#include "runtime/base/suggest.h"
#include "runtime/base/utf8.h"
#include "runtime/base/version.h"
#include "runtime/cli/program.h"
#include "runtime/cli/progress.h"
#include "runtime/images/selection.h"
#include "runtime/model/class_order.h"
#include "runtime/model/graph.h"
#include "runtime/model/safetensors.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

std::string beside(const std::string& path, const char* name) {
  return (fs::path(path).parent_path() / name).string();
}

std::string summary_path(const std::string& output) {
  return beside(output, "quantize.json");
}

std::string output_path(const QuantizeOptions& options) {
  std::string out = options.out.empty() ? beside(options.in, "quantized.safetensors") : options.out;
  require_distinct_outputs(
      {.inputs = {options.in}, .outputs = {out}, .own = {summary_path(out)}, .json = options.json});
  return out;
}

// The images that quantize needs, in the form that the model was trained with.
struct Images {
  ImageSet calibration;
  ImageSet test;
  std::string description;
};

Images load_images(const QuantizeOptions& options, const Model& model) {
  DataSource source = find_data(options.data, options.in, model);
  const std::int64_t run_limit = std::exchange(source.data.limit, 0);
  DataSet data = load_data_set(source.data, source.seed);
  require_classes(source.origin, data.test.classes, options.in, model.classes,
                  element_count(infer_shapes(model.graph, 1).back()));
  Images images{std::move(data.train), std::move(data.test),
                source.data.format + " in " + data.directory};
  for (const std::string& note : data.notes) {
    if (!options.is_quiet) std::fprintf(stderr, "quantize: %s\n", one_line(note).c_str());
  }
  // Each set is thinned once, by the smaller number: to thin a thinned set takes other images.
  thin_out(images.calibration,
           run_limit > 0 ? std::min(run_limit, options.calibration) : options.calibration);
  const std::int64_t limit = options.limit > 0 ? options.limit : run_limit;
  if (limit > 0) thin_out(images.test, limit);
  return images;
}

QuantizedModel quantize_layers(const Model& model, const QuantizeOptions& options) {
  std::int64_t layers = 0;
  for (const Node& node : model.graph.nodes) {
    layers += std::holds_alternative<Conv>(node.op) || std::holds_alternative<Linear>(node.op);
  }
  Progress progress("quantize: layer", layers, options.is_quiet);
  std::int64_t done = 0;
  QuantizedModel quantized = quantize_weights(
      model,
      {options.scheme.weights, options.first_layer, options.refine, options.channel_scale,
       [&](const std::string& layer) { progress.update(done++, one_line(layer)); }, options.in});
  progress.update(done);
  return quantized;
}

bool corrects_biases(const QuantizeOptions& options) {
  return options.corrects_biases && options.scheme.weights != WeightForm::f32;
}

// How many samples all stages run through the network.
std::int64_t samples_of(const QuantizeOptions& options, const Images& images) {
  const bool rounds_activations = options.scheme.activation_bits > 0;
  std::int64_t samples = 2 * images.test.count;
  if (rounds_activations) samples += images.test.count + images.calibration.count;
  if (corrects_biases(options)) samples += images.calibration.count;
  return samples;
}

MeasuredNetwork network_of(const Model& model, const QuantizeOptions& options) {
  return MeasuredNetwork(model, device_from(options.device),
                         progress_callback("quantize: plan step", options.is_quiet));
}

// Measures before, between and after, and gives the model its biases and activation formats.
class Stages {
 public:
  Stages(const QuantizeOptions& options, MeasuredNetwork before, Images images)
      : options_(options),
        images_(std::move(images)),
        progress_("quantize: sample", samples_of(options, images_), options.is_quiet) {
    accuracy_.data = images_.description;
    accuracy_.samples = images_.test.count;
    progress_.update(0);  // what is left is reckoned from here on
    accuracy_.before = before.accuracy(images_.test, measurement());
    if (!corrects_biases(options)) return;
    inputs_ = before.mean_layer_inputs(images_.calibration, measurement());
  }

  void run(Model& quantized, const Model& before) {
    if (corrects_biases(options_)) correct_biases(quantized, before, inputs_);
    MeasuredNetwork network = network_of(quantized, options_);
    accuracy_.weights = network.accuracy(images_.test, measurement());
    accuracy_.after = accuracy_.weights;
    if (options_.scheme.activation_bits == 0) return;
    set_activation_formats(quantized, options_.scheme.activation_bits, options_.range,
                           network.activations(images_.calibration, measurement()));
    network.round_activations(quantized.activation_bits, quantized.activation_frac);
    accuracy_.after = network.accuracy(images_.test, measurement());
  }

  const QuantizationAccuracy& accuracy() const { return accuracy_; }
  std::int64_t calibration() const { return images_.calibration.count; }

 private:
  MeasurementOptions measurement() {
    return {options_.batch, [this](std::int64_t samples) { progress_.update(done_ += samples); }};
  }

  const QuantizeOptions& options_;
  Images images_;
  Progress progress_;
  std::int64_t done_ = 0;
  MeanInputs inputs_;  // of the model before, where biases are corrected
  QuantizationAccuracy accuracy_;
};

void describe(Model& model, const QuantizationReport& report) {
  model.metadata["scheme"] = to_string(report.done);
  model.metadata["winnow"] = version_text();
  if (!report.accuracy) return;
  model.metadata["pruned_accuracy"] = std::to_string(report.accuracy->before);
  model.metadata["accuracy"] = std::to_string(report.accuracy->after);
}

}  // namespace

QuantizationReport run_quantize(const QuantizeOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  if (!is_utf8(options.in))
    fail(ErrorCode::usage, in_quotes(options.in), ": the path is not UTF-8");
  QuantizationReport report;
  report.input = options.in;
  report.output = output_path(options);
  const Model before = load_model(options.in);
  require_unquantized(before, options.in);
  const std::optional<FolderLock> lock = lock_run_folder_of(report.output, "quantize");
  report.network = before.graph.name;
  report.requested = report.done = options.scheme;
  report.activation_range = options.range_name;

  std::optional<Stages> stages;
  if (options.measures_accuracy) {
    MeasuredNetwork network = network_of(before, options);  // or refused, before minutes of reading
    report.device = network.device();
    stages.emplace(options, std::move(network), load_images(options, before));
  }
  QuantizedModel quantized = quantize_layers(before, options);
  report.layers = std::move(quantized.layers);
  if (stages) {
    report.has_corrected_biases = corrects_biases(options);
    stages->run(quantized.model, before);
    report.accuracy = stages->accuracy();
    report.calibration = stages->calibration();
  } else {
    report.done.activation_bits = 0;
  }
  describe(quantized.model, report);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::error_code ignored;
  fs::remove(summary_path(report.output), ignored);  // it speaks of an earlier result
  save_model(report.output, quantized.model);
  write_file_atomically(summary_path(report.output), report_json(report) + "\n");
  return report;
}

}  // namespace winnow
