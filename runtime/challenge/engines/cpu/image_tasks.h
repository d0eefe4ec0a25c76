// How images are divided among tasks of the engine `cpu`.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/challenge/engines/cpu/image_batch.h"

namespace winnow::challenge {

// Images that go through layers as one batch.
struct ImageTask {
  std::span<const std::uint32_t> fresh;  // by number, before the first layer; or
  std::vector<WaitingPart> waiting;      // between two layers
};

// `images` in parts of at most `most` (a multiple of kLaneUnit), of nearly equal numbers of
// kLaneUnit, and as many parts as the threads can share evenly if there are enough images: the
// first of each, then `images`.
std::vector<std::uint32_t> cut_evenly(std::uint32_t images, std::uint32_t most,
                                      std::uint32_t threads);

std::vector<ImageTask> fresh_tasks(std::span<const std::uint32_t> images,
                                   std::span<const std::uint32_t> bounds);
std::vector<ImageTask> waiting_tasks(std::span<const WaitingImages> images,
                                     std::span<const std::uint32_t> bounds);

}  // namespace winnow::challenge
