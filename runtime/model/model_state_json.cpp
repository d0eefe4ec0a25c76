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

// Files of networks without such settings do not have the field.
Json pictures_json(const PictureForm& form) {
  return {{"resize", text_of(form.resize)},
          {"crop", text_of(form.crop)},
          {"interpolation", to_string(form.interpolation)}};
}

PictureForm read_pictures(const std::map<std::string, std::string>& texts,
                          const std::string& place) {
  const auto of = [&](const char* key) {
    const auto found = texts.find(key);
    if (found == texts.end()) fail(ErrorCode::bad_file, place, ": field '", key, "' is missing");
    return found->second;
  };
  try {
    const PictureForm form = {resize_from(of("resize"), "resize"), crop_from(of("crop"), "crop"),
                              interpolation_from(of("interpolation"))};
    if (texts.size() == 3) return form;
  } catch (const Error& error) {
    fail(ErrorCode::bad_file, place, ": ", error.what());
  }
  fail(ErrorCode::bad_file, place, ": found ", texts.size(), " fields, expected 3");
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
  if (model.preprocessing.pictures != PictureForm{}) {
    state["preprocessing"]["pictures"] = pictures_json(model.preprocessing.pictures);
  }
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
  if (preprocessing.has("pictures")) {
    model.preprocessing.pictures =
        read_pictures(preprocessing.string_map("pictures"), place + ": preprocessing: pictures");
  }
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
