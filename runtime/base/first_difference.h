// Where two texts differ, for messages.
#pragma once

#include <string>

namespace winnow {

// Names the first line in which two texts differ: "'a: 1' there, 'a: 2' now".
std::string first_difference(const std::string& there, const std::string& here);

}  // namespace winnow
