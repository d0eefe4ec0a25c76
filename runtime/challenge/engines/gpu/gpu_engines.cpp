#include "runtime/challenge/engines/gpu/gpu_engines.h"

#include "runtime/base/error.h"
#include "runtime/challenge/engines/gpu/engine_makers.h"
#include "runtime/device/gpu.h"

namespace winnow::challenge {
namespace {

using Maker = std::unique_ptr<Engine> (*)(const Network&, const EngineOptions&);

struct Entry {
  std::string_view name;
  Maker make;
};

// The makers of kGpuEngines, in its order.
constexpr std::array<Entry, kGpuEngines.size()> kEntries = {{
    {"tiled", make_tiled_engine},
    {"cusparse", make_cusparse_engine},
    {"cusparse-buffer", make_cusparse_buffer_engine},
    {"cusparse-filter", make_cusparse_filter_engine},
    {"cusparse-spmm", make_cusparse_spmm_engine},
    {"fused", make_fused_engine},
    {"grouped", make_grouped_engine},
}};

constexpr bool all_are_there() {
  for (std::size_t i = 0; i < kEntries.size(); ++i) {
    if (kEntries[i].name != kGpuEngines[i]) return false;
  }
  return true;
}
static_assert(all_are_there());

}  // namespace

int visible_gpus() {
  return gpu_count();
}

std::unique_ptr<Engine> make_gpu_engine(const std::string& name, const Network& network,
                                        const EngineOptions& options) {
  select_gpu(options.gpu);
  for (const Entry& entry : kEntries) {
    if (entry.name == name) return entry.make(network, options);
  }
  fail(ErrorCode::usage, "there is no GPU engine ", name);
}

}  // namespace winnow::challenge
