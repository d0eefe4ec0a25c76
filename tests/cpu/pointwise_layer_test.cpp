#include "runtime/cpu/pointwise_layer.h"

#include <doctest/doctest.h>

#include <cmath>

#include "runtime/base/random.h"
#include "runtime/cpu/cpu_network.h"
#include "runtime/reference/reference_session.h"
#include "tests/throws.h"

namespace winnow {
namespace {

using Floats = std::vector<float>;

// One step other than conv and linear of a program, run in the layout that follows from `offered`.
struct Case {
  Program program;
  Layout offered;
  std::vector<Floats> inputs;
};

Floats run_pointwise(const Case& c, ThreadPool& pool) {
  const PointwiseStep step = pointwise_step(c.program, c.program.steps[0], {});
  const Layout layout = pointwise_layout(step, c.offered);
  const auto layer = make_pointwise_layer(step, layout);
  std::vector<Floats> values;
  std::vector<const float*> pointers;
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    values.emplace_back(static_cast<std::size_t>(planes_of(layout, step.inputs[i]).count()));
    convert({step.inputs[i], {}, layout}, c.inputs[i].data(), values.back().data(), pool);
  }
  for (const Floats& value : values) pointers.push_back(value.data());
  Floats out(static_cast<std::size_t>(planes_of(layer->output_layout, step.output).count()));
  layer->run({pointers, out.data(), nullptr}, pool);
  Floats nchw(static_cast<std::size_t>(step.output.count()));
  convert({step.output, layer->output_layout, {}}, out.data(), nchw.data(), pool);
  return nchw;
}

Floats run_reference(const Case& c) {
  std::vector<reference::Array> arrays;
  std::vector<const reference::Array*> pointers;
  const Step& step = c.program.steps[0];
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    arrays.push_back({c.program.values[step.inputs[i]].shape, c.inputs[i]});
  }
  for (const reference::Array& array : arrays) pointers.push_back(&array);
  return reference::run_step(step, pointers, {}, {}).values;
}

Pool random_pool(Random& random, int rank) {
  Pool op;
  op.kind = random.chance(0.5) ? PoolKind::max : PoolKind::average;
  op.rank = rank;
  for (int axis = 0; axis < 2; ++axis) {
    op.kernel[axis] = random.between(1, 4);
    op.stride[axis] = random.between(1, 3);
    op.padding[axis] = random.between(0, op.kernel[axis] - 1);
  }
  if (rank == 1) op.kernel[0] = op.stride[0] = 1, op.padding[0] = 0;
  if (random.chance(0.5)) {
    op.padding_end = Pair{random.between(0, op.kernel[0] - 1), random.between(0, op.kernel[1] - 1)};
  }
  op.rounds_up = random.chance(0.5);
  op.counts_padding = op.kind == PoolKind::max || random.chance(0.5);
  return op;
}

Op random_op(Random& random, int rank) {
  switch (random.below(7)) {
    case 0:
      return random.chance(0.5) ? Relu{} : Relu{0.5};
    case 1:
      return Add{};
    case 2:
      return Concat{};
    case 3:
      return Flatten{};
    case 4:
      return GlobalPool{random.chance(0.5) ? PoolKind::max : PoolKind::average};
    case 5:
      return Softmax{};
    default:
      return random_pool(random, rank);
  }
}

Case random_case(Random& random) {
  const Layout layouts[] = {{},
                            {Order::chwn, 8},
                            {Order::chwn, 16},
                            {Order::nchwc, 8},
                            {Order::nchwc, 16},
                            Layout::nhwc,
                            {Order::nchw, 1, true},
                            {Order::chwn, 16, true}};
  const int rank = random.chance(0.3) ? 1 : 2;
  Case c;
  c.offered = layouts[random.below(std::size(layouts))];
  const Op op = random_op(random, rank);
  Shape shape = {random.between(1, 18), random.between(1, 40), random.between(4, 12)};
  if (rank == 2) shape.push_back(random.between(4, 12));
  const bool has_many = std::holds_alternative<Add>(op) || std::holds_alternative<Concat>(op);
  const std::int64_t count = has_many ? random.between(2, 3) : 1;
  Step step{"step",
            op,
            {},
            static_cast<std::size_t>(count),
            std::holds_alternative<Add>(op) && random.chance(0.5)};
  for (std::int64_t i = 0; i < count; ++i) {
    if (std::holds_alternative<Concat>(op)) shape[1] = random.between(1, 3) * 8 - random.below(2);
    c.program.values.push_back({"value", shape});
    step.inputs.push_back(static_cast<std::size_t>(i));
    Floats input(static_cast<std::size_t>(element_count(shape)));
    for (float& x : input) x = static_cast<float>(random.normal());
    c.inputs.push_back(input);
  }
  std::vector<reference::Array> arrays;
  std::vector<const reference::Array*> pointers;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    arrays.push_back({c.program.values[i].shape, c.inputs[i]});
  }
  for (const reference::Array& array : arrays) pointers.push_back(&array);
  c.program.values.push_back({"out", reference::run_step(step, pointers, {}, {}).shape});
  c.program.steps = {step};
  return c;
}

