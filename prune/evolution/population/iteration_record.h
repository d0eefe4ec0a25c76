// What one iteration did: a line of metrics.jsonl.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "prune/evolution/population/offspring.h"
#include "prune/evolution/trainee/trainee.h"

namespace winnow {

enum class Phase {
  rise,    // sparsity rises to the target
  settle,  // sparsity stays, masks migrate
  tune,    // masks are fixed, weights train
};

enum class Action {
  written,    // accepted: in the pool, its sparsity incremented
  dropped,    // accepted, but not good enough for a full pool
  mutation,   // rejected: rewound, sparsities mutated
  crossover,  // rejected: rewound, two solutions exchanged sparsities
  rewound,    // rejected: rewound only (phase tune)
};

std::string_view to_string(Phase phase);
std::string_view to_string(Action action);

struct PoolSummary {
  std::int64_t size = 0;
  double best_accuracy = 0.0;
  double mean_accuracy = 0.0;
  double min_sparsity = 0.0;
  double max_sparsity = 0.0;
  double spread = 0.0;  // mean distance of the sparsity vectors from their centre
};

struct IterationRecord {
  std::int64_t iteration = 0;
  std::int64_t batches = 0;  // trained so far, this iteration included
  Phase phase = Phase::rise;
  std::int64_t solution = -1;        // id of the chosen subnetwork
  std::int64_t child = -1;           // id of the new one; -1: none was written
  std::vector<std::int64_t> layers;  // chosen, ascending
  std::vector<Offspring> offspring;  // plans that were compared; empty: none were
  std::size_t chosen = 0;            // index into them
  std::int64_t judged_batches = 0;   // of all plans together, which `batches` does not count
  std::vector<double> sparsities;    // [layers] asked for
  std::vector<double> kept;          // [layers] share of weights kept
  double sparsity = 0.0;             // share of the budget that is pruned
  double weight_sparsity = 0.0;      // share of the budgeted weights that is pruned
  double predicted_ms = 0.0;         // of a pass; 0 without a budget of time
  double loss = 0.0;
  double accuracy = 0.0;
  bool is_finite = true;     // loss, accuracy, weights and statistics were; else rewound
  double reference = 0.0;    // what the accuracy was held against (ranking.h)
  double improvement = 0.0;  // accuracy - reference
  bool accepted = false;
  bool forced = false;  // the pace or the target had to be met: accepted whatever the accuracy
  Action action = Action::written;
  std::vector<double> alphas;   // [layers] at its first mask; empty: all 0
  Migration migration;          // over all layers: moves of all recomputations, kept at last
  double migration_rate = 0.0;  // migration_rate() of migration.h
  std::vector<double> migration_rates;  // [layers]; empty where masks were fixed
  std::vector<double> sensitivity;      // [layers] after this iteration
  bool stagnation = false;              // the pool was cut to representatives
  PoolSummary pool;                     // after this iteration
  double best_accuracy = 0.0;           // of the answer so far; 0 while none meets the target
  double best_sparsity = 0.0;
};

}  // namespace winnow
