#include "runtime/bench/layer_survey.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <variant>

#include "runtime/base/error.h"
#include "runtime/base/random.h"
#include "runtime/bench/random_weight.h"
#include "runtime/bench/statistics.h"
#include "runtime/plan/program.h"
#include "runtime/plan/timing_table.h"
#include "runtime/verify/random_input.h"

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
      : model_(model), options_(options), program_(build_program(model, options.session.batch)) {
    for (const Step& step : program_.steps) {
      if (is_weighted(step)) shapes_.try_emplace(shape_key(program_, step));
    }
    all_ = shapes_.size() * (1 + options.vectors.size() * options.densities.size()) + 1 +
           options.vectors.size();
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
    result.dense_ms = time_network(model_, KernelChoice::dense);
    for (std::size_t i = 0; i < options_.vectors.size(); ++i) {
      result.masked.push_back(survey_masked(i, result));
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

  // The whole network under masks of vectors[i], at a density that pruned networks have.
  MaskedNetwork survey_masked(std::size_t i, const Survey& survey) {
    constexpr double kTypical = 0.1;
    const auto distance = [](double density) { return std::abs(std::log(density / kTypical)); };
    const auto density = std::ranges::min_element(options_.densities, {}, distance);
    const auto point = density - options_.densities.begin();
    NetworkPoint dense{survey.dense_ms, 0}, masked{0, 0};
    for (const LayerSurvey& layer : survey.layers) {
      dense.layers_ms += layer.dense.ms;
      masked.layers_ms += layer.curves[i].points[static_cast<std::size_t>(point)].best.ms;
    }
    const int vector = options_.vectors[i];
    masked.network_ms = time_network(masked_network(vector, *density), KernelChoice::measured);
    return {vector, *density, masked.network_ms, fit_network(dense, masked)};
  }

  DeployedModel masked_network(int vector, double density) const {
    DeployedModel model = model_;
    for (const Step& step : program_.steps) {
      if (!is_weighted(step)) continue;
      const Shape shape = parameters_of(Node{step.name, step.op, {}}).front().shape;
      const WeightSize size{shape[0], element_count(shape) / shape[0], vector};
      model.weights.at(step.weight) =
          random_weight(size, 1 - density, RandomMask::independent, options_.seed);
    }
    return model;
  }

  // The median of passes that take about a second together.
  double time_network(const DeployedModel& model, KernelChoice choice) {
    constexpr double kAllMs = 1000;
    constexpr int kWarmUp = 5, kFewest = 7, kMost = 200;
    SessionOptions how = options_.session;
    how.choice = choice;
    const auto session = make_session(model, options_.device, how);
    session->set_input(random_input(model_, program_.values[program_.input].shape, options_.seed));
    const double once = statistics_of(session->time_network(1, 1)).median;
    const int passes = std::clamp(static_cast<int>(kAllMs / std::max(once, 1e-3)), kFewest, kMost);
    const double ms = statistics_of(session->time_network(kWarmUp, passes)).median;
    if (options_.progress) options_.progress(++done_, all_);
    return ms;
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

  const DeployedModel& model_;
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
