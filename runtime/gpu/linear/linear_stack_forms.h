// In which forms a stack of sparse linear layers (linear_stack.h) may run. Pure host code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "runtime/plan/session.h"
#include "runtime/sparse/resident_form.h"

namespace winnow {

// How activations lie in shared memory, and how many blocks of a cluster share a tile of images.
struct LinearStackForm {
  ResidentForm rows;
  int blocks = 1;  // 1, or for tiles of 4 images 2, 4 or 8

  friend bool operator==(const LinearStackForm&, const LinearStackForm&) = default;
};
std::string to_string(const LinearStackForm& form);  // "f32 tile=4 blocks=8"

inline constexpr int kClusterImages = 4;  // of a tile that a cluster may share

// The fewest outputs that a layer, but for the last, may have where so many blocks share a tile: 32
// for each, because a block that sends nothing is not waited for, and could fall behind.
std::int64_t fewest_outputs(int blocks);

// The GPU that a stack is to run on.
struct StackDevice {
  int sms = 0;
  std::size_t shared_bytes = 0;  // that a block may have
  bool has_clusters = false;
};

// Of the layers of a stack: the most features that one takes, the most that one gives, and the
// fewest that one before the last gives.
struct StackWidths {
  std::int64_t most_inputs = 0;
  std::int64_t most_outputs = 0;
  std::int64_t fewest_inner = std::numeric_limits<std::int64_t>::max();
};

// The forms worth timing for so many images. A form is left out if one with fewer images to a tile
// has a tile for every processor already; a cluster where its blocks would want for sms or
// outputs. Empty if none fits.
std::vector<LinearStackForm> linear_stack_forms(Precision precision, const StackWidths& widths,
                                                std::int64_t images, const StackDevice& device);

// The most features that a stack may have with so much shared memory a block.
std::int64_t most_stack_features(std::size_t shared_bytes);

}  // namespace winnow
