#include <doctest/doctest.h>

#include "runtime/gpu/dense/cublaslt_linear.h"
#include "runtime/gpu/linear/deployed_layer.h"
#include "runtime/gpu/linear/linear_gather.h"
#include "runtime/gpu/linear/sparse_linear.h"
#include "tests/gpu/device_tensor.h"
#include "tests/gpu/gpu_case.h"
#include "tests/gpu/random_values.h"
#include "tests/throws.h"

namespace winnow {
namespace {

struct Layer {
  std::int64_t batch, in, out;
};
const std::vector<Layer> kLayers = {{1, 1, 1},   {1, 33, 10},   {2, 512, 10}, {3, 100, 7},
                                    {7, 64, 33}, {8, 1024, 64}, {33, 40, 48}, {128, 70, 100}};

reference::Array expected_output(const Layer& layer, const reference::Array& input,
                                 const std::vector<float>& weight, const std::vector<float>& bias,
                                 bool has_relu) {
  const Linear op{.in_features = layer.in, .out_features = layer.out};
  const reference::Array output = reference::linear(op, input, weight, bias);
  return has_relu ? reference::relu(output) : output;
}

struct SparseCase {
  CsrWeight weight;
  std::vector<float> bias;
  reference::Array input;
  bool has_relu;
  reference::Array expected;
};

SparseCase sparse_case(const Layer& layer, int vector, double density, RandomValues& random) {
  SparseCase made{.weight = random.weight(layer.out, layer.in, vector, density),
                  .bias = random.reals(static_cast<std::size_t>(layer.out)),
                  .input = random.array({layer.batch, layer.in}),
                  .has_relu = random.below(2) == 0,
                  .expected = {}};
  made.expected =
      expected_output(layer, made.input, to_dense(made.weight), made.bias, made.has_relu);
  return made;
}

void check_sparse(const Layer& layer, int vector, double density, Precision precision,
                  RandomValues& random) {
  const auto [weight, bias, input, has_relu, expected] =
      sparse_case(layer, vector, density, random);
  const SparseLinearWeights uploaded =
      upload_sparse_linear(direct_rows(block_csr(weight), 1), layer.in, bias, precision);
  const DeviceTensor in({.precision = precision}, input);
  for (const int sub_batch : {1, 2, 4, 8}) {
    const DeviceTensor out({.precision = precision}, expected.shape);
    sparse_linear(uploaded,
                  {.x = in.view().data,
                   .y = out.view().data,
                   .images = layer.batch,
                   .sub_batch = sub_batch,
                   .has_relu = has_relu},
                  nullptr);
    CAPTURE(layer.batch);
    CAPTURE(layer.in);
    CAPTURE(layer.out);
    CAPTURE(vector);
    CAPTURE(sub_batch);
    CHECK(relative_error(out.values(), expected.values) <= tolerance(precision));
  }
}

void check_gather(const Layer& layer, int vector, double density, Precision precision,
                  RandomValues& random) {
  const auto [weight, bias, input, has_relu, expected] =
      sparse_case(layer, vector, density, random);
  const LinearGatherWeights weights(sparse_layer(block_csr(weight), bias));
  const ActivationFormat format{.layout = Layout::chwn32, .precision = precision};
  const DeviceTensor in(format, input);
  const DeviceTensor out(format, expected.shape);
  linear_gather(weights, in.view(), out.view(), has_relu, nullptr);
  CAPTURE(layer.batch);
  CAPTURE(layer.in);
  CAPTURE(layer.out);
  CAPTURE(vector);
  CHECK(relative_error(out.values(), expected.values) <= tolerance(precision));
}

void check_dense(const Layer& layer, Precision precision, bool use_tf32, RandomValues& random) {
  const auto weights = random.reals(static_cast<std::size_t>(layer.in * layer.out));
  const std::vector<float> bias = random.reals(static_cast<std::size_t>(layer.out));
  const reference::Array input = random.array({layer.batch, layer.in});
  const bool has_relu = random.below(2) == 0;
  const reference::Array expected = expected_output(layer, input, weights, bias, has_relu);
  GpuContext gpu(0);
  const DeviceTensor in({.precision = precision}, input);
  const std::vector<NamedLayer> layers = cublaslt_layers(
      {layer.batch, layer.in, layer.out, has_relu, precision, use_tf32, true}, weights, bias, gpu);
  CAPTURE(layer.batch);
  CAPTURE(layer.in);
  CAPTURE(layer.out);
  CHECK(!layers.empty());
  bool has_tf32 = false;
  for (const NamedLayer& named : layers) {
    const DeviceBuffer<std::byte> workspace(named.layer->workspace_bytes());
    const DeviceTensor out({.precision = precision}, expected.shape);
    const ActivationView view = in.view();
    named.layer->launch(std::span(&view, 1), out.view(), {workspace.get(), workspace.bytes()},
                        gpu.stream());
    CAPTURE(named.name);
    const bool is_tf32 = named.name.starts_with("cublaslt tf32 algo ");
    CHECK((use_tf32 || !is_tf32));
    has_tf32 |= is_tf32;
    CHECK(relative_error(out.values(), expected.values) <=
          tolerance(is_tf32 ? Precision::f16 : precision));
  }
  CHECK(has_tf32 == use_tf32);
}

}  // namespace

TEST_CASE("sparse_linear equals the reference") {
  if (lacks_gpu()) return;
  RandomValues random(11);
  for (const Precision precision : {Precision::f32, Precision::f16}) {
    for (const Layer& layer : kLayers) {
      for (const int vector : {1, 8, 16, 32}) check_sparse(layer, vector, 0.2, precision, random);
    }
    check_sparse(kLayers[5], 1, 0.0, precision, random);
    check_sparse(kLayers[5], 16, 1.0, precision, random);
  }
}

TEST_CASE("sparse_linear reads columns beyond 16 bits") {
  if (lacks_gpu()) return;
  RandomValues random(12);
  check_sparse({2, 70000, 3}, 1, 0.01, Precision::f32, random);
}

TEST_CASE("sparse_linear refuses a sub-batch that it does not have") {
  if (lacks_gpu()) return;
  RandomValues random(13);
  const SparseLinearWeights weights =
      upload_sparse_linear(direct_rows(block_csr(random.weight(4, 8, 1, 0.5)), 1), 8,
                           std::vector<float>(4, 0.0f), Precision::f32);
  const DeviceTensor x(ActivationFormat{}, random.array({1, 8}));
  const DeviceTensor y(ActivationFormat{}, {1, 4});
  const SparseLinearCall call{.x = x.view().data, .y = y.view().data, .images = 1, .sub_batch = 3};
  CHECK(error_of([&] { sparse_linear(weights, call, nullptr); }) == ErrorCode::usage);
}

TEST_CASE("linear_gather equals the reference") {
  if (lacks_gpu()) return;
  RandomValues random(15);
  for (const Precision precision : {Precision::f32, Precision::f16}) {
    for (const Layer& layer : kLayers) {
      for (const int vector : {1, 16}) check_gather(layer, vector, 0.2, precision, random);
    }
    check_gather(kLayers[5], 1, 0.0, precision, random);
    check_gather(kLayers[5], 16, 1.0, precision, random);
  }
  check_gather({2, 70000, 3}, 1, 0.01, Precision::f32, random);
}

TEST_CASE("linear_gather refuses values of another size or layout") {
  if (lacks_gpu()) return;
  RandomValues random(16);
  const LinearGatherWeights weights(
      sparse_layer(block_csr(random.weight(4, 8, 1, 0.5)), std::vector<float>(4, 0.0f)));
  const ActivationFormat packed{.layout = Layout::chwn32};
  const DeviceTensor x(packed, Shape{2, 8}), y(packed, Shape{2, 4}), more(packed, Shape{3, 4});
  const DeviceTensor row_major_x(ActivationFormat{}, Shape{2, 8}), wide(packed, Shape{2, 9});
  const auto refusal = [&](const DeviceTensor& in, const DeviceTensor& out) {
    return error_of([&] { linear_gather(weights, in.view(), out.view(), false, nullptr); });
  };
  CHECK(refusal(row_major_x, y) == ErrorCode::usage);
  CHECK(refusal(wide, y) == ErrorCode::usage);
  CHECK(refusal(x, more) == ErrorCode::usage);
  CHECK_FALSE(refusal(x, y).has_value());
}

TEST_CASE("cuBLASLt's linear layers equal the reference") {
  if (lacks_gpu()) return;
  GpuContext gpu(0);
  if (const std::string reason = cublaslt_missing_reason(gpu); !reason.empty()) {
    std::printf("skipped: %s\n", reason.c_str());
    return;
  }
  RandomValues random(14);
  for (const Precision precision : {Precision::f32, Precision::f16}) {
    for (const Layer& layer : kLayers) check_dense(layer, precision, false, random);
  }
  for (const Layer& layer : kLayers) check_dense(layer, Precision::f32, true, random);
}

}  // namespace winnow
