// What gpu_conv_bench measures: layers, and masks for their weights. Pure host code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/bench/random_weight.h"
#include "runtime/model/model.h"

namespace winnow {

struct ConvLayer {
  std::string name;  // "vgg224 3x3 64x224x224->64 + pool"
  std::int64_t height = 1;
  std::int64_t width = 1;
  Conv conv;
  bool is_pooled = false;    // a max pooling of 2 x 2 follows the relu
  bool has_epilogue = true;  // bias and relu
};

// How the mask of a layer is drawn.
struct ConvMask {
  RandomMask kind = RandomMask::independent;
  int vector = 1;  // output channels that share a mask bit
  double sparsity_percent = 0;
};

struct BenchCase {
  ConvLayer layer;
  std::vector<ConvMask> masks;  // empty: those that the command line asks for
};

// The cases of a set:
//   layers   of VGG16, ResNet50, DenseNet and a text CNN, without masks
//   targets  those that have a time to beat: blocks of 16 channels, and single elements
//   paper    those of paper 003, tables 9 to 15, at its sparsities
//   resnet50 every convolution of ResNet50 on 224 x 224
//   rivals   a few layers, for other libraries
//   linear   linear layers, as convolutions of one pixel
// Throws Error{usage} for another name.
std::vector<BenchCase> conv_cases(const std::string& set);
const std::vector<std::string>& conv_case_sets();

// An input, the convolution with bias, relu and what follows. Equal arguments give equal weights;
// a mask of sparsity 0 makes dense ones.
DeployedModel conv_model(const ConvLayer& layer, const ConvMask& mask);

// Columns of a layer's weight: input channels of a group times kernel positions.
std::int64_t weight_columns(const Conv& conv);

}  // namespace winnow
