#include "runtime/bench/layer_survey.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "runtime/base/error.h"
#include "runtime/base/random.h"
#include "runtime/bench/random_weight.h"
#include "runtime/plan/program.h"
#include "runtime/plan/timing_table.h"

namespace winnow {
namespace {

constexpr char kLayer[] = "layer";

// A step as a network of its own, with an input, the layer and its relu; without weights.
DeployedModel network_of(const Program& program, const Step& step) {
  DeployedModel model;
  Shape sample = program.values[step.inputs[0]].shape;
  sample.erase(sample.begin());
  model.graph.name = step.name;
  model.graph.nodes = {{"input", Input{sample, false}, {}}, {kLayer, step.op, {"input"}}};
  if (step.has_relu) model.graph.nodes.push_back({"relu", Relu{}, {kLayer}});
  return model;
}

std::vector<float> random_floats(std::int64_t count, Random& random) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& x : values) x = static_cast<float>(random.uniform(-1, 1));
  return values;
}

class Surveyor {
 public:
  Surveyor(const DeployedModel& model, const SurveyOptions& options)
      : options_(options), program_(build_program(model, options.session.batch)) {
    for (const Step& step : program_.steps) {
      if (is_weighted(step)) shapes_.try_emplace(shape_key(program_, step));
    }
    all_ = shapes_.size() * (1 + options.vectors.size() * options.densities.size());
  }

  Survey survey() {
    Survey result;
    result.batch = options_.session.batch;
    for (const Step& step : program_.steps) {
      if (!is_weighted(step)) continue;
      LayerSurvey& known = shapes_.at(shape_key(program_, step));
      if (known.curves.empty()) known = survey_step(step);
      result.layers.push_back(known);
      result.layers.back().name = step.name;
    }
    result.device = device_;
    return result;
  }

 private:
  LayerSurvey survey_step(const Step& step) {
    DeployedModel model = network_of(program_, step);
    const Shape weight = add_bias(model);
    LayerSurvey survey;
    survey.op = op_name(step.op);
    survey.input_shape = program_.values[step.inputs[0]].shape;
    survey.output_shape = program_.values[step.output].shape;
    survey.weights = element_count(weight);
    Random random(options_.seed);
    model.weights[weight_name()] =
        DenseWeight{weight, encode_f32(random_floats(survey.weights, random))};
    survey.dense = fastest(model);
    for (const int vector : options_.vectors) {
      survey.curves.push_back(curve_of(model, weight, vector, survey.dense));
    }
    return survey;
  }

  // The densest first: each point is no slower than the one before.
  SurveyCurve curve_of(DeployedModel& model, const Shape& shape, int vector, SurveyKernel best) {
    SurveyCurve curve{vector, {}};
    const WeightSize size{shape[0], element_count(shape) / shape[0], vector};
    for (auto density = options_.densities.rbegin(); density != options_.densities.rend();
         ++density) {
      model.weights[weight_name()] =
          random_weight(size, 1 - *density, RandomMask::independent, options_.seed);
      const SurveyKernel found = fastest(model);
      if (found.ms < best.ms) best = found;
      curve.points.push_back({*density, best, found.ms});
    }
    std::ranges::reverse(curve.points);
    return curve;
  }

  SurveyKernel fastest(const DeployedModel& model) {
    SessionOptions how = options_.session;
    how.choice = KernelChoice::measured;
    how.is_survey = true;
    how.timings.lists_candidates = true;
    const auto session = make_session(model, options_.device, how);
    device_ = session->device();
    if (options_.progress) options_.progress(++done_, all_);
    for (const LayerPlan& layer : session->layers()) {
      if (layer.candidates.empty() || layer.name != kLayer) continue;
      const CandidateTiming& best = layer.candidates.front();
      return {best.family, best.kernel, best.ms};
    }
    fail(ErrorCode::internal, model.graph.name, ": no kernel was timed");
  }

  static std::string weight_name() { return std::string(kLayer) + ".weight"; }

  // Gives the layer its bias and returns the shape of its weight.
  Shape add_bias(DeployedModel& model) const {
    Shape weight;
    Random random(options_.seed);
    for (const Parameter& parameter : parameters_of(model.graph.nodes[1])) {
      if (parameter.name == weight_name()) {
        weight = parameter.shape;
        continue;
      }
      const std::vector<float> values = random_floats(element_count(parameter.shape), random);
      model.weights[parameter.name] = DenseWeight{parameter.shape, encode_f32(values)};
    }
    return weight;
  }

  const SurveyOptions& options_;
  Program program_;
  std::map<std::string, LayerSurvey> shapes_;
  std::string device_;
  std::size_t done_ = 0, all_ = 0;
};

}  // namespace

Survey survey_layers(const DeployedModel& model, const SurveyOptions& options) {
  return Surveyor(model, options).survey();
}

}  // namespace winnow
