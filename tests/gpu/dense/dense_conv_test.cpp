// Which sums of convolutions cuDNN may compute, and in which layouts: no GPU needed.
#include "runtime/gpu/dense/dense_conv.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <variant>

#include "runtime/gpu/session/network_plan.h"
#include "tests/model/graphs.h"

namespace winnow {
namespace {

// Two convolutions in a sum, one of them after a pooling; a convolution with a relu in another.
Graph sums_graph(std::int64_t inner, std::int64_t channels) {
  return graph_of({inner, 8, 8}, {{"pool", Pool{}, {}},
                                  {"conv1", conv(inner, channels, 3, 1), {}},
                                  {"conv2", conv(inner, channels, 1), {"pool"}},
                                  {"sum", Add{}, {"conv1", "conv2"}},
                                  {"relu", Relu{}, {}},
                                  {"conv3", conv(channels, channels, 1), {}},
                                  {"relu3", Relu{}, {}},
                                  {"last", Add{}, {"relu", "relu3"}}});
}

class Planned {
 public:
  Planned(std::int64_t inner, std::int64_t channels, const SessionOptions& options)
      : options_(options),
        program_(build_program(sums_graph(inner, channels), options.batch)),
        fusions_(step_fusions(program_)) {
    const std::vector<bool> none(program_.values.size(), false);
    formats_ = value_formats(program_, model_, options_, {}, {none, none, {}}, fusions_);
  }

  LayerProblem problem(const std::string& name) const {
    const auto step = std::ranges::find(program_.steps, name, &Step::name);
    REQUIRE(step != program_.steps.end());
    LayerProblem problem{model_,  program_,
                         *step,   options_,
                         {},      formats_[step->output],
                         nullptr, fusions_[static_cast<std::size_t>(step - program_.steps.begin())],
                         nullptr};
    for (const std::size_t input : step->inputs) problem.input_formats.push_back(formats_[input]);
    return problem;
  }

 private:
  DeployedModel model_;
  SessionOptions options_;
  Program program_;
  std::vector<StepFusions> fusions_;
  std::vector<std::vector<ActivationFormat>> formats_;
};

// "0: nhwc f16 + nhwc f16 -> nhwc f16" for each: the input that is convolved, how its source lies.
std::vector<std::string> texts_of(const LayerProblem& problem) {
  std::vector<std::string> texts;
  for (const DenseSum& sum : dense_sums(problem)) {
    const std::size_t i = sum.problem.conv_input;
    const ActivationFormat& convolved = problem.input_formats[i][sum.reads[i]];
    const ActivationFormat& added = problem.input_formats[1 - i][sum.reads[1 - i]];
    CHECK(convolved.tells_source);
    CHECK(sum.problem.adds);
    CHECK(sum.problem.layout == convolved.layout);
    CHECK(sum.problem.in_padding == convolved.channel_padding);
    CHECK(sum.problem.out_padding == added.channel_padding);
    texts.push_back(std::to_string(i) + ": " + to_string(source_of(convolved)) + " + " +
                    to_string(added) + " -> " + to_string(problem.output_formats[sum.writes]));
  }
  return texts;
}

std::vector<std::string> deferrals_of(const LayerProblem& problem) {
  std::vector<std::string> texts;
  for (const DeferredConv& one : deferred_convs(problem, std::get<Conv>(problem.step.op))) {
    texts.push_back(to_string(problem.input_formats[0][one.reads]));
    CHECK(problem.output_formats[one.writes] == deferred_from(problem.input_formats[0][one.reads]));
  }
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a sum may be computed with either of its convolutions, in both layouts") {
  const Planned planned(16, 32, {.batch = 4, .choice = KernelChoice::dense});
  CHECK(texts_of(planned.problem("sum")) ==
        Texts{"0: nhwc f32 + nhwc f32 -> nhwc f32", "0: nchw f32 + nchw f32 -> nchw f32",
              "1: nhwc f32 + nhwc f32 -> nhwc f32", "1: nchw f32 + nchw f32 -> nchw f32"});
  const DenseSum second = dense_sums(planned.problem("sum"))[2];
  CHECK(second.conv_step->name == "conv2");
  CHECK(second.problem.has_relu);
  CHECK(second.problem.in == Extents{4, 16, 4, 4});
  CHECK(second.problem.out == Extents{4, 32, 4, 4});
  CHECK(deferrals_of(planned.problem("conv1")) == Texts{"nhwc f32", "nchw f32"});
  CHECK(dense_sums(planned.problem("last")).empty());  // a relu is between
  CHECK(deferrals_of(planned.problem("conv3")).empty());
}

TEST_CASE("sums on tensor cores fill channels up to multiples of 8") {
  const SessionOptions half{.batch = 4, .precision = Precision::f16, .choice = KernelChoice::dense};
  const Planned ragged(5, 12, half), wide(16, 12, half), even(16, 32, half);
  CHECK(texts_of(ragged.problem("sum"))[0] ==
        "0: nhwc padded 3 f16 + nhwc padded 4 f16 -> nhwc padded 4 f16");
  CHECK(texts_of(ragged.problem("sum")).size() == 6);
  CHECK(deferrals_of(ragged.problem("conv2")) ==
        Texts{"nhwc padded 3 f16", "nhwc f16", "nchw f16"});
  // What is convolved lies the same for sums with and without zeros after the last channel.
  CHECK(texts_of(wide.problem("sum"))[0] == "0: nhwc f16 + nhwc padded 4 f16 -> nhwc padded 4 f16");
  CHECK(texts_of(wide.problem("sum"))[1] == "0: nhwc f16 + nhwc f16 -> nhwc f16");
  CHECK(deferrals_of(wide.problem("conv1")) == Texts{"nhwc f16", "nchw f16"});
  CHECK(texts_of(even.problem("sum")).size() == 4);
  const Planned tf32(5, 12, {.batch = 4, .choice = KernelChoice::dense, .use_tf32 = true});
  CHECK(texts_of(tf32.problem("sum")).size() == 6);
}

}  // namespace winnow
