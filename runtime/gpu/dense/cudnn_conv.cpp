#include "runtime/gpu/dense/cudnn_conv.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <limits>

#include "runtime/gpu/dense/cudnn_problem.h"
#include "runtime/gpu/layer/typed_weights.h"

namespace winnow {
namespace {

// Heuristics put the best first; each may be compiled.
constexpr std::size_t kMostPlans = 6;
constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

// [K, C, plane] with zero filters and zero channels after the last ones.
std::vector<float> padded_weight(const CudnnProblem& problem, std::span<const float> weight) {
  const std::int64_t plane = problem.conv.kernel[0] * problem.conv.kernel[1];
  const std::int64_t row = problem.conv.in_channels / problem.conv.groups * plane;
  const std::int64_t padded_row = row + problem.in_padding * plane;
  std::vector<float> padded(
      static_cast<std::size_t>((problem.conv.out_channels + problem.out_padding) * padded_row));
  for (std::int64_t k = 0; k < problem.conv.out_channels; ++k) {
    std::copy_n(weight.begin() + k * row, row, padded.begin() + k * padded_row);
  }
  return padded;
}

// The convolution over the channels that lie in memory.
CudnnProblem with_padding(CudnnProblem problem) {
  problem.conv.in_channels += problem.in_padding;
  problem.in.c += problem.in_padding;
  problem.conv.out_channels += problem.out_padding;
  problem.out.c += problem.out_padding;
  problem.in_padding = problem.out_padding = 0;
  return problem;
}

void append(std::vector<NamedLayer>& layers, std::vector<NamedLayer> more) {
  std::ranges::move(more, std::back_inserter(layers));
}

}  // namespace

CudnnParameters upload_for_cudnn(const CudnnProblem& problem, std::span<const float> weight,
                                 std::span<const float> bias) {
  if (problem.in_padding > 0 || problem.out_padding > 0) {
    std::vector<float> padded_bias(bias.begin(), bias.end());
    padded_bias.resize(static_cast<std::size_t>(problem.conv.out_channels + problem.out_padding));
    return upload_for_cudnn(with_padding(problem), padded_weight(problem, weight), padded_bias);
  }
  const Conv& conv = problem.conv;
  const std::int64_t plane = conv.kernel[0] * conv.kernel[1];
  const bool is_last = problem.layout == Layout::nhwc;
  return {is_last ? upload_as(problem.precision, channels_last(weight, conv.out_channels, plane))
                  : upload_as(problem.precision, weight),
          upload_as(problem.precision, bias)};
}

std::vector<NamedLayer> cudnn_layers(const CudnnProblem& problem,
                                     std::shared_ptr<const CudnnParameters> parameters,
                                     GpuContext& gpu) {
  const CudnnProblem padded = with_padding(problem);
  CudnnProblem exact = padded;
  exact.use_tf32 = false;
  std::vector<NamedLayer> layers = cudnn_algorithm_layers(exact, parameters, gpu);
  if (padded.use_tf32) append(layers, cudnn_algorithm_layers(padded, parameters, gpu));
  append(layers,
         cudnn_graph_layers(padded, parameters, gpu, padded.all_plans ? kNoLimit : kMostPlans));
  return layers;
}

std::vector<NamedLayer> cudnn_layers(const CudnnProblem& problem, std::span<const float> weight,
                                     std::span<const float> bias, GpuContext& gpu) {
  return cudnn_layers(
      problem, std::make_shared<const CudnnParameters>(upload_for_cudnn(problem, weight, bias)),
      gpu);
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
