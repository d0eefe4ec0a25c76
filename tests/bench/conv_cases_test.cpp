#include "runtime/bench/conv_cases.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tests/throws.h"

namespace winnow {
namespace {

const BenchCase& named(const std::vector<BenchCase>& cases, const std::string& name) {
  const auto found =
      std::ranges::find_if(cases, [&](const BenchCase& c) { return c.layer.name == name; });
  REQUIRE(found != cases.end());
  return *found;
}

std::vector<double> sparsities(const BenchCase& bench, int vector) {
  std::vector<double> found;
  for (const ConvMask& mask : bench.masks) {
    if (mask.vector == vector) found.push_back(mask.sparsity_percent);
  }
  return found;
}

}  // namespace

TEST_CASE("every set has layers of different names, and masks that are all different") {
  for (const std::string& set : conv_case_sets()) {
    CAPTURE(set);
    std::set<std::string> names;
    for (const BenchCase& bench : conv_cases(set)) {
      CAPTURE(bench.layer.name);
      CHECK(names.insert(bench.layer.name).second);
      CHECK(bench.masks.empty() == (set == "layers"));
      for (const int vector : {1, 16}) {
        const std::vector<double> found = sparsities(bench, vector);
        CHECK(std::set<double>(found.begin(), found.end()).size() == found.size());
      }
    }
    CHECK(names.size() >= 6);
  }
  CHECK(message_of([] { conv_cases("all"); }) ==
        "set 'all': expected layers, targets, paper, resnet50, rivals or linear");
}

TEST_CASE("targets are the layers that have a time to beat") {
  const std::vector<BenchCase> cases = conv_cases("targets");
  CHECK(cases.size() == 12);
  const BenchCase& large = named(cases, "vgg224 3x3 512x28x28->512");
  CHECK(sparsities(large, 16) == std::vector<double>{75, 80, 90, 95});
  CHECK(sparsities(large, 1) == std::vector<double>{95, 97, 99});
  CHECK(named(cases, "vgg224 3x3 64x224x224->64 + pool").layer.is_pooled);
  CHECK(named(cases, "cifar 3x3 64x32x32->64 + pool").layer.is_pooled);
  CHECK(!named(cases, "cifar 3x3 64x32x32->64").layer.is_pooled);
  CHECK(sparsities(named(cases, "cifar 3x3 512x2x2->512"), 16) == std::vector<double>{80, 90});
}

TEST_CASE("the paper's layers have its sparsities") {
  const std::vector<BenchCase> cases = conv_cases("paper");
  CHECK(sparsities(named(cases, "vgg224 3x3 64x224x224->64"), 1) == std::vector<double>{90});
  CHECK(sparsities(named(cases, "vgg224 3x3 256x56x56->256"), 1) == std::vector<double>{90, 90.8});
  CHECK(sparsities(named(cases, "point 1x1 992x14x14->128"), 1) == std::vector<double>{87.5, 91});
  CHECK(sparsities(named(cases, "point 1x1 1776x7x7->192"), 1) == std::vector<double>{91});
  CHECK(sparsities(named(cases, "point 1x1 1104x14x14->192"), 1) == std::vector<double>{93});
  CHECK(sparsities(named(cases, "text k=2 300x64->100"), 1) == std::vector<double>{77, 83, 87.5});
}

TEST_CASE("every shape of ResNet50 is there once") {
  const std::vector<BenchCase> cases = conv_cases("resnet50");
  CHECK(cases.size() == 23);
  const ConvLayer& first = named(cases, "resnet50 7x7/2 3x224x224->64").layer;
  CHECK(first.conv.stride == Pair{2, 2});
  CHECK(first.conv.padding == Pair{3, 3});
  for (const std::string name :
       {"1x1 64x56x56->64", "3x3 64x56x56->64", "1x1 64x56x56->256", "1x1 256x56x56->64",
        "1x1 256x56x56->128", "3x3/2 128x56x56->128", "1x1/2 256x56x56->512", "3x3 128x28x28->128",
        "1x1/2 1024x14x14->2048", "3x3/2 512x14x14->512", "3x3 512x7x7->512",
        "1x1 2048x7x7->512"}) {
    CHECK(named(cases, "resnet50 " + name).masks.size() == 4);
  }
}

TEST_CASE("a case's model has the layer's shape, mask and pooling") {
  const BenchCase bench = named(conv_cases("targets"), "cifar 3x3 64x32x32->64 + pool");
  const DeployedModel model = conv_model(bench.layer, {RandomMask::independent, 16, 90});
  CHECK(model.graph.nodes.size() == 4);
  CHECK(std::holds_alternative<Pool>(model.graph.nodes.back().op));
  const auto& weight = std::get<CsrWeight>(model.weights.at("conv.weight"));
  CHECK(weight.vector == 16);
  CHECK(weight.cols == weight_columns(bench.layer.conv));
  const std::vector<float> dense = to_dense(weight);
  const auto zeros = std::ranges::count(dense, 0.0f);
  CHECK(zeros > 0.87 * static_cast<double>(dense.size()));
  CHECK(zeros < 0.93 * static_cast<double>(dense.size()));
}

TEST_CASE("linear layers have one pixel") {
  const std::vector<BenchCase> cases = conv_cases("linear");
  CHECK(sparsities(named(cases, "linear 25088->4096"), 16) == std::vector<double>{80, 90, 95});
  const BenchCase& bench = named(cases, "linear 512->512");
  CHECK(bench.layer.height == 1);
  CHECK(bench.layer.width == 1);
}

TEST_CASE("a mask of sparsity 0 keeps every weight") {
  const BenchCase bench = named(conv_cases("targets"), "cifar 3x3 64x32x32->64");
  const DeployedModel model = conv_model(bench.layer, {});
  const std::vector<float> dense = to_dense(std::get<CsrWeight>(model.weights.at("conv.weight")));
  CHECK(dense.size() == 64u * 576u);
  CHECK(std::ranges::count(dense, 0.0f) < 100);  // one value in 2001 is 0
}

}  // namespace winnow
