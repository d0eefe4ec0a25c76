// What quantize makes of weights and activations, as the command line names it.
#pragma once

#include <string>
#include <string_view>

namespace winnow {

enum class WeightForm {
  f32,        // "32b": as they are
  fixed16,    // "16b": linear, eqs 5 and 6 of paper 003
  fixed8,     // "8b"
  codebook8,  // "8b-codebook": 256 centroids, eqs 8 and 9
  codebook4,  // "4b": 16 centroids
};

// Whether codebooks get a scale per output channel.
enum class ChannelScale {
  automatic,  // "auto": where it is worth its bytes
  off,
};

struct Scheme {
  WeightForm weights = WeightForm::codebook4;
  int activation_bits = 16;  // linear; 0: not quantized ("32b")

  friend bool operator==(const Scheme&, const Scheme&) = default;
};

// WEIGHTS/ACTIVATIONS as in the paper's tables: "4b/16b", "16b/16b", "8b/8b", "8b-codebook/32b".
// Throws Error{usage} with a did-you-mean.
Scheme scheme_from(std::string_view text);
std::string to_string(const Scheme& scheme);

std::string_view to_string(WeightForm form);         // "4b"
WeightForm weight_form_from(std::string_view name);  // Throws Error{usage} with a did-you-mean

ChannelScale channel_scale_from(std::string_view name);  // Throws Error{usage} likewise

// Bits that one kept weight takes, scale and codebook aside.
int bits_of(WeightForm form);

}  // namespace winnow
