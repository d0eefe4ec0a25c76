#include "runtime/gpu/linear/narrow_linear.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "runtime/base/half.h"
#include "runtime/device/stream.h"
#include "runtime/gpu/gathered/gathered_format.h"
#include "runtime/gpu/gathered/gathered_values.h"
#include "runtime/gpu/layer/family_list.h"
#include "tests/gpu/device_tensor.h"
#include "tests/gpu/gpu_case.h"
#include "tests/gpu/random_values.h"
#include "tests/model/graphs.h"
#include "tests/throws.h"

namespace winnow {
namespace {

constexpr ActivationFormat kPlaced{
    .layout = Layout::nchw32c8n, .precision = Precision::f16, .order = 3};

// A row-major output between bytes that a kernel must leave.
class GuardedOutput {
 public:
  GuardedOutput(Precision precision, std::int64_t images, std::int64_t outputs)
      : format_(row_major(precision)),
        size_{images, outputs, 1, 1},
        bytes_(static_cast<std::size_t>(bytes_of(format_, size_))),
        data_(upload(std::vector<unsigned char>(bytes_ + 2 * kGuard, kPoison))) {}

  ActivationView view() const { return {data_.get() + kGuard, format_, size_}; }

  std::vector<float> values() const {
    const std::vector<unsigned char> host = download();
    std::vector<float> values;
    const auto step = static_cast<std::size_t>(winnow::size_of(format_.precision));
    for (std::size_t at = kGuard; at < kGuard + bytes_; at += step) {
      if (format_.precision == Precision::f16) {
        Half half;
        std::memcpy(&half, host.data() + at, sizeof(half));
        values.push_back(to_float(half));
      } else {
        values.push_back(0);
        std::memcpy(&values.back(), host.data() + at, sizeof(float));
      }
    }
    return values;
  }

  bool is_guard_untouched() const {
    const std::vector<unsigned char> host = download();
    const auto is_poison = [](unsigned char byte) { return byte == kPoison; };
    return std::all_of(host.begin(), host.begin() + kGuard, is_poison) &&
           std::all_of(host.end() - kGuard, host.end(), is_poison);
  }

 private:
  static constexpr std::ptrdiff_t kGuard = 256;

  std::vector<unsigned char> download() const {
    std::vector<unsigned char> host(data_.bytes());
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(host.data(), data_.get(), host.size(), cudaMemcpyDeviceToHost));
    return host;
  }

