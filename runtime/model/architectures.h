// The built-in networks: functions that build graphs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/model/graph.h"

namespace winnow {

// How ResNets and DenseNets begin: for pictures of ImageNet with a convolution of 7 x 7 at stride 2
// and a maximum over 3 x 3 at stride 2, for those of CIFAR with a convolution of 3 x 3 at stride 1.
enum class Stem { automatic, imagenet, cifar };  // automatic: cifar for sides under 64 pixels

struct ArchitectureOptions {
  Shape input;  // [C, H, W], or [L] tokens
  std::int64_t classes = 10;
  double dropout = 0.0;  // before each linear layer but the first; 0 leaves it out
  Stem stem = Stem::imagenet;
  std::int64_t tokens = 0;       // rows of a network's embedding; 0 where the input is no tokens
  std::int64_t embedding = 300;  // its width
};

// Whether the network of this name begins with a Stem.
bool has_stem(std::string_view name);

// LeCun et al. 1998 with ReLU, max pooling and batch norm: two convolutions and three linear
// layers.
Graph lenet5(const ArchitectureOptions& options);

// Simonyan and Zisserman 2014, configuration D, with batch norm. For inputs under 64 pixels the
// classifier is one linear layer on 512 features (the usual CIFAR form), else 4096-4096-classes.
Graph vgg16(const ArchitectureOptions& options);

// He et al. 2016, the stride of a bottleneck in its 3 x 3 convolution; images of at least 32
// pixels. Nodes with parameters are called as in torchvision.
Graph resnet18(const ArchitectureOptions& options);
Graph resnet50(const ArchitectureOptions& options);

// Huang et al. 2017, in the same way.
Graph densenet121(const ArchitectureOptions& options);
Graph densenet161(const ArchitectureOptions& options);

// CNN-non-static of Kim 2014 (arxiv.org/abs/1408.5882) for sentences: an embedding, 100
// convolutions each over 3, 4 and 5 words, the largest value of each over time, dropout, a linear
// layer.
Graph textcnn(const ArchitectureOptions& options);

// By name; throws Error{usage} with a did-you-mean.
Graph build_architecture(std::string_view name, const ArchitectureOptions& options);
std::vector<std::string> architecture_names();

}  // namespace winnow
