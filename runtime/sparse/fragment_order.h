// How a warp sums 8 outputs on tensor cores, each over inputs of its own: which slot of a product
// reads which connection. Pure host code but for the index arithmetic, which kernels share.
//
// A product is mma.sp.m16n8k32 (PTX ISA, "Matrix fragments for sparse mma.m16n8k32 with .f16 and
// .bf16 types"): 16 rows of weights, 2 of every 4 columns not zero, times 32 slots x 8 images.
// ldmatrix gathers the slots: each is the chunk of 8 images of any row of activations.
//
//   rows     row g is output g with its weights rounded to fp16, row g + 8 the same output with
//            what rounding left: their sum has the weights to 22 bits
//   slots    a slot belongs to one output; the other rows have weight 0 there
//   step     4 products, which read 16 connections of each of the 8 outputs: a lane loads 16 bytes
//            of weights, which are its non-zero ones of one of the products, and 4 row numbers
//
// Of 4 neighbouring slots the first two belong to an even output and the last two to the odd one
// behind it, so the places of non-zero weights (PTX: metadata) never change.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/device/host_device.h"
#include "runtime/sparse/slice_order.h"
#include "runtime/sparse/sparse_layer.h"

namespace winnow {

inline constexpr std::uint32_t kFragmentOutputs = 8;
inline constexpr std::uint32_t kFragmentReads = 16;    // of an output in a step
inline constexpr std::uint32_t kFragmentProducts = 4;  // of a step
inline constexpr float kFragmentWeightScale = 1024;    // so that small weights keep their bits

// Of the slot whose address a lane gives to ldmatrix for a product: its output and which of the
// output's reads in the step it is.
struct FragmentSlot {
  std::uint32_t output, read;
};
WINNOW_HOST_DEVICE constexpr FragmentSlot fragment_slot(std::uint32_t lane, std::uint32_t product) {
  const std::uint32_t columns = lane / 4;  // four slots
  const std::uint32_t pair = columns % 4 ^ product, half = columns / 4;
  return {2 * pair + lane % 4 / 2, (2 * product + half) * 2 + lane % 2};
}

// The product of a step to which a lane's weights belong. They are those of output lane / 4.
WINNOW_HOST_DEVICE constexpr std::uint32_t fragment_product(std::uint32_t lane) {
  return lane / 8 ^ lane % 4;
}

// A row of activations has so many chunks of 16 bytes. An output reads its rows' chunks beginning
// with this one, the n-th being turn ^ n, so that slots of one ldmatrix meet different banks.
WINNOW_HOST_DEVICE constexpr std::uint32_t fragment_turn(std::uint32_t output,
                                                         std::uint32_t chunks) {
  return output % chunks;
}

// Whether every weight times kFragmentWeightScale is within fp16's range.
bool fits_fragments(const SparseLayer& layer);

// As outputs_of_lanes() and order_lanes() (lane_order.h); weights are registers of matrix A, as
// halves. Throws Error{usage} if a weight times kFragmentWeightScale is beyond fp16; bank_groups in
// {2, 4, 8}.
std::vector<std::uint32_t> outputs_of_fragments(const SparseLayer& layer,
                                                std::span<const std::uint32_t> position,
                                                std::uint32_t bank_groups);
SliceOrder order_fragments(const SparseLayer& layer, std::span<const std::uint32_t> position,
                           std::vector<std::uint32_t> output, std::uint32_t bank_groups,
                           std::uint32_t unroll);

}  // namespace winnow
