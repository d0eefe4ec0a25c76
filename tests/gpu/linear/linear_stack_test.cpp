#include "runtime/gpu/linear/linear_stack.h"

#include <doctest/doctest.h>

#include "runtime/device/overlapping_launch.h"
#include "runtime/gpu/linear/deployed_layer.h"
#include "runtime/gpu/vendor/gpu_context.h"
#include "tests/gpu/device_tensor.h"
#include "tests/gpu/gpu_case.h"
#include "tests/gpu/random_values.h"
#include "tests/throws.h"

namespace winnow {
namespace {

using Widths = std::vector<std::int64_t>;

// Layers with everything that the kernel and the reference need.
struct Stack {
  std::vector<SparseLayer> layers;
  std::vector<bool> has_relu;
  std::vector<Linear> ops;
  std::vector<std::vector<float>> weights, biases;
};

Stack random_stack(const Widths& widths, int vector, double density, RandomValues& random) {
  Stack stack;
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    const CsrWeight weight = random.weight(widths[l + 1], widths[l], vector, density);
    stack.biases.push_back(random.reals(static_cast<std::size_t>(widths[l + 1])));
    stack.layers.push_back(sparse_layer(block_csr(weight), stack.biases.back()));
    stack.weights.push_back(to_dense(weight));
    stack.ops.push_back({.in_features = widths[l], .out_features = widths[l + 1]});
    stack.has_relu.push_back(random.below(3) != 0);
  }
  return stack;
}

// As fewest_outputs() asks for.
bool has_enough_outputs(const Stack& stack, int blocks) {
  for (std::size_t l = 0; l + 1 < stack.layers.size(); ++l) {
    if (stack.layers[l].outputs() < fewest_outputs(blocks)) return false;
  }
  return true;
}

reference::Array expected_output(const Stack& stack, reference::Array values) {
  for (std::size_t l = 0; l < stack.ops.size(); ++l) {
    values = reference::linear(stack.ops[l], values, stack.weights[l], stack.biases[l]);
    if (stack.has_relu[l]) values = reference::relu(values);
  }
  return values;
}

constexpr LinearStackForm kForms[] = {{{false, 16}},   {{false, 8}},   {{false, 4}},
                                      {{true, 16}},    {{true, 8}},    {{false, 4}, 2},
                                      {{false, 4}, 4}, {{false, 4}, 8}};

void check_stack(const Widths& widths, std::int64_t images, int vector, double density,
                 RandomValues& random) {
  const GpuContext gpu(0);
  const Stack stack = random_stack(widths, vector, density, random);
  const reference::Array input = random.array({images, widths.front()});
  const reference::Array expected = expected_output(stack, input);
  for (const LinearStackForm& form : kForms) {
    if (form.blocks > 1 && !has_clusters()) continue;
    if (!has_enough_outputs(stack, form.blocks)) {
      CHECK(error_of([&] { LinearStackWeights(stack.layers, stack.has_relu, form); }) ==
            ErrorCode::usage);
      continue;
    }
    const LinearStackWeights weights(stack.layers, stack.has_relu, form);
    for (const Precision x : {Precision::f32, Precision::f16}) {
      const Precision y = random.below(2) == 0 ? Precision::f32 : Precision::f16;
      const DeviceTensor in({.precision = x}, input);
      const DeviceTensor out({.precision = y}, expected.shape);
      linear_stack(weights, in.view(), out.view(), gpu.sms(), nullptr);
      CAPTURE(widths.size());
      CAPTURE(images);
      CAPTURE(to_string(form));
      const bool is_rounded = form.rows.is_half || y == Precision::f16;
      CHECK(relative_error(out.values(), expected.values) <= (is_rounded ? 5e-3 : 1e-5));
    }
  }
}

}  // namespace

TEST_CASE("linear_stack equals the reference") {
  if (lacks_gpu()) return;
  RandomValues random(61);
  const std::vector<Widths> stacks = {
      {1, 1}, {33, 10}, {70, 33, 129, 5}, {512, 64, 512, 10}, {3, 1500, 7}, {40, 225, 600, 300, 1}};
  for (const Widths& widths : stacks) {
    for (const std::int64_t images : {1, 7, 64}) check_stack(widths, images, 1, 0.2, random);
  }
  check_stack({64, 100, 50}, 40, 16, 0.3, random);
  check_stack({64, 100, 50}, 5, 1, 0.0, random);
  check_stack({64, 100, 50}, 5, 1, 1.0, random);
}

TEST_CASE("linear_stack takes more tiles than there are blocks") {
  if (lacks_gpu()) return;
  RandomValues random(62);
  check_stack({40, 30, 20}, 2500, 1, 0.2, random);
  check_stack({100, 300, 260, 20}, 1000, 1, 0.1, random);
}

TEST_CASE("linear_stack refuses values of another size") {
  if (lacks_gpu()) return;
  RandomValues random(63);
  const Stack stack = random_stack({8, 6, 4}, 1, 0.5, random);
  const LinearStackForm form{{false, 4}};
  const LinearStackWeights weights(stack.layers, stack.has_relu, form);
  const DeviceTensor x(ActivationFormat{}, Shape{2, 8}), wide(ActivationFormat{}, Shape{2, 9});
  const DeviceTensor y(ActivationFormat{}, Shape{2, 4}), more(ActivationFormat{}, Shape{3, 4});
  const DeviceTensor packed({.layout = Layout::chwn8}, Shape{2, 8});
  const auto refusal = [&](const DeviceTensor& in, const DeviceTensor& out) {
    return error_of([&] { linear_stack(weights, in.view(), out.view(), 1, nullptr); });
  };
  CHECK(refusal(wide, y) == ErrorCode::usage);
  CHECK(refusal(x, more) == ErrorCode::usage);
  CHECK(refusal(packed, y) == ErrorCode::usage);
  const Stack one = random_stack({8, 4}, 1, 0.5, random);
  const LinearStackWeights unknown(one.layers, one.has_relu, {{false, 8}, 2});
  CHECK(error_of([&] { linear_stack(unknown, x.view(), y.view(), 2, nullptr); }) ==
        ErrorCode::usage);
  CHECK_FALSE(refusal(x, y).has_value());
  CHECK(error_of([&] {
          LinearStackWeights({stack.layers[1], stack.layers[0]}, {true, true}, form);
        }) == ErrorCode::usage);
  CHECK(error_of([&] { LinearStackWeights({}, {}, form); }) == ErrorCode::usage);
  if (!has_clusters()) return;
  const Stack broad = random_stack({8, 300, 4}, 1, 0.5, random);
  const LinearStackWeights shared(broad.layers, broad.has_relu, {{false, 4}, 8});
  CHECK(error_of([&] { linear_stack(shared, x.view(), y.view(), 4, nullptr); }) ==
        ErrorCode::usage);
}

}  // namespace winnow