  ActivationFormat format_;
  Extents size_;
  std::size_t bytes_;
  DeviceBuffer<unsigned char> data_;
};

// Inputs are maps [images, channels, height, width], or [images, channels] for 1 x 1.
struct NarrowCase {
  std::int64_t images, channels, height, width, outputs;
};

struct Expected {
  std::vector<float> weight, bias;
  bool has_relu = false;
  reference::Array map, rows, y;
};

Expected expected_of(const NarrowCase& c, RandomValues& random) {
  const Linear op{c.channels * c.height * c.width, c.outputs, true};
  Expected made;
  made.weight = random.reals(static_cast<std::size_t>(op.in_features * op.out_features));
  made.bias = random.reals(static_cast<std::size_t>(op.out_features));
  if (random.below(4) == 0) std::ranges::fill(made.bias, 0.0f);
  made.has_relu = random.below(2) == 0;
  made.map = random.array({c.images, c.channels, c.height, c.width});
  made.rows = {{c.images, op.in_features}, made.map.values};
  made.y = reference::linear(op, made.rows, made.weight, made.bias);
  if (made.has_relu) made.y = reference::relu(made.y);
  return made;
}

void check_launches(const NarrowLinearLayer& layer, const ActivationView& x,
                    const Expected& expected) {
  const std::int64_t images = expected.y.shape[0], outputs = expected.y.shape[1];
  std::vector<int> all_warps = narrow_warps(layer.inputs.chunks());
  all_warps.insert(all_warps.end(), {1, 3, 16});
  std::vector<float> first;
  for (const int warps : all_warps) {
    for (const int sms : {1, 132}) {
      for (const Precision precision : {Precision::f16, Precision::f32}) {
        const GuardedOutput y(precision, images, outputs);
        narrow_linear(layer, x, y.view(), {expected.has_relu, warps, sms}, nullptr);
        const std::vector<float> found = y.values();
        CAPTURE(warps);
        CAPTURE(sms);
        CAPTURE(to_string(precision));
        // Tensor cores cut sums off after each of up to 313 products.
        const double allowed = precision == Precision::f16 ? tolerance(precision) : 2e-4;
        CHECK(relative_error(found, expected.y.values) <= allowed);
        CHECK(y.is_guard_untouched());
        if (precision == Precision::f16 || warps != 4) continue;
        if (first.empty()) first = found;
        CHECK(found == first);  // whatever the number of blocks
      }
    }
  }
}

void check_case(const NarrowCase& c, RandomValues& random) {
  CAPTURE(c.images);
  CAPTURE(c.channels);
  CAPTURE(c.height);
  CAPTURE(c.width);
  CAPTURE(c.outputs);
  const Expected expected = expected_of(c, random);
  const auto layer_of = [&](const NarrowInputs& inputs, const std::vector<std::int32_t>& places) {
    return upload_narrow_linear(
        pack_narrow_weights(expected.weight, expected.bias, inputs, places));
  };
  const DeviceTensor rows(row_major(Precision::f16), expected.rows);
  check_launches(layer_of({.channels = expected.rows.shape[1]}, {}), rows.view(), expected);
  for (const int order : {0, 3}) {
    CAPTURE(order);
    ActivationFormat format = kPlaced;
    format.order = order;
    const DeviceTensor map(format, expected.map);
    check_launches(
        layer_of({c.channels, c.height * c.width, true}, places_in_order(order, c.channels)),
        map.view(), expected);
  }
}

}  // namespace

TEST_CASE("narrow_linear equals the reference, on rows and on maps") {
  if (lacks_gpu()) return;
  RandomValues random(72);
  const std::vector<NarrowCase> cases = {
      {1, 1, 1, 1, 1},      {1, 33, 1, 1, 10},    {2, 512, 1, 1, 10},    {128, 512, 1, 1, 10},
      {7, 31, 1, 1, 64},    {8, 32, 1, 1, 16},    {9, 64, 1, 1, 17},     {130, 100, 1, 1, 33},
      {3, 256, 1, 1, 32},   {16, 513, 1, 1, 64},  {130, 1000, 1, 1, 48}, {1, 5000, 1, 1, 64},
      {130, 5000, 1, 1, 3}, {17, 2048, 1, 1, 40}, {5, 40, 2, 2, 10},     {13, 20, 3, 5, 21},
      {1, 256, 6, 6, 10},   {130, 50, 4, 4, 10},  {64, 96, 7, 7, 64},    {33, 33, 1, 9, 2}};
  for (const NarrowCase& c : cases) check_case(c, random);
}

TEST_CASE("narrow_linear equals the reference on layers of every shape") {
  if (lacks_gpu()) return;
  RandomValues random(73);
  const auto one_to = [&](std::size_t most) {
    return static_cast<std::int64_t>(random.below(most)) + 1;
  };
  for (int i = 0; i < 60; ++i) {
    const bool is_plane = random.below(2) == 0;
    const std::int64_t height = is_plane ? one_to(6) : 1, width = is_plane ? one_to(6) : 1;
    const std::int64_t channels = one_to(is_plane ? 100 : 700);
    check_case({one_to(40), channels, height, width, one_to(64)}, random);
  }
}

