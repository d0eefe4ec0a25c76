#include "runtime/challenge/engines/cpu/image_tasks.h"

#include <algorithm>

namespace winnow::challenge {

std::vector<std::uint32_t> cut_evenly(std::uint32_t images, std::uint32_t most,
                                      std::uint32_t threads) {
  const std::uint64_t multiples = (std::uint64_t{images} + kLaneMultiple - 1) / kLaneMultiple;
  const std::uint64_t most_multiples = most / kLaneMultiple;
  const std::uint64_t rounds =
      (multiples + most_multiples * threads - 1) / (most_multiples * threads);
  const std::uint64_t tasks = std::min(multiples, rounds * threads);
  std::vector<std::uint32_t> bounds = {0};
  for (std::uint64_t t = 1; t <= tasks; ++t) {
    const std::uint64_t end = multiples * t / tasks * kLaneMultiple;
    bounds.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(end, images)));
  }
  return bounds;
}

std::vector<ImageTask> fresh_tasks(std::span<const std::uint32_t> images,
                                   std::span<const std::uint32_t> bounds) {
  std::vector<ImageTask> tasks;
  for (std::size_t t = 0; t + 1 < bounds.size(); ++t) {
    tasks.push_back({.fresh = images.subspan(bounds[t], bounds[t + 1] - bounds[t]), .waiting = {}});
  }
  return tasks;
}

std::vector<ImageTask> waiting_tasks(std::span<const WaitingImages> images,
                                     std::span<const std::uint32_t> bounds) {
  std::vector<ImageTask> tasks;
  WaitingRange rest;  // of the images that are being shared out
  for (std::size_t t = 0; t + 1 < bounds.size(); ++t) {
    ImageTask task;
    for (std::uint32_t wanted = bounds[t + 1] - bounds[t]; wanted > 0;) {
      if (rest.count == 0) {
        rest = {.from = &images.front(), .first = 0, .count = images.front().images()};
        images = images.subspan(1);
        continue;
      }
      const std::uint32_t count = std::min(wanted, rest.count);
      task.waiting.push_back({.from = rest.from, .first = rest.first, .count = count});
      rest.first += count;
      rest.count -= count;
      wanted -= count;
    }
    tasks.push_back(std::move(task));
  }
  return tasks;
}

}  // namespace winnow::challenge
