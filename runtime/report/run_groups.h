// Several runs beside each other: those that differ by their seed or fold alone are one row.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/report/run_facts.h"

namespace winnow {

struct RunGroup {
  std::string name;  // what the names of its folders begin with: "runs/mr-fold3" is "mr"
  std::vector<std::string> folders;
  std::vector<RunFacts> runs;  // [folders]
};

// Reads the folders (run_facts.h). Runs are of one group if their config.yaml is the same but for
// `name`, `seed`, `output`, `data.fold`, and the files of `model.weights` and `prune.teacher`. A
// run without config.yaml stands alone. Groups are in the order of their first runs.
//
// Throws Error{usage} if a folder is named twice, and what read_run_facts() throws.
std::vector<RunGroup> group_runs(std::span<const std::string> folders);

// A row for each group: how many runs, and the mean (least to greatest) of their accuracies on the
// test set, dense and pruned, and of their sparsities. What not all runs of a group have is "-".
std::string groups_table(std::span<const RunGroup> groups);

}  // namespace winnow
