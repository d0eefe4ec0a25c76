// Models: a graph and its parameters, before export (checkpoints) and after (deployed).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "runtime/model/csr.h"
#include "runtime/model/graph.h"
#include "runtime/model/preprocessing.h"
#include "runtime/model/tensor.h"

namespace winnow {

// What prune and quantize write: parameters by name, readable from Python as they are.
//
// tensors holds, for a node `n`:
//   n.weight, n.bias, n.running_mean, n.running_var   f32, as parameters_of(n)
//   n.weight.mask      u8 [ceil(K / vector), C / groups, R, S] or [ceil(out / vector), in];
//                      1 keeps. Absent: dense. vector is mask_vector[n]. A masked weight is
//                      exactly 0.
// and after quantization, in place of n.weight, one of
//   n.weight.codes i16 or i8 (shape of the weight) and n.weight.scale f32 [1]
//   n.weight.codes u8 and n.weight.codebook f16 [entries]; entry 0 is 0 and stands for masked
//                      weights; with n.weight.channel_scale f16 [K], if it is there, a weight is
//                      codebook[code] * channel_scale[output channel]
struct Model {
  Graph graph;
  std::map<std::string, Tensor> tensors;
  std::map<std::string, int> mask_vector;  // node -> 1, 8, 16 or 32, for nodes with a mask
  std::map<std::string, int>
      activation_frac;      // node -> fractional bits of its output's fixed point
  int activation_bits = 0;  // 0: activations are not quantized
  Preprocessing preprocessing;
  std::vector<std::string> classes;             // names, may be empty
  std::map<std::string, std::string> metadata;  // free: seed, versions, accuracies, data set

  friend bool operator==(const Model&, const Model&) = default;
};

// The weight of node `name` as floats whatever its form, shaped as parameters_of says.
// Throws Error{bad_file} if it is missing or damaged.
Tensor weight_of(const Model& model, const std::string& name);

// A parameter of `node`, of those that parameters_of() lists; a weight as weight_of() gives it.
Tensor parameter_of(const Model& model, const Node& node, const Parameter& parameter);

// Fraction of weights (conv and linear, biases aside) that are masked, over the whole model.
double sparsity(const Model& model);

// Throws Error{bad_file} unless every parameter is there with its shape, all numbers are finite,
// masks fit and masked weights are 0. `place` begins the message.
void check_model(const Model& model, const std::string& place);

// A dense parameter of a deployed model.
struct DenseWeight {
  Shape shape;
  Values values;

  friend bool operator==(const DenseWeight&, const DenseWeight&) = default;
};

using Weight = std::variant<DenseWeight, CsrWeight>;

// What export writes and the runtime runs. Batch norm and dropout are gone; conv and linear nodes
// have "n.weight" (dense or CSR) and "n.bias" (dense f32).
struct DeployedModel {
  Graph graph;
  std::map<std::string, Weight> weights;
  std::map<std::string, int> activation_frac;
  int activation_bits = 0;
  Preprocessing preprocessing;
  std::vector<std::string> classes;
  std::map<std::string, std::string> metadata;

  friend bool operator==(const DeployedModel&, const DeployedModel&) = default;
};

// All values of a weight or bias, zeros included, row-major.
std::vector<float> dense_floats(const Weight& weight);

// Throws Error{bad_file} unless the graph has every weight with its shape and no others.
void check_deployed_model(const DeployedModel& model, const std::string& place);

}  // namespace winnow