TEST_CASE("narrow_linear reads rows that begin between multiples of 16 bytes") {
  if (lacks_gpu()) return;
  RandomValues random(74);
  const Expected expected = expected_of({9, 64, 1, 1, 10}, random);
  std::vector<std::uint16_t> bits = {0xffff};  // not a number
  for (const float value : expected.rows.values) bits.push_back(to_half(value).bits);
  bits.push_back(0xffff);
  const DeviceBuffer<std::uint16_t> memory = upload(bits);
  const NarrowLinearLayer layer = upload_narrow_linear(
      pack_narrow_weights(expected.weight, expected.bias, {.channels = 64}, {}));
  check_launches(layer, {memory.get() + 1, row_major(Precision::f16), {9, 64, 1, 1}}, expected);
}

TEST_CASE("narrow_linear keeps what is not a number in the image that has it") {
  if (lacks_gpu()) return;
  RandomValues random(75);
  Expected expected = expected_of({16, 48, 1, 1, 12}, random);
  expected.map.values[5 * 48 + 7] = std::numeric_limits<float>::quiet_NaN();
  const DeviceTensor map(kPlaced, expected.map);
  const NarrowLinearLayer layer = upload_narrow_linear(pack_narrow_weights(
      expected.weight, expected.bias, {48, 1, true}, places_in_order(kPlaced.order, 48)));
  const GuardedOutput y(Precision::f32, 16, 12);
  narrow_linear(layer, map.view(), y.view(), {expected.has_relu, 4, 132}, nullptr);
  std::vector<float> found = y.values();
  for (std::size_t i = 5 * 12; i < 6 * 12; ++i) {
    CHECK(std::isnan(found[i]));
    found[i] = expected.y.values[i];
  }
  CHECK(relative_error(found, expected.y.values) <= 1e-4);
}

// Each launch moves the features of an image by one place and overwrites what the one before it
// reads.
TEST_CASE("narrow_linear launches that begin early keep memory that is used in turn apart") {
  if (lacks_gpu()) return;
  constexpr std::size_t kFeatures = 64, kImages = 1000, kLaunches = 40;
  RandomValues random(79);
  std::vector<float> weight(kFeatures * kFeatures);
  for (std::size_t o = 0; o < kFeatures; ++o) weight[o * kFeatures + (o + 1) % kFeatures] = 1;
  const NarrowLinearLayer layer = upload_narrow_linear(
      pack_narrow_weights(weight, std::vector<float>(kFeatures), {.channels = kFeatures}, {}));
  const reference::Array values = random.array({kImages, kFeatures});
  const DeviceTensor a(row_major(Precision::f16), values);
  const DeviceTensor b(row_major(Precision::f16), values.shape);
  const Stream stream;
  CUDA_CHECK(cudaDeviceSynchronize());
  for (std::size_t i = 0; i < kLaunches; ++i) {
    const DeviceTensor &from = i % 2 == 0 ? a : b, &to = i % 2 == 0 ? b : a;
    narrow_linear(layer, from.view(), to.view(), {false, 4, 132}, stream.get());
  }
  stream.synchronize();
  std::vector<float> expected;
  for (std::size_t i = 0; i < kImages * kFeatures; ++i) {
    expected.push_back(
        values.values[i / kFeatures * kFeatures + (i % kFeatures + kLaunches) % kFeatures]);
  }
  CHECK(a.values() == expected);
}

