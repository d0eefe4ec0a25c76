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
  std::vector<WaitingRange> waiting;     // between two layers
};

// Cuts `images` images into tasks of at most `most` (a multiple of kLaneMultiple), of nearly equal
// numbers of kLaneMultiple, and as many tasks as the threads can share evenly if there are enough
// images. Returns the first image of each task, then `images`.
std::vector<std::uint32_t> cut_evenly(std::uint32_t images, std::uint32_t most,
                                      std::uint32_t threads);

std::vector<ImageTask> fresh_tasks(std::span<const std::uint32_t> images,
                                   std::span<const std::uint32_t> bounds);
std::vector<ImageTask> waiting_tasks(std::span<const WaitingImages> images,
                                     std::span<const std::uint32_t> bounds);

}  // namespace winnow::challenge
