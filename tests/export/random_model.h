// Small random networks with masks and dead channels.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/base/random.h"
#include "runtime/model/model.h"

namespace winnow {

inline Tensor random_tensor(const Shape& shape, Random& random, double low = -1, double high = 1) {
  Tensor tensor(DataType::f32, shape);
  for (float& x : tensor.values<float>()) x = static_cast<float>(random.uniform(low, high));
  return tensor;
}

// Random parameters for every node; variances are positive.
inline Model random_model(Graph graph, Random& random) {
  Model model;
  model.graph = std::move(graph);
  for (const Node& node : model.graph.nodes) {
    for (const Parameter& parameter : parameters_of(node)) {
      const bool is_variance = parameter.name.ends_with("running_var");
      model.tensors[parameter.name] =
          random_tensor(parameter.shape, random, is_variance ? 0.5 : -1, is_variance ? 2 : 1);
    }
  }
  return model;
}

// Masks weight `name` with blocks of `vector` channels; each is kept with probability `density`.
inline void add_random_mask(Model& model, const std::string& name, int vector, double density,
                            Random& random) {
  Tensor& weight = model.tensors.at(name + ".weight");
  Shape shape = weight.shape();
  const std::int64_t inner = weight.count() / shape[0];
  shape[0] = (shape[0] + vector - 1) / vector;
  Tensor mask(DataType::u8, shape);
  for (std::uint8_t& bit : mask.values<std::uint8_t>()) bit = random.chance(density) ? 1 : 0;
  const auto values = weight.values<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i) / inner / vector;
    const auto block = static_cast<std::size_t>(row * inner + static_cast<std::int64_t>(i) % inner);
    if (mask.values<std::uint8_t>()[block] == 0) values[i] = 0;
  }
  model.tensors[name + ".weight.mask"] = std::move(mask);
  model.mask_vector[name] = vector;
}

// Zeroes channels first .. first + count - 1 of the weight and its mask; `bias` is what they give.
inline void kill_channels(Model& model, const std::string& name, std::int64_t first,
                          std::int64_t count, float bias) {
  Tensor& weight = model.tensors.at(name + ".weight");
  const std::int64_t inner = weight.count() / weight.shape()[0];
  const auto values = weight.values<float>();
  std::fill_n(values.begin() + first * inner, count * inner, 0.0f);
  std::fill_n(model.tensors.at(name + ".bias").values<float>().begin() + first, count, bias);
  const auto mask = model.tensors.find(name + ".weight.mask");
  if (mask == model.tensors.end()) return;
  const int vector = model.mask_vector.at(name);
  const auto bits = mask->second.values<std::uint8_t>();
  for (std::int64_t row = 0; row < mask->second.shape()[0]; ++row) {
    if (row * vector >= first &&
        std::min((row + 1) * vector, static_cast<std::int64_t>(weight.shape()[0])) <=
            first + count) {
      std::fill_n(bits.begin() + row * inner, inner, std::uint8_t{0});
    }
  }
}

inline Node conv_node(const std::string& name, const std::string& input, std::int64_t in,
                      std::int64_t out, std::int64_t kernel, std::int64_t padding) {
  Conv conv;
  conv.in_channels = in;
  conv.out_channels = out;
  conv.kernel = {kernel, kernel};
  conv.padding = {padding, padding};
  return {name, conv, {input}};
}

inline Node linear_node(const std::string& name, const std::string& input, std::int64_t in,
                        std::int64_t out) {
  return {name, Linear{in, out, true}, {input}};
}

}  // namespace winnow
