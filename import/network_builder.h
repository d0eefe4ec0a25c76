// A model that grows node by node, as an import goes through a file.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/model/model.h"

namespace winnow {

class NetworkBuilder {
 public:
  // `sample` is the shape of one sample. Throws Error{usage} if it makes no input.
  NetworkBuilder(std::string name, Shape sample);

  const std::string& input() const { return model_.graph.nodes.front().name; }

  // Appends a node and returns its name: `wish` made of the letters that names may have, with a
  // number behind it where another node has it. Throws Error{usage} if shapes do not meet.
  std::string add(std::string_view wish, Op op, std::vector<std::string> inputs);

  // Of a node's value, without the batch dimension.
  const Shape& shape_of(const std::string& node) const { return shapes_.at(node); }

  // Sets the parameter `part` ("weight", "running_mean") of a node.
  void set(const std::string& node, const std::string& part, Shape shape,
           std::span<const float> values);

  // y = scale[c] x + shift[c] of the channels c of `node`'s value. Goes into the weights of `node`
  // if it is a convolution, linear layer or batch norm and `is_only_reader`, else becomes a batch
  // norm. Returns the node that gives y.
  std::string scale_and_shift(std::string_view wish, const std::string& node, bool is_only_reader,
                              std::span<const float> scale, std::span<const float> shift);

  // The model whose answer is `output`, without nodes that do not lead there.
  Model finish(const std::string& output);

 private:
  std::string unique_name(std::string_view wish) const;
  void scale_weights(Node& node, std::span<const float> scale, std::span<const float> shift);

  Model model_;
  std::map<std::string, Shape> shapes_;
};

}  // namespace winnow
