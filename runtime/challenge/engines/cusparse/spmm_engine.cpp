// The engine `cusparse-spmm`.
#include <algorithm>
#include <map>

#include "runtime/challenge/engines/cusparse/activations/dense_columns.h"
#include "runtime/challenge/engines/cusparse/activations/live_rows.h"
#include "runtime/challenge/engines/cusparse/cusparse_engine.h"
#include "runtime/challenge/engines/cusparse/products/spmm.h"
#include "runtime/challenge/engines/gpu/engine_makers.h"
#include "runtime/challenge/engines/gpu/image_batches.h"
#include "runtime/device/gpu.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kStrideMultiple = 32;  // rows begin at multiples of 128 bytes

std::uint32_t stride_of(std::uint32_t columns) {
  return (columns + kStrideMultiple - 1) / kStrideMultiple * kStrideMultiple;
}

struct Layer {
  std::uint32_t inputs, outputs;
  Spmm weights;
  DeviceBuffer<float> bias;
};

class SpmmEngine : public CusparseEngine {
 public:
  SpmmEngine(const Network& network, const EngineOptions& options);

  std::string kernel() const override;

 private:
  void upload(const SparseImages& images) override;
  void tune() override;
  Categories infer_batch(std::uint32_t first, std::uint32_t last) override;
  void load_batch(std::uint32_t first, std::uint32_t last);
  std::uint32_t finish_layer(const Layer& layer, std::uint32_t columns);
  std::string algorithms() const;
  DenseView view(int buffer, std::uint32_t rows, std::uint32_t columns) const;
  std::uint32_t read_live_count() const;
  std::uint32_t lit_images(std::uint32_t first, std::uint32_t last) const;

  std::vector<Layer> weights_;
  std::uint32_t width_ = 1;
  CusparseHandle handle_;
  DeviceBuffer<float> y_[2];  // [width][stride_of(batch)]
  LiveRows live_;
  PinnedBuffer<std::uint32_t> live_count_;
};

SpmmEngine::SpmmEngine(const Network& network, const EngineOptions& options)
    : CusparseEngine(network, options, true),
      handle_(make_cusparse_handle(stream())),
      live_count_(1) {
  for (std::uint32_t l = 0; l < network.layers(); ++l) {
    const SparseLayer layer = network.layer(l);
    weights_.push_back({.inputs = layer.inputs,
                        .outputs = layer.outputs(),
                        .weights = Spmm(weights_by_output(layer)),
                        .bias = winnow::upload(layer.bias)});
    width_ = std::max({width_, layer.inputs, layer.outputs()});
  }
}

std::string SpmmEngine::kernel() const {
  return cusparse_name(handle_.get()) + " SpMM, fastest algorithm of each layer" + algorithms() +
         ", activations dense fp32 [neuron][image], weights CSR fp32, dead rows dropped" +
         in_batches(batch());
}

// " (CSR_ALG1 of 20, CSR_ALG2 of 100)"
std::string SpmmEngine::algorithms() const {
  std::map<std::string, int> layers_of;
  for (const Layer& layer : weights_) {
    const std::string algorithm = layer.weights.algorithm();
    if (!algorithm.empty()) ++layers_of[algorithm];
  }
  std::string text;
  for (const auto& [algorithm, count] : layers_of) {
    text += (text.empty() ? " (" : ", ") + algorithm + " of " + std::to_string(count);
  }
  return text.empty() ? "" : text + ")";
}

void SpmmEngine::upload(const SparseImages& images) {
  for (DeviceBuffer<float>& y : y_) y = DeviceBuffer<float>();  // room for the new ones
  hold_images(images);
  const std::size_t bytes_per_image =
      2 * sizeof(float) * std::size_t{width_} + 5 * sizeof(std::uint32_t);
  // Less than 2^31 elements a matrix, with the columns that fill up the last multiple.
  std::uint32_t most = std::max(kMostNonzeros / width_, 2 * kStrideMultiple) - kStrideMultiple;
  if (options().images_at_once > 0) most = std::min(most, options().images_at_once);
  set_batch(images_per_batch(images.images(), bytes_per_image, usable_gpu_bytes(), most));
  for (DeviceBuffer<float>& y : y_) {
    y = DeviceBuffer<float>(std::size_t{width_} * stride_of(batch()));
  }
  live_ = LiveRows(batch());
}

// Runs the first batch with all algorithms of each layer; a layer that no image reaches keeps what
// it has.
void SpmmEngine::tune() {
  std::uint32_t columns = std::min(batch(), images());
  if (columns == 0) return;
  load_batch(0, columns);
  for (std::uint32_t l = 0; l < layers() && columns > 0; ++l) {
    Layer& layer = weights_[l];
    layer.weights.choose(handle_.get(), view(0, layer.inputs, columns),
                         view(1, layer.outputs, columns));
    columns = finish_layer(layer, columns);
  }
}

Categories SpmmEngine::infer_batch(std::uint32_t first, std::uint32_t last) {
  std::uint32_t columns = last - first;
  load_batch(first, last);
  count_live(0, lit_images(first, last));
  for (std::uint32_t l = 0; l < layers(); ++l) {
    if (columns > 0) {
      Layer& layer = weights_[l];
      layer.weights.multiply(handle_.get(), view(0, layer.inputs, columns),
                             view(1, layer.outputs, columns));
      columns = finish_layer(layer, columns);
    }
    count_live(l + 1, columns);
    report_layers(l + 1, first, last);
  }
  return live_.download(stream());
}

// Fills y_[0].
void SpmmEngine::load_batch(std::uint32_t first, std::uint32_t last) {
  const std::uint32_t columns = last - first;
  live_.reset(first, columns, stream());
  expand_images(device_images(), first, last, {.per_image = 1, .per_neuron = stride_of(columns)},
                y_[0].get(), stream());
}

// From the sums in y_[1] to y_[0] without dead columns; returns how many are left.
std::uint32_t SpmmEngine::finish_layer(const Layer& layer, std::uint32_t columns) {
  const DenseView z = view(1, layer.outputs, columns);
  activate_columns(z, layer.bias.get(), live_.alive(), stream());
  live_.keep(stream());
  const std::uint32_t left = read_live_count();
  if (left == columns) {
    std::swap(y_[0], y_[1]);
  } else {
    keep_columns(z, live_.rows(), view(0, layer.outputs, left), stream());
  }
  return left;
}

DenseView SpmmEngine::view(int buffer, std::uint32_t rows, std::uint32_t columns) const {
  return {
      .rows = rows, .columns = columns, .stride = stride_of(columns), .values = y_[buffer].get()};
}

std::uint32_t SpmmEngine::read_live_count() const {
  std::uint32_t* count = live_count_.values().data();
  CUDA_CHECK(
      cudaMemcpyAsync(count, live_.count(), sizeof(*count), cudaMemcpyDeviceToHost, stream()));
  CUDA_CHECK(cudaStreamSynchronize(stream()));
  return *count;
}

// Images that have ones.
std::uint32_t SpmmEngine::lit_images(std::uint32_t first, std::uint32_t last) const {
  std::uint32_t lit = 0;
  for (std::uint32_t i = first; i < last; ++i) lit += first_ones()[i + 1] > first_ones()[i] ? 1 : 0;
  return lit;
}

}  // namespace

std::unique_ptr<Engine> make_cusparse_spmm_engine(const Network& network,
                                                  const EngineOptions& options) {
  return std::make_unique<SpmmEngine>(network, options);
}

}  // namespace winnow::challenge
