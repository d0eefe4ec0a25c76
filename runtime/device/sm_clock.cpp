#include "runtime/device/sm_clock.h"

#include <cuda_runtime_api.h>

#include "runtime/base/error.h"
#include "runtime/device/dynamic_library.h"

namespace winnow {
namespace {

// From NVML's documentation: no header of it is needed to build.
constexpr int kNvmlSuccess = 0;
constexpr int kNvmlClockSm = 1;
constexpr int kBusIdBytes = 32;

}  // namespace

struct SmClock::Nvml {
  using Device = void*;

  explicit Nvml(int gpu)
      : library(DynamicLibrary::open({"libnvidia-ml.so.1"}, {})),
        shutdown(library.function<int (*)()>("nvmlShutdown")),
        clock_info(library.function<int (*)(Device, int, unsigned*)>("nvmlDeviceGetClockInfo")) {
    const auto find =
        library.function<int (*)(const char*, Device*)>("nvmlDeviceGetHandleByPciBusId_v2");
    is_open = library.function<int (*)()>("nvmlInit_v2")() == kNvmlSuccess;
    char bus_id[kBusIdBytes] = {};
    const bool is_named = cudaDeviceGetPCIBusId(bus_id, kBusIdBytes, gpu) == cudaSuccess;
    if (!is_open || !is_named || find(bus_id, &device) != kNvmlSuccess) device = nullptr;
  }
  ~Nvml() {
    if (is_open) shutdown();
  }

  DynamicLibrary library;
  int (*shutdown)();
  int (*clock_info)(Device, int, unsigned*);
  bool is_open = false;
  Device device = nullptr;
};

SmClock::SmClock(int gpu) {
  try {
    nvml_ = std::make_unique<Nvml>(gpu);
  } catch (const Error&) {  // no NVML: no readings
  }
}

SmClock::~SmClock() = default;

int SmClock::mhz() const {
  unsigned found = 0;
  if (nvml_ == nullptr || nvml_->device == nullptr) return 0;
  const int status = nvml_->clock_info(nvml_->device, kNvmlClockSm, &found);
  return status == kNvmlSuccess ? static_cast<int>(found) : 0;
}

}  // namespace winnow
