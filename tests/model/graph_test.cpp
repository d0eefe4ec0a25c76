#include "runtime/model/graph.h"

#include <doctest/doctest.h>

#include "runtime/model/op_schema.h"
#include "tests/model/graphs.h"
#include "tests/throws.h"

namespace winnow {
namespace {

std::vector<std::string> described(const std::vector<Parameter>& parameters) {
  std::vector<std::string> lines;
  for (const Parameter& parameter : parameters) {
    lines.push_back(parameter.name + " " + to_string(parameter.shape));
  }
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("ops have the names of the table") {
  Pool pool1d;
  pool1d.rank = 1;
  CHECK(op_name(conv(1, 1, 3)) == "conv2d");
  CHECK(op_name(conv1d(1, 1, 3)) == "conv1d");
  CHECK(op_name(Pool{}) == "max_pool");
  CHECK(op_name(pool1d) == "max_pool1d");
  CHECK(op_name(Pool{PoolKind::average}) == "avg_pool");
  CHECK(op_name(GlobalPool{}) == "global_avg_pool");
  CHECK(op_name(GlobalPool{PoolKind::max}) == "global_max_pool");
}

TEST_CASE("parameters carry their node's name, weight first") {
  Conv grouped = conv(8, 6, 3);
  grouped.groups = 2;
  CHECK(described(parameters_of({"c", grouped, {}})) ==
        Lines{"c.weight [6, 4, 3, 3]", "c.bias [6]"});
  CHECK(described(parameters_of({"c", conv1d(8, 6, 5), {}})) ==
        Lines{"c.weight [6, 8, 5]", "c.bias [6]"});
  CHECK(described(parameters_of({"fc", Linear{7, 3, false}, {}})) == Lines{"fc.weight [3, 7]"});
  CHECK(described(parameters_of({"bn", BatchNorm{4}, {}})) ==
        Lines{"bn.weight [4]", "bn.bias [4]", "bn.running_mean [4]", "bn.running_var [4]"});
  CHECK(described(parameters_of({"e", Embedding{100, 8}, {}})) == Lines{"e.weight [100, 8]"});
  CHECK(parameters_of({"r", Relu{}, {}}).empty());
}

TEST_CASE("node_index finds nodes and suggests names") {
  const Graph graph = joined_graph();
  CHECK(node_index(graph, "input") == 0);
  CHECK(node_index(graph, "sum") == 4);
  CHECK(error_of([&] { node_index(graph, "conv3"); }) == ErrorCode::usage);
  CHECK(message_of([&] { node_index(graph, "conv3"); }) ==
        "net: no node is called 'conv3'; did you mean 'conv1'?");
}

TEST_CASE("dense_macs counts one sample's multiply-accumulates whatever the batch") {
  Conv strided = conv(4, 8, 3, 1);
  strided.stride = {2, 1};
  strided.groups = 2;
  const Graph graph = graph_of({4, 6, 6}, {{"conv", strided, {}},
                                           {"relu", Relu{}, {}},
                                           {"flatten", Flatten{}, {}},
                                           {"fc", Linear{144, 10, true}, {}}});
  for (const std::int64_t batch : {1, 5}) {
    const std::vector<Shape> shapes = infer_shapes(graph, batch);
    CHECK(dense_macs(graph, shapes, 1) == 8 * 2 * 3 * 3 * (3 * 6));  // K C/g R S positions
    CHECK(dense_macs(graph, shapes, 2) == 0);
    CHECK(dense_macs(graph, shapes, 4) == 1440);
  }
}

TEST_CASE("dense_macs of a 1D convolution counts its positions") {
  const Graph graph = graph_of({5, 20}, {{"conv", conv1d(5, 7, 3), {}}});
  CHECK(dense_macs(graph, infer_shapes(graph, 2), 1) == 5 * 7 * 3 * 18);
}

}  // namespace winnow
