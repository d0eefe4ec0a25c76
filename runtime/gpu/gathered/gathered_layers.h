// A gathered convolution on the GPU, in every kernel's form that may be the fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/gpu/gathered/gathered_groups.h"
#include "runtime/gpu/gathered/ring_choice.h"
#include "runtime/gpu/layer/family.h"

namespace winnow {

// A convolution with what its launch does besides.
struct GatheredLayer {
  Conv conv;
  RingPool pool = RingPool::none;
  bool has_relu = false;
  bool adds = false;  // another value
  Extents in;
  GatheredGroups groups;
  std::vector<float> bias;                              // [K]
  std::vector<std::int32_t> input_place, output_place;  // of channels
  std::int64_t fewest_ring_images = 1;                  // of a batch, for large maps
  std::size_t conv_input = 0;  // of the launch's inputs: the other one, if there is one, is added
};

inline constexpr std::size_t kAllTiles = std::numeric_limits<std::size_t>::max();

// Kernels for large maps (ring) and for small ones (resident), `most` tiles of each, named by them
// and with the clocks that they were chosen by; with kAllTiles every tile that can run the layer.
// Empty where no tile's input fits shared memory.
std::vector<NamedLayer> gathered_layers(const GatheredLayer& layer, const GpuContext& gpu,
                                        std::size_t most);

// Whether gathered_layers() has any.
bool has_gathered_layers(const GatheredLayer& layer, const GpuContext& gpu);

}  // namespace winnow
