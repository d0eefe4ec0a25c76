// What the ranks of a team do together in a training step.
#pragma once

#include <torch/types.h>

#include "prune/training/network/network.h"
#include "prune/training/ranks/batch_part.h"
#include "prune/training/ranks/team.h"

namespace winnow {

// Behind the backward pass of a loss that is this rank's part of the batch's mean: makes loss and
// gradients the sums over the ranks, that is those of the whole batch, and batch norm's running
// statistics the means of the ranks', weighted by BatchPart::weight. Bits are equal at all ranks.
void add_up_step(const Network& network, torch::Tensor& loss, const BatchPart& part, Team& team);

}  // namespace winnow
