// Several layers in one launch: a block takes a few images through all of them without leaving
// shared memory, and drops the dead ones on the way out.
//
// Between launches activations lie in global memory as [tile of R images][row][R], where R may
// change from one launch to the next; the first launch reads the images as bits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "runtime/sparse/resident_form.h"
#include "runtime/sparse/resident_weights.h"

namespace winnow::challenge {

// The images that a launch begins with; pointers to device memory. The first launch reads bits, the
// others activations.
struct ResidentInput {
  const std::uint32_t* bits = nullptr;   // [image / 32][inputs], bit image % 32; null: activations
  std::uint32_t inputs = 0;              // of bits
  const void* data = nullptr;            // activations in the launch's form
  const std::uint32_t* count = nullptr;  // [1] images
  const std::uint32_t* id = nullptr;     // [images] ids (image_places.h); null: image i has id i
};

// The live images that a launch leaves behind; pointers to device memory.
struct ResidentOutput {
  ResidentForm form;                   // of the next launch; ignored if data is null
  void* data = nullptr;                // activations; null: only ids are wanted
  std::uint32_t* count = nullptr;      // [1] images, 0 before the launch
  std::uint32_t* id = nullptr;         // [images] ids; null: not wanted
  std::uint32_t* live_bits = nullptr;  // bit per id, 0 before the launch; null: not wanted
};

struct ResidentLaunch {
  ResidentView weights;
  std::uint32_t first_layer = 0;
  std::uint32_t last_layer = 0;  // one beyond
  std::uint32_t rows = 0;        // ResidentWeights::rows()
  ResidentForm form;
  bool has_fragments = false;     // the weights of these layers; needs fp16 activations
  bool has_three_buffers = true;  // else two (tile_buffers.h)
  ResidentInput in;
  ResidentOutput out;

  std::size_t buffers() const { return has_three_buffers ? 3 : 2; }
};

// Asynchronous; fit for a CUDA graph. Which live image comes to lie where differs from run to run,
// its values do not. Throws Error{device} if the form needs more shared memory than there is.
void launch_resident(const ResidentLaunch& launch, int sms, cudaStream_t stream);

}  // namespace winnow::challenge
