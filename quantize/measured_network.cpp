#include "quantize/measured_network.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "export/export_model.h"
#include "quantize/fixed_point.h"
#include "runtime/base/error.h"
#include "runtime/base/thread_pool.h"
#include "runtime/images/image_reader.h"
#include "runtime/plan/program.h"
#include "runtime/text/token_set.h"

namespace winnow {
namespace {

// Samples that sessions take at a time: enough to keep a processor busy.
constexpr std::int64_t kSessionBatch = 32;

// The network as a whole and its single steps share the threads.
SessionOptions session_options(decltype(SessionOptions::progress) planned) {
  SessionOptions options;
  options.batch = kSessionBatch;
  options.choice = KernelChoice::sparse;  // a rule on a CPU: no times decide, so runs agree
  options.pool = std::make_shared<ThreadPool>(0);
  options.progress = std::move(planned);
  return options;
}

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

}  // namespace

MeasuredNetwork::MeasuredNetwork(const Model& model, Device device,
                                 decltype(SessionOptions::progress) planned)
    : device_(device),
      options_(session_options(std::move(planned))),
      engine_(deployed_form(model), device_, options_),
      activation_bits_(engine_.model().activation_bits),
      activation_frac_(engine_.model().activation_frac) {}

StepwiseNetwork& MeasuredNetwork::stepwise() {
  if (!stepwise_) stepwise_.emplace(engine_.model(), device_, options_);
  return *stepwise_;
}

void MeasuredNetwork::round_activations(int bits, std::map<std::string, int> frac) {
  activation_bits_ = bits;
  activation_frac_ = std::move(frac);
}

void MeasuredNetwork::run_batches(const ImageSet& images, const MeasurementOptions& options,
                                  const Run& run, const Use& use) {
  require_fit(engine_.model().graph, images);
  if (options.batch < 1) fail(ErrorCode::usage, "batch: found ", options.batch, ", expected 1 on");
  ImageReader reader(images, options.batch);
  const std::int64_t size = element_count(images.sample_shape());
  for (std::int64_t first = 0; first < images.count; first += options.batch) {
    const std::int64_t count = std::min(options.batch, images.count - first);
    std::vector<float> input(static_cast<std::size_t>(count * size));
    if (images.holds_tokens()) {
      floats_of_tokens(reader.next(), input);
    } else {
      preprocess(engine_.model(), reader.next(), input);
    }
    use(first, run(count, std::move(input)));
    if (options.on_batch) options.on_batch(count);
  }
}

void MeasuredNetwork::visit_values(const ImageSet& images, const MeasurementOptions& options,
                                   const StepwiseNetwork::Visit& visit) {
  const auto run = [&](std::int64_t samples, std::vector<float> input) {
    return stepwise().run(samples, std::move(input), visit);
  };
  run_batches(images, options, run, [](std::int64_t, std::span<const float>) {});
}

void MeasuredNetwork::run_rounded(const ImageSet& images, const MeasurementOptions& options,
                                  const Use& use) {
  const auto in_steps = [&](std::int64_t samples, std::vector<float> input) {
    return stepwise().run(
        samples, std::move(input),
        [&](const std::string& node, std::span<float> values) { round(node, values); });
  };
  const auto as_a_whole = [&](std::int64_t samples, std::vector<float> input) {
    std::vector<float> output(static_cast<std::size_t>(samples * engine_.output_size()));
    engine_.run(input, output);
    return output;
  };
  run_batches(images, options, activation_bits_ > 0 ? Run(in_steps) : Run(as_a_whole), use);
}

void MeasuredNetwork::round(const std::string& node, std::span<float> values) {
  const auto found = activation_frac_.find(node);
  if (found == activation_frac_.end()) return;
  const FixedPoint format{activation_bits_, found->second};
  const auto count = static_cast<std::int64_t>(values.size());
  options_.pool->run_ranges(count, 1, [&](std::int64_t begin, std::int64_t end) {
    round_to(format, values.subspan(static_cast<std::size_t>(begin),
                                    static_cast<std::size_t>(end - begin)));
  });
}

double MeasuredNetwork::accuracy(const ImageSet& images, const MeasurementOptions& options) {
  std::int64_t right = 0;
  const std::int64_t classes = engine_.output_size();
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
  visit_values(images, options, visit);
  return histograms;
}

MeanInputs MeasuredNetwork::mean_layer_inputs(const ImageSet& images,
                                              const MeasurementOptions& options) {
  const Program program = build_program(engine_.model().graph, 1);
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
  visit_values(images, options, visit);

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
