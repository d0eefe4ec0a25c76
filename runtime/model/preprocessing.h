// How a sample, bytes or a sentence, becomes a network's input, in training and deployed alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/picture_form.h"

namespace winnow {

inline constexpr int kReservedTokens = 2;  // that are no word of a vocabulary: 0 and 1

// x = (byte / 255 - mean[c]) / deviation[c], in float and rounded after each of the three steps.
struct Preprocessing {
  std::vector<float> mean;       // [C]; empty means 0
  std::vector<float> deviation;  // [C]; empty means 1
  PictureForm pictures = {};     // how a picture file becomes the sample
  // Words, by the tokens from 2 on: 0 is the padding, 1 stands for all other words
  // (runtime/text/vocabulary.h). Empty: the network takes no sentences.
  std::vector<std::string> vocabulary = {};

  friend bool operator==(const Preprocessing&, const Preprocessing&) = default;
};

// The input for every byte of every channel, [channels, 256]: whoever feeds a network looks values
// up here, so that all feed it the same bits.
// Throws Error{usage} if the preprocessing has another number of channels.
std::vector<float> input_values(const Preprocessing& preprocessing, std::int64_t channels);

}  // namespace winnow
