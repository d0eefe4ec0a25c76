#include "runtime/plan/layer_check.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "runtime/base/half.h"
#include "runtime/base/noise.h"

namespace winnow {
namespace {

// input [2, 2, 2, 3] -> conv of one output channel, kernel 1 x 2, padding {0, 1}, with bias.
struct Case {
  DeployedModel model;
  Program program;
  Step step;

  LayerCheck check(Precision precision = Precision::f32, bool use_tf32 = false) const {
    return {model, program, step, precision, use_tf32};
  }

  // Of the step's sum with something else.
  LayerCheck sum_check(Precision precision, bool has_relu, bool use_tf32 = false) const {
    const Step sum{"sum", Add{}, {2, 1}, 3, has_relu};
    return {model, program, step, precision, use_tf32, &sum};
  }
};

Case small_conv(bool has_relu = false) {
  Case one;
  Conv conv;
  conv.in_channels = 2;
  conv.out_channels = 1;
  conv.kernel = {1, 2};
  conv.padding = {0, 1};
  one.program.values = {{"input", {2, 2, 2, 3}}, {"conv", {2, 1, 2, 4}}};
  one.step = {"conv", conv, {0}, 1, has_relu, "conv.weight", "conv.bias"};
  const float weight[] = {2, 3, 0, -1};  // (c, s): (0, 0), (0, 1), (1, 0), (1, 1)
  const float bias[] = {0.5f};
  one.model.weights["conv.weight"] = DenseWeight{{1, 2, 1, 2}, encode_f32(weight)};
  one.model.weights["conv.bias"] = DenseWeight{{1}, encode_f32(bias)};
  return one;
}

float rounded(float value, Precision precision) {
  return precision == Precision::f16 ? to_float(to_half(value)) : value;
}

float input(int n, int c, int y, int x, Precision precision) {
  if (x < 0 || x > 2) return 0;
  const int index = ((n * 2 + c) * 2 + y) * 3 + x;
  return rounded(noise_value(static_cast<std::uint32_t>(index), LayerCheck::kSeed), precision);
}

// All outputs of small_conv, by hand.
std::vector<float> small_outputs(Precision precision = Precision::f32) {
  std::vector<float> outputs;
  for (int n = 0; n < 2; ++n) {
    for (int y = 0; y < 2; ++y) {
      for (int x = 0; x < 4; ++x) {
        const auto at = [&](int c, int column) { return input(n, c, y, column, precision); };
        outputs.push_back(2 * at(0, x - 1) + 3 * at(0, x) - at(1, x) + 0.5f);
      }
    }
  }
  return outputs;
}

// The same with what a sum adds, `times` it.
std::vector<float> small_sums(Precision precision, bool has_relu, float times = 1) {
  std::vector<float> sums = small_outputs(precision);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const float addend = noise_value(static_cast<std::uint32_t>(i), LayerCheck::kAddendSeed);
    sums[i] += times * rounded(addend, precision);
    if (has_relu) sums[i] = std::max(sums[i], 0.0f);
    sums[i] = rounded(sums[i], precision);
  }
  return sums;
}

TEST_CASE("a layer's right outputs pass, and two percent are found") {
  const LayerCheck check = small_conv().check();
  std::vector<float> outputs = small_outputs();
  REQUIRE(check.positions().size() == outputs.size());  // few enough for all
  CHECK(check.defect(outputs) == "");
  std::vector<float> off = outputs;
  for (float& x : off) x *= 1.02f;
  const std::string defect = check.defect(off);
  CAPTURE(defect);
  CHECK(defect.starts_with("is off by "));
  CHECK(defect.find("e-02, at most 1.0e-05 are allowed") != std::string::npos);
  for (float& x : outputs) x = static_cast<float>(to_float(to_half(x)));
  CHECK(check.defect(outputs) != "");  // halves are no floats
}

TEST_CASE(
    "roundings of half floats and TF32 are allowed where they are asked for, sums in them not") {
  std::vector<float> outputs = small_outputs();
  const LayerCheck rounded = small_conv().check(Precision::f32, true);
  for (float& x : outputs) x = to_float(to_half(x));
  CHECK(rounded.defect(outputs) == "");
  for (float& x : outputs) x *= 1.02f;
  CHECK(rounded.defect(outputs) != "");
}

TEST_CASE("numbers that are missing or not finite are found") {
  const LayerCheck check = small_conv().check();
  for (const float wrong : {std::nanf(""), INFINITY}) {
    std::vector<float> outputs = small_outputs();
    outputs[3] = wrong;
    CHECK(check.defect(outputs) == "gives numbers that are not finite");
  }
}

TEST_CASE("the relu is part of the layer") {
  const LayerCheck check = small_conv(true).check();
  std::vector<float> outputs = small_outputs();
  CHECK(check.defect(outputs) != "");
  for (float& x : outputs) x = std::max(x, 0.0f);
  CHECK(check.defect(outputs) == "");
}

TEST_CASE("a layer's sum is right with all of what is added, before the relu") {
  for (const Precision precision : {Precision::f32, Precision::f16}) {
    for (const bool has_relu : {false, true}) {
      const LayerCheck check = small_conv().sum_check(precision, has_relu);
      CAPTURE(has_relu);
      CHECK(check.defect(small_sums(precision, has_relu)) == "");
      CHECK(check.defect(small_sums(precision, !has_relu)) != "");
      for (const float times : {0.0f, 0.98f, 2.0f}) {
        const std::string defect = check.defect(small_sums(precision, has_relu, times));
        CAPTURE(defect);
        CHECK(defect.starts_with("is off by "));
      }
      std::vector<float> late = small_outputs(precision);  // the relu of the layer alone
      const std::vector<float> sums = small_sums(precision, false);
      for (std::size_t i = 0; i < late.size(); ++i) late[i] = sums[i] - std::min(late[i], 0.0f);
      CHECK(check.defect(late) != "");
    }
  }
}

TEST_CASE("a sum may round as its layer may") {
  std::vector<float> halves = small_sums(Precision::f32, true);
  for (float& x : halves) x = to_float(to_half(x));
  CHECK(small_conv().sum_check(Precision::f32, true, true).defect(halves) == "");
  CHECK(small_conv().sum_check(Precision::f32, true, false).defect(halves) != "");
}

TEST_CASE("a large layer is sampled in every image, channel, row and column") {
  Case one;
  Conv conv;
  conv.in_channels = conv.out_channels = 700;
  conv.groups = 700;
  one.program.values = {{"input", {40, 700, 30, 1100}}, {"conv", {40, 700, 30, 1100}}};
  one.step = {"conv", conv, {0}, 1, false, "conv.weight", ""};
  std::vector<float> weight(700);
  for (std::size_t k = 0; k < weight.size(); ++k) weight[k] = 1 + static_cast<float>(k);
  one.model.weights["conv.weight"] = DenseWeight{{700, 1, 1, 1}, encode_f32(weight)};
  const LayerCheck check = one.check();
  CHECK(check.positions().size() == 1100);
  std::set<std::int64_t> images, channels, rows, columns;
  std::vector<float> outputs;
  for (const std::int64_t p : check.positions()) {
    columns.insert(p % 1100);
    rows.insert(p / 1100 % 30);
    channels.insert(p / 33000 % 700);
    images.insert(p / 33000 / 700);
    outputs.push_back(weight[static_cast<std::size_t>(p / 33000 % 700)] *
                      noise_value(static_cast<std::uint32_t>(p), LayerCheck::kSeed));
  }
  CHECK(images.size() == 40);
  CHECK(channels.size() == 700);
  CHECK(rows.size() == 30);
  CHECK(columns.size() == 1100);
  CHECK(check.defect(outputs) == "");
  // Even the channel with the smallest weights counts: one that is not computed is found.
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (check.positions()[i] / 33000 % 700 == 0) outputs[i] = 0;
  }
  CHECK(check.defect(outputs) != "");
}

