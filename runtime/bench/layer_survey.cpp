#include "runtime/bench/layer_survey.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "runtime/base/error.h"
#include "runtime/base/random.h"
#include "runtime/bench/channel_grid.h"
#include "runtime/bench/random_weight.h"
#include "runtime/bench/statistics.h"
#include "runtime/plan/program.h"
#include "runtime/plan/timing_table.h"
#include "runtime/verify/random_input.h"

namespace winnow {
namespace {

constexpr char kLayer[] = "layer";

// A step as a network of its own, with an input, the layer and its relu; without weights. The layer
// may have other channels than the step.
DeployedModel network_of(const Program& program, const Step& step, const Op& layer) {
  DeployedModel model;
  Shape sample = program.values[step.inputs[0]].shape;
  sample.erase(sample.begin());
  if (const auto* conv = std::get_if<Conv>(&layer)) sample[0] = conv->in_channels;
  if (const auto* linear = std::get_if<Linear>(&layer)) sample[0] = linear->in_features;
  model.graph.name = step.name;
  model.graph.nodes = {{"input", Input{sample, false}, {}}, {kLayer, layer, {"input"}}};
  if (step.has_relu) model.graph.nodes.push_back({"relu", Relu{}, {kLayer}});
  return model;
}

std::vector<float> random_floats(std::int64_t count, Random& random) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& x : values) x = static_cast<float>(random.uniform(-1, 1));
  return values;
}

DenseWeight random_dense(const Shape& shape, Random& random) {
  return {shape, encode_f32(random_floats(element_count(shape), random))};
}

