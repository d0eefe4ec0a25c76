// Layers are cut into chunks, each the work of a block of threads, and all layers share a launch.
// It knows no LibTorch.
#pragma once

namespace winnow {

constexpr unsigned kChunkValues = 16384;

// Chunks of a layer of so many values.
constexpr unsigned chunks_of(unsigned values) {
  return values / kChunkValues + (values % kChunkValues > 0 ? 1 : 0);
}

}  // namespace winnow
