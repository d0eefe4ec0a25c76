// A checksum of tensors, by which ranks see whether they have the same bits.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace winnow {

// Of the values in their order: each tensor is cut into rows of 1024 elements, whose bits x are
// integers. The checksum is the CRC-32C of the rows' sums of x[j] w[j] modulo 2^64, with odd random
// numbers w that are always the same (multilinear hashing). The sums are computed where the tensors
// lie and cross to the host at once, in 8 bytes a row; equal bits on a CPU and on a GPU have equal
// checksums. All tensors lie on one device and have elements of 1, 2, 4 or 8 bytes.
std::uint32_t checksum(const std::vector<torch::Tensor>& tensors);

}  // namespace winnow
