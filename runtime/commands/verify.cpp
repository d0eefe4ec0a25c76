#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "runtime/base/error.h"
#include "runtime/base/random.h"
#include "runtime/cli/program.h"
#include "runtime/cli/progress.h"
#include "runtime/commands/commands.h"
#include "runtime/model/model_file.h"
#include "runtime/plan/program.h"
#include "runtime/reference/reference_session.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;
using reference::Array;

// ||out - reference|| / ||reference|| that a kernel may reach: sums of a few thousand fp32 products
// stay below 1e-5; fp16 storage of inputs, weights and outputs rounds by up to 2^-11 each.
constexpr double kToleranceF32 = 1e-5;
constexpr double kToleranceF16 = 2e-3;

struct VerifyOptions {
  ModelOptions model;
  std::int64_t batch = 2;
  std::uint64_t seed = 7;
};

struct LayerError {
  LayerPlan plan;
  double relative = 0;  // norm of the difference over norm of the reference
  double largest = 0;   // largest absolute difference
  bool is_finite = true;
  bool is_compared = true;  // else its value is nowhere, and the step that computes it is compared
};

std::vector<float> random_input(const DeployedModel& model, const Shape& shape,
                                std::uint64_t seed) {
  const auto& op = std::get<Input>(model.graph.nodes.front().op);
  std::int64_t rows = 1;
  for (const Node& node : model.graph.nodes) {
    if (const auto* table = std::get_if<Embedding>(&node.op)) rows = table->rows;
  }
  Random random(seed);
  std::vector<float> input(static_cast<std::size_t>(element_count(shape)));
  for (float& x : input) {
    x = op.is_tokens ? static_cast<float>(random.between(0, rows - 1))
                     : static_cast<float>(random.normal());
  }
  return input;
}

void compare(const std::vector<float>& found, const std::vector<float>& expected,
             LayerError& error) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double d = static_cast<double>(found[i]) - static_cast<double>(expected[i]);
    error.is_finite = error.is_finite && std::isfinite(found[i]);
    error.largest = std::max(error.largest, std::abs(d));
    difference += d * d;
    norm += static_cast<double>(expected[i]) * static_cast<double>(expected[i]);
  }
  error.relative = std::sqrt(difference) / std::max(std::sqrt(norm), 1e-30);
}

// Every step on the session's own inputs, so that one layer's rounding is not charged to the next.
std::vector<LayerError> layer_errors(const DeployedModel& model, Session& session,
                                     const VerifyOptions& options) {
  const Program program = build_program(model, options.batch);
  std::vector<Array> values(program.values.size());
  for (std::size_t v = 0; v < values.size(); ++v) values[v].shape = program.values[v].shape;
  values[program.input].values =
      random_input(model, program.values[program.input].shape, options.seed);
  std::vector<float> output(
      static_cast<std::size_t>(element_count(program.values[program.output].shape)));
  session.run(values[program.input].values, output);

  std::vector<std::vector<float>> outputs = session.step_outputs();
  const std::vector<LayerPlan> plans = session.layers();
  std::vector<LayerError> errors;
  Progress progress("verify: layer", static_cast<std::int64_t>(program.steps.size()));
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    std::vector<const Array*> inputs;
    for (const std::size_t input : step.inputs) inputs.push_back(&values[input]);
    const Array expected =
        reference::run_step(step, inputs, dense_parameter(model, step.name + ".weight"),
                            dense_parameter(model, step.name + ".bias"));
    LayerError error{plans[s]};
    if (outputs[s].empty()) {  // computed together with a later step, which is compared
      outputs[s] = expected.values;
      error.is_compared = false;
    }
    compare(outputs[s], expected.values, error);
    values[step.output].values = std::move(outputs[s]);
    errors.push_back(std::move(error));
    progress.update(static_cast<std::int64_t>(s) + 1, step.name);
  }
  return errors;
}

Json errors_json(const std::vector<LayerError>& errors, const std::string& device,
                 double tolerance) {
  Json result = {{"device", device}, {"tolerance", tolerance}, {"layers", Json::array()}};
  for (const LayerError& error : errors) {
    Json layer = {{"name", error.plan.name}, {"op", error.plan.op}, {"kernel", error.plan.kernel}};
    if (error.is_compared) {
      layer["relative_error"] = error.relative;
      layer["largest_error"] = error.largest;
    }
    result["layers"].push_back(std::move(layer));
  }
  return result;
}

void print_row(std::FILE* people, const LayerError& error, bool is_bad) {
  const LayerPlan& plan = error.plan;
  if (!error.is_compared) {
    std::fprintf(people, "%-14s %-16s %12s %12s  %s\n", plan.name.c_str(), plan.op.c_str(), "", "",
                 plan.kernel.c_str());
    return;
  }
  std::fprintf(people, "%-14s %-16s %12.2e %12.2e  %s%s\n", plan.name.c_str(), plan.op.c_str(),
               error.relative, error.largest, plan.kernel.c_str(), is_bad ? "  WRONG" : "");
}

int verify(const VerifyOptions& options) {
  const DeployedModel model = read_model_file(options.model.model);
  const SessionOptions session_options = winnow::session_options(options.model, options.batch);
  const auto session = make_session(model, device_from(options.model.device), session_options);
  const bool is_half = session_options.precision == Precision::f16;
  const double tolerance = is_half ? kToleranceF16 : kToleranceF32;
  const std::vector<LayerError> errors = layer_errors(model, *session, options);

  std::string worst;
  std::FILE* people = options.model.json == "-" ? stderr : stdout;
  std::fprintf(people, "device %s, tolerance %g\n%-14s %-16s %12s %12s  %s\n",
               session->device().c_str(), tolerance, "layer", "op", "relative", "largest",
               "kernel");
  for (const LayerError& error : errors) {
    const bool is_bad = !error.is_finite || error.relative > tolerance;
    print_row(people, error, is_bad);
    if (is_bad && worst.empty()) worst = error.plan.name;
  }
  write_json_output(options.model.json, errors_json(errors, session->device(), tolerance).dump(2));
  if (!worst.empty()) {
    fail(ErrorCode::quality, options.model.model, ": layer '", worst,
         "' differs from the reference by more than ", tolerance);
  }
  std::fprintf(people, "%zu layers agree with the reference\n", errors.size());
  return 0;
}

}  // namespace

Command add_verify_command(CLI::App& app) {
  auto options = std::make_shared<VerifyOptions>();
  add_model_options(app, options->model);
  app.add_option("--batch", options->batch, "Samples")
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  app.add_option("--seed", options->seed, "Seed of the random input")->capture_default_str();
  app.footer("Exit status 5 if a layer differs by more than the tolerance.");
  return [options] { return verify(*options); };
}

}  // namespace winnow
