#include "runtime/bench/layer_bench.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/bench/conv_cases.h"
#include "tests/gpu/gpu_case.h"

namespace winnow {
namespace {

constexpr double kHalfTolerance = 2e-3;

ConvLayer layer_of(bool is_pooled) {
  ConvLayer layer{"small", 16, 16, {}, is_pooled};
  layer.conv.in_channels = 64;
  layer.conv.out_channels = 64;
  layer.conv.kernel = {3, 3};
  layer.conv.padding = {1, 1};
  return layer;
}

SessionOptions session_of(Precision precision) {
  return {.batch = 16, .precision = precision, .all_plans = true};
}

void check_row(const LayerBenchRow& row, double tolerance) {
  CAPTURE(row.kernel);
  CHECK(row.error < tolerance);
  CHECK(row.median_ms > 0);
  CHECK(row.launches >= 1);
  CHECK(row.spread >= 0);
}

}  // namespace

TEST_CASE("dense kernels compute what the weights of each measurement say") {
  if (lacks_gpu()) return;
  GpuContext gpu(0);
  const SmClock clock(0);
  if (!cudnn_missing_reason(gpu).empty()) {
    std::printf("skipped: no cuDNN\n");
    return;
  }
  for (const bool is_pooled : {false, true}) {
    for (const Precision precision : {Precision::f16, Precision::f32}) {
      const DeployedModel first =
          conv_model(layer_of(is_pooled), {RandomMask::independent, 16, 90});
      const DeployedModel second = conv_model(layer_of(is_pooled), {});
      const LayerSetup setup(first, session_of(precision)), other(second, session_of(precision));
      DenseBench dense(setup, {gpu, clock, {.repeats = 3}});
      CHECK(dense.kernels() > 1);
      for (const LayerSetup* measured : {&setup, &other, &setup}) {
        check_row(dense.measure(*measured, sample_outputs(*measured, 64)), kHalfTolerance);
      }
    }
  }
}

TEST_CASE("sparse families compute a layer alone and with its pooling") {
  if (lacks_gpu()) return;
  GpuContext gpu(0);
  const SmClock clock(0);
  for (const bool is_pooled : {false, true}) {
    const DeployedModel model = conv_model(layer_of(is_pooled), {RandomMask::independent, 16, 80});
    for (const std::string family : {"direct", "direct_ell", "gathered"}) {
      CAPTURE(family);
      LayerSetup setup(model, session_of(Precision::f16));
      const auto rows =
          bench_family(family, setup, sample_outputs(setup, 64), {gpu, clock, {.repeats = 3}});
      CHECK(!rows.empty());
      for (const LayerBenchRow& row : rows) check_row(row, kHalfTolerance);
      const bool has_fused = std::ranges::any_of(rows, [](const LayerBenchRow& row) {
        return row.kernel.find("with conv") != row.kernel.npos;
      });
      CHECK(has_fused == (is_pooled && family == "gathered"));
    }
  }
}

}  // namespace winnow
