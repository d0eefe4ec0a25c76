// JSON from untrusted text, for sources of this folder only (no public header shows JSON).
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

namespace winnow {

struct JsonLimits {
  std::size_t bytes = std::size_t{1} << 20;
  std::size_t depth = 16;  // nested arrays and objects
};

// Parses the whole text. Throws Error{bad_file} beginning with `place` if it is no JSON, exceeds
// the limits or has a key twice in one object.
nlohmann::json parse_strict_json(std::string_view text, std::string_view place,
                                 const JsonLimits& limits = {});

}  // namespace winnow
