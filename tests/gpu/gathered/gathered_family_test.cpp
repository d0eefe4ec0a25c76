// Every candidate of the family, launched by itself.
#include <doctest/doctest.h>

#include <map>
#include <variant>

#include "runtime/gpu/gathered/gathered_family.h"
#include "runtime/gpu/layer/family_list.h"
#include "tests/gpu/device_tensor.h"
#include "tests/gpu/gpu_case.h"
#include "tests/gpu/random_values.h"
#include "tests/model/graphs.h"

namespace winnow {
namespace {

Conv strided(Conv op, std::int64_t stride) {
  op.stride = {stride, stride};
  return op;
}

// A pooling and sums that compute a convolution, which alone reads it.
Graph graph() {
  return graph_of({20, 14, 12}, {{"conv1", conv(20, 40, 3, 1), {}},
                                 {"relu1", Relu{}, {}},
                                 {"pool1", Pool{}, {}},
                                 {"conv2", conv(40, 40, 3, 1), {}},
                                 {"sum", Add{}, {"pool1", "conv2"}},
                                 {"relu2", Relu{}, {}},
                                 {"conv3", strided(conv(40, 33, 1), 2), {}},
                                 {"conv4", strided(conv(40, 33, 5, 2), 2), {"relu2"}},
                                 {"sum2", Add{}, {"conv3", "conv4"}},
                                 {"conv5", conv(33, 32, 3, 1), {}},
                                 {"pool5", Pool{.kind = PoolKind::average}, {}},
                                 {"flat", Flatten{}, {}},
                                 {"fc", Linear{32 * 2, 19, true}, {}}});
}

DeployedModel model_of(int vector) {
  RandomValues random(95);
  DeployedModel model;
  model.graph = graph();
  for (const Node& node : model.graph.nodes) {
    for (const Parameter& parameter : parameters_of(node)) {
      const std::int64_t rows = parameter.shape[0], all = element_count(parameter.shape);
      if (parameter.name.ends_with(".weight")) {
        model.weights[parameter.name] = random.weight(rows, all / rows, vector, 0.2);
      } else {
        model.weights[parameter.name] =
            DenseWeight{parameter.shape, encode_f32(random.reals(static_cast<std::size_t>(all)))};
      }
    }
  }
  return model;
}

// Values of equally many channels lie in one order, as DeviceTensor has it.
ChannelOrders orders_of(const Program& program) {
  ChannelOrders orders;
  std::map<std::int64_t, int> known;
  for (const Value& value : program.values) {
    const std::int64_t channels = value.shape[1];
    const auto [found, is_new] = known.emplace(channels, static_cast<int>(orders.places.size()));
    if (is_new) orders.places.push_back(places_in_order(found->second, channels));
    orders.of_value.push_back(found->second);
  }
  return orders;
}

class FamilyCheck {
 public:
  FamilyCheck(int vector, std::int64_t batch)
      : model_(model_of(vector)),
        program_(build_program(model_, batch)),
        fusions_(step_fusions(program_)),
        values_(gathered_values(program_, model_, fusions_)),
        options_{.batch = batch, .precision = Precision::f16, .family = "gathered"} {
    values_.orders = orders_of(program_);
  }

  void try_all_tiles() { options_.all_tiles = true; }

  // Returns how many candidates launched something.
  int run(const std::string& name, GpuContext& gpu) {
    const std::size_t index = index_of(name);
    const Step& step = program_.steps[index];
    LayerProblem problem{
        model_,  program_,        step,           options_, {}, formats(step.output),
        nullptr, fusions_[index], &values_.orders};
    for (const std::size_t input : step.inputs) problem.input_formats.push_back(formats(input));
    CHECK(gathered_family().why_not(problem, gpu).empty());
    int launched = 0;
    for (const Candidate& candidate : gathered_family().candidates(problem, gpu)) {
      CAPTURE(candidate.kernel);
      if (candidate.layer == nullptr) {
        CHECK(problem.output_formats[candidate.writes] == kDeferred);
        continue;
      }
      launch(problem, candidate);
      CHECK(candidate.clocks > 0);
      ++launched;
    }
    return launched;
  }

 private:
  std::size_t index_of(const std::string& name) const {
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      if (program_.steps[i].name == name) return i;
    }
    FAIL("no step ", name);
    return 0;
  }
  std::vector<ActivationFormat> formats(std::size_t value) const {
    std::vector<ActivationFormat> found = {row_major(Precision::f16)};
    if (values_.may_lie[value]) found.push_back(gathered_format(values_, value));
    if (values_.may_defer[value]) found.push_back(kDeferred);
    return found;
  }
  reference::Array random_value(std::size_t value) {
    return random_.array(program_.values[value].shape);
  }
  reference::Array convolve(const Step& step, const reference::Array& input) const {
    const StepWeights weights = weights_of(model_, step);
    const auto weight = to_dense(*weights.sparse());
    const auto bias = dense_floats(weights.bias);
    reference::Array result =
        std::holds_alternative<Conv>(step.op)
            ? reference::conv(std::get<Conv>(step.op), input, weight, bias)
            : reference::linear(std::get<Linear>(step.op), input, weight, bias);
    return step.has_relu ? reference::relu(result) : result;
  }

