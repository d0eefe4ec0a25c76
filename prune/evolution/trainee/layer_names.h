// How `exclude` and `layer_limits` name layers: by a name, or by a regular expression.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "prune/evolution/trainee/trainee.h"

namespace winnow {

// True for a text that begins and ends with '/': what stands between is a regular expression
// (ECMAScript) for whole names. A layer whose name is this text exactly is meant all the same.
bool is_layer_pattern(const std::string& text);

// Throws Error{usage} if `text` is a pattern whose expression is none; `key` begins the message.
void check_layer_pattern(const char* key, const std::string& text);

// Indices of the layers that `text` names, or has a member of, at least one, in order. Throws
// Error{usage} with near names if there is none; `key` begins the message.
std::vector<std::size_t> layers_named(const std::string& text, const char* key,
                                      const std::vector<PrunableLayer>& layers);

}  // namespace winnow
