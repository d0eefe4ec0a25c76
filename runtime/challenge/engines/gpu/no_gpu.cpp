// The twin of gpu_engines.cpp for builds without CUDA.
#include "runtime/base/error.h"
#include "runtime/challenge/engines/gpu/gpu_engines.h"

namespace winnow::challenge {

int visible_gpus() {
  return 0;
}

std::unique_ptr<Engine> make_gpu_engine(const std::string& name, const Network&,
                                        const EngineOptions& options) {
  fail(ErrorCode::device, "engine ", name, " on GPU ", options.gpu, ": built without CUDA");
}

}  // namespace winnow::challenge
