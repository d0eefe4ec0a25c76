#include "runtime/gpu/dense/cudnn_conv.h"

#include <doctest/doctest.h>

#include <optional>
#include <vector>

#include "runtime/base/error.h"
#include "tests/gpu/device_tensor.h"
#include "tests/gpu/gpu_case.h"
#include "tests/gpu/random_values.h"

namespace winnow {
namespace {

// FFT and Winograd round more than a row_major sum does.
constexpr double kLooser = 20;

// Formats of the cases mark with a padding of 1 that channels are to be filled up to 8.
int padding_of(const ActivationFormat& format, std::int64_t channels) {
  return format.channel_padding > 0 ? static_cast<int>(-channels & 7) : 0;
}

// With `conv_input` an addition is behind the convolution, which computes that one of its inputs.
void check_conv(const Conv& conv, std::int64_t batch, std::int64_t side, bool has_relu,
                const ActivationFormat& format, GpuContext& gpu,
                std::optional<std::size_t> conv_input = {}) {
  RandomValues random(17);
  const Shape weight_shape = {conv.out_channels, conv.in_channels / conv.groups, conv.kernel[0],
                              conv.kernel[1]};
  const std::vector<float> weight = random.array(weight_shape).values;
  const std::vector<float> bias = random.reals(static_cast<std::size_t>(conv.out_channels));
  const reference::Array input = random.array({batch, conv.in_channels, side, side});
  reference::Array expected = reference::conv(conv, input, weight, bias);
  const reference::Array addend = random.array(expected.shape);
  for (std::size_t i = 0; conv_input && i < addend.values.size(); ++i) {
    expected.values[i] += addend.values[i];
  }
  if (has_relu) expected = reference::relu(expected);
  ActivationFormat in_format = format, out_format = format;
  in_format.channel_padding = padding_of(format, conv.in_channels);
  out_format.channel_padding = padding_of(format, conv.out_channels);
  const DeviceTensor in(in_format, input), added(out_format, addend);
  std::vector<ActivationView> views = {in.view()};
  if (conv_input) views.insert(views.begin() + (*conv_input == 0 ? 1 : 0), added.view());
  int ran = 0;
  for (const NamedLayer& named : cudnn_layers({.conv = conv,
                                 .has_relu = has_relu,
                                 .adds = conv_input.has_value(),
                                 .conv_input = conv_input.value_or(0),
                                 .in = extents_of(input.shape),
                                 .out = extents_of(expected.shape),
                                 .layout = format.layout,
                                 .precision = format.precision,
                                 .in_padding = padding_of(format, conv.in_channels),
                                 .out_padding = padding_of(format, conv.out_channels)},
                                              weight, bias, gpu)) {
    const DeviceBuffer<std::byte> workspace(named.layer->workspace_bytes());
    const DeviceTensor out(out_format, expected.shape);
    try {
      named.layer->launch(views, out.view(), {workspace.get(), workspace.bytes()}, gpu.stream());
    } catch (const Error&) {
      continue;  // an algorithm may refuse when it is launched
    }
    ++ran;
    CAPTURE(named.name);
    CHECK(relative_error(out.values(), expected.values) <= kLooser * tolerance(format.precision));
  }
  CAPTURE(to_string(format));
  CAPTURE(conv.groups);
  CHECK(ran > 0);
}

int count_named(const std::vector<NamedLayer>& layers, const std::string& part) {
  int count = 0;
  for (const NamedLayer& layer : layers) count += layer.name.find(part) != std::string::npos;
  return count;
}

}  // namespace

TEST_CASE("cuDNN's convolutions equal the reference") {
  if (lacks_gpu()) return;
  GpuContext gpu(0);
  if (const std::string reason = cudnn_missing_reason(gpu); !reason.empty()) {
    std::printf("skipped: %s\n", reason.c_str());
    return;
  }
  const Conv row_major{.in_channels = 16, .out_channels = 24, .kernel = {3, 3}, .padding = {1, 1}};
  const Conv strided{.in_channels = 8,
                     .out_channels = 16,
                     .kernel = {3, 3},
                     .stride = {2, 2},
                     .padding = {1, 1},
                     .dilation = {2, 2}};
  const Conv grouped{
      .in_channels = 16, .out_channels = 32, .kernel = {3, 3}, .padding = {1, 1}, .groups = 2};
  const Conv first{.in_channels = 3, .out_channels = 8, .kernel = {3, 3}, .padding = {1, 1}};
  const Conv ragged{.in_channels = 16, .out_channels = 13, .kernel = {3, 3}, .padding = {1, 1}};
  for (const Precision precision : {Precision::f32, Precision::f16}) {
    for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
      const ActivationFormat format{.layout = layout, .precision = precision};
      check_conv(row_major, 3, 9, true, format, gpu);
      check_conv(row_major, 2, 7, false, format, gpu);
    }
    const ActivationFormat nchw{.layout = Layout::nchw, .precision = precision};
    check_conv(strided, 3, 11, true, nchw, gpu);
    check_conv(grouped, 2, 6, true, nchw, gpu);
    check_conv(first, 2, 12, true, nchw, gpu);
    ActivationFormat padded{.layout = Layout::nhwc, .precision = precision};
    padded.channel_padding = 1;
    check_conv(first, 2, 12, true, padded, gpu);
    check_conv(ragged, 3, 5, false, padded, gpu);
  }
}

