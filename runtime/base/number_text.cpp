#include "runtime/base/number_text.h"

#include <iomanip>
#include <sstream>

namespace winnow {
namespace {

std::string number_text(double value, int digits, std::ios_base::fmtflags form) {
  std::ostringstream text;
  text.setf(form, std::ios_base::floatfield);
  text << std::setprecision(digits) << value;
  return text.str();
}

}  // namespace

std::string fixed(double value, int digits) {
  return number_text(value, digits, std::ios_base::fixed);
}

std::string scientific(double value, int digits) {
  return number_text(value, digits, std::ios_base::scientific);
}

std::string general(double value, int digits) {
  return number_text(value, digits, {});
}

}  // namespace winnow
