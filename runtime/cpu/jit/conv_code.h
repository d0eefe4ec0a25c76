// Machine code of a convolution, generated from its weights: AVX-512 keeps one vector of positions
// of several output channels in registers, each entry of the lists is one multiply-add whose
// operand the instruction names, and an input that several of the channels read is loaded once (the
// idea of SparseRT, Wang, PACT 2020, for GPUs).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/cpu/block_lists.h"

namespace winnow {

// Lanes of a vector of positions.
inline constexpr std::int64_t kJitLanes = 16;
// Output channels of a group: one register each.
inline constexpr int kJitChannels = 30;
// Masks of inputs; offsets of entries are made by jit_offset().
inline constexpr int kJitMasks = 3;

// An entry's offset in floats from the position's first input, together with the number of the mask
// that its lanes are read under: lanes that are off read zero. Mask 0 is all lanes.
constexpr std::int64_t jit_offset(std::int64_t floats, int mask) {
  return floats * 4 + mask;
}

struct JitShape {
  std::int64_t channels = 0;        // of the output; the last row of blocks may be cut
  std::int64_t channel_stride = 0;  // floats between the output's channels
  std::int64_t shift = 0;           // floats that JitCall::in lies before a multiple of 64 bytes
  bool has_relu = false;
  bool has_addend = false;
};

// Lanes of one vector of positions.
struct JitLanes {
  std::uint16_t in[kJitMasks] = {0, 0, 0};  // [0] is not read
  std::uint16_t out = 0;                    // the others are written as zeros
};

// What one call works on: `vectors` neighbouring vectors of positions.
struct JitCall {
  const float* in = nullptr;        // the first vector's first input
  float* out = nullptr;             // the first vector's place in the group's first channel
  const float* addend = nullptr;    // the same place in what is added before the activation
  const JitLanes* lanes = nullptr;  // [vectors]
  std::int64_t vectors = 0;         // at least 1
};

class ConvCode {
 public:
  // Generates code for every chunk of `lists` and every group of their rows.
  //
  //   lists  offsets by jit_offset(); vector 1, 8 or 16
  //   bias   [channels]
  //
  // Throws Error{device} where the system allows no generated code, Error{usage} where an offset is
  // too large for an instruction.
  ConvCode(const BlockLists& lists, const std::vector<float>& bias, const JitShape& shape);
  ~ConvCode();

  std::int64_t chunks() const { return chunks_; }
  std::int64_t groups() const { return static_cast<std::int64_t>(channels_.size()) - 1; }
  std::int64_t first_channel(std::int64_t group) const { return channels_[group]; }
  std::int64_t entries(std::int64_t group) const {
    return entries_[group];
  }  // multiply-adds a vector

  // The first chunk starts with the bias, the others with what `out` holds; the last adds the
  // addend, applies the activation and zeroes the lanes that are off.
  void run(std::int64_t chunk, std::int64_t group, const JitCall& call) const;

  // Fetches one of `portions` of a part's code and weights into the second-level cache: processors
  // fetch data that will be read, not code that will be run.
  void prefetch(std::int64_t chunk, std::int64_t group, std::int64_t portion,
                std::int64_t portions) const;

 private:
  class Generator;
  struct Part {
    std::size_t code = 0;    // bytes from the code's begin
    std::size_t weight = 0;  // floats from the weights' begin
  };

  std::int64_t chunks_ = 0;
  std::vector<std::int64_t> channels_;  // [groups + 1] first channel of each
  std::vector<std::int64_t> entries_;   // [groups]
  std::vector<Part> parts_;             // [chunks * groups + 1]
  std::vector<float> weights_;          // in the order of the code
  std::vector<float> bias_;
  std::unique_ptr<Generator> code_;
};

// Whether this build, this processor and the system run generated code.
bool has_jit();

}  // namespace winnow
