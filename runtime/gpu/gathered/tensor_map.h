// Descriptions of tensors in device memory for bulk tensor copies.
#pragma once

#include <cuda.h>

#include "runtime/gpu/gathered/ring_arguments.h"
#include "runtime/gpu/gathered/ring_tile.h"

namespace winnow {

// Of an activation in nchw32c8n: dimensions {32 channels x 8 images, width, height, blocks of
// channels of all blocks of images}, copied in boxes of one block of channels. What lies outside of
// the map is filled with zeros. Throws Error{device} without a driver that has bulk tensor copies.
CUtensorMap tensor_map(const RingMap& map, void* data, const RingBox& box);

}  // namespace winnow
