// Launchers of the kernels that choose the largest values of each of many layers. They know no
// LibTorch.
//
// Of a layer's values the count-th largest is found, its threshold, by radix selection: Alabi et
// al., "Fast k-selection algorithms for graphics processing units", 2012. Larger values stay, and
// of those that equal it the first ones for which there is room. Layers are cut into chunks
// (chunks.h). All pointers are device memory; a launch returns a CUDA error's text, or null.
#pragma once

#include <cstddef>
#include <cstdint>

#include "prune/training/cuda/chunks.h"
#include "prune/training/cuda/launch_error.h"

namespace winnow {

constexpr unsigned kMoveCounts = 4;  // the members of Migration

struct SelectedLayer {
  const float* values = nullptr;  // [length]
  std::uint8_t* mask = nullptr;   // [length], written: 1 for what is kept
  unsigned length = 0;
  unsigned count = 0;        // of values that are kept, at most `length`
  unsigned chunks = 0;       // chunks_of(length)
  unsigned first_chunk = 0;  // chunks of the layers before
  // The mask that this one replaces [length], and Migration's counts [kMoveCounts], zeros, to which
  // the changes are added; null where none are counted.
  const std::uint8_t* before = nullptr;
  unsigned long long* moves = nullptr;
  // Weights of a block, and of those from the block `first_of_last` on, which may have fewer:
  // kChunkValues * block_weights < 2^32.
  unsigned block_weights = 0, last_block_weights = 0, first_of_last = 0;
};

struct SelectionCall {
  int device = 0;
  cudaStream_t stream = nullptr;
  unsigned chunks = 0;                       // of all layers, at least 1
  const SelectedLayer* layers = nullptr;     // [layers]
  const unsigned* layer_of_chunk = nullptr;  // [chunks]
  unsigned* workspace = nullptr;             // [selection_workspace()], zeros
  unsigned* equals_of_chunk = nullptr;       // [chunks]
};

// Words of workspace that a call for so many layers needs.
std::size_t selection_workspace(std::size_t layers);

// Leaves every layer's threshold in the workspace.
const char* launch_thresholds(const SelectionCall& call);

// Writes the masks once the thresholds are found.
const char* launch_masks(const SelectionCall& call);

}  // namespace winnow
