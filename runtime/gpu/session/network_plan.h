// The kernels of a whole network, chosen by measurement.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/buffer.h"
#include "runtime/gpu/gathered/gathered_values.h"
#include "runtime/gpu/layer/family.h"
#include "runtime/gpu/session/order_tables.h"
#include "runtime/plan/choice.h"
#include "runtime/plan/layer_check.h"
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
// values of gathered convolutions; none where the session has no such kernels. `fusions` are by
// step.
std::vector<std::vector<ActivationFormat>> value_formats(const Program& program,
                                                         const DeployedModel& model,
                                                         const SessionOptions& options,
                                                         const std::vector<LinearStack>& stacks,
                                                         const GatheredValues& gathered,
                                                         const std::vector<StepFusions>& fusions);

// Which families may run conv and linear layers.
enum class Allowed {
  as_asked,
  dense_only,
  sparse,   // sparse families for sparse weights, wherever one has a candidate
  stacked,  // linear_stack wherever it saves launches, whose cost the steps' times leave out
};

// Times every candidate of every step once, then answers questions about whole networks.
//
// Before a convolution or linear layer is timed, what it computes is checked (layer_check.h), and
// so is a sum that cuDNN's convolution computes; not what launches of ours compute of several
// layers.
class NetworkPlanner {
 public:
  // Uploads the weights of all candidates and times them; what is the same is timed once. Throws
  // Error{usage} if options.family cannot run a conv or linear layer, Error{device} if no family
  // can or memory runs out.
  NetworkPlanner(const DeployedModel& model, const Program& program, const SessionOptions& options,
                 GpuContext& gpu);

  // Whether every conv and linear layer has a candidate that skips no weights.
  bool has_dense() const;

  // Whether linear_stack can run several layers in one launch.
  bool has_stacks() const;

  // The fastest combination. Throws Error{device} if there is none.
  NetworkPlan plan(Allowed allowed) const;

  // All ways to run step `i`, fastest first and rejected ones last, one per kernel.
  std::vector<CandidateTiming> timings(std::size_t i) const;

  // Whether the cache knew what was chosen: then that is the only candidate of each step.
  bool is_known() const { return known_ != nullptr; }

  // Keeps what was chosen for later starts.
  void keep_choice(const NetworkPlan& plan);

  // Names the network that the plan makes: equal ones take the same time.
  std::string key_of(const NetworkPlan& plan) const;

  TimingTable& table() { return table_; }

 private:
  struct Timed {
    Candidate candidate;
    Timing timing;
  };

  // A candidate's views and memory while it is checked and timed.
  struct Trial;

  // What the candidates of a step share that compute the same.
  struct Contest;

  bool time_steps();
  bool time_step(std::size_t index);
  bool find_known_candidate(std::size_t index, const LayerProblem& problem);
  std::size_t convolved_input(const LayerProblem& problem, const Candidate& candidate) const;
  Trial make_trial(const LayerProblem& problem, const Candidate& candidate, bool is_checked);
  void describe_problem();
  Timing time_candidate(const LayerProblem& problem, const Candidate& candidate, Contest& contest);
  const LayerCheck& check_of(const LayerProblem& problem, std::size_t convolved,
                             Contest& contest) const;
  std::string defect_of(const LayerProblem& problem, const Trial& trial, const LayerCheck& check);
  bool is_checkable(const LayerProblem& problem, const Candidate& candidate) const;
  double time_conversion(std::size_t value, std::size_t from, std::size_t to);
  Timing measure_conversion(const ActivationFormat& source, const ActivationFormat& target,
                            const Extents& size);
  LayerProblem problem_of(std::size_t index) const;
  ActivationView input_view(const LayerProblem& problem, std::size_t i,
                            const ActivationFormat& format) const;
  std::vector<Candidate> candidates_of(const LayerProblem& problem, const std::string& family);
  std::string choice_key() const;
  std::string identity(std::size_t index, const Candidate& candidate) const;
  void find_known();
  std::byte* scratch(std::size_t bytes);
  bool is_weighted(std::size_t index) const;
  bool has_candidate(std::size_t index, const std::string& family) const;
  bool has_sparse(std::size_t index) const;
  bool has_dense_candidate(std::size_t index) const;
  bool is_in_stack(std::size_t index) const;
  bool is_allowed(std::size_t index, const Candidate& candidate, Allowed allowed) const;

  const DeployedModel& model_;
  const Program& program_;
  const SessionOptions& options_;
  GpuContext& gpu_;
  TimingTable table_;
  double clock_mhz_ = 0;
  std::vector<std::string> keys_;                     // by step
  const std::vector<ChosenKernel>* known_ = nullptr;  // by step: what the cache knows to be chosen
  std::vector<LinearStack> stacks_;
  std::vector<const LinearStack*> stack_of_;  // by step
  std::vector<StepFusions> fusions_;          // by step
  GatheredValues gathered_;
  OrderTables orders_;
  std::vector<std::vector<ActivationFormat>> formats_;
  std::vector<std::vector<Timed>> timed_;               // by step
  std::vector<std::vector<CandidateTiming>> rejected_;  // by step
  ChoiceProblem problem_;                               // the same as numbers
  DeviceBuffer<std::byte> scratch_;
};

}  // namespace winnow
