// How categories get from each rank to all.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/challenge/ranks/rank_group.h"

namespace winnow::challenge {

// It ends when all ranks have returned from their last call, which RankGroup::gather() can tell.
class Gather {
 public:
  virtual ~Gather() = default;

  virtual std::string name() const = 0;  // "TCP", "NCCL 2.28.9"

  // What all ranks give, by rank, at each. All give equally many bytes. All ranks make the same
  // calls in the same order. Throws as RankGroup::gather() does, and Error{device}.
  virtual std::vector<std::string> all(const std::string& mine) = 0;
};

// Over the connections of the group, which must outlive it.
std::unique_ptr<Gather> make_tcp_gather(RankGroup& group);

}  // namespace winnow::challenge
