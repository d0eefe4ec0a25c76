#include "runtime/challenge/engines/engines.h"

#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/challenge/engines/cpu/cpu_engine.h"
#include "runtime/challenge/engines/gpu/gpu_engines.h"
#include "runtime/challenge/engines/reference/reference_engine.h"
#include "runtime/challenge/engines/split_engine.h"

namespace winnow::challenge {
namespace {

struct CpuEntry {
  const char* name;
  std::unique_ptr<Engine> (*make)(const Network&, const EngineOptions&);
};

constexpr CpuEntry kCpuEngines[] = {{"reference", make_reference_engine}, {"cpu", make_cpu_engine}};

void check_streams(const std::string& name, const EngineOptions& options) {
  if (options.streams < 0 || options.streams > kMostStreams) {
    fail(ErrorCode::usage, "streams is ", options.streams, ", expected 0 to ", kMostStreams);
  }
  if (options.streams <= 1) return;
  if (std::ranges::find(kStreamEngines, name) == kStreamEngines.end()) {
    fail(ErrorCode::usage, "engine ", name, ": does not divide images over streams; ",
         kStreamEngines[0], ", ", kStreamEngines[1], " and ", kStreamEngines[2], " do");
  }
  if (options.weight_bytes > 0) {
    fail(ErrorCode::usage, "engine ", name,
         ": weights of limited memory come from host memory, for one stream only");
  }
}

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

bool runs_on_gpu(const std::string& name) {
  return std::ranges::none_of(kCpuEngines,
                              [&](const CpuEntry& entry) { return name == entry.name; });
}

void check_engine(const std::string& name, const EngineOptions& options) {
  const std::vector<std::string> known = engine_names();
  if (std::ranges::find(known, name) == known.end()) {
    fail(ErrorCode::usage, "engine ", in_quotes(name), " is not known", suggestion(name, known));
  }
  if (!runs_on_gpu(name) && !options.gpus.empty()) {
    fail(ErrorCode::usage, "engine ", name, ": runs on no GPU");
  }
  if (name == "grouped" && !options.use_half) {
    fail(ErrorCode::usage, "engine grouped: needs fp16 activations, which --no-half forbids");
  }
  check_streams(name, options);
}

std::unique_ptr<Engine> make_engine(const std::string& name, const Network& network,
                                    const EngineOptions& options) {
  check_engine(name, options);
  for (const CpuEntry& entry : kCpuEngines) {
    if (name == entry.name) return entry.make(network, options);
  }
  if (options.gpus.empty()) return make_gpu_engine(name, network, options);
  const auto shares = static_cast<int>(options.gpus.size());
  return std::make_unique<SplitEngine>(shares, [&](int share) {
    EngineOptions of_share = options;
    of_share.gpu = options.gpus[static_cast<std::size_t>(share)];
    if (share > 0) of_share.progress = of_share.loading = nullptr;
    return make_gpu_engine(name, network, of_share);
  });
}

}  // namespace winnow::challenge
