// The engines `cusparse`, `cusparse-buffer` and `cusparse-filter`.
#include <algorithm>

#include "runtime/challenge/engines/cusparse/activations/sparse_activations.h"
#include "runtime/challenge/engines/cusparse/cusparse_engine.h"
#include "runtime/challenge/engines/cusparse/products/spgemm.h"
#include "runtime/challenge/engines/gpu/engine_makers.h"
#include "runtime/challenge/engines/gpu/image_batches.h"
#include "runtime/device/gpu.h"

namespace winnow::challenge {
namespace {

enum class Form { without_buffer, with_buffer, with_filter };

struct Layer {
  DeviceCsr weights;  // [inputs, outputs]
  DeviceBuffer<float> bias;
};

class SpgemmEngine : public CusparseEngine {
 public:
  SpgemmEngine(const Network& network, const EngineOptions& options, Form form);

  std::string kernel() const override;

 private:
  using RowRange = SparseActivations::RowRange;

  void upload(const SparseImages& images) override;
  Categories infer_batch(std::uint32_t first, std::uint32_t last) override;
  void multiply(const Layer& layer, const RowRange& range);
  bool multiply_at_once(const Layer& layer, const RowRange& range);

  Form form_;
  std::vector<Layer> weights_;
  std::uint32_t width_ = 1;
  Spgemm spgemm_;
  SparseActivations activations_;
  std::int64_t most_products_ = 0;  // of a call of cuSPARSE, as far as is known
};

SpgemmEngine::SpgemmEngine(const Network& network, const EngineOptions& options, Form form)
    : CusparseEngine(network, options, form == Form::with_filter), form_(form), spgemm_(stream()) {
  for (std::uint32_t l = 0; l < network.layers(); ++l) {
    const SparseLayer layer = network.layer(l);
    weights_.push_back({DeviceCsr(weights_by_input(layer)), winnow::upload(layer.bias)});
    width_ = std::max({width_, layer.inputs, layer.outputs()});
  }
}

std::string SpgemmEngine::kernel() const {
  const char* form = form_ == Form::without_buffer ? "workspace allocated for every product"
                     : form_ == Form::with_buffer  ? "workspace kept"
                                                   : "workspace kept, dead rows dropped";
  return spgemm_.name() + " SpGEMM, activations and weights CSR fp32, " + form +
         in_batches(batch());
}

void SpgemmEngine::upload(const SparseImages& images) {
  activations_ = SparseActivations();  // room for the new ones
  spgemm_.release();
  hold_images(images);
  // The other half is for the workspace.
  const std::size_t bytes = usable_gpu_bytes() / 2;
  std::uint32_t most = kMostNonzeros / width_;
  if (options().images_at_once > 0) most = std::min(most, options().images_at_once);
  set_batch(
      images_per_batch(images.images(), SparseActivations::bytes_per_image(width_), bytes, most));
  activations_ = SparseActivations(batch(), width_, stream());
  most_products_ = kMostNonzeros;
}

Categories SpgemmEngine::infer_batch(std::uint32_t first, std::uint32_t last) {
  activations_.load(device_images(), {.first = first,
                                      .last = last,
                                      .first_one = first_ones()[first],
                                      .ones = first_ones()[last] - first_ones()[first]});
  for (std::uint32_t l = 0; l < layers(); ++l) {
    if (form_ == Form::with_filter) {
      activations_.drop_dead_rows();
      count_live(l, static_cast<std::size_t>(activations_.rows()));
    }
    multiply(weights_[l], activations_.whole());
    activations_.finish();
    report_layers(l + 1, first, last);
  }
  Categories categories = activations_.categories();
  count_live(layers(), categories.size());
  return categories;
}

// Halves the rows until the work is small enough.
void SpgemmEngine::multiply(const Layer& layer, const RowRange& range) {
  const CsrView weights = layer.weights.view();
  if (range.nonzeros() == 0 || weights.nonzeros == 0) {
    activations_.append(range, std::nullopt, layer.bias.get());
    return;
  }
  const std::int64_t products = std::int64_t{range.nonzeros()} * layer.weights.longest_row();
  if (products <= most_products_ || range.rows() == 1) {
    if (multiply_at_once(layer, range)) return;
    if (range.rows() == 1) {
      fail(ErrorCode::device, spgemm_.name(), ": GPU memory does not hold ", products,
           " products of one image");
    }
    most_products_ = products / 2;
  }
  const auto [low, high] = activations_.halves(range);
  multiply(layer, low);
  multiply(layer, high);
}

bool SpgemmEngine::multiply_at_once(const Layer& layer, const RowRange& range) {
  const CsrView weights = layer.weights.view();
  const std::optional<CsrView> y = activations_.view(range, weights.rows);
  const std::optional<CsrView> z = y ? spgemm_.multiply(*y, weights) : std::nullopt;
  if (z) activations_.append(range, z, layer.bias.get());
  if (form_ == Form::without_buffer) spgemm_.release();
  return z.has_value();
}

}  // namespace

std::unique_ptr<Engine> make_cusparse_engine(const Network& network, const EngineOptions& options) {
  return std::make_unique<SpgemmEngine>(network, options, Form::without_buffer);
}

std::unique_ptr<Engine> make_cusparse_buffer_engine(const Network& network,
                                                    const EngineOptions& options) {
  return std::make_unique<SpgemmEngine>(network, options, Form::with_buffer);
}

std::unique_ptr<Engine> make_cusparse_filter_engine(const Network& network,
                                                    const EngineOptions& options) {
  return std::make_unique<SpgemmEngine>(network, options, Form::with_filter);
}

}  // namespace winnow::challenge
