// How well a checkpoint classifies images, and what its activations look like: measured by the
// runtime's backends on the network as `export` would deploy it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "quantize/bias_correction.h"
#include "runtime/base/device_name.h"
#include "runtime/images/image_set.h"
#include "runtime/model/model.h"

namespace winnow {

struct MeasurementOptions {
  Device device;
  std::int64_t batch = 512;  // images at once; the result does not depend on it
  std::function<void(std::int64_t samples)> on_batch = {};  // told how many a batch had, after it
};

// Fraction of `images` whose label has the highest output, in [0, 1]; of equal outputs the first
// class wins.
//
// The model may be pruned or quantized. Batch norms are folded first (fold_batch_norm.h). Pixels go
// through model.preprocessing. If model.activation_bits > 0, the value of every node in
// model.activation_frac is rounded as round_to_fixed_point does.
// Throws Error{usage} if the images do not fit the model, have no labels or are none, Error{device}
// if the device is missing.
double accuracy_of(const Model& model, const ImageSet& images,
                   const MeasurementOptions& options = {});

// The outputs of the last node, [images.count, classes] row-major, as accuracy_of sees them.
std::vector<float> outputs_of(const Model& model, const ImageSet& images,
                              const MeasurementOptions& options = {});

// |x| over all values that one node gave.
struct ActivationStatistics {
  double max_magnitude = 0.0;
  double limit = 0.0;                   // upper end of the histogram: a power of two >= the maximum
  std::vector<std::int64_t> histogram;  // [kActivationBins] bin i: limit / bins * [i, i + 1)
};
inline constexpr int kActivationBins = 2048;

// Statistics of the input and of the nodes that have a value when the network runs, over `images`,
// by node name: a relu that alone reads a layer or addition has one, that layer then has none.
// Nothing is rounded, whatever model.activation_bits says.
// Throws Error{usage} as accuracy_of, and if an activation is not finite.
std::map<std::string, ActivationStatistics> observe_activations(
    const Model& model, const ImageSet& images, const MeasurementOptions& options = {});

// What correct_biases needs of the model before its weights are quantized: what its conv and linear
// nodes read on average over `images`. Nothing is rounded. Throws as observe_activations.
MeanInputs mean_layer_inputs(const Model& model, const ImageSet& images,
                             const MeasurementOptions& options = {});

// What measures, in words: the device as its backend describes it.
std::string measuring_device(const Model& model, Device device);

// Eq 5 of paper 003 with mu = 0 and sigma = 2^-frac_bits: the nearest multiple of sigma (halves to
// even), saturated to [-2^(total_bits - 1), 2^(total_bits - 1) - 1] sigma. frac_bits may be
// negative or exceed total_bits.
float round_to_fixed_point(float value, int total_bits, int frac_bits);

}  // namespace winnow
