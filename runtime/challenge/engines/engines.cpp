#include "runtime/challenge/engines/engines.h"

#include <algorithm>
#include <chrono>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/challenge/engines/cpu/cpu_engine.h"
#include "runtime/challenge/engines/gpu/gpu_engines.h"
#include "runtime/challenge/engines/reference/reference_engine.h"
#include "runtime/challenge/engines/split_engine.h"
#include "runtime/challenge/fold.h"

namespace winnow::challenge {
namespace {

struct CpuEntry {
  const char* name;
  std::unique_ptr<Engine> (*make)(const Network&, const EngineOptions&);
};

constexpr CpuEntry kCpuEngines[] = {{"reference", make_reference_engine}, {"cpu", make_cpu_engine}};

std::unique_ptr<Engine> make_unfolded(const std::string& name, const Network& network,
                                      const EngineOptions& options) {
  for (const CpuEntry& entry : kCpuEngines) {
    if (name == entry.name) return entry.make(network, options);
  }
  if (options.gpus.empty()) return make_gpu_engine(name, network, options);
  const auto parts = static_cast<int>(options.gpus.size());
  return std::make_unique<SplitEngine>(parts, [&](int part) {
    EngineOptions of_part = options;
    of_part.gpu = options.gpus[static_cast<std::size_t>(part)];
    if (part > 0) of_part.progress = nullptr;
    return make_gpu_engine(name, network, of_part);
  });
}

// An engine for a folded network that tells so.
class FoldingEngine : public Engine {
 public:
  FoldingEngine(const std::string& name, const Network& network, const EngineOptions& options) {
    const auto start = std::chrono::steady_clock::now();
    const FoldedNetwork folded = fold_equal_outputs(network);
    const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - start;
    fold_ms_ = ms.count();
    discovery_ = std::to_string(folded.kept_outputs) + " of " + std::to_string(folded.outputs) +
                 " outputs left by folding";
    engine_ = make_unfolded(name, folded.network, options);
  }

  std::string device() const override { return engine_->device(); }
  DeviceClocks clocks() const override { return engine_->clocks(); }
  std::string kernel() const override { return engine_->kernel(); }
  void set_images(const SparseImages& images) override { engine_->set_images(images); }
  Categories run(RunTimes& times) override { return engine_->run(times); }
  std::vector<std::uint32_t> live() const override { return engine_->live(); }
  std::string discovery() const override {
    const std::string own = engine_->discovery();
    return own.empty() ? discovery_ : discovery_ + "; " + own;
  }
  double prepare_ms() const override { return fold_ms_ + engine_->prepare_ms(); }

 private:
  double fold_ms_ = 0;
  std::string discovery_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace

std::vector<std::string> engine_names() {
  std::vector<std::string> names;
  for (const CpuEntry& entry : kCpuEngines) names.emplace_back(entry.name);
  names.insert(names.end(), kGpuEngines.begin(), kGpuEngines.end());
  return names;
}

std::string current_engine_name(const std::string& name) {
  return name == "shared" ? "grouped" : name;
}

void check_engine(const std::string& name, const EngineOptions& options) {
  const std::vector<std::string> known = engine_names();
  if (std::ranges::find(known, name) == known.end()) {
    fail(ErrorCode::usage, "engine ", in_quotes(name), " is not known", suggestion(name, known));
  }
  const bool is_cpu =
      std::ranges::any_of(kCpuEngines, [&](const CpuEntry& entry) { return name == entry.name; });
  if (is_cpu && !options.gpus.empty()) {
    fail(ErrorCode::usage, "engine ", name, ": runs on no GPU");
  }
}

std::unique_ptr<Engine> make_engine(const std::string& name, const Network& network,
                                    const EngineOptions& options) {
  check_engine(name, options);
  if (options.fold) return std::make_unique<FoldingEngine>(name, network, options);
  return make_unfolded(name, network, options);
}

}  // namespace winnow::challenge
