// What is known of a step before a kernel is chosen.
#pragma once

#include <vector>

#include "runtime/model/model.h"
#include "runtime/plan/program.h"
#include "runtime/plan/session.h"

namespace winnow {

// Name, op, output shape, dense multiply-accumulates of the batch, sparsity of the weight. Family,
// kernel and candidates stay empty.
LayerPlan describe_step(const DeployedModel& model, const Program& program, const Step& step);

// Share of a weight's elements that are zero, stored or not.
double weight_sparsity(const Weight& weight);

// The fastest first, those of equal times as they were, rejected ones last.
void sort_by_time(std::vector<CandidateTiming>& candidates);

}  // namespace winnow
