// The formats of values: no GPU needed.
#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/gpu/session/network_plan.h"
#include "tests/gpu/random_values.h"
#include "tests/model/graphs.h"

namespace winnow {
namespace {

DeployedModel sparse_model() {
  RandomValues random(3);
  DeployedModel model;
  model.graph = graph_of({40, 8, 8}, {{"conv1", conv(40, 32, 3, 1), {}},
                                      {"pool1", Pool{}, {}},
                                      {"conv2", conv(32, 32, 3, 1), {}},
                                      {"sum", Add{}, {"conv2", "pool1"}},
                                      {"flat", Flatten{}, {}},
                                      {"fc", Linear{32 * 16, 10, false}, {}}});
  for (const Node& node : model.graph.nodes) {
    for (const Parameter& parameter : parameters_of(node)) {
      const std::int64_t rows = parameter.shape[0], all = element_count(parameter.shape);
      if (parameter.name.ends_with(".weight")) {
        model.weights[parameter.name] = random.weight(rows, all / rows, 16, 0.1);
      } else {
        model.weights[parameter.name] =
            DenseWeight{parameter.shape, encode_f32(random.reals(static_cast<std::size_t>(all)))};
      }
    }
  }
  return model;
}

}  // namespace

TEST_CASE("values of gathered convolutions have their format, and those computed later none") {
  const DeployedModel model = sparse_model();
  const Program program = build_program(model, 8);
  const SessionOptions options{.batch = 8, .precision = Precision::f16};
  const std::vector<StepFusions> fusions = step_fusions(program);
  const GatheredValues gathered = gathered_values(program, model, fusions);
  const auto formats = value_formats(program, model, options, {}, gathered, fusions);
  for (std::size_t v = 0; v < formats.size(); ++v) {
    CAPTURE(program.values[v].name);
    CHECK(formats[v].size() <= kMaxFormats);
    const std::string& name = program.values[v].name;
    const ActivationFormat wanted = gathered_format(gathered, v);
    const bool has_gathered = format_index(formats[v], wanted) < formats[v].size();
    CHECK(has_gathered);  // linear layers may run as convolutions of single pixels
    const bool has_deferred = format_index(formats[v], kDeferred) < formats[v].size();
    CHECK(has_deferred == (name == "conv1" || name == "conv2" || name == "flat"));
    const auto in_sums = std::ranges::count_if(formats[v], &ActivationFormat::tells_source);
    CHECK(in_sums == (name == "conv2" ? 2 : 0));  // what an addition alone reads: nhwc and nchw
  }
  CHECK(formats[program.input][0] == row_major(Precision::f32));

  const std::vector<bool> none(program.values.size(), false);
  const SessionOptions direct{.batch = 8, .precision = Precision::f16, .family = "direct"};
  for (const auto& of_value :
       value_formats(program, model, direct, {}, {none, none, {}}, fusions)) {
    const bool has_any = std::ranges::any_of(of_value, [](const ActivationFormat& format) {
      return format.layout == Layout::nchw32c8n || format.is_deferred;
    });
    CHECK_FALSE(has_any);
  }
}

TEST_CASE("convolutions are left to cuDNN's sums where cuDNN may run them") {
  DeployedModel model = sparse_model();
  const Program program = build_program(model, 8);
  const std::vector<bool> none(program.values.size(), false);
  const auto may_be_left = [&](const SessionOptions& options) {
    const auto formats =
        value_formats(program, model, options, {}, {none, none, {}}, step_fusions(program));
    const std::size_t value = program.steps[2].output;  // conv2
    return std::ranges::any_of(formats[value], &ActivationFormat::is_deferred);
  };
  const SessionOptions by_mask{.choice = KernelChoice::sparse}, survey{.is_survey = true};
  CHECK(may_be_left({}));
  CHECK(may_be_left({.choice = KernelChoice::dense}));
  CHECK(may_be_left({.choice = KernelChoice::sparse, .family = "dense"}));
  CHECK_FALSE(may_be_left({.family = "direct"}));
  CHECK_FALSE(may_be_left(by_mask));
  CHECK_FALSE(may_be_left(survey));
  model.weights["conv2.weight"] =
      DenseWeight{{32, 32, 3, 3}, encode_f32(std::vector<float>(32 * 32 * 9))};
  CHECK(may_be_left(by_mask));
  CHECK(may_be_left(survey));
}

}  // namespace winnow