TEST_CASE("narrow_linear refuses tensors that do not fit") {
  if (lacks_gpu()) return;
  RandomValues random(76);
  const std::vector<float> weight = random.reals(10 * 32), bias = random.reals(10);
  const NarrowLinearLayer of_rows =
      upload_narrow_linear(pack_narrow_weights(weight, bias, {.channels = 32}, {}));
  const NarrowLinearLayer of_map =
      upload_narrow_linear(pack_narrow_weights(weight, bias, {8, 4, true}, {}));
  const ActivationFormat half = row_major(Precision::f16);
  const DeviceTensor rows(half, Shape{2, 32}), y(half, Shape{2, 10});
  const DeviceTensor map(kPlaced, Shape{2, 8, 2, 2}), small(kPlaced, Shape{2, 8, 2, 1});
  const DeviceTensor floats(row_major(Precision::f32), Shape{2, 32});
  const DeviceTensor wide(half, Shape{2, 33}), more(half, Shape{3, 10}), eleven(half, Shape{2, 11});
  const auto refusal = [&](const NarrowLinearLayer& layer, const DeviceTensor& from,
                           const DeviceTensor& to, int warps = 4) {
    return message_of([&] {
      narrow_linear(layer, from.view(), to.view(), {false, warps, 132}, nullptr);
    });
  };
  const std::string no_rows = "narrow linear: x is not row-major f16 with 32 features";
  const std::string no_map = "narrow linear: x is not an nchw32c8n f16 map of 8 channels";
  CHECK(refusal(of_rows, rows, y) == "");
  CHECK(refusal(of_map, map, y) == "");
  CHECK(refusal(of_rows, map, y) == no_rows);
  CHECK(refusal(of_rows, floats, y) == no_rows);
  CHECK(refusal(of_rows, wide, y) == no_rows);
  CHECK(refusal(of_map, rows, y) == no_map);
  CHECK(refusal(of_map, small, y) == no_map);
  CHECK(refusal(of_rows, rows, eleven) == "narrow linear: y is not row-major with 10 features");
  CHECK(refusal(of_rows, rows, more) == "narrow linear: 2 images in, 3 out");
  CHECK(refusal(of_rows, rows, y, 17) == "narrow linear: 17 warps, expected 1 to 16");
  CHECK(refusal(of_rows, rows, y, 0) == "narrow linear: 0 warps, expected 1 to 16");
  CHECK(error_of([&] { narrow_linear(of_map, rows.view(), y.view(), {}, nullptr); }) ==
        ErrorCode::usage);
  CHECK_FALSE(error_of([&] {
                narrow_linear(of_rows, {nullptr, half, {0, 32, 1, 1}},
                              {nullptr, half, {0, 10, 1, 1}}, {}, nullptr);
              }).has_value());
}

namespace {

// A sparse convolution, a pooling and dense layers behind a flattened map of 40 x 4 x 4.
Graph flattened_graph(std::int64_t outputs) {
  return graph_of({3, 8, 8}, {{"conv", conv(3, 40, 3, 1), {}},
                              {"pool", Pool{}, {}},
                              {"flat", Flatten{}, {}},
                              {"fc", Linear{640, outputs, true}, {}},
                              {"relu", Relu{}, {}}});
}

DeployedModel flattened_model(std::int64_t outputs) {
  RandomValues random(77);
  DeployedModel model;
  model.graph = flattened_graph(outputs);
  const auto dense = [&](const Shape& shape) {
    return DenseWeight{shape, encode_f32(random.array(shape).values)};
  };
  model.weights["conv.weight"] = random.weight(40, 27, 16, 0.4);
  model.weights["conv.bias"] = dense({40});
  model.weights["fc.weight"] = dense({outputs, 640});
  model.weights["fc.bias"] = dense({outputs});
  return model;
}

// A step of a session of the model, with all that its families are asked.
struct StepSetup {
  DeployedModel model;
  Program program;
  SessionOptions options;
  std::vector<StepFusions> fusions;
  GatheredValues values;

  StepSetup(std::int64_t outputs, Precision precision)
      : model(flattened_model(outputs)),
        program(build_program(model, 19)),
        options{.batch = 19, .precision = precision},
        fusions(step_fusions(program)),
        values(gathered_values(program, model, fusions)) {
    for (std::size_t v = 0; v < program.values.size(); ++v) {
      if (program.values[v].shape[1] != 40) continue;
      values.orders.of_value[v] = 1;
    }
    values.orders.places = {{}, places_in_order(1, 40)};
  }

