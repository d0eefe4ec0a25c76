// How a sample of bytes becomes a network's input, in training and deployed alike.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/picture_form.h"

namespace winnow {

// x = (byte / 255 - mean[c]) / deviation[c], in float and rounded after each of the three steps.
struct Preprocessing {
  std::vector<float> mean;       // [C]; empty means 0
  std::vector<float> deviation;  // [C]; empty means 1
  PictureForm pictures = {};     // how a picture file becomes the sample

  friend bool operator==(const Preprocessing&, const Preprocessing&) = default;
};

// The input for every byte of every channel, [channels, 256]: whoever feeds a network looks values
// up here, so that all feed it the same bits.
// Throws Error{usage} if the preprocessing has another number of channels.
std::vector<float> input_values(const Preprocessing& preprocessing, std::int64_t channels);

}  // namespace winnow
