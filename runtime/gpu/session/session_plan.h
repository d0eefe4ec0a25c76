// All that a model needs on a GPU but memory for activations: several sessions may share it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/gpu/session/sub_batch_network.h"
#include "runtime/plan/batch_cover.h"

namespace winnow {

// A network planned for one batch size, and how it was chosen.
struct BatchPlan {
  PlannedProgram planned;
  std::vector<LayerPlan> layers;
  std::vector<NetworkTiming> networks;  // that were timed as wholes; empty where only one was made
  std::string key;                      // equal networks have equal ones
  double ms = 0;                        // of the network as a whole; 0: not measured
  TimingCounts counts;
};

// Chooses kernels from the steps' times (Algorithm 2), then between networks as wholes: nothing
// runs that is no faster than the all-dense network. With `wants_time` the result is timed as a
// whole even where there is no choice.
// Throws as NetworkPlanner does.
std::unique_ptr<const BatchPlan> plan_batch(const DeployedModel& model,
                                            const SessionOptions& options, GpuContext& gpu,
                                            bool wants_time);

class SessionPlan {
 public:
  // Plans for options.batch and, with options.any_batch, smaller ones. Where early activations
  // exceed the L2 cache also plans for parts of the batch, and has the first steps run on them if
  // that makes the network faster as a whole. Throws as plan_batch does.
  SessionPlan(const DeployedModel& model, const SessionOptions& options);

  const SessionOptions& options() const { return options_; }
  const GpuContext& gpu() const { return gpu_; }
  const Program& program() const { return whole().planned.program; }  // of the whole batch
  const std::vector<LayerPlan>& layers() const { return layers_; }
  const std::vector<NetworkTiming>& networks() const { return networks_; }
  const TimingCounts& counts() const { return counts_; }

  // The batch sizes that networks are made of, rising; the last is the whole batch.
  const std::vector<std::int64_t>& sizes() const { return sizes_; }

  // Which of them run `samples`: indices.
  std::vector<std::size_t> cover(std::int64_t samples) const { return cover_->cover(samples); }

  // A network for the size of this index in memory of its own, zeroed on `stream`. The plan and
  // `memory` must outlive it.
  std::unique_ptr<DeviceNetwork> make_network(std::size_t index, NetworkMemory& memory,
                                              cudaStream_t stream) const;

  // Is held while kernels are enqueued one by one: the libraries' handles are for one thread at a
  // time.
  std::mutex& enqueuing() const { return enqueuing_; }

 private:
  const BatchPlan& whole() const { return *plans_.at(options_.batch); }
  void add_plan(const DeployedModel& model, std::int64_t batch);
  void plan_parts(const DeployedModel& model);
  Timing time_cuts(const std::vector<std::int64_t>& parts);
  std::vector<double> step_times(const PlannedProgram& planned);
  void take_cut(std::size_t cut, std::int64_t part);

  SessionOptions options_;
  GpuContext gpu_;                                                  // outlives all layers
  SharedUploads uploads_;                                           // weights of all plans
  std::map<std::int64_t, std::unique_ptr<const BatchPlan>> plans_;  // by batch size
  std::vector<std::int64_t> sizes_;
  std::vector<LayerPlan> layers_;
  std::vector<NetworkTiming> networks_;
  TimingCounts counts_;
  std::unique_ptr<const BatchCover> cover_;
  std::size_t cut_ = 0;    // of the whole batch's network; 0: it is not cut
  std::int64_t part_ = 0;  // samples that its first steps run on
  mutable std::mutex enqueuing_;
};

}  // namespace winnow
