#include "runtime/base/first_difference.h"

#include <sstream>

namespace winnow {

std::string first_difference(const std::string& there, const std::string& here) {
  std::istringstream a(there), b(here);
  std::string line_a, line_b;
  while (std::getline(a, line_a) && std::getline(b, line_b)) {
    if (line_a != line_b) return "'" + line_a + "' there, '" + line_b + "' now";
  }
  return "their lengths";
}

}  // namespace winnow
