// The engines `cusparse`, `cusparse-buffer` and `cusparse-filter`.
#include <algorithm>

#include "runtime/challenge/engines/cusparse/sparse_activations.h"
#include "runtime/challenge/engines/cusparse/spgemm.h"
#include "runtime/challenge/engines/gpu/engine_makers.h"
#include "runtime/challenge/engines/gpu/gpu_engine.h"
#include "runtime/challenge/engines/gpu/image_batches.h"
#include "runtime/device/gpu.h"

namespace winnow::challenge {
namespace {

enum class Form { without_buffer, with_buffer, with_filter };

struct Layer {
  DeviceCsr weights;  // [inputs, outputs]
  DeviceBuffer<float> bias;
};

class SpgemmEngine : public GpuEngine {
 public:
  SpgemmEngine(const Network& network, const EngineOptions& options, Form form);

  std::string kernel() const override;
  std::vector<std::uint32_t> live() const override { return live_; }

 private:
  using RowRange = SparseActivations::RowRange;

  void upload(const SparseImages& images) override;
  Categories infer() override;
  Categories infer_batch(std::uint32_t first, std::uint32_t last);
  void multiply(const Layer& layer, const RowRange& range);
  bool multiply_at_once(const Layer& layer, const RowRange& range);
  void count_live(std::size_t layer, std::size_t rows);

  Form form_;
  std::vector<Layer> weights_;
  std::uint32_t width_ = 1;
  Spgemm spgemm_;
  DeviceImages images_on_device_;
  std::vector<std::uint64_t> row_begin_;  // of the images, in host memory
  std::uint32_t batch_ = 1;               // images that run at a time
  SparseActivations activations_;
  std::int64_t most_products_ = 0;  // of a call of cuSPARSE, as far as is known
  std::vector<std::uint32_t> live_;
};

SpgemmEngine::SpgemmEngine(const Network& network, const EngineOptions& options, Form form)
    : GpuEngine(network, options), form_(form), spgemm_(stream()) {
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
  return spgemm_.name() + " SpGEMM, activations and weights CSR fp32, " + form + in_batches(batch_);
}

void SpgemmEngine::upload(const SparseImages& images) {
  activations_ = SparseActivations();  // room for the new ones
  spgemm_.release();
  images_on_device_ = DeviceImages();
  images_on_device_ = upload_images(images);
  row_begin_ = images.row_begin;
  // The other half is for the workspace.
  const std::size_t bytes = usable_gpu_bytes() / 2;
  std::uint32_t most = kMostNonzeros / width_;
  if (options().images_at_once > 0) most = std::min(most, options().images_at_once);
  batch_ =
      images_per_batch(images.images(), SparseActivations::bytes_per_image(width_), bytes, most);
  activations_ = SparseActivations(batch_, width_, stream());
  most_products_ = kMostNonzeros;
}

Categories SpgemmEngine::infer() {
  live_.assign(form_ == Form::with_filter ? layers() + 1 : 0, 0);
  Categories categories;
  for (std::uint32_t first = 0; first < images(); first += batch_) {
    const std::uint32_t last = first + std::min(batch_, images() - first);
    const Categories found = infer_batch(first, last);
    categories.insert(categories.end(), found.begin(), found.end());
  }
  return categories;
}

Categories SpgemmEngine::infer_batch(std::uint32_t first, std::uint32_t last) {
  activations_.load(images_on_device_, {.first = first,
                                        .last = last,
                                        .first_one = row_begin_[first],
                                        .ones = row_begin_[last] - row_begin_[first]});
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

void SpgemmEngine::count_live(std::size_t layer, std::size_t rows) {
  if (!live_.empty()) live_[layer] += static_cast<std::uint32_t>(rows);
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