TEST_CASE("steps without weights agree with the reference in every layout") {
  Random random(1);
  ThreadPool pool(2);
  for (int i = 0; i < 400; ++i) {
    const Case c = random_case(random);
    const Floats found = run_pointwise(c, pool), expected = run_reference(c);
    CAPTURE(op_name(c.program.steps[0].op));
    CAPTURE(to_string(c.program.values[0].shape));
    CAPTURE(to_string(c.offered));
    REQUIRE(found.size() == expected.size());
    double error = 0;
    for (std::size_t j = 0; j < found.size(); ++j) {
      error = std::max(error, std::abs(static_cast<double>(found[j]) - expected[j]));
    }
    CHECK(error < 2e-6);  // means of up to 144 normal numbers, exponentials of them
  }
}

TEST_CASE("poolings of wide rows agree with the reference") {
  Random random(2);
  ThreadPool pool(2);
  for (int i = 0; i < 150; ++i) {
    Pool op = random_pool(random, 2);
    if (random.chance(0.7)) op.stride = {random.between(1, 2), 2};
    const Shape shape{random.between(1, 2), 3, random.between(4, 9), random.between(4, 100)};
    Case c;
    c.program.steps = {{"step", op, {0}, 1}};
    Floats input(static_cast<std::size_t>(element_count(shape)));
    for (float& x : input) {
      x = random.chance(0.01) ? std::nanf("") : static_cast<float>(random.normal());
    }
    c.inputs = {input};
    const reference::Array array{shape, input};
    const reference::Array* const arrays[] = {&array};
    const Shape out = reference::run_step(c.program.steps[0], arrays, {}, {}).shape;
    c.program.values = {{"value", shape}, {"out", out}};
    c.offered = random.chance(0.5) ? Layout{} : Layout::gaps;
    const Floats found = run_pointwise(c, pool), expected = run_reference(c);
    CAPTURE(to_string(shape));
    CAPTURE(to_string(c.offered));
    REQUIRE(found.size() == expected.size());
    int wrong = 0;
    for (std::size_t j = 0; j < found.size(); ++j) {
      const bool is_same =
          std::isnan(expected[j]) ? std::isnan(found[j]) : std::abs(found[j] - expected[j]) < 2e-6f;
      wrong += is_same ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("what is not a number wins a maximum in every layout") {
  ThreadPool pool(2);
  const Shape shape{3, 5, 4, 4};
  const Op ops[] = {Pool{.kernel = {2, 2}, .stride = {2, 2}},
                    Pool{.kernel = {3, 3}, .stride = {1, 1}, .padding = {1, 1}},
                    GlobalPool{PoolKind::max}};
  const Layout layouts[] = {{},
                            {Order::chwn, 8},
                            {Order::chwn, 16},
                            {Order::nchwc, 8},
                            {Order::nchwc, 16},
                            Layout::nhwc,
                            {Order::nchw, 1, true},
                            {Order::chwn, 16, true}};
  for (const Op& op : ops) {
    Case c;
    c.program.values = {{"value", shape}, {"out", {}}};
    c.program.steps = {{"step", op, {0}, 1}};
    Floats input(static_cast<std::size_t>(element_count(shape)), 1.0f);
    // The first of a window, one in its middle and the last one, each in a plane of its own.
    for (const std::size_t at : {0, 16 + 5, 32 + 15}) input[at] = std::nanf("");
    c.inputs = {input};
    const reference::Array array{shape, input};
    const reference::Array* const arrays[] = {&array};
    c.program.values[1].shape = reference::run_step(c.program.steps[0], arrays, {}, {}).shape;
    const Floats expected = run_reference(c);
    for (const Layout& layout : layouts) {
      c.offered = layout;
      const Floats found = run_pointwise(c, pool);
      CAPTURE(op_name(op));
      CAPTURE(to_string(layout));
      REQUIRE(found.size() == expected.size());
      int nans = 0;
      for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(std::isnan(found[i]) == std::isnan(expected[i]));
        nans += std::isnan(found[i]) ? 1 : 0;
      }
      CHECK(nans >= 3);
    }
  }
}

TEST_CASE("steps that only training knows are refused") {
  PointwiseStep step;
  step.inputs = {{1, 2, 3, 3}};
  step.output = step.inputs[0];
  step.op = BatchNorm{2};
  CHECK(error_of([&] { make_pointwise_layer(step, {}); }) == ErrorCode::bad_file);
}

}  // namespace
}  // namespace winnow
