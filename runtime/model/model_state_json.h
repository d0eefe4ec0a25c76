// What a model holds beside its graph and weights, as JSON text (docs/model-file.md, "meta").
#pragma once

#include <string>
#include <string_view>

#include "runtime/model/model.h"

namespace winnow {

// Fractional bits of fixed-point activations: 2^-bits stays a normal float.
constexpr int kMaxFractionalBits = 126;
constexpr int kMaxActivationBits = 16;

// Deterministic. Throw Error{usage} for text that is not UTF-8 and numbers that are not finite.
std::string checkpoint_state_to_json(const Model& model);
std::string deployed_state_to_json(const DeployedModel& model);

// Fill the fields that the functions above write. Strict: every field present, none unknown.
// `place` begins every message. Throw Error{bad_file}.
void read_checkpoint_state(std::string_view text, const std::string& place, Model& model);
void read_deployed_state(std::string_view text, const std::string& place, DeployedModel& model);

}  // namespace winnow
