#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "runtime/base/error.h"
#include "runtime/base/number_text.h"
#include "runtime/base/suggest.h"
#include "runtime/base/version.h"
#include "runtime/bench/compare.h"
#include "runtime/cli/number_checks.h"
#include "runtime/cli/program.h"
#include "runtime/cli/progress.h"
#include "runtime/cli/table.h"
#include "runtime/commands/commands.h"
#include "runtime/plan/layer_check.h"
#include "runtime/plan/plan_json.h"
#include "runtime/plan/program.h"
#include "runtime/verify/layer_errors.h"
#include "runtime/verify/random_input.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

struct VerifyOptions {
  ModelOptions model;
  std::int64_t batch = 2;
  std::uint64_t seed = 7;
};

std::vector<LayerError> errors_of(const DeployedModel& model, Session& session,
                                  const VerifyOptions& options) {
  const Program program = build_program(model, options.batch);
  const std::vector<float> input =
      random_input(model, program.values[program.input].shape, options.seed);
  Progress progress("verify: layer", static_cast<std::int64_t>(program.steps.size()),
                    options.model.is_quiet);
  return layer_errors(model, session, options.batch, input, [&](std::size_t done) {
    progress.update(static_cast<std::int64_t>(done), program.steps[done - 1].name);
  });
}

Json errors_json(const std::vector<LayerError>& errors, const Session& session, double tolerance) {
  Json result = {{"command", "verify"},        {"version", version_text()},
                 {"device", session.device()}, {"timings", counts_json(session.timing_counts())},
                 {"tolerance", tolerance},     {"layers", Json::array()}};
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

std::string errors_table(const std::vector<LayerError>& errors, double tolerance) {
  constexpr auto kRight = Table::Side::right;
  Table table({{"layer"}, {"op"}, {"relative", kRight}, {"largest", kRight}, {"kernel"}, {""}});
  for (const LayerError& error : errors) {
    const LayerPlan& plan = error.plan;
    const bool is_compared = error.is_compared();
    table.add({plan.name, plan.op, is_compared ? scientific(error.relative, 2) : "",
               is_compared ? scientific(error.largest, 2) : "", plan.kernel,
               error.is_within(tolerance) ? "" : "WRONG"});
  }
  return table.text();
}

int verify(const VerifyOptions& options) {
  check_json_place(options.model);
  const auto cache = open_cache(options.model);
  const SessionOptions how = session_options(options.model, options.batch, "verify", cache);
  const Device device = device_from(options.model.device);
  const DeployedModel model =
      open_model(options.model.model, options.batch, open_options(options.model, "verify"));
  const auto session = make_session(model, device, how);
  tell_of(cache);
  const bool is_rounded = how.precision == Precision::f16 || how.use_tf32;
  const double tolerance = rounding_tolerance(is_rounded);
  const std::vector<LayerError> errors = errors_of(model, *session, options);

  std::FILE* people = options.model.json == "-" ? stderr : stdout;
  std::fprintf(people, "device %s, tolerance %g\n%s", session->device().c_str(), tolerance,
               errors_table(errors, tolerance).c_str());
  write_json_output(options.model.json, errors_json(errors, *session, tolerance).dump(2));
  for (const LayerError& error : errors) {
    if (error.is_within(tolerance)) continue;
    fail(ErrorCode::quality, options.model.model, ": layer ", in_quotes(error.plan.name),
         " differs from the reference by more than ", tolerance);
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
  add_choice_option(app, options->model);
  app.add_option("--batch", options->batch, "Samples")
      ->check(whole_number(1, 1 << 16))
      ->capture_default_str();
  app.add_option("--seed", options->seed, "Seed of the random input")
      ->check(seed_number())
      ->capture_default_str();
  app.footer("Exit status 5 if a layer differs by more than the tolerance.");
  return [options] { return verify(*options); };
}

}  // namespace winnow
