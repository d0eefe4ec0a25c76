#include "runtime/base/environment.h"

#include <charconv>
#include <cstdlib>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {

std::optional<std::string> process_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

std::optional<std::int64_t> environment_number(const Environment& environment,
                                               const std::string& name, std::int64_t lowest,
                                               std::int64_t highest) {
  const std::optional<std::string> text = environment(name);
  if (!text) return std::nullopt;
  std::int64_t value = 0;
  const char* end = text->data() + text->size();
  const auto [last, problem] = std::from_chars(text->data(), end, value);
  if (problem != std::errc() || last != end || value < lowest || value > highest) {
    fail(ErrorCode::usage, "environment: ", name, ": found ", in_quotes(*text),
         ", expected a whole number from ", lowest, " to ", highest);
  }
  return value;
}

}  // namespace winnow
