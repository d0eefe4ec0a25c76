#include "prune/config/fields.h"

#include <cmath>
#include <sstream>

namespace winnow {
namespace {

std::string number(double value) {
  std::ostringstream text;
  text.precision(15);
  text << value;
  return text.str();
}

}  // namespace

std::string describe(const Range& range, const std::string& name) {
  std::string text = name;
  if (std::isfinite(range.lowest)) {
    text = number(range.lowest) + (range.excludes_lowest ? " < " : " <= ") + text;
  }
  if (std::isfinite(range.highest)) {
    text += (range.excludes_highest ? " < " : " <= ") + number(range.highest);
  }
  return text == name ? "" : text;
}

bool contains(const Range& range, double value) {
  const bool is_above = range.excludes_lowest ? value > range.lowest : value >= range.lowest;
  const bool is_below = range.excludes_highest ? value < range.highest : value <= range.highest;
  return is_above && is_below;  // false for not-a-number
}

}  // namespace winnow
