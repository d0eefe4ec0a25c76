// How well a model classifies images. Measured by LibTorch, but free of its headers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/images/image_set.h"
#include "runtime/model/model.h"

namespace winnow {

struct EvaluationOptions {
  std::string device = "auto";  // auto, cpu, cuda or cuda:N
  std::int64_t batch = 512;     // images at once; the result does not depend on it
  // Asked between two batches; true ends the call with Error{interrupted}.
  std::function<bool()> should_stop = {};
};

// Fraction of `images` whose label has the highest output, in [0, 1]; of equal outputs the first
// class wins.
//
// The model may be pruned or quantized (weights are read through weight_of). Pixels go through
// model.preprocessing. Activations are not rounded, whatever model.activation_bits says.
// Throws Error{usage} if the images do not fit the model or have no labels, Error{device} if the
// device is missing.
double measure_accuracy(const Model& model, const ImageSet& images,
                        const EvaluationOptions& options = {});

// The outputs of the last node, [images.count, classes] row-major, as measure_accuracy sees them.
std::vector<float> predict(const Model& model, const ImageSet& images,
                           const EvaluationOptions& options = {});

}  // namespace winnow
