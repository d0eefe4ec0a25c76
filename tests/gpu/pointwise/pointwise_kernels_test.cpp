#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "runtime/gpu/pointwise/convert.h"
#include "runtime/gpu/pointwise/elementwise.h"
#include "runtime/gpu/pointwise/embedding.h"
#include "runtime/gpu/pointwise/pool.h"
#include "runtime/gpu/pointwise/sample_values.h"
#include "runtime/gpu/pointwise/softmax.h"
#include "tests/gpu/device_tensor.h"
#include "tests/gpu/gpu_case.h"
#include "tests/gpu/random_values.h"
#include "tests/throws.h"

namespace winnow {
namespace {

const std::vector<Shape> kShapes = {{1, 1, 1, 1},  {2, 3, 5, 7},   {7, 33, 2, 2}, {8, 5, 9, 4},
                                    {33, 8, 3, 3}, {3, 40, 6, 11}, {9, 64, 3, 2}};

std::vector<ActivationFormat> all_formats(Precision precision) {
  return {{.layout = Layout::nchw, .precision = precision},
          {.layout = Layout::nchw, .precision = precision, .halo_h = 1, .halo_w = 2},
          {.layout = Layout::nhwc, .precision = precision},
          {.layout = Layout::nhwc, .precision = precision, .channel_padding = 5},
          {.layout = Layout::chwn8, .precision = precision},
          {.layout = Layout::chwn32, .precision = precision},
          {.layout = Layout::nchw32c8n, .precision = precision},
          {.layout = Layout::nchw32c8n, .precision = precision, .order = 1},
          {.layout = Layout::nchw32c8n, .precision = precision, .order = 2},
          {.layout = Layout::chwn8, .precision = precision, .halo_h = 2, .halo_w = 1}};
}

constexpr Precision kPrecisions[] = {Precision::f32, Precision::f16};

}  // namespace

TEST_CASE("convert keeps every value between all formats") {
  if (lacks_gpu()) return;
  RandomValues random(21);
  for (const Shape& shape : kShapes) {
    const reference::Array values = random.array(shape);
    for (const Precision from_precision : kPrecisions) {
      for (const Precision to_precision : kPrecisions) {
        for (const ActivationFormat& from : all_formats(from_precision)) {
          const DeviceTensor source(from, values);
          for (const ActivationFormat& to : all_formats(to_precision)) {
            const DeviceTensor target(to, shape);
            convert(source.view(), target.view(), nullptr);
            CAPTURE(to_string(from));
            CAPTURE(to_string(to));
            CHECK(target.values() == values.values);
            CHECK(target.is_frame_untouched());
          }
        }
      }
    }
  }
}

TEST_CASE("single values of a tensor come from their places in every format") {
  if (lacks_gpu()) return;
  RandomValues random(23);
  const Shape shape = {9, 33, 5, 7};
  const reference::Array values = random.array(shape);
  const auto count = static_cast<std::int64_t>(values.values.size());
  const std::vector<std::int64_t> positions = {0, 1, 6, 7, 34, 35, 1155, count - 1, 4711, 0};
  const DeviceBuffer<float> row_major(values.values.size());
  for (const Precision precision : kPrecisions) {
    for (const ActivationFormat& format : all_formats(precision)) {
      const DeviceTensor source(format, values);
      const std::vector<float> found =
          sample_values(source.view(), positions, row_major.get(), nullptr);
      CAPTURE(to_string(format));
      REQUIRE(found.size() == positions.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i] == values.values[static_cast<std::size_t>(positions[i])]);
      }
    }
  }
  CHECK(sample_values({}, {}, nullptr, nullptr).empty());
}

TEST_CASE("convert_slice puts channels beside each other, as a concatenation does") {
  if (lacks_gpu()) return;
  RandomValues random(22);
  const reference::Array a = random.array({9, 5, 4, 3});
  const reference::Array b = random.array({9, 34, 4, 3});
  const reference::Array* both[] = {&a, &b};
  const reference::Array expected = reference::concat(both);
  for (const Precision precision : kPrecisions) {
    for (const ActivationFormat& from : all_formats(precision)) {
      for (const ActivationFormat& to : all_formats(precision)) {
        const DeviceTensor first(from, a), second(from, b), joined(to, expected.shape);
        convert_slice({first.view(), 0, 5}, {joined.view(), 0, 5}, nullptr);
        convert_slice({second.view(), 0, 34}, {joined.view(), 5, 34}, nullptr);
        CAPTURE(to_string(from));
        CAPTURE(to_string(to));
        CHECK(joined.values() == expected.values);
      }
    }
  }
}

