// Kernel families: the ways in which a step can be run, behind one interface.
//
// A family says which steps it fits, prepares a layer (weights uploaded and transformed once) and
// names the formats that it reads and writes. The planner times the candidates, inserts
// conversions and chooses (runtime/plan/choice.h). A further family is one more entry in the table
// of families.cpp.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/gpu/layer/activation.h"
#include "runtime/gpu/vendor/gpu_context.h"
#include "runtime/plan/channel_orders.h"
#include "runtime/plan/fusions.h"
#include "runtime/plan/linear_stacks.h"
#include "runtime/plan/program.h"
#include "runtime/plan/session.h"
#include "runtime/plan/step_weights.h"

namespace winnow {

// Scratch memory that a launch may use; its contents do not survive the launch.
struct Workspace {
  void* data = nullptr;
  std::size_t bytes = 0;
};

// A step ready to run on one device, in one kernel's form.
class PreparedLayer {
 public:
  virtual ~PreparedLayer() = default;

  // Enqueues the step; never allocates or synchronises. `workspace` has workspace_bytes(). For a
  // deferred input `in` has the value that it is computed from.
  virtual void launch(std::span<const ActivationView> in, const ActivationView& out,
                      const Workspace& workspace, cudaStream_t stream) const = 0;
  virtual std::size_t workspace_bytes() const { return 0; }

  // Whether it can read the network's input as bytes, which it normalises on its way.
  virtual bool reads_bytes() const { return false; }

  // As launch(), on bytes [N, C, H, W] in place of the one input. Requires reads_bytes().
  virtual void launch_on_bytes(const std::uint8_t* in, const ActivationView& out,
                               cudaStream_t stream) const;
};

struct NamedLayer {
  std::string name;  // the kernel's
  std::shared_ptr<const PreparedLayer> layer;
  double clocks = 0;  // that a model of the kernel predicts; 0: there is none
};

// What a family needs to know of a step.
struct LayerProblem {
  const DeployedModel& model;
  const Program& program;
  const Step& step;
  const SessionOptions& options;
  std::vector<std::vector<ActivationFormat>> input_formats;  // per input, what may be asked for
  std::vector<ActivationFormat> output_formats;              // what may be written
  const LinearStack* stack = nullptr;                        // that the step is in
  StepFusions fusions;                                       // of the step
  const ChannelOrders* orders = nullptr;                     // of all values

  Extents input_size(std::size_t i) const;
  Extents output_size() const;
  StepWeights weights() const { return weights_of(model, step); }
};

// One way to run a step.
struct Candidate {
  std::string family;
  std::string kernel;              // "direct nchw f16 channels=16 sub_batch=4 ..."
  std::vector<std::size_t> reads;  // indices into input_formats[i]
  std::size_t writes = 0;          // index into output_formats
  // Null: the output is the input's memory, or deferred.
  std::shared_ptr<const PreparedLayer> layer;
  std::string timing_key;  // candidates of a step with equal keys take the same time
  double clocks = 0;       // as NamedLayer
};

class Family {
 public:
  virtual ~Family() = default;

  virtual std::string name() const = 0;

  // Whether the family skips weights that are zero.
  virtual bool is_sparse() const = 0;

  // Why it leaves the step out, in one line: it cannot run it, or could only lose and is not asked
  // for (SessionOptions::family). Empty where it has candidates.
  virtual std::string why_not(const LayerProblem& problem, GpuContext& gpu) const = 0;

  // At least one if why_not is empty, unless the device's libraries refuse. Throws Error{device}.
  virtual std::vector<Candidate> candidates(const LayerProblem& problem, GpuContext& gpu) const = 0;
};

// All families, in a fixed order: ties in time go to the earlier one.
const std::vector<const Family*>& families();

// The family called `name`. Throws Error{usage} with a did-you-mean.
const Family& family_named(const std::string& name);

}  // namespace winnow
