#include "quantize/measured_network.h"

#include <algorithm>
#include <utility>

#include "export/export_model.h"
#include "quantize/fixed_point.h"
#include "runtime/base/error.h"
#include "runtime/engine.h"
#include "runtime/images/image_reader.h"
#include "runtime/model/fold_batch_norm.h"
#include "runtime/plan/program.h"
#include "runtime/text/token_set.h"

namespace winnow {
namespace {

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

void add_samples(std::vector<double>& sum, const std::string& node, std::span<const float> values) {
  largest_magnitude(node, values);  // refuses what is not finite
  for (std::size_t first = 0; first < values.size(); first += sum.size()) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[first + i];
  }
}

// For those who look at the values alone.
void ignore(std::int64_t, std::span<const float>) {}

}  // namespace

MeasuredNetwork::MeasuredNetwork(const Model& model, Device device,
                                 const StepwiseNetwork::Planned& planned)
    : deployed_(deployed_form(model)),
      pool_(std::make_shared<ThreadPool>(0)),
      network_(deployed_, device, pool_, planned) {
  deployed_.weights.clear();
}

void MeasuredNetwork::round_activations_as(const Model& model) {
  Model folded = fold_batch_norm(model);
  deployed_.activation_bits = folded.activation_bits;
  deployed_.activation_frac = std::move(folded.activation_frac);
}

void MeasuredNetwork::run(const ImageSet& images, const MeasurementOptions& options,
                          const StepwiseNetwork::Visit& visit, const Use& use) {
  require_fit(deployed_.graph, images);
  if (options.batch < 1) fail(ErrorCode::usage, "batch: found ", options.batch, ", expected 1 on");
  ImageReader reader(images, options.batch);
  const std::int64_t size = element_count(images.sample_shape());
  for (std::int64_t first = 0; first < images.count; first += options.batch) {
    const std::int64_t count = std::min(options.batch, images.count - first);
    std::vector<float> input(static_cast<std::size_t>(count * size));
    if (images.holds_tokens()) {
      floats_of_tokens(reader.next(), input);
    } else {
      preprocess(deployed_, reader.next(), input);
    }
    use(first, network_.run(count, std::move(input), visit));
    if (options.on_batch) options.on_batch(count);
  }
}

void MeasuredNetwork::run_rounded(const ImageSet& images, const MeasurementOptions& options,
                                  const Use& use) {
  run(
      images, options,
      [&](const std::string& node, std::span<float> values) { round(node, values); }, use);
}

void MeasuredNetwork::round(const std::string& node, std::span<float> values) {
  const auto found = deployed_.activation_frac.find(node);
  if (deployed_.activation_bits <= 0 || found == deployed_.activation_frac.end()) return;
  const FixedPoint format{deployed_.activation_bits, found->second};
  const auto count = static_cast<std::int64_t>(values.size());
  pool_->run_ranges(count, 1, [&](std::int64_t begin, std::int64_t end) {
    round_to(format, values.subspan(static_cast<std::size_t>(begin),
                                    static_cast<std::size_t>(end - begin)));
  });
}

double MeasuredNetwork::accuracy(const ImageSet& images, const MeasurementOptions& options) {
  std::int64_t right = 0;
  const std::int64_t classes = element_count(infer_shapes(deployed_.graph, 1).back());
  run_rounded(images, options, [&](std::int64_t first, std::span<const float> outputs) {
    const auto count = static_cast<std::int64_t>(outputs.size()) / classes;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto row = outputs.begin() + i * classes;
      const std::int64_t best = std::max_element(row, row + classes) - row;
      right += best == images.labels[static_cast<std::size_t>(first + i)];
    }
  });
  return static_cast<double>(right) / static_cast<double>(images.count);
}

std::vector<float> MeasuredNetwork::outputs(const ImageSet& images,
                                            const MeasurementOptions& options) {
  std::vector<float> all;
  run_rounded(images, options, [&](std::int64_t, std::span<const float> outputs) {
    all.insert(all.end(), outputs.begin(), outputs.end());
  });
  return all;
}

std::map<std::string, Histogram> MeasuredNetwork::activations(const ImageSet& images,
                                                              const MeasurementOptions& options) {
  std::map<std::string, Histogram> histograms;
  const auto visit = [&](const std::string& node, std::span<float> values) {
    observe(histograms[node], node, values);
  };
  run(images, options, visit, ignore);
  return histograms;
}

MeanInputs MeasuredNetwork::mean_layer_inputs(const ImageSet& images,
                                              const MeasurementOptions& options) {
  const Program program = build_program(deployed_.graph, 1);
  std::map<std::string, std::vector<double>> sums;  // by the name of the value
  for (const Step& step : program.steps) {
    if (!is_weighted(step)) continue;
    const Value& value = program.values[step.inputs[0]];
    sums[value.name].resize(static_cast<std::size_t>(element_count(value.shape)));
  }
  const auto visit = [&](const std::string& node, std::span<float> values) {
    const auto found = sums.find(node);
    if (found != sums.end()) add_samples(found->second, node, values);
  };
  run(images, options, visit, ignore);

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

}  // namespace winnow
