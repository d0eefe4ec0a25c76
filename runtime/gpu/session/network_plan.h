// The kernels of a whole network, chosen by measurement.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/buffer.h"
#include "runtime/gpu/gathered/gathered_values.h"
#include "runtime/gpu/layer/family.h"
#include "runtime/gpu/session/order_tables.h"
#include "runtime/plan/choice.h"
#include "runtime/plan/timing_table.h"

namespace winnow {

// What runs, and in which formats values exist.
struct NetworkPlan {
  std::vector<std::vector<ActivationFormat>> formats;  // by value; candidates index into them
  std::vector<Candidate> steps;                        // the chosen one of each
  std::vector<Conversion> conversions;                 // in execution order
  OrderTables orders;                                  // that formats name
};

// The formats that a value may have. The network's input and output exist in row-major fp32 too,
// as format 0. `stacks` are the stacks of linear layers that one launch may compute, `gathered` the
// values of gathered convolutions; none where the session has no such kernels.
std::vector<std::vector<ActivationFormat>> value_formats(const Program& program,
                                                         const DeployedModel& model,
                                                         const SessionOptions& options,
                                                         const std::vector<LinearStack>& stacks,
                                                         const GatheredValues& gathered);

// Which families may run conv and linear layers.
enum class Allowed {
  as_asked,
  dense_only,
  stacked,  // linear_stack wherever it saves launches, whose cost the steps' times leave out
};

// Times every candidate of every step once, then answers questions about whole networks.
class NetworkPlanner {
 public:
  // Uploads the weights of all candidates and times them; what is the same is timed once. Throws
  // Error{usage} if options.family cannot run a conv or linear layer, Error{device} if no family
  // can or memory runs out.
  NetworkPlanner(const DeployedModel& model, const Program& program, const SessionOptions& options,
                 GpuContext& gpu);

  // Whether every conv and linear layer has a dense candidate.
  bool has_dense() const;

  // Whether linear_stack can run several layers in one launch.
  bool has_stacks() const;

  // The fastest combination. Throws Error{device} if there is none.
  NetworkPlan plan(Allowed allowed) const;

  // All timed ways to run step `i`, fastest first, one per kernel.
  std::vector<CandidateTiming> timings(std::size_t i) const;

 private:
  struct Timed {
    Candidate candidate;
    double ms = 0;
  };

  void time_step(std::size_t index);
  void describe_problem();
  double time_candidate(const LayerProblem& problem, const Candidate& candidate, double best_ms);
  double time_conversion(std::size_t value, std::size_t from, std::size_t to);
  double measure_conversion(const ActivationFormat& source, const ActivationFormat& target,
                            const Extents& size);
  LayerProblem problem_of(std::size_t index) const;
  ActivationView input_view(const LayerProblem& problem, std::size_t i,
                            const ActivationFormat& format) const;
  std::vector<Candidate> candidates_of(const LayerProblem& problem);
  std::byte* scratch(std::size_t bytes);
  bool is_weighted(std::size_t index) const;
  bool has_candidate(std::size_t index, const std::string& family) const;
  bool is_in_stack(std::size_t index) const;
  bool is_allowed(std::size_t index, const Candidate& candidate, Allowed allowed) const;

  const DeployedModel& model_;
  const Program& program_;
  const SessionOptions& options_;
  GpuContext& gpu_;
  TimingTable table_;
  std::vector<LinearStack> stacks_;
  std::vector<const LinearStack*> stack_of_;  // by step
  std::vector<StepFusions> fusions_;          // by step
  GatheredValues gathered_;
  OrderTables orders_;
  std::vector<std::vector<ActivationFormat>> formats_;
  std::vector<std::vector<Timed>> timed_;  // by step
  ChoiceProblem problem_;                  // the same as numbers
  DeviceBuffer<std::byte> scratch_;
};

}  // namespace winnow
