// Deployed models for tests of the model file.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/base/random.h"
#include "runtime/model/model.h"

namespace winnow {

// The model of tests/model/data/golden-1.0.wnw and of the hex dump in docs/model-file.md: every
// form of weight that fits a page.
DeployedModel golden_model();

// The model of tests/model/data/golden-1.1.wnw: a sparse weight with channel scales.
DeployedModel golden_scaled_model();

// A sentence of 3 tokens, of a vocabulary of two words: the file is one of format 1.2.
DeployedModel text_model();

// Values of any encoding; value i is 0 exactly where nonzero[i] is 0.
Values random_values(Encoding encoding, std::span<const std::uint8_t> nonzero, Random& random);

// A padded weight whose rows keep between nothing and everything; some kept blocks may be 0 in all
// channels, as after quantization.
struct SparseShape {
  std::int64_t channels = 1;
  std::int64_t cols = 1;
  int vector = 1;
};
CsrWeight random_csr(const SparseShape& shape, Encoding encoding, bool has_kept_zeros,
                     Random& random);

// A small network with random sizes, forms and encodings; half of the codebooks have channel
// scales.
DeployedModel random_deployed_model(std::uint64_t seed);

}  // namespace winnow