TEST_CASE("pool equals the reference in every layout") {
  if (lacks_gpu()) return;
  RandomValues random(23);
  const std::vector<Pool> pools = {
      {.kernel = {2, 2}, .stride = {2, 2}},
      {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}},
      {.kind = PoolKind::average, .kernel = {2, 2}, .stride = {2, 2}},
      {.kind = PoolKind::average, .kernel = {3, 2}, .stride = {1, 2}, .padding = {1, 1}},
      {.kernel = {2, 2}, .stride = {2, 2}, .padding_end = Pair{1, 0}, .rounds_up = true},
      {.kernel = {3, 3}, .stride = {2, 2}, .padding = {2, 0}, .padding_end = Pair{0, 2}},
      {.kind = PoolKind::average,
       .kernel = {3, 3},
       .stride = {2, 2},
       .padding_end = Pair{0, 1},
       .rounds_up = true},
      {.kind = PoolKind::average,
       .kernel = {3, 3},
       .stride = {2, 2},
       .padding = {1, 1},
       .rounds_up = true,
       .counts_padding = false},
      {.kind = PoolKind::average,
       .kernel = {2, 2},
       .stride = {1, 2},
       .padding = {1, 0},
       .padding_end = Pair{0, 1},
       .rounds_up = true},
  };
  for (const Pool& op : pools) {
    for (const Shape& shape : {Shape{2, 3, 5, 7}, Shape{9, 33, 6, 6}, Shape{1, 1, 3, 2}}) {
      const reference::Array input = random.array(shape);
      const reference::Array expected = reference::pool(op, input);
      for (const Precision precision : kPrecisions) {
        const std::vector<ActivationFormat> formats = all_formats(precision);
        for (std::size_t i = 0; i < formats.size(); ++i) {
          const DeviceTensor in(formats[i], input);
          const DeviceTensor out(formats[(i + 1) % formats.size()], expected.shape);
          pool(op, in.view(), out.view(), nullptr);
          const DeviceTensor alike(formats[i], expected.shape);
          pool(op, in.view(), alike.view(), nullptr);
          CAPTURE(to_string(formats[i]));
          CAPTURE(to_string(shape));
          CHECK(relative_error(out.values(), expected.values) <= tolerance(precision));
          CHECK(relative_error(alike.values(), expected.values) <= tolerance(precision));
          CHECK(out.is_frame_untouched());
          CHECK(alike.is_frame_untouched());
        }
      }
    }
  }
}

TEST_CASE("global_pool equals the reference in every layout") {
  if (lacks_gpu()) return;
  RandomValues random(24);
  for (const PoolKind kind : {PoolKind::max, PoolKind::average}) {
    for (const Shape& shape : kShapes) {
      const reference::Array input = random.array(shape);
      const reference::Array expected = reference::global_pool({kind}, input);
      for (const Precision precision : kPrecisions) {
        for (const ActivationFormat& format : all_formats(precision)) {
          const DeviceTensor in(format, input);
          const DeviceTensor out({.precision = precision}, expected.shape);
          global_pool({kind}, in.view(), out.view(), nullptr);
          CAPTURE(to_string(format));
          CAPTURE(to_string(shape));
          CHECK(relative_error(out.values(), expected.values) <= tolerance(precision));
        }
      }
    }
  }
}

TEST_CASE("what is not a number wins a maximum in every layout") {
  if (lacks_gpu()) return;
  const Pool op{.kernel = {2, 2}, .stride = {2, 2}};
  reference::Array input{{3, 5, 4, 4}, std::vector<float>(240, 1.0f)};
  // The first of a window, one in its middle and the last one, each in a plane of its own.
  for (const std::size_t at : {0, 16 + 5, 32 + 15}) input.values[at] = std::nanf("");
  const reference::Array windows = reference::pool(op, input);
  const reference::Array planes = reference::global_pool({PoolKind::max}, input);
  const auto check = [](const DeviceTensor& found, const reference::Array& expected) {
    const std::vector<float> values = found.values();
    REQUIRE(values.size() == expected.values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      CHECK(std::isnan(values[i]) == std::isnan(expected.values[i]));
    }
  };
  CHECK(std::isnan(windows.values[0]));
  CHECK(std::isnan(planes.values[2]));
  for (const Precision precision : kPrecisions) {
    for (const ActivationFormat& format : all_formats(precision)) {
      CAPTURE(to_string(format));
      const DeviceTensor in(format, input);
      const DeviceTensor pooled({.precision = precision}, windows.shape);
      pool(op, in.view(), pooled.view(), nullptr);
      check(pooled, windows);
      const DeviceTensor whole({.precision = precision}, planes.shape);
      global_pool({PoolKind::max}, in.view(), whole.view(), nullptr);
      check(whole, planes);
    }
  }
}

TEST_CASE("an average over a window of more than 2^31 positions divides by all of them") {
  if (lacks_gpu()) return;
  const Pool op{.kind = PoolKind::average,
                .kernel = {65536, 65536},
                .stride = {65536, 65536},
                .padding = {32768, 32768}};
  const ActivationFormat format{.layout = Layout::nchw};
  const DeviceTensor in(format, reference::Array{{1, 1, 1, 1}, {8.0f}});
  const DeviceTensor out(format, {1, 1, 1, 1});
  pool(op, in.view(), out.view(), nullptr);
  CHECK(out.values() == std::vector<float>{8.0f / 65536 / 65536});
}

