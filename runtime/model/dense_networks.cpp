// DenseNets.
#include <array>

#include "runtime/model/architectures.h"
#include "runtime/model/branched_network.h"

namespace winnow {
namespace {

constexpr std::int64_t kSmallest = 32;

struct DenseSizes {
  std::int64_t first = 64;   // channels of the first convolution
  std::int64_t growth = 32;  // that each layer adds
  std::array<int, 4> layers = {};
};

// All values so far go through two convolutions into new channels beside them.
std::string dense_layer(BranchedNetwork& network, const std::string& name, const std::string& x,
                        std::int64_t growth) {
  std::string y = network.relu(name + "relu1", network.norm(name + "norm1", x));
  y = network.conv(name + "conv1", y, 4 * growth, 1);
  y = network.relu(name + "relu2", network.norm(name + "norm2", y));
  y = network.conv(name + "conv2", y, growth, 3);
  return network.add(name + "concat", Concat{}, {x, y});
}

// Half the channels on a quarter of the positions.
std::string transition(BranchedNetwork& network, const std::string& name, const std::string& x,
                       std::int64_t channels) {
  std::string y = network.relu(name + "relu", network.norm(name + "norm", x));
  y = network.conv(name + "conv", y, channels, 1);
  return network.pool(name + "pool", y, {PoolKind::average, 2, {2, 2}, {2, 2}, {0, 0}});
}

Graph build(const char* name, const ArchitectureOptions& options, const DenseSizes& sizes) {
  require_images(name, options, kSmallest);
  BranchedNetwork network(name, options);
  std::string x = network.stem(
      {"features.conv0", "features.norm0", "features.relu0", "features.pool0"}, sizes.first);
  std::int64_t channels = sizes.first;
  for (std::size_t i = 0; i < sizes.layers.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    for (int layer = 1; layer <= sizes.layers[i]; ++layer) {
      const std::string prefix =
          "features.denseblock" + number + ".denselayer" + std::to_string(layer) + ".";
      x = dense_layer(network, prefix, x, sizes.growth);
      channels += sizes.growth;
    }
    if (i + 1 == sizes.layers.size()) break;
    channels /= 2;
    x = transition(network, "features.transition" + number + ".", x, channels);
  }
  x = network.relu("features.relu5", network.norm("features.norm5", x));
  return network.finish("classifier", x);
}

}  // namespace

Graph densenet121(const ArchitectureOptions& options) {
  return build("densenet121", options, {64, 32, {6, 12, 24, 16}});
}

Graph densenet161(const ArchitectureOptions& options) {
  return build("densenet161", options, {96, 48, {6, 12, 36, 24}});
}

}  // namespace winnow
