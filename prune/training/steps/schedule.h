// Learning rates over the course of a training stage.
#pragma once

#include <vector>

namespace winnow {

enum class Decay { constant, cosine, step };

// Times count in the unit of the stage: epochs of training, iterations of the evolution.
struct RateSchedule {
  Decay decay = Decay::cosine;
  double rate = 0.1;
  double final_rate = 0.0;              // cosine only: where it ends
  std::vector<double> milestones = {};  // step only: times at which the rate is multiplied by gamma
  double gamma = 0.1;                   // step only
  double warmup = 0.0;                  // the rate grows linearly from 0 over this time
};

// The learning rate at `time` of a stage that lasts `total`.
//
//   warm-up  rate * time / warmup before `warmup` (never 0: time counts from the step's end)
//   cosine   final + (rate - final) / 2 * (1 + cos(pi * (time - warmup) / (total - warmup)))
double rate_at(const RateSchedule& schedule, double time, double total);

}  // namespace winnow