TEST_CASE("a linear layer is checked, its inputs rounded as the kernel's are") {
  Case one;
  one.program.values = {{"input", {3, 2}}, {"fc", {3, 2}}};
  one.step = {"fc", Linear{2, 2, false}, {0}, 1, false, "fc.weight", ""};
  const float weight[] = {1, 0, 0, 1};
  one.model.weights["fc.weight"] = DenseWeight{{2, 2}, encode_f32(weight)};
  std::vector<float> outputs;
  for (std::uint32_t i = 0; i < 6; ++i) {
    outputs.push_back(to_float(to_half(noise_value(i, LayerCheck::kSeed))));
  }
  CHECK(one.check(Precision::f16).defect(outputs) == "");
  CHECK(one.check(Precision::f32).defect(outputs) != "");
}

TEST_CASE("a layer without weights gives its bias, exactly or not at all") {
  Case one;
  one.program.values = {{"input", {3, 2}}, {"fc", {3, 2}}};
  one.step = {"fc", Linear{2, 2, false}, {0}, 1, false, "fc.weight", ""};
  one.model.weights["fc.weight"] = DenseWeight{{2, 2}, encode_f32(std::vector<float>(4))};
  CHECK(one.check().defect(std::vector<float>(6, 0.0f)) == "");
  CHECK(one.check().defect(std::vector<float>(6, 0.1f)) != "");
}

}  // namespace
}  // namespace winnow
