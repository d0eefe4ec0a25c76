// In which forms a stack of sparse linear layers may run (linear_stack.h). Pure host code.
//
//   tile     4, 8 or 16 images, which one thread block or one cluster takes through all layers
//   form     the images of a tile, their precision in shared memory, and the blocks of a cluster
//   feature  one number of an image: an input or output of a layer
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "runtime/plan/session.h"
#include "runtime/sparse/resident_form.h"

namespace winnow {

struct LinearStackForm {
  ResidentForm rows;  // how the tile's activations lie in the shared memory of a block
  int blocks = 1;     // of the cluster that shares a tile: 2, 4 or 8 for tiles of 4 images, else 1

  friend bool operator==(const LinearStackForm&, const LinearStackForm&) = default;
};
std::string to_string(const LinearStackForm& form);  // "f32 tile=4 blocks=8"

inline constexpr int kClusterImages = 4;  // of a tile that a cluster shares

// The fewest outputs that a layer before the last may have if so many blocks share a tile: then
// every block computes some of them. The blocks wait for each other's outputs after each layer, so
// a block without any would not be waited for, and could fall behind.
std::int64_t fewest_outputs(int blocks);

// The GPU that a stack is to run on.
struct StackDevice {
  int sms = 0;
  std::size_t shared_bytes = 0;  // that one thread block may have
  bool has_clusters = false;
};

// The sizes of a stack that decide about its forms.
struct StackWidths {
  std::int64_t most_inputs = 0;   // of any layer
  std::int64_t most_outputs = 0;  // of any layer
  // The fewest outputs of any layer but the last.
  std::int64_t fewest_inner = std::numeric_limits<std::int64_t>::max();
};

// The forms worth timing for a batch of `images` images, by the images of a tile. Left out are
// - forms that do not fit the shared memory of a block,
// - larger tiles where a smaller one already gives every SM at most one tile,
// - clusters where there are not enough SMs for all blocks, or too few outputs to share,
// - for tiles of 4 images all but the two forms with the most blocks.
// Empty if nothing fits.
std::vector<LinearStackForm> linear_stack_forms(Precision precision, const StackWidths& widths,
                                                std::int64_t images, const StackDevice& device);

// The most features that any layer of a stack may take or give where a block may have so much
// shared memory, whatever the form.
std::int64_t most_stack_features(std::size_t shared_bytes);

}  // namespace winnow
