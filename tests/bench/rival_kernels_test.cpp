// Other libraries' kernels, launched on a GPU.
#include <doctest/doctest.h>

#include <cuda_runtime.h>

#include <cstdio>
#include <functional>
#include <string>

#include "runtime/base/error.h"
#include "runtime/bench/conv_cases.h"
#include "runtime/bench/layer_bench.h"
#include "runtime/bench/rivals/rival.h"
#include "runtime/device/attribute.h"
#include "tests/gpu/gpu_case.h"

namespace winnow {
namespace {

// A library that is not there skips what wants it; a refusal by one that is there fails.
void tell(const Error& error) {
  const std::string text = error.what();
  if (text.find("cannot load") == text.npos) FAIL_CHECK(text);
  std::printf("skipped: %s\n", text.c_str());
}

constexpr double kHalf = 2e-3, kE4m3 = 0.06, kInt8 = 0.03;

ConvLayer layer_of(std::int64_t kernel) {
  ConvLayer layer{"small", 12, 12, {}, false, false};
  layer.conv.in_channels = 32;
  layer.conv.out_channels = 64;
  layer.conv.kernel = {kernel, kernel};
  layer.conv.padding = {kernel / 2, kernel / 2};
  return layer;
}

// A layer, and what its rivals need.
class Fixture {
 public:
  Fixture(std::int64_t kernel, double sparsity)
      : model_(conv_model(layer_of(kernel), {RandomMask::independent, 1, sparsity})),
        setup(model_, {.batch = 16, .precision = Precision::f16, .all_plans = true}),
        problem(rival_problem(setup)),
        clock_(0),
        place{gpu, clock_, {.repeats = 3}} {}

  std::shared_ptr<Columns> columns(ColumnOrder order) const {
    return std::make_shared<Columns>(problem.shape, order);
  }

  // Kernels of a family may be refused, but not all.
  void check(const std::function<std::vector<LayerKernel>()>& make, double tolerance) {
    const SampledOutputs expected = sample_outputs(setup, 300);
    try {
      KernelBench bench(setup, place);
      int measured = 0;
      for (const LayerKernel& kernel : make()) {
        CAPTURE(kernel.kernel);
        try {
          const LayerBenchRow row = bench.measure(kernel, expected);
          CHECK(row.error < tolerance);
          CHECK(row.median_ms > 0);
          ++measured;
        } catch (const Error& error) {
          std::printf("%s: %s\n", kernel.kernel.c_str(), error.what());
        }
      }
      CHECK(measured > 0);
    } catch (const Error& error) {
      tell(error);
    }
  }

 private:
  DeployedModel model_;

 public:
  GpuContext gpu{0};
  LayerSetup setup;
  RivalProblem problem;

 private:
  SmClock clock_;

 public:
  BenchPlace place;
};

}  // namespace

TEST_CASE("dense products of gathered columns equal the convolution") {
  if (lacks_gpu()) return;
  for (const std::int64_t kernel : {1, 3}) {
    CAPTURE(kernel);
    Fixture f(kernel, 0);
    const auto columns = f.columns(ColumnOrder::by_pixel);
    f.check([&] { return cublaslt_rivals(f.problem, columns, f.gpu); }, kHalf);
    if (device_attribute(cudaDevAttrComputeCapabilityMajor) >= 9)
      f.check([&] { return narrow_rivals(f.problem, Narrow::e4m3, columns, f.gpu); }, kE4m3);
    f.check([&] { return narrow_rivals(f.problem, Narrow::int8, columns, f.gpu); }, kInt8);
    f.check([&] { return cudnn_int8_rivals(f.problem, f.gpu); }, kInt8);
  }
}

TEST_CASE("sparse products of gathered columns equal the convolution") {
  if (lacks_gpu()) return;
  for (const std::int64_t kernel : {1, 3}) {
    for (const ColumnOrder order : {ColumnOrder::by_pixel, ColumnOrder::by_column}) {
      CAPTURE(kernel);
      Fixture f(kernel, 80);
      const auto columns = f.columns(order);
      f.check([&] { return cusparse_rivals(f.problem, columns, f.gpu); }, kHalf);
    }
  }
}

TEST_CASE("sparse tensor cores compute the convolution with two of every four weights") {
  if (lacks_gpu()) return;
  Fixture f(3, 0);
  RivalProblem halved = f.problem;
  halved.weight = two_of_four(f.problem.shape, f.problem.weight);
  ConvLayer layer = layer_of(3);
  DeployedModel model = conv_model(layer, {});
  model.weights["conv.weight"] = DenseWeight{{64, 32, 3, 3}, encode_f32(halved.weight)};
  const LayerSetup setup(model, {.batch = 16, .precision = Precision::f16});
  const SampledOutputs expected = sample_outputs(setup, 300);
  try {
    KernelBench bench(setup, f.place);
    const auto columns = f.columns(ColumnOrder::by_pixel);
    for (const LayerKernel& kernel : cusparselt_rivals(halved, columns, f.gpu)) {
      CHECK(bench.measure(kernel, expected).error < kHalf);
    }
  } catch (const Error& error) {
    tell(error);
  }
}

TEST_CASE("gathering alone is timed") {
  if (lacks_gpu()) return;
  Fixture f(3, 0);
  KernelBench bench(f.setup, f.place);
  for (const ColumnOrder order : {ColumnOrder::by_pixel, ColumnOrder::by_column}) {
    CHECK(bench.measure(gathering(f.problem.shape, order, 2), {}).median_ms > 0);
  }
}

}  // namespace winnow
