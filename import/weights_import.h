// Weights that another program trained, brought into a network of ours.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/model/model.h"
#include "runtime/model/safetensors.h"

namespace winnow {

// A name of the file, or what stands before its last dot, to that of a parameter or node of ours:
// "features.0.weight" -> "conv1_1.weight", or "features.0" -> "conv1_1".
using NameMap = std::map<std::string, std::string>;

// Throws Error{usage}, beginning with `file`, if a name of the map is in no tensor of the weights.
void require_names(const NameMap& names, const SafetensorsFile& weights, const std::string& file);

struct WeightsImport {
  Model model;
  // What did not meet, one line each: parameters that the file lacks or has in another shape, and
  // tensors of the file that no parameter took. Empty unless is_partial.
  std::vector<std::string> unmatched;
};

// Takes each parameter of `graph` from the tensor of its name, after `names`; real numbers of any
// width become float. PyTorch's "num_batches_tracked" is left out, it belongs to training.
// Throws ImportRefused (import_refused.h) with all that did not meet, unless `is_partial`: then
// weights that are missing are random as before training, from a fixed seed, and the rest of a
// layer changes nothing. `file` begins messages.
WeightsImport import_weights(Graph graph, const SafetensorsFile& weights, const NameMap& names,
                             bool is_partial, const std::string& file);

// A built-in network for the weights of torchvision's network of that name, or for weights with our
// names: as many classes as the file's last linear layer has rows, biases where the file has them,
// a vgg16 without batch norm where it has none. Adds to `names` what torchvision calls the layers.
// `input` may be empty: 28 x 28 for lenet5, else 224 x 224 in colour.
Graph graph_for_weights(const std::string& architecture, Shape input,
                        const SafetensorsFile& weights, NameMap& names);

}  // namespace winnow
