// The clock at which a GPU's SMs run, from NVML, which is opened at run time.
#pragma once

#include <memory>

namespace winnow {

class SmClock {
 public:
  // Without NVML, or where it does not know the GPU, there are no readings.
  explicit SmClock(int gpu);
  ~SmClock();
  SmClock(const SmClock&) = delete;
  SmClock& operator=(const SmClock&) = delete;

  // MHz at this moment; 0 where it cannot be read.
  int mhz() const;

 private:
  struct Nvml;
  std::unique_ptr<Nvml> nvml_;
};

}  // namespace winnow
