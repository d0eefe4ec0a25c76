// One run of the engine `cpu` over all images.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/base/thread_pool.h"
#include "runtime/challenge/engine.h"
#include "runtime/challenge/engines/cpu/cpu_network.h"
#include "runtime/challenge/engines/cpu/image_tasks.h"

namespace winnow::challenge {

// What a run needs and does not change, beside the batches, of which each thread has one. All must
// outlive the run.
struct CpuSetup {
  const CpuNetwork& network;
  TileKernel kernel;
  ThreadPool& pool;
  std::vector<ImageBatch>& batches;
  std::uint32_t batch_images;                                         // the most that a batch holds
  const std::function<void(std::uint32_t, std::uint32_t)>& progress;  // as in EngineOptions
};

// Images go through the layers in batches that fit the cache. When most images of a batch have
// died, the others wait and go on together with those of other batches, so that no instruction
// computes dead ones for long: a pass takes all that wait before the same layer. Where there are
// fewer images than the threads can share, they share the blocks of each layer instead.
class CpuRun {
 public:
  CpuRun(const CpuSetup& setup, const SparseImages& images);

  Categories run();

  // As Engine::live(), after run().
  std::vector<std::uint32_t> live() const;

 private:
  // Where a task ended.
  struct Outcome {
    std::uint32_t layer = 0;               // layers done
    std::vector<std::uint32_t> survivors;  // if these were all, else
    WaitingImages waiting;
  };
  struct Pass {
    std::uint32_t first = 0, last = 0;  // layers
    std::vector<ImageTask> tasks;
    std::vector<Outcome> outcomes;      // [tasks]
    std::atomic<std::size_t> next = 0;  // task
    std::atomic<std::size_t> done = 0;  // tasks
    std::uint32_t deepest = 0;          // layer that the caller's thread has reached
  };
  enum class Sharing { images, blocks };  // among threads

  std::uint32_t layers() const { return static_cast<std::uint32_t>(setup_.network.layers.size()); }
  std::uint32_t threads() const { return static_cast<std::uint32_t>(setup_.pool.threads()); }

  // Runs what waits before `layer` and sorts what comes out.
  void run_from(std::uint32_t layer);
  void run_tasks(Pass& pass, Sharing sharing);
  void run_task(Pass& pass, std::size_t task, std::size_t thread, Sharing sharing);
  void run_layer(ImageBatch& batch, const CpuLayer& layer, Sharing sharing);
  void report(Pass& pass, std::uint32_t layer);

  const CpuSetup& setup_;
  const SparseImages& images_;
  std::vector<std::uint32_t> fresh_;                 // images that wait before layer 0
  std::vector<std::vector<WaitingImages>> waiting_;  // [layers], by layer
  std::vector<std::vector<std::uint32_t>> live_;     // [threads][layers + 1]
  Categories categories_;
  std::atomic<bool> is_stopping_ = false;
};

}  // namespace winnow::challenge
