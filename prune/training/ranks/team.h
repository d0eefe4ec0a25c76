// Ranks that train one network together, each on its part of every batch, or that give each other
// networks.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "prune/training/ranks/batch_part.h"
#include "prune/training/ranks/rank_group.h"
#include "prune/training/ranks/team_place.h"

namespace winnow {

// All ranks make the same calls in the same order. Calls throw Error{device} with the rank's name
// if one dies or fails, and Error{interrupted} if one was interrupted.
class Team {
 public:
  // Waits for the others. Tensors lie on `device`. Throws Error{device} if this build cannot sum
  // there.
  Team(const TeamPlace& place, const torch::Device& device);
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team();

  std::int64_t rank() const { return place_.rank; }
  std::int64_t size() const { return place_.size; }
  BatchPart part_of(std::int64_t images) const { return batch_part(images, rank(), size()); }

  // RankGroup::add_up(). On a GPU errors come with require_all(), once the device was waited for.
  void add_up(torch::Tensor& values);
  void broadcast(torch::Tensor& values, std::int64_t from);  // likewise

  // Waits until the device has done what was queued for `values`. What a lost rank ended throws.
  void wait_for(const torch::Tensor& values);
  void require_all();

  // Whether any rank says so, at every rank. `number` counts the questions: every few batches one
  // is asked, so that all ranks stop behind the same batch and none waits for another on a GPU.
  bool any(bool mine);
  bool asks_after(std::int64_t batch) const { return (batch + 1) % interval_ == 0; }

 private:
  [[noreturn]] void refuse(const char* what, const std::exception& error) const;

  TeamPlace place_;
  std::int64_t interval_;
  std::unique_ptr<RankGroup> group_;
  std::int64_t asked_ = 0;
};

}  // namespace winnow
