#include "runtime/kernels/cudnn_conv.h"

#include <exception>

#include "runtime/kernels/cudnn_problem.h"
#include "runtime/kernels/typed_weights.h"

namespace winnow {
namespace {

constexpr std::size_t kMostPlans = 6;  // heuristics put the best first; each may be compiled

}  // namespace

std::vector<NamedLayer> cudnn_layers(const CudnnProblem& problem, std::span<const float> weight,
                                     std::span<const float> bias, GpuContext& gpu) {
  const Conv& conv = problem.conv;
  auto parameters = std::make_shared<CudnnParameters>();
  parameters->bias = upload_as(problem.precision, bias);
  if (problem.layout == Layout::nhwc) {
    parameters->weight =
        upload_as(problem.precision,
                  channels_last(weight, conv.out_channels, conv.kernel[0] * conv.kernel[1]));
  } else {
    parameters->weight = upload_as(problem.precision, weight);
  }
  std::vector<NamedLayer> layers = cudnn_algorithm_layers(problem, parameters, gpu);
  for (NamedLayer& layer : cudnn_graph_layers(problem, parameters, gpu, kMostPlans)) {
    layers.push_back(std::move(layer));
  }
  return layers;
}

std::string cudnn_missing_reason(GpuContext& gpu) {
  try {
    cudnn_handle(gpu);
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace winnow
