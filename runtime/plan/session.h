// What a backend offers: a model planned for one batch size on one device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/model/model.h"
#include "runtime/plan/timing_store.h"

namespace winnow {

class ThreadPool;

enum class Precision { f32, f16 };

// How convolutions and linear layers may be run.
enum class KernelChoice {
  measured,  // Algorithm 2 of paper 003: time every family that fits, take the fastest
  sparse,    // sparse families wherever one fits
  dense,     // the dense baseline: cuDNN, cuBLASLt or oneDNN on the same weights with their zeros,
             // and kernels of ours that skip none (Family::is_sparse)
};

struct SessionOptions {
  std::int64_t batch = 1;
  Precision precision = Precision::f32;
  KernelChoice choice = KernelChoice::measured;
  std::string family = "";  // non-empty: only this family; a layer that it cannot run is an error
  int sub_batch = 0;        // GPU: images per thread of direct, per warp of sparse_linear:
                            // 1, 2, 4 or 8; 0 measures
  int threads = 0;          // CPU; 0 takes all cores
  std::shared_ptr<ThreadPool> pool = nullptr;  // CPU: threads that sessions share which run one at
                                               // a time, in place of `threads`; null: of its own
  int gpu = 0;                                 // CUDA device number
  bool is_profiled = false;  // keep per-layer timing possible (GPU: no whole-network graph)
  bool use_tf32 = false;     // GPU, f32: dense kernels may round their inputs to TF32
  bool all_plans = false;    // GPU: try all plans that the dense libraries propose, not a few
  bool all_tiles = false;    // GPU: try all tiles of gathered convolutions, not a few

  TimingStore timings = {};  // where measured times are kept, and whether with cold caches
  bool is_survey = false;    // with `measured`: kernels of single layers are timed, those of the
                             // dense baseline only where there is no mask; networks as a whole
                             // are not compared

  bool any_batch = false;  // GPU: plan smaller batches too, so that a run of fewer samples takes
                           // less time; planning takes longer

  // Called while the session is planned, which takes a while where kernels are timed: `done` of
  // `all` steps. May be empty.
  std::function<void(std::size_t done, std::size_t all)> progress = nullptr;
};

// One family's attempt at a layer.
struct CandidateTiming {
  std::string family;  // "direct", "dense", ...
  std::string kernel;  // "direct sub_batch=4 nchw f16", "cudnn nhwc f16 algo 1"
  double ms = 0;       // median, conversions of layout not included; of layers that one launch
                       // computes all their time at the last of them, 0 at the others
  double min_ms = 0;
  double cold_ms = 0;         // median with cold caches; 0: not measured
  std::string rejected = {};  // why it may not be chosen (layer_check.h); then it has no times
};

// What runs one step and what it was chosen from.
struct LayerPlan {
  std::string name;
  std::string op;  // "conv2d", ...
  Shape output_shape;
  std::string family;  // "direct", "dense", "reference", "pool", ...
  std::string kernel;
  std::int64_t macs = 0;                    // dense multiply-accumulates of the batch
  double weight_sparsity = 0;               // 0 for layers without weights
  std::vector<CandidateTiming> candidates;  // empty unless the choice was measured,
                                            // or if the cache knew it (TimingStore)
};

// A network that was timed as a whole while the session was planned. What runs is no slower than
// any, and not the all-dense one ("dense") only if it is faster.
struct NetworkTiming {
  std::string
      name;       // "dense", "fastest by layer", "sparse", "stacked", "7 steps in sub-batches of 8"
  double ms = 0;  // median
  bool is_chosen = false;
};

// Samples that a session runs batch by batch.
struct SampleStream {
  std::int64_t samples = 0;
  std::int64_t batch = 1;        // the session's
  std::int64_t input_size = 0;   // floats of a sample
  std::int64_t output_size = 0;  // floats of a sample

