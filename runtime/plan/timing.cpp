#include "runtime/plan/timing.h"

#include <algorithm>
#include <utility>

#include "runtime/base/median.h"
#include "runtime/base/version.h"

namespace winnow {
namespace {

constexpr int kTimingRevision = 4;

}  // namespace

Timing timing_of(const std::vector<double>& ms) {
  Timing timing;
  timing.median_ms = median(ms);
  timing.min_ms = *std::ranges::min_element(ms);
  timing.runs = static_cast<int>(ms.size());
  return timing;
}

Timing rejected_for(std::string reason) {
  Timing timing;
  timing.rejected = std::move(reason);
  return timing;
}

std::string timing_version() {
  return "winnow " + version_text() + " timings " + std::to_string(kTimingRevision);
}

}  // namespace winnow
