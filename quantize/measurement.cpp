#include "quantize/measurement.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "export/export_model.h"
#include "quantize/stepwise_network.h"
#include "runtime/base/error.h"
#include "runtime/base/thread_pool.h"
#include "runtime/engine.h"
#include "runtime/images/image_reader.h"
#include "runtime/plan/program.h"
#include "runtime/text/token_set.h"

namespace winnow {
namespace {

// A limit that no activation needs yet; doubled until the largest fits.
constexpr double kSmallestLimit = 0x1p-40;

// As the file of export has it, but for channels that are left out there because they are dead.
DeployedModel deployed_form(const Model& model) {
  return export_model(model, {.removes_dead_channels = false, .place = model.graph.name}).model;
}

void require_fit(const Graph& graph, const ImageSet& images) {
  if (images.count == 0) fail(ErrorCode::usage, "measurement: there are no images");
  if (static_cast<std::int64_t>(images.labels.size()) != images.count) {
    fail(ErrorCode::usage, "images: found ", images.labels.size(), " labels, expected ",
         images.count);
  }
  const Shape& expected = std::get<Input>(graph.nodes.front().op).shape;
  const Shape found = images.sample_shape();
  if (found == expected && (token_rows(graph) > 0) == images.holds_tokens()) return;
  fail(ErrorCode::usage, graph.name, ": samples are ", to_string(found),
       ", the network's input is ", to_string(expected));
}

// Calls `use` with the first image of each batch and the network's outputs.
void run_batches(const DeployedModel& model, const ImageSet& images,
                 const MeasurementOptions& options, const StepwiseNetwork::Visit& visit,
                 const std::function<void(std::int64_t, std::span<const float>)>& use) {
  require_fit(model.graph, images);
  if (options.batch < 1) fail(ErrorCode::usage, "batch: found ", options.batch, ", expected 1 on");
  const StepwiseNetwork network(model, options.device);
  ImageReader reader(images, options.batch);
  const std::int64_t size = element_count(images.sample_shape());
  for (std::int64_t first = 0; first < images.count; first += options.batch) {
    const std::int64_t count = std::min(options.batch, images.count - first);
    std::vector<float> input(static_cast<std::size_t>(count * size));
    if (images.holds_tokens()) {
      floats_of_tokens(reader.next(), input);
    } else {
      preprocess(model, reader.next(), input);
    }
    use(first, network.run(count, std::move(input), visit));
    if (options.on_batch) options.on_batch(count);
  }
}

// The same for callers that look at the values alone.
void visit_values(const DeployedModel& model, const ImageSet& images,
                  const MeasurementOptions& options, const StepwiseNetwork::Visit& visit) {
  run_batches(model, images, options, visit, [](std::int64_t, std::span<const float>) {});
}

// Rounds what the model says is fixed point.
class FixedPointValues {
 public:
  explicit FixedPointValues(const DeployedModel& model) : model_(model), pool_(0) {}

  void round(const std::string& node, std::span<float> values) {
    const auto found = model_.activation_frac.find(node);
    if (model_.activation_bits <= 0 || found == model_.activation_frac.end()) return;
    const auto count = static_cast<std::int64_t>(values.size());
    pool_.run_ranges(count, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        float& value = values[static_cast<std::size_t>(i)];
        value = round_to_fixed_point(value, model_.activation_bits, found->second);
      }
    });
  }

 private:
  const DeployedModel& model_;
  ThreadPool pool_;
};

void run_rounded(const Model& model, const ImageSet& images, const MeasurementOptions& options,
                 const std::function<void(std::int64_t, std::span<const float>)>& use) {
  const DeployedModel deployed = deployed_form(model);
  FixedPointValues fixed_point(deployed);
  const auto round = [&](const std::string& node, std::span<float> values) {
    fixed_point.round(node, values);
  };
  run_batches(deployed, images, options, round, use);
}

// Doubles the limit: pairs of bins become one.
void widen(ActivationStatistics& statistics) {
  auto& bins = statistics.histogram;
  for (std::size_t i = 0; i < bins.size() / 2; ++i) bins[i] = bins[2 * i] + bins[2 * i + 1];
  std::fill(bins.begin() + static_cast<std::ptrdiff_t>(bins.size() / 2), bins.end(), 0);
  statistics.limit *= 2;
}

