// Networks cut into steps that run image by image and steps of the whole batch.
#include "runtime/cpu/split_network.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/cpu/cpu_features.h"
#include "runtime/cpu/fused_steps.h"
#include "runtime/reference/reference_session.h"
#include "tests/cpu/network_difference.h"
#include "tests/cpu/random_network.h"

namespace winnow {
namespace {

using Floats = std::vector<float>;

struct Plans {
  PlannedNetwork single, whole;
};

Plans plan_both(const DeployedModel& model, std::int64_t batch, ThreadPool& pool) {
  SessionOptions options;
  options.choice = KernelChoice::sparse;  // generated code wherever it can be
  ThreadPool one(1);
  const Isa isa = available_isas().back();
  Plans plans;
  options.batch = 1;
  plans.single = plan_network(model, options, isa, one, true);
  options.batch = batch;
  plans.whole = plan_network(model, options, isa, pool);
  return plans;
}

TEST_CASE("a network gives the same results wherever it is cut") {
  Random random(1);
  const DeployedModel model = image_network(random, 1);
  for (const std::int64_t batch : {2, 5, 7}) {
    Floats input(static_cast<std::size_t>(batch * 3 * 13 * 11)), expected(batch * 5);
    for (float& x : input) x = static_cast<float>(random.normal());
    SessionOptions options;
    options.batch = batch;
    const auto oracle = make_reference_session(model, options);
    oracle->run(input, expected);
    const std::vector<Floats> steps = oracle->step_outputs();

    ThreadPool pool(3);
    const Plans plans = plan_both(model, batch, pool);
    std::vector<std::size_t> cuts = possible_cuts(plans.single.made_from, plans.whole.made_from);
    cuts.push_back(plans.whole.layers.size());
    if (available_isas().back() == Isa::avx512) CHECK(cuts.size() >= 2);
    for (const std::size_t cut : cuts) {
      CAPTURE(cut);
      SplitNetwork network(plans.single.made_from, plans.whole.made_from, cut, pool.threads());
      std::ranges::copy(input, network.input().begin());
      network.run(pool);
      CHECK(difference({network.output().begin(), network.output().end()}, expected) < kTolerance);
      const std::vector<Floats> own = network.step_outputs(pool);
      REQUIRE(own.size() == steps.size());
      for (std::size_t i = 0; i < steps.size(); ++i) {
        CAPTURE(plans.whole.layers[i].name);
        if (!own[i].empty()) CHECK(difference(own[i], steps[i]) < kTolerance);
      }
      CHECK(difference(own.back(), expected) < kTolerance);
    }
  }
}

TEST_CASE("a network is cut only where one value passes") {
  Random random(2);
  const DeployedModel model = image_network(random, 1);
  ThreadPool pool(2);
  const Plans plans = plan_both(model, 4, pool);
  const Program& program = plans.whole.made_from.program;
  for (const std::size_t cut : possible_cuts(plans.single.made_from, plans.whole.made_from)) {
    const std::size_t value = program.steps[cut - 1].output;
    for (std::size_t later = cut; later < program.steps.size(); ++later) {
      for (const std::size_t input : program.steps[later].inputs) {
        const bool is_made_later =
            std::any_of(program.steps.begin() + static_cast<std::ptrdiff_t>(cut),
                        program.steps.end(), [&](const Step& s) { return s.output == input; });
        CHECK((input == value || is_made_later));
      }
    }
  }
}

TEST_CASE("an addition is fused with a convolution that nobody else reads") {
  Conv conv;
  conv.in_channels = conv.out_channels = 16;
  Graph graph{"residual",
              {{"input", Input{{16, 8, 8}, false}, {}},
               {"a", conv, {"input"}},
               {"b", conv, {"input"}},
               {"sum", Add{}, {"a", "b"}},
               {"c", conv, {"sum"}},
               {"active", Relu{}, {"c"}},
               {"twice", Add{}, {"active", "sum"}},
               {"d", conv, {"twice"}},
               {"last", Add{}, {"d", "d"}}}};
  const std::vector<FusedStep> fused = fusible_steps(build_program(graph, 1));
  REQUIRE(fused.size() == 2);  // either operand of "sum"; "active" and "d" are read otherwise
  CHECK(fused[0].conv == 0);
  CHECK(fused[0].input == 0);
  CHECK(fused[1].conv == 1);
  CHECK(fused[1].input == 1);
  CHECK(fused[0].reader == 2);
  CHECK(fused[1].reader == 2);
}

TEST_CASE("a pooling is fused with a convolution that nobody else reads") {
  Conv conv;
  conv.in_channels = conv.out_channels = 16;
  Graph graph{"pooled",
              {{"input", Input{{16, 8, 8}, false}, {}},
               {"a", conv, {"input"}},
               {"active", Relu{}, {"a"}},
               {"small", Pool{}, {"active"}},
               {"b", conv, {"small"}},
               {"one", Pool{}, {"b"}},
               {"other", Pool{}, {"b"}},
               {"last", Add{}, {"one", "other"}}}};
  const std::vector<FusedStep> fused = fusible_steps(build_program(graph, 1));
  REQUIRE(fused.size() == 1);  // "b" is read twice
  CHECK(fused[0].conv == 0);
  CHECK(fused[0].reader == 1);
  CHECK(fused[0].input == 0);
}

}  // namespace
}  // namespace winnow
