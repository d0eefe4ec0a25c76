#include "runtime/model/op_schema.h"

#include <doctest/doctest.h>

#include <limits>
#include <set>

#include "tests/model/graphs.h"

namespace winnow {
namespace {

using List = std::vector<std::int64_t>;

Op built(std::string_view op, const OpSettings& settings) {
  const auto result = build_op(op, settings);
  if (const auto* defect = std::get_if<OpDefect>(&result)) FAIL(defect->message);
  return std::get<Op>(result);
}

OpDefect refused(std::string_view op, const OpSettings& settings) {
  const auto result = build_op(op, settings);
  REQUIRE(std::holds_alternative<OpDefect>(result));
  return std::get<OpDefect>(result);
}

OpValue integer(std::int64_t value) {
  return value;
}

// One op of every kind, with no setting at its default where there is a choice.
std::vector<Op> one_of_each() {
  Conv two{2, 4, 6, {3, 5}, {2, 1}, {1, 2}, {1, 3}, 2, false};
  Conv one{1, 4, 6, {1, 5}, {1, 2}, {0, 2}, {1, 3}, 2, false};
  return {Input{{3, 8, 8}, false},
          Input{{20}, true},
          two,
          one,
          Linear{7, 9, false},
          BatchNorm{5, 1e-3, 0.03},
          Relu{6.0},
          Pool{PoolKind::max, 2, {3, 2}, {1, 2}, {1, 0}, Pair{2, 1}, true},
          Pool{PoolKind::average, 2, {3, 2}, {1, 2}, {1, 0}, Pair{2, 1}, true, false},
          Pool{PoolKind::max, 1, {1, 3}, {1, 2}, {0, 1}, Pair{0, 2}, true},
          Pool{PoolKind::average, 1, {1, 3}, {1, 2}, {0, 1}, Pair{0, 2}, true, false},
          GlobalPool{PoolKind::max},
          GlobalPool{PoolKind::average},
          Add{},
          Concat{},
          Flatten{},
          Embedding{100, 16},
          Dropout{0.25},
          Softmax{}};
}

}  // namespace

TEST_CASE("every op survives the way through its settings") {
  std::set<std::string> seen;
  for (const Op& op : one_of_each()) {
    INFO(op_name(op));
    CHECK(find_defect(op) == "");
    CHECK(built(op_name(op), settings_of(op)) == op);
    seen.insert(op_name(op));
  }
  const std::vector<std::string> names = op_names();
  CHECK(seen == std::set<std::string>(names.begin(), names.end()));
}

TEST_CASE("settings hold exactly the keys of the table") {
  for (const Op& op : one_of_each()) {
    std::set<std::string> keys;
    for (const auto& [key, value] : settings_of(op)) keys.insert(key);
    for (const OpSchema& schema : op_schemas()) {
      if (schema.op != op_name(op)) continue;
      std::set<std::string> expected;
      for (const OpKey& key : schema.keys) expected.insert(key.name);
      CHECK(keys == expected);
    }
  }
}

TEST_CASE("what is left out takes the default of graph.h") {
  Conv expected;
  expected.out_channels = 8;
  expected.kernel = {3, 3};
  CHECK(built("conv2d", {{"out_channels", integer(8)}, {"kernel", integer(3)}}) == Op{expected});
  CHECK(built("batch_norm", {}) == Op{BatchNorm{}});
  CHECK(built("dropout", {}) == Op{Dropout{}});
  CHECK(built("linear", {{"out_features", integer(3)}}) == Op{Linear{0, 3, true}});
}

TEST_CASE("a pool moves by its kernel unless it has a stride") {
  CHECK(built("max_pool", {{"kernel", List{3, 2}}}) ==
        Op{Pool{PoolKind::max, 2, {3, 2}, {3, 2}, {0, 0}}});
  CHECK(built("avg_pool1d", {{"kernel", integer(4)}, {"stride", integer(1)}}) ==
        Op{Pool{PoolKind::average, 1, {1, 4}, {1, 1}, {0, 0}}});
}

TEST_CASE("seldom keys are absent where an op does without them, and may say the same") {
  CHECK(settings_of(Relu{}).empty());
  CHECK(settings_of(Pool{}).size() == 3);
  CHECK(built("relu", {{"max_value", integer(6)}}) == Op{Relu{6.0}});
  const Op plain = Pool{PoolKind::average, 2, {3, 3}, {2, 2}, {1, 1}};
  CHECK(built("avg_pool", {{"kernel", integer(3)},
                           {"stride", integer(2)},
                           {"padding", integer(1)},
                           {"padding_end", List{1, 1}},
                           {"ceil_mode", false},
                           {"count_include_pad", true}}) == plain);
  CHECK(refused("max_pool", {{"kernel", integer(3)}, {"count_include_pad", false}}).message ==
        "key 'count_include_pad' is unknown to op 'max_pool'; known: name, op, inputs, kernel, "
        "stride, padding, padding_end, ceil_mode");
  CHECK(refused("max_pool", {{"kernel", integer(3)}, {"ceil_mod", true}}).message ==
        "key 'ceil_mod' is unknown to op 'max_pool'; did you mean 'ceil_mode'?");
  CHECK(refused("relu", {{"max_value", integer(0)}}).message ==
        "key 'max_value': found 0, expected a number from 1e-06 to 1000000");
  CHECK(find_defect(Pool{.counts_padding = false}) != "");  // a maximum never counts
}

TEST_CASE("one integer stands for both extents in 2D and for the only one in 1D") {
  const auto two = std::get<Conv>(built(
      "conv2d", {{"out_channels", integer(8)}, {"kernel", integer(3)}, {"padding", List{1, 0}}}));
  CHECK(two.kernel == Pair{3, 3});
  CHECK(two.padding == Pair{1, 0});
  const auto one = std::get<Conv>(built(
      "conv1d", {{"out_channels", integer(8)}, {"kernel", integer(3)}, {"padding", integer(2)}}));
  CHECK(one.rank == 1);
  CHECK(one.kernel == Pair{1, 3});
  CHECK(one.padding == Pair{0, 2});
  CHECK(one.stride == Pair{1, 1});
}

TEST_CASE("unknown ops and keys come with a suggestion and the key to point at") {
  CHECK(refused("conv2", {}).message == "op 'conv2' is unknown; did you mean 'conv2d'?");
  CHECK(refused("conv2", {}).key == "");
  const OpDefect key = refused("max_pool", {{"kernel", integer(2)}, {"strid", integer(2)}});
  CHECK(key.key == "strid");
  CHECK(key.message == "key 'strid' is unknown to op 'max_pool'; did you mean 'stride'?");
  CHECK(refused("relu", {{"input", true}}).message ==
        "key 'input' is unknown to op 'relu'; did you mean 'inputs'?");
}

TEST_CASE("missing keys are named") {
  const OpDefect defect = refused("conv2d", {{"out_channels", integer(4)}});
  CHECK(defect.key == "");
  CHECK(defect.message == "key 'kernel' is missing");
}

TEST_CASE("wrong types and values out of range say what was found and expected") {
  const auto conv_with = [](const char* key, OpValue value) {
    OpSettings settings = {{"out_channels", integer(8)}, {"kernel", integer(3)}};
    settings[key] = std::move(value);
    const OpDefect defect = refused("conv2d", settings);
    CHECK(defect.key == key);
    return defect.message;
  };
  const std::string extent = ", expected an integer or [vertical, horizontal], from 1 to 65536";
  CHECK(conv_with("stride", integer(0)) == "key 'stride': found 0" + extent);
  CHECK(conv_with("stride", List{1, 70'000}) == "key 'stride': found [1, 70000]" + extent);
  CHECK(conv_with("stride", List{1, 2, 3}) == "key 'stride': found [1, 2, 3]" + extent);
  CHECK(conv_with("stride", 1.5) == "key 'stride': found 1.5" + extent);
  CHECK(conv_with("bias", integer(1)) == "key 'bias': found 1, expected true or false");
  CHECK(conv_with("groups", true) ==
        "key 'groups': found true, expected an integer from 1 to 16777216");
  CHECK(conv_with("out_channels", 8.0).find("found 8, expected an integer") != std::string::npos);
  CHECK(conv_with("kernel", List(100, 1)).find("found 100 integers") != std::string::npos);
}

TEST_CASE("numbers take integers but neither NaN nor infinity") {
  CHECK(built("batch_norm", {{"momentum", integer(0)}}) == Op{BatchNorm{0, 1e-5, 0.0}});
  for (const double value : {std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity(), -0.1, 1.5}) {
    CHECK(refused("dropout", {{"probability", value}}).key == "probability");
  }
  CHECK(refused("dropout", {{"probability", 1.5}}).message ==
        "key 'probability': found 1.5, expected a number from 0 to 0.99");
}

TEST_CASE("1D ops take no lists, inputs take lists of one to three") {
  CHECK(refused("max_pool1d", {{"kernel", List{1, 2}}}).message ==
        "key 'kernel': found [1, 2], expected an integer from 1 to 65536");
  CHECK(refused("input", {{"shape", List{}}}).key == "shape");
  CHECK(refused("input", {{"shape", List{1, 2, 3, 4}}}).key == "shape");
  CHECK(refused("input", {{"shape", integer(3)}}).message ==
        "key 'shape': found 3, expected a list of one to three integers from 1 to 16777216");
}

}  // namespace winnow