float largest_magnitude(const std::string& node, std::span<const float> values) {
  float largest = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) fail(ErrorCode::usage, "an activation of ", node, " is not finite");
    largest = std::max(largest, std::abs(value));
  }
  return largest;
}

void observe(ActivationStatistics& statistics, const std::string& node,
             std::span<const float> values) {
  if (statistics.histogram.empty()) {
    statistics.histogram.assign(kActivationBins, 0);
    statistics.limit = kSmallestLimit;
  }
  const double largest = largest_magnitude(node, values);
  statistics.max_magnitude = std::max(statistics.max_magnitude, largest);
  while (statistics.limit < largest) widen(statistics);
  const double bins_per_unit = kActivationBins / statistics.limit;
  for (const float value : values) {
    const auto bin = static_cast<std::size_t>(std::abs(value) * bins_per_unit);
    ++statistics.histogram[std::min<std::size_t>(bin, kActivationBins - 1)];
  }
}

void add_samples(std::vector<double>& sum, const std::string& node, std::span<const float> values) {
  largest_magnitude(node, values);  // refuses what is not finite
  for (std::size_t first = 0; first < values.size(); first += sum.size()) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[first + i];
  }
}

}  // namespace

double accuracy_of(const Model& model, const ImageSet& images, const MeasurementOptions& options) {
  std::int64_t right = 0;
  const std::int64_t classes = element_count(infer_shapes(model.graph, 1).back());
  run_rounded(model, images, options, [&](std::int64_t first, std::span<const float> outputs) {
    const auto count = static_cast<std::int64_t>(outputs.size()) / classes;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto row = outputs.begin() + i * classes;
      const std::int64_t best = std::max_element(row, row + classes) - row;
      right += best == images.labels[static_cast<std::size_t>(first + i)];
    }
  });
  return static_cast<double>(right) / static_cast<double>(images.count);
}

std::vector<float> outputs_of(const Model& model, const ImageSet& images,
                              const MeasurementOptions& options) {
  std::vector<float> all;
  run_rounded(model, images, options, [&](std::int64_t, std::span<const float> outputs) {
    all.insert(all.end(), outputs.begin(), outputs.end());
  });
  return all;
}

std::map<std::string, ActivationStatistics> observe_activations(const Model& model,
                                                                const ImageSet& images,
                                                                const MeasurementOptions& options) {
  std::map<std::string, ActivationStatistics> statistics;
  const auto visit = [&](const std::string& node, std::span<float> values) {
    observe(statistics[node], node, values);
  };
  visit_values(deployed_form(model), images, options, visit);
  return statistics;
}

MeanInputs mean_layer_inputs(const Model& model, const ImageSet& images,
                             const MeasurementOptions& options) {
  const DeployedModel deployed = deployed_form(model);
  const Program program = build_program(deployed, 1);
  std::map<std::string, std::vector<double>> sums;  // by the name of the value
  for (const Step& step : program.steps) {
    if (!is_weighted(step)) continue;
    const Value& value = program.values[step.inputs[0]];
    sums[value.name].resize(static_cast<std::size_t>(element_count(value.shape)));
  }
  visit_values(deployed, images, options, [&](const std::string& node, std::span<float> values) {
    const auto found = sums.find(node);
    if (found != sums.end()) add_samples(found->second, node, values);
  });

  MeanInputs means;
  for (const Step& step : program.steps) {
    if (!is_weighted(step)) continue;
    const Value& value = program.values[step.inputs[0]];
    reference::Array& mean = means[step.name] = {value.shape, {}};
    for (const double sum : sums.at(value.name)) {
      mean.values.push_back(static_cast<float>(sum / static_cast<double>(images.count)));
    }
  }
  return means;
}

std::string measuring_device(const Model& model, Device device) {
  return StepwiseNetwork(deployed_form(model), device).device();
}

float round_to_fixed_point(float value, int total_bits, int frac_bits) {
  const double scale = std::exp2(frac_bits);
  const double top = std::exp2(total_bits - 1);
  const double steps = std::nearbyint(static_cast<double>(value) * scale);
  return static_cast<float>(std::clamp(steps, -top, top - 1) / scale);
}

}  // namespace winnow