  std::vector<ActivationFormat> formats(std::size_t value) const {
    std::vector<ActivationFormat> found = {row_major(options.precision)};
    if (value == program.output) found.push_back(row_major(Precision::f32));
    if (values.may_lie[value]) found.push_back(gathered_format(values, value));
    if (values.may_defer[value]) found.push_back(kDeferred);
    return found;
  }

  LayerProblem problem(std::size_t index) const {
    const Step& step = program.steps[index];
    return {model,
            program,
            step,
            options,
            {formats(step.inputs[0])},
            formats(step.output),
            nullptr,
            fusions[index],
            &values.orders};
  }
};

constexpr std::size_t kFlat = 2, kFc = 3;

}  // namespace

TEST_CASE("narrow_linear candidates read rows, and the map that a flattening leaves") {
  if (lacks_gpu()) return;
  GpuContext gpu(0);
  const StepSetup setup(10, Precision::f16);
  const LayerProblem flat = setup.problem(kFlat), fc = setup.problem(kFc);
  int deferring = 0;
  for (const Candidate& candidate : flatten_family().candidates(flat, gpu)) {
    CHECK(candidate.layer == nullptr);
    if (flat.output_formats[candidate.writes] != kDeferred) continue;
    CHECK(is_gathered(flat.input_formats[0][candidate.reads[0]]));
    CHECK(candidate.kernel == "flatten, in the launch of fc");
    ++deferring;
  }
  CHECK(deferring == 1);

  const Family& family = narrow_linear_family();
  REQUIRE(family.why_not(fc, gpu) == "");
  RandomValues random(78);
  const reference::Array map = random.array(setup.program.values[flat.step.inputs[0]].shape);
  const reference::Array rows{{19, 640}, map.values};
  const StepWeights weights = fc.weights();
  const reference::Array expected =
      reference::relu(reference::linear(std::get<Linear>(fc.step.op), rows,
                                        dense_floats(weights.weight), dense_floats(weights.bias)));
  const DeviceTensor as_rows(row_major(Precision::f16), rows);
  const DeviceTensor as_map(gathered_format(setup.values, flat.step.inputs[0]), map);
  std::vector<std::string> found;
  for (const Candidate& candidate : family.candidates(fc, gpu)) {
    const bool is_map = fc.input_formats[0][candidate.reads[0]] == kDeferred;
    const ActivationFormat& format = fc.output_formats[candidate.writes];
    found.push_back(candidate.kernel + " to " + to_string(format));
    CAPTURE(found.back());
    const DeviceTensor y(format, expected.shape);
    const ActivationView x = is_map ? as_map.view() : as_rows.view();
    candidate.layer->launch(std::span(&x, 1), y.view(), {}, nullptr);
    CHECK(relative_error(y.values(), expected.values) <= tolerance(Precision::f16));
  }
  const std::string of_rows = "narrow_linear f16 warps=16", of_map = " from nchw32c8n 40x16";
  CHECK(found.size() == 12);  // 4, 8 and 16 warps, rows and maps, f16 and f32
  CHECK(std::ranges::count(found, of_rows + " to nchw f32") == 1);
  CHECK(std::ranges::count(found, of_rows + of_map + " to nchw f16") == 1);
}

TEST_CASE("narrow_linear leaves out what it does not run") {
  if (lacks_gpu()) return;
  GpuContext gpu(0);
  const auto reason = [&](std::int64_t outputs, Precision precision, std::size_t step) {
    const StepSetup setup(outputs, precision);
    return narrow_linear_family().why_not(setup.problem(step), gpu);
  };
  CHECK(reason(64, Precision::f16, kFc) == "");
  CHECK(reason(65, Precision::f16, kFc) == "has more than 64 outputs");
  CHECK(reason(10, Precision::f32, kFc) == "wants half precision");
  CHECK(reason(10, Precision::f16, kFlat) == "runs linear layers on [N, features]");
}

}  // namespace winnow