TEST_CASE("cuDNN's convolutions with what is added to them equal the reference") {
  if (lacks_gpu()) return;
  GpuContext gpu(0);
  if (const std::string reason = cudnn_missing_reason(gpu); !reason.empty()) {
    std::printf("skipped: %s\n", reason.c_str());
    return;
  }
  const Conv point{.in_channels = 16, .out_channels = 64, .kernel = {1, 1}};
  const Conv strided{
      .in_channels = 8, .out_channels = 24, .kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}};
  const Conv ragged{
      .in_channels = 5, .out_channels = 12, .kernel = {3, 3}, .stride = {1, 1}, .padding = {1, 1}};
  for (const Precision precision : {Precision::f32, Precision::f16}) {
    const ActivationFormat nhwc{.layout = Layout::nhwc, .precision = precision};
    const ActivationFormat padded{
        .layout = Layout::nhwc, .precision = precision, .channel_padding = 1};
    for (const std::size_t conv_input : {0, 1}) {
      for (const ActivationFormat& format : {nhwc, row_major(precision)}) {
        check_conv(point, 3, 7, true, format, gpu, conv_input);
        check_conv(point, 3, 5, false, format, gpu, conv_input);
        check_conv(strided, 3, 9, true, format, gpu, conv_input);
      }
      check_conv(ragged, 3, 6, true, padded, gpu, conv_input);
      check_conv(ragged, 3, 6, false, padded, gpu, conv_input);
    }
  }
}

TEST_CASE("cuDNN's kernels that may use TF32 come on request only, and more plans too") {
  if (lacks_gpu()) return;
  GpuContext gpu(0);
  if (const std::string reason = cudnn_missing_reason(gpu); !reason.empty()) {
    std::printf("skipped: %s\n", reason.c_str());
    return;
  }
  const Conv conv{.in_channels = 16, .out_channels = 24, .kernel = {3, 3}, .padding = {1, 1}};
  RandomValues random(18);
  const std::vector<float> weight = random.reals(24 * 16 * 9), bias = random.reals(24);
  CudnnProblem problem{.conv = conv,
                       .has_relu = true,
                       .in = {.n = 8, .c = 16, .h = 16, .w = 16},
                       .out = {.n = 8, .c = 24, .h = 16, .w = 16},
                       .precision = Precision::f32};
  const std::vector<NamedLayer> exact = cudnn_layers(problem, weight, bias, gpu);
  CHECK(count_named(exact, " tf32 ") == 0);
  CHECK(count_named(exact, "cudnn graph nhwc f32 plan ") > 0);
  problem.use_tf32 = true;
  const std::vector<NamedLayer> rounded = cudnn_layers(problem, weight, bias, gpu);
  CHECK(count_named(rounded, "cudnn nhwc tf32 algo ") > 0);
  CHECK(count_named(rounded, "cudnn nhwc f32 algo ") == count_named(exact, "cudnn nhwc f32 algo "));
  problem.all_plans = true;
  CHECK(cudnn_layers(problem, weight, bias, gpu).size() >= rounded.size());
}

}  // namespace winnow
