#include "runtime/plan/linear_runs.h"

#include <algorithm>
#include <variant>

namespace winnow {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

bool fits(const Program& program, const Step& step, std::int64_t most_features) {
  return program.values[step.inputs[0]].shape[1] <= most_features &&
         program.values[step.output].shape[1] <= most_features;
}

// How many read each value; the caller reads the output.
std::vector<std::size_t> readers_of(const Program& program) {
  std::vector<std::size_t> readers(program.values.size(), 0);
  for (const Step& step : program.steps) {
    for (const std::size_t input : step.inputs) ++readers[input];
  }
  ++readers[program.output];
  return readers;
}

double density_of(const LinearRun& run, const Program& program, const DeployedModel& model) {
  double kept = 0, all = 0;
  for (const std::size_t step : run.steps) {
    const auto& weight = std::get<CsrWeight>(model.weights.at(program.steps[step].weight));
    kept += static_cast<double>(nonzero_count(weight));
    all += static_cast<double>(weight.channels * weight.cols);
  }
  return all > 0 ? kept / all : 0;
}

}  // namespace

bool is_sparse_linear(const Program& program, const DeployedModel& model, const Step& step) {
  if (!std::holds_alternative<Linear>(step.op)) return false;
  const auto weight = model.weights.find(step.weight);
  return weight != model.weights.end() && std::holds_alternative<CsrWeight>(weight->second) &&
         program.values[step.inputs[0]].shape.size() == 2;
}

std::vector<LinearRun> linear_runs(const Program& program, const DeployedModel& model,
                                   std::int64_t most_features) {
  const std::vector<std::size_t> readers = readers_of(program);
  std::vector<std::size_t> run_of(program.values.size(), kNone);  // whose last value it is
  std::vector<LinearRun> runs;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (!is_sparse_linear(program, model, step) || !fits(program, step, most_features)) continue;
    const std::size_t input = step.inputs[0];
    std::size_t run = readers[input] == 1 ? run_of[input] : kNone;
    if (run == kNone) {
      run = runs.size();
      runs.emplace_back();
    }
    runs[run].steps.push_back(i);
    run_of[step.output] = run;
  }
  for (LinearRun& run : runs) run.density = density_of(run, program, model);
  return runs;
}

}  // namespace winnow
