// A model's weights as codes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "quantize/clustering.h"
#include "quantize/scheme.h"
#include "runtime/model/model.h"

namespace winnow {

// What quantization did to the weights of one conv or linear node, pads and masked weights aside.
struct LayerQuantization {
  std::string name;
  WeightForm form = WeightForm::f32;
  std::int64_t weights = 0;  // masked ones included
  std::int64_t kept = 0;
  double signal_to_noise = 0;   // in dB, 10 log10(sum w^2 / sum (w - q)^2) over kept weights;
                                // infinite if nothing changed
  double largest_error = 0;     // max |w - q|
  std::int64_t saturated = 0;   // fixed point: weights beyond the largest code
  std::int64_t f32_bytes = 0;   // of the kept weights
  std::int64_t code_bytes = 0;  // of their codes, with codebook and scales
  int frac_bits = 0;            // fixed point only
  bool has_channel_scale = false;
  double scale_gain = 0;  // codebooks: in dB, what channel scales change or, if they are not worth
                          // it, would change
};

struct QuantizedModel {
  Model model;
  std::vector<LayerQuantization> layers;  // in the graph's order
};

struct WeightQuantization {
  WeightForm form = WeightForm::codebook4;
  WeightForm first_layer = WeightForm::fixed16;  // of layers that read the input; see below
  bool refine = true;                            // see ClusteringOptions
  ChannelScale channel_scale = ChannelScale::automatic;
  std::function<void(const std::string& layer)> on_layer = {};  // told before each layer
  std::string place = {};  // begins messages; empty: the graph's name
};

// Folds batch norms (fold_batch_norm.h), since the error that counts is that of the weights as they
// are deployed; then replaces the weights of conv and linear nodes by codes, a
// format or codebook per node. Biases and embeddings stay f32. So do nodes that keep no more
// weights than they have output channels: they cost no more than their bias, and what is left of a
// batch norm that nothing could take in is one of them.
//
// Of 16 centroids, layers that read the network's input take the form `first_layer` instead, if
// they hold at most a twentieth of the kept weights: on a LeNet-5 for Fashion-MNIST (93 % sparse)
// 16 centroids in the first layer, 2 % of the weights, cost 1.2 points of accuracy, in all others
// together nothing.
//
// A codebook gets a scale per output channel where that lowers the error by more than
// worthwhile_gain (clustering.h): folded batch norms leave channels of very different sizes, for
// which one codebook has too few entries.
//
// Masks do not change; a masked weight has code 0. activation_bits and activation_frac are cleared.
// Throws Error{bad_file} for a model that does not pass check_model and for weights (batch norms
// folded) beyond fp16 where they would take a codebook, whose entries are fp16; Error{usage} if a
// node is quantized already.
QuantizedModel quantize_weights(const Model& model, const WeightQuantization& options = {});

// That last error alone, for callers with work to do before. `place` begins its message.
void require_unquantized(const Model& model, const std::string& place);

}  // namespace winnow