class Surveyor {
 public:
  Surveyor(const DeployedModel& model, const SurveyOptions& options)
      : model_(model), options_(options), program_(build_program(model, options.session.batch)) {
    for (ChannelFreedom& one : channel_freedom(model.graph)) {
      freedom_.try_emplace(one.node, std::move(one));
    }
    std::set<std::string> dense;
    for (const Step& step : program_.steps) {
      if (!is_weighted(step)) continue;
      shapes_.try_emplace(shape_key(program_, step));
      for (const Op& layer : layers_of(step)) dense.insert(dense_key(step, layer));
    }
    all_ = dense.size() + shapes_.size() * options.vectors.size() * options.densities.size() + 1 +
           options.vectors.size() + (options.vectors.size() > 1 ? 1 : 0) +
           (options.shares.empty() ? 0 : 1);
    if (options.has_dense_among_sparse) {
      const auto layers = std::ranges::count_if(program_.steps, is_weighted);
      all_ += options.vectors.size() * static_cast<std::size_t>(layers);
    }
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
      result.layers.back().channels = channels_of(step);
    }
    result.dense_ms = time_network(model_, KernelChoice::dense);
    for (std::size_t i = 0; i < options_.vectors.size(); ++i) {
      result.masked.push_back(survey_masked(result, [&](std::size_t) { return i; }));
      if (options_.has_dense_among_sparse) survey_dense_among_sparse(result, i);
    }
    if (const std::size_t count = options_.vectors.size(); count > 1) {
      result.mixed = survey_masked(result, [&](std::size_t l) { return l % count; });
    }
    result.shares = options_.shares;
    if (!options_.shares.empty()) result.narrow = survey_narrow(result);
    result.device = device_;
    return result;
  }

 private:
  LayerSurvey survey_step(const Step& step) {
    DeployedModel model = network_of(program_, step, step.op);
    const Shape weight = add_bias(model);
    LayerSurvey survey;
    survey.op = op_name(step.op);
    survey.input_shape = program_.values[step.inputs[0]].shape;
    survey.output_shape = program_.values[step.output].shape;
    survey.weights = element_count(weight);
    survey.dense = fastest_dense(step, step.op);
    for (const int vector : options_.vectors) {
      survey.curves.push_back(curve_of(model, weight, vector, survey.dense));
    }
    return survey;
  }

  // The layer with all pairs of a grid's channels, or as it is where channels are left out.
  std::vector<Op> layers_of(const Step& step) const {
    const ChannelGrid grid = channel_grid(step.op, freedom_.at(step.name), options_.shares);
    std::vector<Op> layers;
    for (const std::int64_t outputs : grid.outputs) {
      for (const std::int64_t inputs : grid.inputs) {
        layers.push_back(narrowed(step.op, outputs, inputs));
      }
    }
    return layers;
  }

  std::vector<ChannelPoint> channels_of(const Step& step) {
    if (options_.shares.empty()) return {};
    const ChannelGrid grid = channel_grid(step.op, freedom_.at(step.name), options_.shares);
    std::vector<ChannelPoint> points;
    std::vector<double> ms;
    for (const std::int64_t outputs : grid.outputs) {
      for (const std::int64_t inputs : grid.inputs) {
        points.push_back(
            {outputs, inputs, 0, fastest_dense(step, narrowed(step.op, outputs, inputs))});
        ms.push_back(points.back().kernel.ms);
      }
    }
    const std::vector<double> even = never_falling(ms, grid.inputs.size());
    for (std::size_t i = 0; i < points.size(); ++i) points[i].ms = even[i];
    return points;
  }

  std::string dense_key(const Step& step, const Op& layer) const {
    const Program alone =
        build_program(network_of(program_, step, layer).graph, options_.session.batch);
    return shape_key(alone, alone.steps.front());
  }

  // The layer in place of the step's, with dense weights. Each shape is measured once.
  SurveyKernel fastest_dense(const Step& step, const Op& layer) {
    const auto [found, is_new] = dense_.try_emplace(dense_key(step, layer));
    if (!is_new) return found->second;
    DeployedModel model = network_of(program_, step, layer);
    const Shape weight = add_bias(model);
    Random random(options_.seed);
    model.weights[weight_name()] = random_dense(weight, random);
    return found->second = fastest(model);
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

  // Which of the densities is one that pruned networks have.
  std::size_t typical_point() const {
    constexpr double kTypical = 0.1;
    const auto distance = [](double density) { return std::abs(std::log(density / kTypical)); };
    const auto density = std::ranges::min_element(options_.densities, {}, distance);
    return static_cast<std::size_t>(density - options_.densities.begin());
  }

  // The whole network at this density, under masks of vectors[of_layer(l)] in its l-th layer.
  template <typename OfLayer>
  DeployedModel masked_model(const Survey& survey, const OfLayer& of_layer) const {
    DeployedModel model = model_;
    for (std::size_t l = 0; l < survey.layers.size(); ++l) {
      mask(model, survey.layers[l].name, options_.vectors[of_layer(l)],
           options_.densities[typical_point()]);
    }
    return model;
  }

  template <typename OfLayer>
  MaskedNetwork survey_masked(const Survey& survey, const OfLayer& of_layer) {
    const std::size_t point = typical_point();
    NetworkPoint dense{survey.dense_ms, 0}, masked{0, 0};
    for (std::size_t l = 0; l < survey.layers.size(); ++l) {
      const LayerSurvey& layer = survey.layers[l];
      dense.layers_ms += layer.dense.ms;
      masked.layers_ms += layer.curves[of_layer(l)].points[point].best.ms;
    }
    masked.network_ms = time_network(masked_model(survey, of_layer), KernelChoice::measured);
    return {options_.vectors[of_layer(0)], options_.densities[point], masked.network_ms,
            fit_network(dense, masked)};
  }

  // Each layer dense in the network of the last of `masked`, whose masks are of vectors[i].
  void survey_dense_among_sparse(Survey& survey, std::size_t i) {
    const MaskedNetwork& masked = survey.masked.back();
    DeployedModel model = masked_model(survey, [&](std::size_t) { return i; });
    Random random(options_.seed);
    for (LayerSurvey& layer : survey.layers) {
      const std::string weight = step_named(layer.name).weight;
      const Shape shape = parameters_of(node_of(layer.name)).front().shape;
      Weight dense = random_dense(shape, random);
      std::swap(model.weights.at(weight), dense);
      const double more = time_network(model, KernelChoice::measured) - masked.ms;
      std::swap(model.weights.at(weight), dense);
      SurveyCurve& curve = layer.curves[i];
      const double sparse_ms = curve.points[typical_point()].best.ms;
      curve.dense_among_sparse_ms = sparse_ms + std::max(0.0, more) / masked.fit.scale;
    }
  }

  // The whole network with half of its channels, or about as many.
  NarrowNetwork survey_narrow(const Survey& survey) {
    constexpr double kTypical = 0.5;
    const auto distance = [](double share) { return std::abs(share - kTypical); };
    const double share = *std::ranges::min_element(options_.shares, {}, distance);
    DeployedModel model;
    model.graph = narrowed(model_.graph, share);
    Random random(options_.seed);
    for (const Node& node : model.graph.nodes) {
      for (const Parameter& one : parameters_of(node)) {
        model.weights[one.name] = random_dense(one.shape, random);
      }
    }
    const Program program = build_program(model, options_.session.batch);
    NetworkPoint dense{survey.dense_ms, 0}, narrow{0, 0};
    for (const LayerSurvey& layer : survey.layers) dense.layers_ms += layer.dense.ms;
    all_ += new_shapes(program);
    for (const Step& step : program.steps) {
      if (is_weighted(step)) narrow.layers_ms += fastest_dense(step_named(step.name), step.op).ms;
    }
    narrow.network_ms = time_network(model, KernelChoice::measured);
    return {share, narrow.network_ms, fit_network(dense, narrow)};
  }

  const Step& step_named(const std::string& name) const {
    return *std::ranges::find(program_.steps, name, &Step::name);
  }

  // Layers whose inputs are of several others have shares that no grid has.
  std::size_t new_shapes(const Program& program) const {
    std::set<std::string> keys;
    for (const Step& step : program.steps) {
      if (is_weighted(step)) keys.insert(dense_key(step_named(step.name), step.op));
    }
    std::erase_if(keys, [&](const std::string& key) { return dense_.contains(key); });
    return keys.size();
  }

  Node node_of(const std::string& layer) const { return {layer, step_named(layer).op, {}}; }

  void mask(DeployedModel& model, const std::string& layer, int vector, double density) const {
    const Shape shape = parameters_of(node_of(layer)).front().shape;
    const WeightSize size{shape[0], element_count(shape) / shape[0], vector};
    model.weights.at(step_named(layer).weight) =
        random_weight(size, 1 - density, RandomMask::independent, options_.seed);
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
      model.weights[parameter.name] = random_dense(parameter.shape, random);
    }
    return weight;
  }

  const DeployedModel& model_;
  const SurveyOptions& options_;
  Program program_;
  std::map<std::string, ChannelFreedom> freedom_;  // by node
  std::map<std::string, LayerSurvey> shapes_;
  std::map<std::string, SurveyKernel> dense_;  // by shape
  std::string device_;
  std::size_t done_ = 0, all_ = 0;
};

}  // namespace

Survey survey_layers(const DeployedModel& model, const SurveyOptions& options) {
  return Surveyor(model, options).survey();
}

}  // namespace winnow
