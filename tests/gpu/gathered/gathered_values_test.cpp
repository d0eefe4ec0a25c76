#include "runtime/gpu/gathered/gathered_values.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/gpu/gathered/channel_places.h"
#include "runtime/gpu/gathered/ring_tile.h"
#include "runtime/gpu/gathered/ring_weights.h"
#include "tests/gpu/random_values.h"
#include "tests/model/graphs.h"

namespace winnow {
namespace {

// Sparse weights of `vector`, dense ones of the nodes named `dense`.
DeployedModel model_of(const Graph& graph, int vector, const std::vector<std::string>& dense) {
  RandomValues random(91);
  DeployedModel model;
  model.graph = graph;
  for (const Node& node : graph.nodes) {
    for (const Parameter& parameter : parameters_of(node)) {
      const std::int64_t rows = parameter.shape[0], all = element_count(parameter.shape);
      const bool is_dense = std::ranges::find(dense, node.name) != dense.end();
      if (is_dense || !parameter.name.ends_with(".weight")) {
        model.weights[parameter.name] =
            DenseWeight{parameter.shape, encode_f32(random.reals(static_cast<std::size_t>(all)))};
      } else {
        model.weights[parameter.name] = random.weight(rows, all / rows, vector, 0.1);
      }
    }
  }
  return model;
}

GatheredValues values_of(const DeployedModel& model, const Program& program) {
  return gathered_values(program, model, step_fusions(program));
}

std::vector<std::string> names(const Program& program, const std::vector<bool>& which) {
  std::vector<std::string> found;
  for (std::size_t v = 0; v < which.size(); ++v) {
    if (which[v]) found.push_back(program.values[v].name);
  }
  return found;
}

using Names = std::vector<std::string>;

Graph vgg_like() {
  return graph_of({3, 16, 16}, {{"conv1", conv(3, 64, 3, 1), {}},
                                {"relu1", Relu{}, {}},
                                {"pool1", Pool{}, {}},
                                {"conv2", conv(64, 64, 3, 1), {}},
                                {"pool2", Pool{.kernel = {3, 3}, .stride = {2, 2}}, {}},
                                {"flat", Flatten{}, {}},
                                {"fc1", Linear{64 * 3 * 3, 20, true}, {}},
                                {"fc2", Linear{20, 10, true}, {}}});
}

}  // namespace

TEST_CASE("what convolutions and sparse linear layers touch may lie gathered") {
  const DeployedModel model = model_of(vgg_like(), 16, {"conv1", "fc2"});
  const Program program = build_program(model.graph, 8);
  const GatheredValues values = values_of(model, program);
  CHECK(names(program, values.may_lie) ==
        Names{"input", "relu1", "pool1", "conv2", "pool2", "flat", "fc1"});
  CHECK(names(program, values.may_defer) == Names{"relu1", "flat"});  // pool2 is 3 x 3
  CHECK(gathered_format(values, 0).layout == Layout::nchw32c8n);
}

TEST_CASE("a convolution lies beside sparse ones with no weights between them") {
  const auto beside = [](const std::vector<std::string>& dense) {
    const DeployedModel model = model_of(vgg_like(), 16, dense);
    const Program program = build_program(model.graph, 8);
    Names found;
    for (const Step& step : program.steps) {
      if (!std::holds_alternative<Conv>(step.op)) continue;
      if (lies_beside_sparse(program, model, step)) found.push_back(step.name);
    }
    return found;
  };
  CHECK(beside({"conv1"}) == Names{"conv1"});  // conv2 behind a pooling; fc1 is no convolution
  CHECK(beside({"conv2"}) == Names{"conv2"});
  CHECK(beside({}) == Names{"conv1", "conv2"});
  CHECK(beside({"conv1", "conv2"}).empty());
}

TEST_CASE("values of a branch are found on both sides of a sum") {
  const Graph graph = graph_of({8, 8, 8}, {{"a", conv(8, 8, 3, 1), {}},
                                           {"b", conv(8, 8, 3, 1), {}},
                                           {"sum", Add{}, {"a", "b"}},
                                           {"relu", Relu{}, {}},
                                           {"c", conv(8, 8, 1), {}},
                                           {"d", conv(8, 8, 1), {}}});
  const DeployedModel model = model_of(graph, 8, {"b", "c", "d"});
  const Program program = build_program(model.graph, 4);
  const auto is_beside = [&](const std::string& name) {
    const auto step = std::ranges::find(program.steps, name, &Step::name);
    REQUIRE(step != program.steps.end());
    return lies_beside_sparse(program, model, *step);
  };
  CHECK(is_beside("b"));        // reads what `a` writes
  CHECK(is_beside("c"));        // over the sum
  CHECK_FALSE(is_beside("d"));  // c has dense weights
}

TEST_CASE("a program without sparse weights has no gathered values") {
  const DeployedModel model = model_of(vgg_like(), 16, {"conv1", "conv2", "fc1", "fc2"});
  const Program program = build_program(model.graph, 8);
  const GatheredValues values = values_of(model, program);
  CHECK(names(program, values.may_lie).empty());
  CHECK(names(program, values.may_defer).empty());
  CHECK(values.orders.places.size() == 1);
}

TEST_CASE("values joined channel by channel lie in one order, which lowers bank conflicts") {
  const DeployedModel model = model_of(vgg_like(), 16, {"conv1"});
  const Program program = build_program(model.graph, 8);
  const GatheredValues values = values_of(model, program);
  const auto order_of = [&](const std::string& name) {
    for (std::size_t v = 0; v < program.values.size(); ++v) {
      if (program.values[v].name == name) return values.orders.of_value[v];
    }
    return -1;
  };
  CHECK(order_of("relu1") > 0);
  CHECK(order_of("relu1") == order_of("pool1"));
  CHECK(order_of("input") == 0);
  CHECK(order_of("conv2") == 0);  // nobody gathers it

  const Step& step = program.steps[2];
  const Conv& op = std::get<Conv>(step.op);
  const GatheredGroups groups = groups_of(model, step, op);
  const auto conflicts = [&](const std::vector<std::int32_t>& in_places) {
    return pack_for_ring(groups, op, RingTile{}, in_places, plain_places(64), false).conflicts;
  };
  const std::vector<std::int32_t> balanced = values.orders.places_of(step.inputs[0], 64);
  CHECK(conflicts(balanced) <= conflicts(plain_places(64)));
  std::vector<std::int32_t> sorted = balanced;
  std::ranges::sort(sorted);
  CHECK(sorted == plain_places(64));
  for (std::size_t c = 0; c < 64; ++c) {
    CHECK(balanced[c] / kPlaceBlock == static_cast<std::int32_t>(c) / kPlaceBlock);
  }
}

TEST_CASE("channels that a group of single elements writes lie beside each other") {
  const Graph graph =
      graph_of({32, 8, 8}, {{"conv1", conv(32, 64, 3, 1), {}}, {"conv2", conv(64, 48, 3, 1), {}}});
  const DeployedModel model = model_of(graph, 1, {});
  const Program program = build_program(model.graph, 8);
  for (const Step& writer : program.steps) {  // also where only the caller reads it
    const GatheredGroups groups = groups_of(model, writer, std::get<Conv>(writer.op));
    const auto channels = static_cast<std::int64_t>(groups.place.size());
    const auto places = values_of(model, program).orders.places_of(writer.output, channels);
    for (std::size_t row = 0; row < groups.place.size(); ++row) {
      const auto channel = static_cast<std::size_t>(groups.place[row]);
      CHECK(places[channel] / kPlaceBlock == static_cast<std::int32_t>(row) / kPlaceBlock);
    }
    CHECK_FALSE(std::ranges::is_sorted(groups.place));
  }
}

TEST_CASE("sums of convolutions may be computed together with one of them") {
  const DeployedModel model = model_of(joined_graph(), 1, {});
  const Program program = build_program(model.graph, 8);
  CHECK(names(program, values_of(model, program).may_defer) == Names{"conv2"});
  CHECK(as_epilogue(Pool{}) == RingPool::max);
  CHECK(as_epilogue(Pool{.kind = PoolKind::average}) == RingPool::average);
  CHECK_FALSE(as_epilogue(Pool{.stride = {1, 1}}).has_value());
  CHECK_FALSE(as_epilogue(Pool{.padding = {1, 1}}).has_value());
  CHECK_FALSE(as_epilogue(Pool{.padding_end = Pair{0, 1}}).has_value());
  CHECK_FALSE(as_epilogue(Pool{.rounds_up = true}).has_value());
  CHECK_FALSE(as_epilogue(Add{}).has_value());
}

}  // namespace winnow
