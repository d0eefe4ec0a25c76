#include "runtime/model/model_state_json.h"

#include <cmath>

#include "runtime/base/error.h"
#include "runtime/model/json_fields.h"
#include "runtime/model/strict_json.h"

namespace winnow {
namespace {

using Json = nlohmann::json;

// A float as a double prints with enough digits to come back bit for bit.
Json numbers(const std::vector<float>& values, const std::string& place) {
  Json array = Json::array();
  for (const float value : values) {
    if (!std::isfinite(value)) fail(ErrorCode::usage, place, ": preprocessing is not finite");
    array.push_back(static_cast<double>(value));
  }
  return array;
}

// The fields that Model and DeployedModel share.
template <typename AnyModel>
Json shared_state(const AnyModel& model) {
  const std::string& place = model.graph.name;
  Json state;
  state["activation_bits"] = model.activation_bits;
  state["activation_frac"] = model.activation_frac;
  state["classes"] = model.classes;
  state["preprocessing"]["mean"] = numbers(model.preprocessing.mean, place);
  state["preprocessing"]["deviation"] = numbers(model.preprocessing.deviation, place);
  return state;
}

template <typename AnyModel>
void read_shared_state(JsonFields& fields, const std::string& place, AnyModel& model) {
  model.activation_bits =
      static_cast<int>(fields.integer("activation_bits", 0, kMaxActivationBits));
  model.activation_frac =
      fields.integers("activation_frac", -kMaxFractionalBits, kMaxFractionalBits);
  model.classes = fields.strings("classes");
  JsonFields preprocessing(fields.value("preprocessing"), place + ": preprocessing");
  model.preprocessing.mean = preprocessing.floats("mean");
  model.preprocessing.deviation = preprocessing.floats("deviation");
  preprocessing.finish();
}

}  // namespace

std::string checkpoint_state_to_json(const Model& model) {
  Json state = shared_state(model);
  state["mask_vector"] = model.mask_vector;
  return dump_json(state, model.graph.name);
}

std::string deployed_state_to_json(const DeployedModel& model) {
  Json state = shared_state(model);
  state["metadata"] = model.metadata;
  return dump_json(state, model.graph.name);
}

void read_checkpoint_state(std::string_view text, const std::string& place, Model& model) {
  const Json state = parse_strict_json(text, place);
  JsonFields fields(state, place);
  read_shared_state(fields, place, model);
  model.mask_vector = fields.integers("mask_vector", 1, 32);
  fields.finish();
}

void read_deployed_state(std::string_view text, const std::string& place, DeployedModel& model) {
  const Json state = parse_strict_json(text, place);
  JsonFields fields(state, place);
  read_shared_state(fields, place, model);
  model.metadata = fields.string_map("metadata");
  fields.finish();
}

}  // namespace winnow
