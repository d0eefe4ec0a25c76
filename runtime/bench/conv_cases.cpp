#include "runtime/bench/conv_cases.h"

#include <sstream>
#include <utility>

#include "runtime/base/error.h"

namespace winnow {
namespace {

ConvLayer layer(const std::string& group, std::int64_t in, std::int64_t side, std::int64_t out,
                std::int64_t kernel, std::int64_t stride = 1) {
  Conv conv;
  conv.in_channels = in;
  conv.out_channels = out;
  conv.kernel = {kernel, kernel};
  conv.stride = {stride, stride};
  conv.padding = {kernel / 2, kernel / 2};
  std::ostringstream name;
  name << group << " " << kernel << "x" << kernel;
  if (stride > 1) name << "/" << stride;
  name << " " << in << "x" << side << "x" << side << "->" << out;
  return {name.str(), side, side, conv};
}

ConvLayer text_layer(std::int64_t kernel) {
  Conv conv;
  conv.rank = 1;
  conv.in_channels = 300;
  conv.out_channels = 100;
  conv.kernel = {1, kernel};
  return {"text k=" + std::to_string(kernel) + " 300x64->100", 1, 64, conv};
}

ConvLayer pooled(ConvLayer layer) {
  layer.name += " + pool";
  layer.is_pooled = true;
  return layer;
}

std::vector<ConvMask> masks(int vector, const std::vector<double>& sparsities) {
  std::vector<ConvMask> found;
  for (const double sparsity : sparsities) {
    found.push_back({RandomMask::independent, vector, sparsity});
  }
  return found;
}

std::vector<ConvMask> joined(std::vector<ConvMask> first, const std::vector<ConvMask>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

struct Size {
  std::int64_t in, side, out;
};
constexpr Size kVgg[] = {{3, 224, 64},    {64, 224, 64},  {64, 112, 128},
                         {128, 112, 128}, {128, 56, 256}, {256, 56, 256},
                         {256, 28, 512},  {512, 28, 512}, {512, 14, 512}};
constexpr Size kCifar[] = {
    {64, 32, 64}, {128, 16, 128}, {256, 8, 256}, {512, 4, 512}, {512, 2, 512}};
constexpr Size kFirstOfCifar = {3, 32, 64};

ConvLayer vgg_layer(const Size& size) {
  return layer("vgg224", size.in, size.side, size.out, 3);
}

ConvLayer cifar_layer(const Size& size) {
  return layer("cifar", size.in, size.side, size.out, 3);
}

ConvLayer point_layer(std::int64_t in, std::int64_t side, std::int64_t out) {
  return layer("point", in, side, out, 1);
}

std::vector<BenchCase> all_layers() {
  std::vector<BenchCase> cases;
  for (const Size& size : kVgg) cases.push_back({vgg_layer(size), {}});
  cases.push_back({cifar_layer(kFirstOfCifar), {}});
  for (const Size& size : kCifar) cases.push_back({cifar_layer(size), {}});
  // Of ResNet50, DenseNet121 and DenseNet161.
  const Size points[] = {{64, 56, 256}, {256, 56, 64}, {992, 14, 128}, {2160, 7, 192}};
  for (const auto& [in, side, out] : points) cases.push_back({point_layer(in, side, out), {}});
  for (const std::int64_t kernel : {2, 3}) cases.push_back({text_layer(kernel), {}});
  return cases;
}

std::vector<BenchCase> targets() {
  const auto large = joined(masks(16, {75, 80, 90, 95}), masks(1, {95, 97, 99}));
  const auto two = masks(16, {80, 90});
  std::vector<BenchCase> cases;
  for (const Size& size : {Size{512, 28, 512}, Size{512, 14, 512}, Size{256, 56, 256}}) {
    cases.push_back({vgg_layer(size), large});
  }
  cases.push_back({vgg_layer({128, 112, 128}), two});
  cases.push_back({pooled(vgg_layer({64, 224, 64})), two});
  for (const Size& size : kCifar) cases.push_back({cifar_layer(size), two});
  for (const Size& size : {kCifar[0], kCifar[1]}) cases.push_back({pooled(cifar_layer(size)), two});
  return cases;
}

// Tables 9 (90 %) and 15 (as pruned), 11 and 12, 10, 13 and 14.
std::vector<BenchCase> paper() {
  constexpr double kPruned[] = {90, 90, 92, 93, 92, 90.8, 92, 92, 92};
  std::vector<BenchCase> cases;
  for (std::size_t i = 0; i < std::size(kVgg); ++i) {
    std::vector<ConvMask> both = masks(1, {90});
    if (kPruned[i] != 90) both.push_back({RandomMask::independent, 1, kPruned[i]});
    cases.push_back({vgg_layer(kVgg[i]), both});
  }
  cases.push_back({point_layer(64, 56, 256), masks(1, {90})});
  cases.push_back({point_layer(256, 56, 64), masks(1, {90})});
  // DenseNet121 block 3 layer 24; DenseNet161 block 4 layer 16 and block 3 layer 16.
  cases.push_back({point_layer(992, 14, 128), masks(1, {87.5, 91})});
  cases.push_back({point_layer(1776, 7, 192), masks(1, {91})});
  cases.push_back({point_layer(1104, 14, 192), masks(1, {93})});
  for (const std::int64_t kernel : {2, 3}) {
    cases.push_back({text_layer(kernel), masks(1, {77, 83, 87.5})});
  }
  return cases;
}

// Each shape once. A stage's first block halves the map in its 3 x 3 convolution.
std::vector<BenchCase> resnet50() {
  const auto all = joined(masks(16, {80, 90}), masks(1, {90, 95}));
  std::vector<BenchCase> cases = {{layer("resnet50", 3, 224, 64, 7, 2), all}};
  const auto add = [&](const Size& size, std::int64_t kernel, std::int64_t stride) {
    cases.push_back({layer("resnet50", size.in, size.side, size.out, kernel, stride), all});
  };
  std::int64_t in = 64, side = 56;
  for (const std::int64_t width : {64, 128, 256, 512}) {
    const std::int64_t stride = width == 64 ? 1 : 2, out = 4 * width, after = side / stride;
    add({in, side, width}, 1, 1);
    add({width, side, width}, 3, stride);
    add({width, after, out}, 1, 1);
    if (stride > 1) add({in, side, out}, 1, stride);  // else that of the line before
    add({out, after, width}, 1, 1);
    if (stride > 1) add({width, after, width}, 3, 1);
    in = out;
    side = after;
  }
  return cases;
}

std::vector<BenchCase> rivals() {
  const auto sparse = joined(masks(16, {80, 90}), masks(1, {90, 95, 99}));
  std::vector<BenchCase> cases;
  for (const Size& size : {Size{512, 28, 512}, Size{512, 14, 512}, Size{256, 56, 256}}) {
    cases.push_back({vgg_layer(size), sparse});
  }
  for (const Size& size : {kCifar[1], kCifar[3]}) cases.push_back({cifar_layer(size), sparse});
  cases.push_back({point_layer(256, 56, 64), sparse});
  return cases;
}

// Of VGG16 on 224 x 224 and on CIFAR, AlexNet and ResNet50.
std::vector<BenchCase> linear() {
  const Size sizes[] = {{25088, 1, 4096}, {4096, 1, 4096}, {4096, 1, 1000},
                        {9216, 1, 4096},  {2048, 1, 1000}, {512, 1, 512}};
  std::vector<BenchCase> cases;
  for (const auto& [in, side, out] : sizes) {
    ConvLayer linear = layer("linear", in, side, out, 1);
    linear.name = "linear " + std::to_string(in) + "->" + std::to_string(out);
    cases.push_back({linear, masks(16, {80, 90, 95})});
  }
  return cases;
}

struct NamedSet {
  std::string name;
  std::vector<BenchCase> (*make)();
};
const std::vector<NamedSet>& sets() {
  static const std::vector<NamedSet> all = {{"layers", all_layers}, {"targets", targets},
                                            {"paper", paper},       {"resnet50", resnet50},
                                            {"rivals", rivals},     {"linear", linear}};
  return all;
}

}  // namespace

std::vector<BenchCase> conv_cases(const std::string& set) {
  for (const NamedSet& known : sets()) {
    if (known.name == set) return known.make();
  }
  fail(ErrorCode::usage, "set '", set,
       "': expected layers, targets, paper, resnet50, rivals or linear");
}

const std::vector<std::string>& conv_case_sets() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> found;
    for (const NamedSet& known : sets()) found.push_back(known.name);
    return found;
  }();
  return names;
}

