// ResNets.
#include <array>

#include "runtime/model/architectures.h"
#include "runtime/model/branched_network.h"

namespace winnow {
namespace {

constexpr std::int64_t kSmallest = 32;

class ResidualNetwork {
 public:
  ResidualNetwork(const char* name, const ArchitectureOptions& options, bool has_bottlenecks)
      : network_(name, options), has_bottlenecks_(has_bottlenecks) {
    require_images(name, options, kSmallest);
  }

  Graph build(const std::array<int, 4>& blocks) {
    std::string x = network_.stem({"conv1", "bn1", "relu", "maxpool"}, 64);
    for (std::size_t stage = 0; stage < blocks.size(); ++stage) {
      const std::string layer = "layer" + std::to_string(stage + 1) + ".";
      for (int i = 0; i < blocks[stage]; ++i) {
        const std::int64_t stride = stage > 0 && i == 0 ? 2 : 1;
        x = block(layer + std::to_string(i) + ".", x, std::int64_t{64} << stage, stride);
      }
    }
    return network_.finish("fc", x);
  }

 private:
  std::string block(const std::string& name, const std::string& x, std::int64_t width,
                    std::int64_t stride) {
    const std::int64_t channels = has_bottlenecks_ ? 4 * width : width;
    std::string y = x;
    if (has_bottlenecks_) {
      y = activated(name, "1", network_.conv(name + "conv1", y, width, 1));
      y = activated(name, "2", network_.conv(name + "conv2", y, width, 3, stride));
      y = network_.norm(name + "bn3", network_.conv(name + "conv3", y, channels, 1));
    } else {
      y = activated(name, "1", network_.conv(name + "conv1", y, width, 3, stride));
      y = network_.norm(name + "bn2", network_.conv(name + "conv2", y, channels, 3));
    }
    std::string shortcut = x;
    if (channels != channels_ || stride != 1) {
      shortcut = network_.conv(name + "downsample.0", x, channels, 1, stride);
      shortcut = network_.norm(name + "downsample.1", shortcut);
    }
    channels_ = channels;
    return network_.relu(name + "relu", network_.add(name + "add", Add{}, {y, shortcut}));
  }

  std::string activated(const std::string& block, const char* number, const std::string& conv) {
    return network_.relu(block + "relu" + number, network_.norm(block + "bn" + number, conv));
  }

  BranchedNetwork network_;
  bool has_bottlenecks_;
  std::int64_t channels_ = 64;  // of the value that a block reads
};

}  // namespace

Graph resnet18(const ArchitectureOptions& options) {
  return ResidualNetwork("resnet18", options, false).build({2, 2, 2, 2});
}

Graph resnet50(const ArchitectureOptions& options) {
  return ResidualNetwork("resnet50", options, true).build({3, 4, 6, 3});
}

}  // namespace winnow
