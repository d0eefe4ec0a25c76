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