  // Writes the inputs of the samples from `first` on, as many as fit; takes the outputs of such.
  std::function<void(std::int64_t first, std::span<float> inputs)> read;
  std::function<void(std::int64_t first, std::span<const float> outputs)> write;
};

class Session {
 public:
  virtual ~Session() = default;

  // "cpu (Intel Xeon ..., 2 threads, avx512)" or "cuda:0 (NVIDIA H200)".
  virtual std::string device() const = 0;
  virtual std::vector<LayerPlan> layers() const = 0;

  // How many times the choice of kernels took. With a cache that knows all, none is measured.
  virtual TimingCounts timing_counts() const { return {}; }

  // The networks that were compared as wholes; empty where there was no choice, or the cache knew
  // it.
  virtual std::vector<NetworkTiming> network_timings() const { return {}; }

  // Runs one batch and returns when the output is in host memory.
  //
  //   input   [N, C, H, W] (or [N, C, L], [N, L]) already normalised, row-major, host
  //   output  [N, classes...] host
  //
  // Throws Error{usage} if sizes disagree, Error{device} if the device fails.
  virtual void run(std::span<const float> input, std::span<float> output) = 0;

  // Runs all samples, in batches; the last one may be smaller. Calls `read` and `write` for each
  // batch, in order, and `read` for some batches before `write` for earlier ones: a GPU copies and
  // computes at the same time. Throws as run() does, and what they throw.
  virtual void run_all(const SampleStream& stream);

  // Another session of the same plan and weights with memory of its own for activations, so that
  // both can be under way at the same time, each used by one thread at a time. GPU only: others
  // throw Error{usage}. Throws Error{device} if memory runs out.
  virtual std::unique_ptr<Session> share() const;

  // Enqueues a run of up to a batch of samples and returns at once. GPU only: others throw
  // Error{usage}.
  //
  //   input   [samples, C, H, W] (or [samples, C, L], [samples, L]) normalised, row-major fp32, in
  //           memory of the session's GPU
  //   output  [samples, classes...] fp32 in memory of the same GPU; apart from the input
  //   stream  a cudaStream_t of the same GPU; null is the default stream. If it records a graph
  //           the run becomes a part of it
  //
  // Runs of a session follow each other in the order of the calls, on whatever streams; a recorded
  // one runs when its graph does, and the caller keeps it apart from others. Token numbers are not
  // checked: one that is not in the table counts as the nearest that is.
  //
  // Throws Error{usage} for pointers that are not such, or more samples than a batch, Error{device}
  // if the device fails; errors of work under way show at a later call.
  virtual void run_device(const float* input, std::int64_t samples, float* output, void* stream);

  // Whether run_bytes() is there: the first layer's kernel reads bytes.
  virtual bool takes_bytes() const { return false; }

  // As run(), on bytes [N, C, H, W] that stand for what the model's preprocessing says. Gives the
  // bits that run() gives on those inputs. step_outputs() and the timing calls know nothing of it.
  // Throws Error{usage} if sizes disagree or the session takes no bytes.
  virtual void run_bytes(std::span<const std::uint8_t> input, std::span<float> output);

  // Copies the input to the device (or keeps it) for the two timing calls below.
  virtual void set_input(std::span<const float> input) = 0;

  // Milliseconds of `repeats` runs of the whole network, each timed alone: inputs and weights
  // resident, device work only (GPU: one CUDA graph launch between two events; CPU: wall clock).
  virtual std::vector<double> time_network(int warm_up, int repeats) = 0;

  // The same per step: [steps][repeats]. 0 for a step that is computed together with a later one.
  virtual std::vector<std::vector<double>> time_layers(int warm_up, int repeats) = 0;

  // The value of every step of the last run(), by step, as f32 in the graph's row-major order;
  // empty where a step was computed together with a later one. For verification; slow.
  virtual std::vector<std::vector<float>> step_outputs() = 0;
};

}  // namespace winnow
