// Several runs side by side: accuracy against time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace winnow {

struct FrontierPoint {
  std::string run = {};
  std::string granularity = {};  // "dense" of a network that was not pruned
  double accuracy = 0;           // fraction; of the deployed network where it was measured
  double ms = 0;                 // of a pass
  std::optional<double> sparsity = {};
  std::optional<double> predicted_ms = {};  // by the table that it was pruned by
  std::optional<double> dense_ms = {};      // of the dense network that was timed in turns with it
  bool is_best = false;  // no other is as fast and as accurate, and one of both better
};

struct Frontier {
  std::string device, precision;
  std::int64_t batch = 1;
  std::vector<FrontierPoint> points;  // dense ones first, then by granularity; each by time
};

// Reads the folders (run_facts.h). A folder without prune.json is a dense network. If there is
// none, the runs' own is one point: the most accurate of their dense networks, but not of those
// without some layers, at the time that it took in turns with them (`bench --against`) or, without
// such, the longest that `bench` or a table of the same device gives it (export may have left a run
// fewer channels).
//
//   batch  0: the first one of the first folder's bench.json
//
// Throws Error{usage} if a folder has no accuracy, or no times of the batch, or those of another
// device or precision, and what read_run_facts() throws.
Frontier read_frontier(std::span<const std::string> folders, std::int64_t batch);

// Accuracy against milliseconds, a line for each granularity, and a table, as a page.
std::string frontier_page(const Frontier& frontier);

// The table for the terminal.
std::string frontier_table(const Frontier& frontier);

}  // namespace winnow
