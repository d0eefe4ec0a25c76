// Random convolutions and what the reference makes of them.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/random.h"
#include "runtime/cpu/layer.h"
#include "runtime/model/graph.h"
#include "runtime/model/model.h"

namespace winnow {

// A convolution or linear layer with its mask.
struct RandomWork {
  Op op;
  std::int64_t batch = 1;
  Shape input;  // with the batch
  int vector = 1;
  std::vector<float> weight;  // dense, masked by blocks of `vector` channels
  std::vector<float> bias;
  bool has_relu = false;
  std::string text;  // for messages
};

// Channels 1 .. 70, sides 1 .. 33, kernels 1 .. 5, any stride, padding, dilation and groups, rank 1
// and 2; batches 1, 2, 7, 8, 16, 33; densities 0, 0.02, 0.1, 0.5, 1; vectors 1, 8, 16, 32. Large
// dimensions are paired with small ones so that the reference stays quick.
RandomWork random_conv(Random& random);
RandomWork random_large_conv(Random& random);  // enough work for several threads
RandomWork random_wide_conv(Random& random);   // few channels, rows of up to 250
RandomWork random_near_conv(Random& random);   // padded kernels of 3, half on rows of whole vectors
RandomWork random_linear(Random& random);

ConvWork conv_work(const RandomWork& work);
std::vector<float> random_input(const RandomWork& work, Random& random);

// The exact result, and for each of its elements the sum of the magnitudes that were added: the
// error of any order of summation in float is a small multiple of 2^-24 of that.
struct Expected {
  std::vector<float> values;
  std::vector<float> magnitudes;
  std::int64_t terms = 0;
};
Expected expected_of(const RandomWork& work, const std::vector<float>& input);

// The index of the first element beyond the error bound, or -1. `slack` widens the bound.
std::int64_t first_wrong(const std::vector<float>& found, const Expected& expected,
                         double slack = 1);

// A sparse weight in the file's form. The mask is read off the zeros.
CsrWeight csr_of(const std::vector<float>& weight, std::int64_t channels, int vector);

}  // namespace winnow
