#include "prune/training/accuracy.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "prune/training/batches.h"
#include "prune/training/device.h"
#include "prune/training/network.h"
#include "prune/training/tensor_bridge.h"
#include "prune/training/trainability.h"
#include "runtime/base/error.h"

namespace winnow {
namespace {

// A limit that no activation needs yet; doubled until the largest fits.
constexpr double kSmallestLimit = 0x1p-40;

// Full fp32 on a GPU too: TensorFloat-32 has 10 bits of mantissa.
class FullPrecision {
 public:
  FullPrecision()
      : convolutions_(at::globalContext().allowTF32CuDNN()),
        products_(at::globalContext().allowTF32CuBLAS()) {
    set(false, false);
  }
  FullPrecision(const FullPrecision&) = delete;
  FullPrecision& operator=(const FullPrecision&) = delete;
  ~FullPrecision() { set(convolutions_, products_); }

 private:
  static void set(bool convolutions, bool products) {
    at::globalContext().setAllowTF32CuDNN(convolutions);
    at::globalContext().setAllowTF32CuBLAS(products);
  }

  bool convolutions_;
  bool products_;
};

// Calls `use` with the network's outputs and the labels of each batch.
void run_batches(const Model& model, const ImageSet& images, const EvaluationOptions& options,
                 const Network::Hook& hook,
                 const std::function<void(const torch::Tensor&, const torch::Tensor&)>& use) {
  require_input(model.graph, images);
  const torch::NoGradGuard no_grad;
  const torch::Device device = resolve_device(options.device);
  const FullPrecision full_precision;
  Network network(model.graph, {.device = device});
  network.load(model);
  const EvaluationBatches batches(ResidentImages(images, model.preprocessing, device),
                                  options.batch);
  for (std::int64_t i = 0; i < batches.count(); ++i) {
    const Batch batch = batches.at(i);
    use(network.forward(batch.input, Mode::evaluation, hook), batch.target);
  }
}

torch::Tensor rounded(const torch::Tensor& values, int total_bits, int frac_bits) {
  const double scale = std::exp2(frac_bits);
  const double top = std::exp2(total_bits - 1);
  return (values * scale).round().clamp(-top, top - 1) / scale;
}

// Rounds what the model says is fixed point; empty if it says nothing.
Network::Hook fixed_point_hook(const Model& model) {
  if (model.activation_bits <= 0) return {};
  return [&model](const Node& node, const torch::Tensor& value) {
    const auto found = model.activation_frac.find(node.name);
    if (found == model.activation_frac.end() || !value.is_floating_point()) return value;
    return rounded(value, model.activation_bits, found->second);
  };
}

// Doubles the limit: pairs of bins become one.
void widen(ActivationStatistics& statistics) {
  auto& bins = statistics.histogram;
  for (std::size_t i = 0; i < bins.size() / 2; ++i) bins[i] = bins[2 * i] + bins[2 * i + 1];
  std::fill(bins.begin() + static_cast<std::ptrdiff_t>(bins.size() / 2), bins.end(), 0);
  statistics.limit *= 2;
}

void observe(ActivationStatistics& statistics, const torch::Tensor& value) {
  if (statistics.histogram.empty()) {
    statistics.histogram.assign(kActivationBins, 0);
    statistics.limit = kSmallestLimit;
  }
  const torch::Tensor magnitude = value.detach().abs().to(torch::kFloat).flatten();
  const double largest = magnitude.max().item<double>();
  if (!std::isfinite(largest)) fail(ErrorCode::usage, "an activation is not finite");
  statistics.max_magnitude = std::max(statistics.max_magnitude, largest);
  while (statistics.limit < largest) widen(statistics);
  // Not histc: it counts in float, which ends at 2^24.
  const torch::Tensor bins = (magnitude * (kActivationBins / statistics.limit))
                                 .to(torch::kLong)
                                 .clamp_max(kActivationBins - 1);
  const torch::Tensor counts = bins.bincount({}, kActivationBins).to(torch::kCPU);
  const auto* count = counts.const_data_ptr<std::int64_t>();
  for (int i = 0; i < kActivationBins; ++i) {
    statistics.histogram[static_cast<std::size_t>(i)] += count[i];
  }
}

}  // namespace

double measure_accuracy(const Model& model, const ImageSet& images,
                        const EvaluationOptions& options) {
  if (images.count == 0) fail(ErrorCode::usage, "accuracy: there are no images");
  std::int64_t right = 0;
  run_batches(model, images, options, fixed_point_hook(model),
              [&](const torch::Tensor& outputs, const torch::Tensor& labels) {
                right += (outputs.argmax(1) == labels).sum().item<std::int64_t>();
              });
  return static_cast<double>(right) / static_cast<double>(images.count);
}

std::vector<float> predict(const Model& model, const ImageSet& images,
                           const EvaluationOptions& options) {
  std::vector<float> all;
  run_batches(model, images, options, fixed_point_hook(model),
              [&](const torch::Tensor& outputs, const torch::Tensor&) {
                const Tensor host = to_host(outputs);
                const auto values = host.values<float>();
                all.insert(all.end(), values.begin(), values.end());
              });
  return all;
}

std::map<std::string, ActivationStatistics> observe_activations(const Model& model,
                                                                const ImageSet& images,
                                                                const EvaluationOptions& options) {
  std::map<std::string, ActivationStatistics> statistics;
  run_batches(
      model, images, options,
      [&](const Node& node, const torch::Tensor& value) {
        observe(statistics[node.name], value);
        return value;
      },
      [](const torch::Tensor&, const torch::Tensor&) {});
  return statistics;
}

float round_to_fixed_point(float value, int total_bits, int frac_bits) {
  const double scale = std::exp2(frac_bits);
  const double top = std::exp2(total_bits - 1);
  const double steps = std::nearbyint(static_cast<double>(value) * scale);
  return static_cast<float>(std::clamp(steps, -top, top - 1) / scale);
}

}  // namespace winnow
