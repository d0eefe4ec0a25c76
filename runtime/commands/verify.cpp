#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "runtime/base/error.h"
#include "runtime/base/random.h"
#include "runtime/bench/layer_errors.h"
#include "runtime/cli/program.h"
#include "runtime/cli/progress.h"
#include "runtime/commands/commands.h"
#include "runtime/model/model_file.h"
#include "runtime/plan/program.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

// ||out - reference|| / ||reference|| that a kernel may reach: sums of a few thousand fp32 products
// stay below 1e-5; fp16 storage of inputs, weights and outputs rounds by up to 2^-11 each, as TF32
// does inputs and weights.
constexpr double kToleranceF32 = 1e-5;
constexpr double kToleranceF16 = 2e-3;

struct VerifyOptions {
  ModelOptions model;
  std::int64_t batch = 2;
  std::uint64_t seed = 7;
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

std::vector<LayerError> errors_of(const DeployedModel& model, Session& session,
                                  const VerifyOptions& options) {
  const Program program = build_program(model, options.batch);
  const std::vector<float> input =
      random_input(model, program.values[program.input].shape, options.seed);
  Progress progress("verify: layer", static_cast<std::int64_t>(program.steps.size()));
  return layer_errors(model, session, options.batch, input, [&](std::size_t done) {
    progress.update(static_cast<std::int64_t>(done), program.steps[done - 1].name);
  });
}

Json errors_json(const std::vector<LayerError>& errors, const std::string& device,
                 double tolerance) {
  Json result = {{"device", device}, {"tolerance", tolerance}, {"layers", Json::array()}};
  for (const LayerError& error : errors) {
    Json layer = {{"name", error.plan.name}, {"op", error.plan.op}, {"kernel", error.plan.kernel}};
    if (error.is_compared()) {
      layer["relative_error"] = error.relative;
      layer["largest_error"] = error.largest;
      layer["layers_compared"] = error.layers;
    }
    result["layers"].push_back(std::move(layer));
  }
  return result;
}

void print_row(std::FILE* people, const LayerError& error, bool is_bad) {
  const LayerPlan& plan = error.plan;
  if (!error.is_compared()) {
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
  const bool is_rounded = session_options.precision == Precision::f16 || session_options.use_tf32;
  const double tolerance = is_rounded ? kToleranceF16 : kToleranceF32;
  const std::vector<LayerError> errors = errors_of(model, *session, options);

  std::string worst;
  std::FILE* people = options.model.json == "-" ? stderr : stdout;
  std::fprintf(people, "device %s, tolerance %g\n%-14s %-16s %12s %12s  %s\n",
               session->device().c_str(), tolerance, "layer", "op", "relative", "largest",
               "kernel");
  for (const LayerError& error : errors) {
    const bool is_bad = !error.is_within(tolerance);
    print_row(people, error, is_bad);
    if (is_bad && worst.empty()) worst = error.plan.name;
  }
  write_json_output(options.model.json, errors_json(errors, session->device(), tolerance).dump(2));
  if (!worst.empty()) {
    fail(ErrorCode::quality, options.model.model, ": layer '", worst,
         "' differs from the reference by more than ", tolerance);
  }
  const auto compared = std::ranges::count_if(errors, &LayerError::is_compared);
  std::fprintf(people, "%td layers agree with the reference", compared);
  const auto within = static_cast<std::ptrdiff_t>(errors.size()) - compared;
  if (within > 0) std::fprintf(people, ", %td more within them", within);
  std::fprintf(people, "\n");
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