std::int64_t weight_columns(const Conv& conv) {
  return conv.in_channels / conv.groups * conv.kernel[0] * conv.kernel[1];
}

DeployedModel conv_model(const ConvLayer& layer, const ConvMask& mask) {
  const Conv& conv = layer.conv;
  DeployedModel model;
  Shape input = {conv.in_channels, layer.height, layer.width};
  if (conv.rank == 1) input = {conv.in_channels, layer.width};
  model.graph = {"bench", {{"input", Input{input, false}, {}}, {"conv", conv, {"input"}}}};
  auto& nodes = model.graph.nodes;
  if (layer.has_epilogue) nodes.push_back({"relu", Relu{}, {"conv"}});
  if (layer.is_pooled) nodes.push_back({"pool", Pool{}, {nodes.back().name}});
  model.weights["conv.weight"] =
      random_weight({conv.out_channels, weight_columns(conv), mask.vector},
                    mask.sparsity_percent / 100, mask.kind, 1);
  const float bias_value = layer.has_epilogue ? 0.125f : 0.0f;
  const std::vector<float> bias(static_cast<std::size_t>(conv.out_channels), bias_value);
  model.weights["conv.bias"] = DenseWeight{{conv.out_channels}, encode_f32(bias)};
  return model;
}

}  // namespace winnow
