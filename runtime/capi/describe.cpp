// What a library and an engine say of themselves.
#include <algorithm>
#include <string>
#include <variant>

#include "runtime/base/version.h"
#include "runtime/capi/guard.h"

namespace {

// A sample's sizes without those that every graph has at the front, the batch.
int32_t shape_of(const winnow_engine* engine, bool is_output, int64_t* sizes, int32_t most) {
  if (!engine) return 0;
  const auto shapes = winnow::infer_shapes(engine->engine.model().graph, 1);
  const winnow::Shape& shape = is_output ? shapes.back() : shapes.front();
  for (std::size_t i = 1; sizes && i < shape.size() && static_cast<int32_t>(i) <= most; ++i) {
    sizes[i - 1] = shape[i];
  }
  return static_cast<int32_t>(shape.size()) - 1;
}

void copy_or_fill(const std::vector<float>& values, float fill, int32_t count, float* out) {
  for (int32_t c = 0; out && c < count; ++c) {
    out[c] = values.empty() ? fill : values[static_cast<std::size_t>(c)];
  }
}

void copy_sides(const winnow::Sides& sides, int64_t* out) {
  if (!out) return;
  out[0] = sides.height;
  out[1] = sides.width;
}

}  // namespace

int32_t winnow_abi_version(void) {
  return WINNOW_ABI_VERSION;
}

const char* winnow_version(void) {
  static const std::string text = winnow::full_version_text();
  return text.c_str();
}

int64_t winnow_batch(const winnow_engine* engine) {
  return engine ? engine->how.batch : 0;
}

int64_t winnow_input_size(const winnow_engine* engine) {
  return engine ? engine->engine.input_size() : 0;
}

int64_t winnow_output_size(const winnow_engine* engine) {
  return engine ? engine->engine.output_size() : 0;
}

int32_t winnow_input_shape(const winnow_engine* engine, int64_t* sizes, int32_t most) {
  return shape_of(engine, false, sizes, most);
}

int32_t winnow_output_shape(const winnow_engine* engine, int64_t* sizes, int32_t most) {
  return shape_of(engine, true, sizes, most);
}

int32_t winnow_classes(const winnow_engine* engine) {
  return engine ? static_cast<int32_t>(engine->engine.model().classes.size()) : 0;
}

const char* winnow_class_name(const winnow_engine* engine, int32_t index) {
  if (index < 0 || index >= winnow_classes(engine)) return nullptr;
  return engine->engine.model().classes[static_cast<std::size_t>(index)].c_str();
}

int32_t winnow_preprocessing(const winnow_engine* engine, float* mean, float* deviation,
                             int32_t most) {
  if (!engine) return 0;
  const winnow::DeployedModel& model = engine->engine.model();
  const auto& input = std::get<winnow::Input>(model.graph.nodes.front().op);
  if (input.is_tokens) return 0;
  const auto channels = static_cast<int32_t>(input.shape.front());
  const int32_t count = std::clamp(most, 0, channels);
  copy_or_fill(model.preprocessing.mean, 0.0f, count, mean);
  copy_or_fill(model.preprocessing.deviation, 1.0f, count, deviation);
  return channels;
}

int32_t winnow_picture_form(const winnow_engine* engine, int64_t* resize, int64_t* crop) {
  const winnow::PictureForm form =
      engine ? engine->engine.model().preprocessing.pictures : winnow::PictureForm{};
  copy_sides(form.resize, resize);
  copy_sides(form.crop, crop);
  return form.is_given() ? 1 : 0;
}

const char* winnow_interpolation(const winnow_engine* engine) {
  if (!engine) return "";
  // The names are literals, so the text ends where the view does.
  return winnow::to_string(engine->engine.model().preprocessing.pictures.interpolation).data();
}

const char* winnow_device(const winnow_engine* engine) {
  return engine ? engine->device.c_str() : "";
}

const char* winnow_notice(const winnow_engine* engine) {
  return engine ? engine->notice.c_str() : "";
}

const char* winnow_plan_json(const winnow_engine* engine) {
  return engine ? engine->plan.c_str() : "";
}

const char* winnow_last_error(void) {
  return winnow::capi::last_error();
}