  // The value of input i, and what the launch reads for it.
  reference::Array input(const LayerProblem& problem, const Candidate& candidate, std::size_t i,
                         std::vector<DeviceTensor>& tensors) {
    const ActivationFormat& format = problem.input_formats[i][candidate.reads[i]];
    if (format != kDeferred) {
      const reference::Array value = random_value(problem.step.inputs[i]);
      tensors.emplace_back(format, value);
      return value;
    }
    const Step& computed = program_.steps[problem.fusions.computed[i]];
    const std::size_t source = computed.inputs[0];
    const reference::Array value = random_value(source);
    tensors.emplace_back(gathered_format(values_, source), value);
    return convolve(computed, value);
  }

  void launch(const LayerProblem& problem, const Candidate& candidate) {
    std::vector<DeviceTensor> tensors;
    std::vector<reference::Array> inputs;
    for (std::size_t i = 0; i < candidate.reads.size(); ++i) {
      inputs.push_back(input(problem, candidate, i, tensors));
    }
    reference::Array expected;
    if (const auto* pool = std::get_if<Pool>(&problem.step.op)) {
      expected = reference::pool(*pool, inputs[0]);
    } else if (std::holds_alternative<Add>(problem.step.op)) {
      const reference::Array* both[] = {&inputs[0], &inputs[1]};
      expected = reference::add(both);
      if (problem.step.has_relu) expected = reference::relu(expected);
    } else {
      expected = convolve(problem.step, inputs[0]);
    }
    const DeviceTensor out(problem.output_formats[candidate.writes],
                           program_.values[problem.step.output].shape);
    std::vector<ActivationView> views;
    for (const DeviceTensor& tensor : tensors) views.push_back(tensor.view());
    candidate.layer->launch(views, out.view(), {}, nullptr);
    CHECK(relative_error(out.values(), expected.values) <= 2 * tolerance(Precision::f16));
    CHECK(out.is_frame_untouched());
  }

  DeployedModel model_;
  Program program_;
  std::vector<StepFusions> fusions_;
  GatheredValues values_;
  SessionOptions options_;
  RandomValues random_{96};
};

}  // namespace

TEST_CASE("gathered candidates equal the reference, alone and with what reads them") {
  if (lacks_gpu()) return;
  GpuContext gpu(0);
  const std::string reason =
      gathered_missing_reason({.batch = 8, .precision = Precision::f16, .family = "gathered"});
  if (!reason.empty()) {
    std::printf("skipped: %s\n", reason.c_str());
    return;
  }
  for (const int vector : {1, 8, 16, 32}) {
    for (const std::int64_t batch : {1, 8, 19}) {
      CAPTURE(vector);
      CAPTURE(batch);
      FamilyCheck check(vector, batch);
      for (const std::string name : {"conv1", "conv2", "conv3", "conv4", "conv5", "fc"}) {
        CAPTURE(name);
        CHECK(check.run(name, gpu) >= 2);
      }
      CHECK(check.run("pool1", gpu) >= 1);
      CHECK(check.run("pool5", gpu) >= 1);
      CHECK(check.run("sum", gpu) >= 1);
      CHECK(check.run("sum2", gpu) >= 2);  // either convolution
    }
  }
}

TEST_CASE("every tile of a gathered convolution equals the reference where all are asked for") {
  if (lacks_gpu()) return;
  GpuContext gpu(0);
  FamilyCheck few(16, 8), all(16, 8);
  all.try_all_tiles();
  for (const std::string name : {"conv2", "pool1"}) {
    CAPTURE(name);
    CHECK(all.run(name, gpu) > 2 * few.run(name, gpu));
  }
}

TEST_CASE("gathered says why it is left out") {
  const SessionOptions half{.batch = 8, .precision = Precision::f16};
  CHECK(gathered_missing_reason({.batch = 8}) == "wants half precision");
  CHECK(gathered_missing_reason(half).empty());
  SessionOptions options = half;
  options.family = "direct";
  CHECK(gathered_missing_reason(options) == "is not asked for");
  options = half;
  options.choice = KernelChoice::dense;
  CHECK(gathered_missing_reason(options) == "is not asked for");
}

}  // namespace winnow
