#include "runtime/model/branched_network.h"

#include <utility>

namespace winnow {

BranchedNetwork::BranchedNetwork(std::string name, const ArchitectureOptions& options)
    : options_(options) {
  graph_.name = std::move(name);
  graph_.nodes.push_back({"input", Input{options.input, false}, {}});
}

std::string BranchedNetwork::add(const std::string& name, Op op, std::vector<std::string> from) {
  graph_.nodes.push_back({name, std::move(op), std::move(from)});
  return name;
}

std::string BranchedNetwork::conv(const std::string& name, const std::string& from,
                                  std::int64_t channels, std::int64_t kernel, std::int64_t stride) {
  Conv op;
  op.out_channels = channels;
  op.kernel = {kernel, kernel};
  op.stride = {stride, stride};
  op.padding = {kernel / 2, kernel / 2};
  op.has_bias = false;
  return add(name, op, {from});
}

std::string BranchedNetwork::stem(const StemNames& names, std::int64_t channels) {
  constexpr std::int64_t kLargeImages = 64;
  const bool is_small = options_.input[1] < kLargeImages && options_.input[2] < kLargeImages;
  const bool is_cifar =
      options_.stem == Stem::cifar || (options_.stem == Stem::automatic && is_small);
  const std::string x = conv(names.conv, "input", channels, is_cifar ? 3 : 7, is_cifar ? 1 : 2);
  const std::string y = relu(names.relu, norm(names.norm, x));
  if (is_cifar) return y;
  return pool(names.pool, y, {PoolKind::max, 2, {3, 3}, {2, 2}, {1, 1}});
}

std::string BranchedNetwork::norm(const std::string& name, const std::string& from) {
  return add(name, BatchNorm{}, {from});
}

std::string BranchedNetwork::relu(const std::string& name, const std::string& from) {
  return add(name, Relu{}, {from});
}

std::string BranchedNetwork::pool(const std::string& name, const std::string& from,
                                  const Pool& op) {
  return add(name, op, {from});
}

Graph BranchedNetwork::finish(const std::string& classifier, const std::string& from) {
  const std::string pooled = add("avgpool", GlobalPool{}, {from});
  add(classifier, Linear{0, options_.classes, true}, {pooled});
  fill_input_sizes(graph_);
  return std::move(graph_);
}

}  // namespace winnow
