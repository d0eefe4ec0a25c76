// Times every kernel that can run one layer and checks what it computes: what benchmarks print.
#pragma once

#include <string>
#include <vector>

#include "runtime/plan/session.h"

namespace winnow {

struct LayerBenchOptions {
  std::vector<std::string> families = {"dense", "direct"};
  int launches = 10;  // per CUDA graph at most: fewer where one launch takes long
  int repeats = 9;    // graphs timed
  int samples = 256;  // outputs compared with fp64; 0 compares none
};

struct LayerBenchRow {
  std::string family;
  std::string kernel;
  int launches = 0;      // per CUDA graph
  double median_ms = 0;  // of one launch
  double spread = 0;     // (slowest - fastest) / median
  double clocks = 0;     // as Candidate
  double error = 0;      // norm of the differences from fp64 over the norm of fp64's outputs
};

// `model` is an input and one convolution, with or without relu. Its input is noise, resident and
// in each kernel's own format; conversions are not timed. Rows in the order of the families,
// which run whether or not a planner would offer them; kernels that the libraries refuse are left
// out.
//
// Throws Error{usage} for another model, Error{device} without a GPU.
std::vector<LayerBenchRow> bench_layer(const DeployedModel& model, const SessionOptions& session,
                                       const LayerBenchOptions& options);

}  // namespace winnow
