#include "runtime/challenge/engines/cpu/cpu_engine.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "runtime/base/error.h"
#include "runtime/base/processor.h"
#include "runtime/challenge/engines/cpu/cpu_run.h"

namespace winnow::challenge {
namespace {

constexpr int kMostBlocks = 1 << 20;

TileKernel kernel_of(Isa isa) {
  switch (isa) {
    case Isa::baseline:
      return baseline_tile_kernel();
    case Isa::avx2:
      return avx2_tile_kernel();
    case Isa::avx512:
      return avx512_tile_kernel();
  }
  return nullptr;
}

Isa widest_isa() {
  for (const Isa isa : {Isa::avx512, Isa::avx2}) {
    if (processor_has(isa) && kernel_of(isa)) return isa;
  }
  return Isa::baseline;
}

TileKernel checked_kernel(Isa isa) {
  if (!processor_has(isa)) fail(ErrorCode::usage, "this processor has no ", to_string(isa));
  const TileKernel kernel = kernel_of(isa);
  if (!kernel) fail(ErrorCode::usage, "this build has no ", to_string(isa), " kernels");
  return kernel;
}

std::uint32_t checked_blocks(int blocks) {
  if (blocks < 1 || blocks > kMostBlocks) {
    fail(ErrorCode::usage, "blocks is ", blocks, ", expected 1 to ", kMostBlocks);
  }
  return static_cast<std::uint32_t>(blocks);
}

// As many slabs as fit most of a usual second-level cache. More images of a batch die before it is
// too small to go on, so that it has at least four slabs even if these do not fit.
std::uint32_t images_of_batch(std::uint32_t neurons) {
  constexpr std::uint64_t kCacheBytes = 5 << 18;  // 1.25 MiB of 1 to 2
  constexpr std::uint64_t kFewest = 4, kMost = 8;
  const std::uint64_t slab = std::max<std::uint64_t>(neurons, 1) * kSlabLanes * sizeof(float);
  const std::uint64_t slabs = std::clamp(kCacheBytes / slab, kFewest + 1, kMost + 1) - 1;
  return static_cast<std::uint32_t>(slabs) * kSlabLanes;
}

class CpuEngine : public Engine {
 public:
  CpuEngine(const Network& network, const EngineOptions& options, Isa isa)
      : isa_(isa),
        kernel_(checked_kernel(isa)),
        blocks_(checked_blocks(options.blocks)),
        progress_(options.progress),
        pool_(options.threads),
        network_(make_cpu_network(network, blocks_, pool_)),
        neurons_(network.neurons()),
        batch_images_(images_of_batch(network_.widest)) {
    for (int t = 0; t < pool_.threads(); ++t) batches_.emplace_back(network_.widest, batch_images_);
  }

  std::string device() const override { return cpu_device_name(pool_.threads()); }

  std::string kernel() const override {
    return std::string(to_string(isa_)) + " fp32, slabs of " + std::to_string(kSlabLanes) +
           " images, batches of " + std::to_string(batch_images_) + ", " + std::to_string(blocks_) +
           " blocks a layer";
  }

  void set_images(const SparseImages& images) override {
    check_neurons(images, neurons_);
    images_ = images;
  }

  Categories run(RunTimes& times) override {
    if (!images_) fail(ErrorCode::usage, "the engine 'cpu' was given no images");
    const CpuSetup setup{.network = network_,
                         .kernel = kernel_,
                         .pool = pool_,
                         .batches = batches_,
                         .batch_images = batch_images_,
                         .progress = progress_};
    const auto start = std::chrono::steady_clock::now();
    CpuRun run(setup, *images_);
    Categories categories = run.run();
    const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - start;
    times = {.inference_ms = ms.count(), .transfer_ms = 0};
    live_ = run.live();
    return categories;
  }

  std::vector<std::uint32_t> live() const override { return live_; }
  std::string discovery() const override { return describe_tiles(network_); }
  double prepare_ms() const override { return network_.prepare_ms; }

 private:
  Isa isa_;
  TileKernel kernel_;
  std::uint32_t blocks_;
  std::function<void(std::uint32_t, std::uint32_t)> progress_;
  ThreadPool pool_;
  CpuNetwork network_;
  std::uint32_t neurons_;
  std::uint32_t batch_images_;
  std::vector<ImageBatch> batches_;  // by thread
  std::optional<SparseImages> images_;
  std::vector<std::uint32_t> live_;
};

}  // namespace

std::unique_ptr<Engine> make_cpu_engine(const Network& network, const EngineOptions& options) {
  return make_cpu_engine(network, options, widest_isa());
}

std::unique_ptr<Engine> make_cpu_engine(const Network& network, const EngineOptions& options,
                                        Isa isa) {
  return std::make_unique<CpuEngine>(network, options, isa);
}

}  // namespace winnow::challenge
