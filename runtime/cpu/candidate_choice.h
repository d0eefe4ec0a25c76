// Algorithm 2 of paper 003 with layouts: which candidate runs each step. Pure: works on measured
// times, so it is tested without measuring.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace winnow {

// Milliseconds of the whole network for one candidate per step.
using NetworkCost = std::function<double(const std::vector<std::size_t>& choice)>;

// The best choice found by changing one step's candidate at a time as long as that helps, from
// each of `starts`. Never worse than the best start. Ties keep the earlier start and the lower
// candidate.
//
//   candidates  [steps] how many there are; 0 counts as 1
//   starts      each [steps]; at least one
std::vector<std::size_t> choose_candidates(const std::vector<std::size_t>& candidates,
                                           const std::vector<std::vector<std::size_t>>& starts,
                                           const NetworkCost& cost);

}  // namespace winnow
