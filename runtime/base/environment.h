// Variables of the environment, and numbers that they hold.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace winnow {

// The value of a variable, or nothing if it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// The variables of this process.
std::optional<std::string> process_environment(const std::string& name);

// The number that the variable holds, or nothing if it is not set. Throws Error{usage} with its
// name if that is no whole number from `lowest` to `highest`.
std::optional<std::int64_t> environment_number(const Environment& environment,
                                               const std::string& name, std::int64_t lowest,
                                               std::int64_t highest);

}  // namespace winnow