TEST_CASE("add sums any number of inputs") {
  if (lacks_gpu()) return;
  RandomValues random(25);
  for (const Precision precision : kPrecisions) {
    for (const ActivationFormat& format : all_formats(precision)) {
      for (const std::size_t count : {1, 2, 3, 4, 5, 9}) {
        std::vector<reference::Array> inputs;
        std::vector<DeviceTensor> tensors;
        std::vector<ActivationView> views;
        std::vector<const reference::Array*> pointers;
        const Shape shape = {9, count == 2 ? 33 : 3, 4, 5};
        for (std::size_t i = 0; i < count; ++i) inputs.push_back(random.array(shape));
        for (const reference::Array& input : inputs) {
          pointers.push_back(&input);
          tensors.emplace_back(format, input);
          views.push_back(tensors.back().view());
        }
        reference::Array expected = count == 1 ? inputs[0] : reference::add(pointers);
        ActivationLimits limits;
        if (count % 2 == 0) {
          limits.least = 0;
          expected = reference::relu(expected);
        } else if (count < 4) {
          limits = {0, 0.5f};
          expected = reference::relu(expected, Relu{0.5});
        }
        const DeviceTensor out(format, shape);
        add(views, limits, out.view(), nullptr);
        CAPTURE(count);
        CAPTURE(to_string(format));
        // More than kAddInputs inputs are rounded once per pass.
        CHECK(relative_error(out.values(), expected.values) <= 3 * tolerance(precision));
        CHECK(out.is_frame_untouched());
      }
    }
  }
}

TEST_CASE("add sums inputs whose channels lie in other orders") {
  if (lacks_gpu()) return;
  RandomValues random(28);
  const reference::Array a = random.array({9, 40, 4, 5}), b = random.array({9, 40, 4, 5});
  const reference::Array* both[] = {&a, &b};
  const std::vector<float> expected = reference::add(both).values;
  ActivationFormat format{.layout = Layout::nchw32c8n, .precision = Precision::f16};
  for (const int first : {0, 1}) {
    for (const int second : {0, 1, 2}) {
      format.order = first;
      const DeviceTensor in(format, a);
      format.order = second;
      const DeviceTensor other(format, b), out(format, {9, 40, 4, 5});
      const ActivationView views[] = {in.view(), other.view()};
      add(views, {}, out.view(), nullptr);
      CAPTURE(first);
      CAPTURE(second);
      CHECK(relative_error(out.values(), expected) <= tolerance(Precision::f16));
    }
  }
}

TEST_CASE("add refuses tensors of different size") {
  if (lacks_gpu()) return;
  const DeviceTensor a(ActivationFormat{}, {1, 2, 3, 4}), b(ActivationFormat{}, {1, 2, 3, 5});
  const ActivationView views[] = {a.view(), b.view()};
  CHECK(error_of([&] { add(views, {}, a.view(), nullptr); }) == ErrorCode::usage);
}

TEST_CASE("softmax equals the reference") {
  if (lacks_gpu()) return;
  RandomValues random(26);
  for (const Precision precision : kPrecisions) {
    for (const Shape& shape : {Shape{1, 1}, Shape{3, 10}, Shape{7, 33}, Shape{128, 1000}}) {
      reference::Array input = random.array(shape);
      for (float& value : input.values) value *= 8.0f;
      const reference::Array expected = reference::softmax(input);
      const DeviceTensor in({.precision = precision}, input);
      const DeviceTensor out({.precision = precision}, shape);
      softmax(in.view().data, out.view().data, precision, {shape[0], shape[1]}, nullptr);
      CAPTURE(to_string(shape));
      CHECK(relative_error(out.values(), expected.values) <= tolerance(precision));
    }
  }
}

TEST_CASE("embedding looks rows up in every layout") {
  if (lacks_gpu()) return;
  RandomValues random(27);
  const Embedding op{.rows = 3000, .width = 6};  // more rows than a half float counts
  const std::vector<float> table = random.reals(3000 * 6);
  reference::Array tokens{{9, 7}, {}};
  for (int i = 0; i < 63; ++i) tokens.values.push_back(static_cast<float>(random.below(3000)));
  tokens.values[0] = 2999;
  const reference::Array expected = reference::embedding(op, tokens, table);
  const DeviceBuffer<float> device_table = upload(table);
  const DeviceBuffer<float> device_tokens = upload(tokens.values);
  for (const Precision precision : kPrecisions) {
    for (ActivationFormat format : all_formats(precision)) {
      format.halo_h = 0;
      const DeviceTensor out(format, {9, 6, 7});
      embedding({device_table.get(), op.rows}, device_tokens.get(), out.view(), nullptr);
      CAPTURE(to_string(format));
      CHECK(out.values() == expected.values);
      CHECK(out.is_frame_untouched());
    }
  }
}

}  // namespace winnow
