#include "runtime/challenge/engines/reference/reference_engine.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/base/processor.h"
#include "runtime/base/thread_pool.h"
#include "runtime/challenge/engines/reference/compact_layer.h"

namespace winnow::challenge {
namespace {

using Values = std::vector<double>;

void set_inputs(const SparseImages& images, std::uint32_t image, Values& values) {
  values.assign(images.neurons, 0);
  for (std::uint64_t k = images.row_begin[image]; k < images.row_begin[image + std::size_t{1}];
       ++k) {
    values[images.neuron[k]] = 1;
  }
}

bool is_live(const Values& values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return value != 0; });
}

// What one thread has found.
struct Findings {
  Categories categories;
  std::vector<std::uint32_t> live;
};

class ReferenceEngine : public Engine {
 public:
  ReferenceEngine(const Network& network, const EngineOptions& options)
      : progress_(options.progress), pool_(options.threads), neurons_(network.neurons()) {
    for (std::uint32_t l = 0; l < network.layers(); ++l) layers_.emplace_back(network.layer(l));
  }

  std::string device() const override { return cpu_device_name(pool_.threads()); }

  std::string kernel() const override { return "plain loops, fp64"; }

  void set_images(const SparseImages& images) override {
    check_neurons(images, neurons_);
    images_ = images;
  }

  Categories run(RunTimes& times) override {
    if (!images_) fail(ErrorCode::usage, "the engine 'reference' was given no images");
    const auto start = std::chrono::steady_clock::now();
    const Findings all = run_all();
    const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - start;
    times = {.inference_ms = ms.count(), .transfer_ms = 0};
    live_ = all.live;
    return all.categories;
  }

  std::vector<std::uint32_t> live() const override { return live_; }

 private:
  Findings run_all() {
    std::vector<Findings> of_threads(static_cast<std::size_t>(pool_.threads()));
    std::atomic<std::uint32_t> next = 0;
    std::atomic<bool> is_stopping = false;
    const std::uint32_t images = images_->images();
    pool_.run([&, images](int thread) {
      Findings& found = of_threads[static_cast<std::size_t>(thread)];
      found.live.resize(layers_.size() + 1);
      try {
        for (std::uint32_t i = next++; i < images && !is_stopping; i = next++) {
          run_image(i, found);
          if (thread == 0) report(i, images);
        }
      } catch (...) {
        is_stopping = true;
        throw;
      }
    });
    if (progress_) progress_(layers(), layers());
    return sum_of(of_threads);
  }

  void run_image(std::uint32_t image, Findings& found) const {
    Values values, next;
    set_inputs(*images_, image, values);
    std::size_t l = 0;
    for (; is_live(values); ++l) {
      ++found.live[l];
      if (l == layers_.size()) return found.categories.push_back(image);
      layers_[l].run(values, next);
      std::swap(values, next);
    }
  }

  // All layers of some images count as some layers of all images.
  void report(std::uint32_t image, std::uint32_t images) const {
    if (!progress_) return;
    const std::uint64_t work = std::uint64_t{layers()} * image;
    progress_(static_cast<std::uint32_t>(work / images), layers());
  }

  Findings sum_of(const std::vector<Findings>& of_threads) const {
    Findings all{.categories = {}, .live = std::vector<std::uint32_t>(layers_.size() + 1)};
    for (const Findings& found : of_threads) {
      all.categories.insert(all.categories.end(), found.categories.begin(), found.categories.end());
      std::transform(found.live.begin(), found.live.end(), all.live.begin(), all.live.begin(),
                     std::plus());
    }
    std::sort(all.categories.begin(), all.categories.end());
    return all;
  }

  std::uint32_t layers() const { return static_cast<std::uint32_t>(layers_.size()); }

  std::function<void(std::uint32_t, std::uint32_t)> progress_;
  ThreadPool pool_;
  std::uint32_t neurons_;
  std::vector<CompactLayer> layers_;
  std::optional<SparseImages> images_;
  std::vector<std::uint32_t> live_;
};

}  // namespace

std::unique_ptr<Engine> make_reference_engine(const Network& network,
                                              const EngineOptions& options) {
  return std::make_unique<ReferenceEngine>(network, options);
}

}  // namespace winnow::challenge
