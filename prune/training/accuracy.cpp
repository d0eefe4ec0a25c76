#include "prune/training/accuracy.h"

#include <torch/types.h>

#include "prune/training/device.h"
#include "prune/training/network/network.h"
#include "prune/training/steps/batches.h"
#include "prune/training/tensor_bridge.h"
#include "prune/training/trainability.h"
#include "runtime/base/error.h"

namespace winnow {
namespace {

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
    if (i > 0 && options.should_stop && options.should_stop()) {
      fail(ErrorCode::interrupted, "accuracy: interrupted");
    }
    const Batch batch = batches.at(i);
    use(network.forward(batch.input, Mode::evaluation), batch.target);
  }
}

}  // namespace

double measure_accuracy(const Model& model, const ImageSet& images,
                        const EvaluationOptions& options) {
  if (images.count == 0) fail(ErrorCode::usage, "accuracy: there are no images");
  std::int64_t right = 0;
  run_batches(model, images, options,
              [&](const torch::Tensor& outputs, const torch::Tensor& labels) {
                right += (outputs.argmax(1) == labels).sum().item<std::int64_t>();
              });
  return static_cast<double>(right) / static_cast<double>(images.count);
}

std::vector<float> predict(const Model& model, const ImageSet& images,
                           const EvaluationOptions& options) {
  std::vector<float> all;
  run_batches(model, images, options, [&](const torch::Tensor& outputs, const torch::Tensor&) {
    const Tensor host = to_host(outputs);
    const auto values = host.values<float>();
    all.insert(all.end(), values.begin(), values.end());
  });
  return all;
}

}  // namespace winnow
