// The twin of gpu_session.cpp and gpu_info.cpp for builds without CUDA.
#include "runtime/base/error.h"
#include "runtime/gpu/session/gpu_session.h"

namespace winnow {

bool gpu_is_available() {
  return false;
}

std::string gpu_unavailable_reason() {
  return "built without CUDA";
}

std::string gpu_description(int gpu) {
  fail(ErrorCode::device, "GPU ", gpu, ": built without CUDA");
}

TimingPlace gpu_timing_place(int gpu) {
  fail(ErrorCode::device, "GPU ", gpu, ": built without CUDA");
}

std::vector<LibraryFacts> gpu_libraries() {
  return {};
}

std::unique_ptr<Session> make_gpu_session(const DeployedModel&, const SessionOptions& options) {
  fail(ErrorCode::device, "GPU ", options.gpu, ": built without CUDA");
}

}  // namespace winnow
