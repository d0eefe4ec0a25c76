#include "runtime/model/weight_parts.h"

#include <algorithm>
#include <cmath>

#include "runtime/base/error.h"
#include "runtime/model/vector_size.h"

namespace winnow {
namespace {

const Tensor* find(const Model& model, const std::string& name) {
  const auto found = model.tensors.find(name);
  return found == model.tensors.end() ? nullptr : &found->second;
}

const Tensor& require(const Model& model, const std::string& name, const std::string& place) {
  const Tensor* tensor = find(model, name);
  if (!tensor) fail(ErrorCode::bad_file, place, ": tensor '", name, "' is missing");
  return *tensor;
}

void require_form(const Tensor& tensor, DataType type, const Shape& shape,
                  const std::string& place) {
  if (tensor.type() == type && tensor.shape() == shape) return;
  fail(ErrorCode::bad_file, place, ": found ", to_string(tensor.type()), " ",
       to_string(tensor.shape()), ", expected ", to_string(type), " ", to_string(shape));
}

void take_scale(WeightParts& parts, const Model& model, const std::string& place) {
  const std::string name = parts.name + ".scale";
  parts.scale = &require(model, name, place);
  require_form(*parts.scale, DataType::f32, {1}, place + ": tensor '" + name + "'");
  const float scale = parts.scale->values<float>()[0];
  if (!std::isfinite(scale) || scale <= 0) {
    fail(ErrorCode::bad_file, place, ": tensor '", name, "': scale is ", scale,
         ", expected a positive number");
  }
  if (std::isfinite(scale * 32768)) return;  // as in a model file: no code is larger
  fail(ErrorCode::bad_file, place, ": tensor '", name, "': scale is ", scale,
       ", so that codes stand for no finite numbers");
}

void take_codebook(WeightParts& parts, const Model& model, const std::string& place) {
  const std::string name = parts.name + ".codebook";
  const std::string here = place + ": tensor '" + name + "'";
  parts.codebook = &require(model, name, place);
  const Shape& shape = parts.codebook->shape();
  const bool fits = parts.codebook->type() == DataType::f16 && shape.size() == 1 && shape[0] >= 1 &&
                    shape[0] <= 256;
  if (!fits) {
    fail(ErrorCode::bad_file, here, ": found ", to_string(parts.codebook->type()), " ",
         to_string(shape), ", expected F16 of 1 to 256 entries");
  }
  const auto entries = parts.codebook->values<Half>();
  if (to_float(entries[0]) != 0) fail(ErrorCode::bad_file, here, ": entry 0 is not 0");
  const auto codes = parts.codes->values<std::uint8_t>();
  const std::size_t largest = codes.empty() ? 0 : *std::max_element(codes.begin(), codes.end());
  if (largest < entries.size()) return;
  fail(ErrorCode::bad_file, place, ": tensor '", parts.name, ".codes': code ", largest,
       " of a codebook with ", entries.size(), " entries");
}

void take_channel_scale(WeightParts& parts, const Model& model, const std::string& place) {
  const std::string name = parts.name + ".channel_scale";
  parts.channel_scale = find(model, name);
  if (!parts.channel_scale) return;
  const std::string here = place + ": tensor '" + name + "'";
  if (!parts.codebook) fail(ErrorCode::bad_file, here, ": scales a weight without a codebook");
  require_form(*parts.channel_scale, DataType::f16, {parts.shape[0]}, here);
  const std::vector<float> scales = to_floats(*parts.channel_scale);
  const auto bad =
      std::find_if(scales.begin(), scales.end(), [](float s) { return !std::isfinite(s); });
  if (bad == scales.end()) return;
  fail(ErrorCode::bad_file, here, ": scale ", bad - scales.begin(), " is not finite");
}

void take_codes(WeightParts& parts, const Model& model, const std::string& place) {
  const DataType type = parts.codes->type();
  const bool is_fixed = type == DataType::i16 || type == DataType::i8;
  require_form(*parts.codes, is_fixed ? type : DataType::u8, parts.shape,
               place + ": tensor '" + parts.name + ".codes'");
  if (is_fixed) {
    take_scale(parts, model, place);
  } else {
    take_codebook(parts, model, place);
  }
}

Shape mask_shape(const WeightParts& parts) {
  Shape shape = parts.shape;
  shape[0] = (shape[0] + parts.vector - 1) / parts.vector;
  return shape;
}

void take_mask(WeightParts& parts, const Model& model, const std::string& node,
               const std::string& place) {
  parts.mask = find(model, parts.name + ".mask");
  const auto vector = model.mask_vector.find(node);
  const bool has_vector = vector != model.mask_vector.end();
  if (has_vector != (parts.mask != nullptr)) {
    fail(ErrorCode::bad_file, place, ": node '", node, "' has ",
         has_vector ? "a mask vector, but no mask" : "a mask, but no mask vector");
  }
  if (!parts.mask) return;
  parts.vector = vector->second;
  if (!is_vector_size(parts.vector)) {
    fail(ErrorCode::bad_file, place, ": node '", node, "': mask vector is ", parts.vector,
         ", expected ", kVectorSizes);
  }
  const std::string here = place + ": tensor '" + parts.name + ".mask'";
  require_form(*parts.mask, DataType::u8, mask_shape(parts), here);
  const auto blocks = parts.mask->values<std::uint8_t>();
  if (std::any_of(blocks.begin(), blocks.end(), [](auto block) { return block > 1; })) {
    fail(ErrorCode::bad_file, here, ": a block is neither 0 nor 1");
  }
}

}  // namespace

bool has_prunable_weight(const Node& node) {
  return std::holds_alternative<Conv>(node.op) || std::holds_alternative<Linear>(node.op);
}

WeightParts weight_parts(const Model& model, const Node& node, const std::string& place) {
  const Parameter weight = parameters_of(node).front();
  WeightParts parts;
  parts.name = weight.name;
  parts.shape = weight.shape;
  parts.dense = find(model, weight.name);
  parts.codes = has_prunable_weight(node) ? find(model, weight.name + ".codes") : nullptr;
  if (!parts.dense && !parts.codes) parts.dense = &require(model, weight.name, place);
  if (parts.dense && parts.codes) {
    fail(ErrorCode::bad_file, place, ": '", weight.name, "' has both values and codes");
  }
  if (parts.dense) {
    require_form(*parts.dense, DataType::f32, parts.shape,
                 place + ": tensor '" + weight.name + "'");
  } else {
    take_codes(parts, model, place);
  }
  take_channel_scale(parts, model, place);
  if (has_prunable_weight(node)) take_mask(parts, model, node.name, place);
  return parts;
}

}  // namespace winnow
