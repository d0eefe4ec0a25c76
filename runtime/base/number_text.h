// Numbers as text for people, however large they are.
#pragma once

#include <string>

namespace winnow {

// "0.1250" for 0.125 and 4 digits after the point.
std::string fixed(double value, int digits);

// "1.25e-03" for 0.00125 and 2 digits after the point.
std::string scientific(double value, int digits);

// At most `digits` significant digits, as short as they allow: "12.5", "1.2e+06".
std::string general(double value, int digits);

}  // namespace winnow
