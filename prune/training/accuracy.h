// How well a model classifies images, and what its activations look like. Measured by LibTorch,
// but free of its headers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/images/image_set.h"
#include "runtime/model/model.h"

namespace winnow {

struct EvaluationOptions {
  std::string device = "auto";  // auto, cpu, cuda or cuda:N
  std::int64_t batch = 512;     // images at once; the result does not depend on it
};

// Fraction of `images` whose label has the highest output, in [0, 1]; of equal outputs the first
// class wins.
//
// The model may be pruned or quantized (weights are read through weight_of). Pixels go through
// model.preprocessing. If model.activation_bits > 0, the value of every node in
// model.activation_frac is rounded to fixed point as round_to_fixed_point does.
// Throws Error{usage} if the images do not fit the model or have no labels, Error{device} if the
// device is missing.
double measure_accuracy(const Model& model, const ImageSet& images,
                        const EvaluationOptions& options = {});

// The outputs of the last node, [images.count, classes] row-major, as measure_accuracy sees them.
std::vector<float> predict(const Model& model, const ImageSet& images,
                           const EvaluationOptions& options = {});

// |x| over all values that one node gave.
struct ActivationStatistics {
  double max_magnitude = 0.0;
  double limit = 0.0;                   // upper end of the histogram: a power of two >= the maximum
  std::vector<std::int64_t> histogram;  // [kActivationBins] bin i: limit / bins * [i, i + 1)
};
inline constexpr int kActivationBins = 2048;

// Statistics of every node of the graph (the input included) over `images`, by node name. Nothing
// is rounded, whatever model.activation_bits says.
std::map<std::string, ActivationStatistics> observe_activations(
    const Model& model, const ImageSet& images, const EvaluationOptions& options = {});

// Eq 5 of paper 003 with mu = 0 and sigma = 2^-frac_bits: the nearest multiple of sigma (halves to
// even), saturated to [-2^(total_bits - 1), 2^(total_bits - 1) - 1] sigma. The scalar that
// measure_accuracy applies to whole tensors. frac_bits may be negative or exceed total_bits.
float round_to_fixed_point(float value, int total_bits, int frac_bits);

}  // namespace winnow
