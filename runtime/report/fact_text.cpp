#include "runtime/report/fact_text.h"

#include <cmath>

#include "runtime/base/number_text.h"

namespace winnow {
namespace {

constexpr double kLargestWritten = 1e15;  // with all digits; no result is larger

}  // namespace

std::string decimal(double value, int digits) {
  return std::abs(value) <= kLargestWritten ? fixed(value, digits) : general(value, 4);
}

std::string percent(std::optional<double> fraction) {
  return fraction ? decimal(100 * *fraction, 2) + " %" : "-";
}

std::string bytes(std::optional<double> count) {
  return count ? decimal(*count, 0) + " bytes" : "-";
}

std::string ratio(std::optional<double> whole, std::optional<double> part) {
  return whole && part && *part > 0 ? " (" + decimal(*whole / *part, 1) + "x smaller)" : "";
}

std::string per_image(std::optional<double> batch_ms, std::int64_t batch) {
  return batch_ms ? decimal(*batch_ms / static_cast<double>(batch), 4) + " ms" : "-";
}

}  // namespace winnow
