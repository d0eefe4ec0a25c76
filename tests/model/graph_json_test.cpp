#include "runtime/model/graph_json.h"

#include <doctest/doctest.h>

#include "runtime/model/architectures.h"
#include "tests/model/graphs.h"
#include "tests/throws.h"

namespace winnow {
namespace {

std::string refusal(const std::string& text) {
  INFO(text.substr(0, 200));
  CHECK(error_of([&] { graph_from_json(text, "a.wnw: graph"); }) == ErrorCode::bad_file);
  return message_of([&] { graph_from_json(text, "a.wnw: graph"); });
}

// A graph whose second node is `node`, an input of [4, 8, 8] before it.
std::string with_node(const std::string& node) {
  return R"({"name":"net","nodes":[{"name":"input","op":"input","shape":[4,8,8]},)" + node + "]}";
}

// A graph whose second node has these keys beside name and inputs.
std::string with_op(const std::string& keys) {
  return with_node(R"({"name":"n","inputs":["input"],)" + keys + "}");
}

}  // namespace

TEST_CASE("the text of a graph lists keys in the table's order") {
  CHECK(graph_to_json(graph_of({4, 8, 8}, {{"pool", Pool{}, {}}, {"bn", BatchNorm{4}, {}}})) ==
        R"({"name":"net","nodes":[{"name":"input","op":"input","shape":[4,8,8],"tokens":false},)"
        R"({"name":"pool","op":"max_pool","inputs":["input"],"kernel":[2,2],"stride":[2,2],)"
        R"("padding":[0,0]},{"name":"bn","op":"batch_norm","inputs":["pool"],"channels":4,)"
        R"("epsilon":1e-05,"momentum":0.1}]})");
}

TEST_CASE("upper bounds and uneven windows are written where they are used") {
  const Graph graph = graph_of(
      {4, 8, 8},
      {{"relu", Relu{6.0}, {}}, {"pool", Pool{.padding_end = Pair{0, 1}, .rounds_up = true}, {}}});
  const std::string text = graph_to_json(graph);
  CHECK(
      text.ends_with(R"({"name":"relu","op":"relu","inputs":["input"],"max_value":6.0},)"
                     R"({"name":"pool","op":"max_pool","inputs":["relu"],"kernel":[2,2],)"
                     R"("stride":[2,2],"padding":[0,0],"padding_end":[0,1],"ceil_mode":true}]})"));
  CHECK(graph_from_json(text, "memory") == graph);
  CHECK(refusal(with_op(R"("op":"relu","max_valu":6)")) ==
        "a.wnw: graph: node 'n': key 'max_valu' is unknown to op 'relu'; did you mean "
        "'max_value'?");
}

TEST_CASE("graphs come back equal from their text") {
  const Graph text_net = graph_of({30},
                                  {{"embed", Embedding{100, 8}, {}},
                                   {"conv", conv1d(8, 6, 3), {}},
                                   {"drop", Dropout{0.1 + 0.2}, {}},
                                   {"pool", GlobalPool{PoolKind::max}, {}},
                                   {"fc", Linear{6, 2, false}, {}}},
                                  true);
  for (const Graph& graph : {joined_graph(), text_net, lenet5({{1, 28, 28}, 10, 0.3}),
                             vgg16({{3, 32, 32}, 100}), vgg16({{3, 224, 224}, 1000, 0.5})}) {
    const std::string text = graph_to_json(graph);
    CHECK(graph_from_json(text, "memory") == graph);
    CHECK(graph_to_json(graph_from_json(text, "memory")) == text);
  }
}

TEST_CASE("keys with a default may be left out, white space does not matter") {
  const Graph graph = graph_from_json(
      with_op(R"( "op" : "conv2d", "in_channels":4, "out_channels":2, "kernel":3 )"), "memory");
  CHECK(std::get<Conv>(graph.nodes[1].op) == conv(4, 2, 3));
}

TEST_CASE("unknown ops and keys are refused with a suggestion") {
  CHECK(refusal(with_op(R"("op":"rellu")")) ==
        "a.wnw: graph: node 'n': op 'rellu' is unknown; did you mean 'relu'?");
  CHECK(refusal(with_op(R"("op":"max_pool","kernel":2,"strid":2)")) ==
        "a.wnw: graph: node 'n': key 'strid' is unknown to op 'max_pool'; did you mean 'stride'?");
  CHECK(refusal(R"({"name":"net","node":[]})") ==
        "a.wnw: graph: key 'node' is unknown; did you mean 'nodes'?");
}

TEST_CASE("missing keys and wrong types are refused with their node") {
  CHECK(refusal(R"({"name":"net"})") == "a.wnw: graph: key 'nodes' is missing");
  CHECK(refusal(R"([1])") == "a.wnw: graph: found a list, expected an object");
  CHECK(refusal(R"({"name":3,"nodes":[]})") ==
        "a.wnw: graph: key 'name': found 3, expected a string");
  CHECK(refusal(R"({"name":"net","nodes":{}})") ==
        "a.wnw: graph: key 'nodes': found an object, expected a list");
  CHECK(refusal(with_node("7")) == "a.wnw: graph: node 1: found 7, expected an object");
  CHECK(refusal(with_node(R"({"op":"relu"})")) == "a.wnw: graph: node 1: key 'name' is missing");
  CHECK(refusal(with_node(R"({"name":"n"})")) == "a.wnw: graph: node 'n': key 'op' is missing");
  CHECK(refusal(with_node(R"({"name":"n","op":"relu","inputs":"input"})")) ==
        "a.wnw: graph: node 'n': key 'inputs': found 'input', expected a list");
  CHECK(refusal(with_node(R"({"name":"n","op":"relu","inputs":[null]})")) ==
        "a.wnw: graph: node 'n': key 'inputs': found null, expected a string");
  CHECK(refusal(with_op(R"("op":"max_pool","kernel":"2")")) ==
        "a.wnw: graph: node 'n': key 'kernel': found '2', expected an integer");
  CHECK(refusal(with_op(R"("op":"max_pool","kernel":[2,2.5])")) ==
        "a.wnw: graph: node 'n': key 'kernel': found 2.5, expected an integer");
  CHECK(refusal(with_op(R"("op":"max_pool","kernel":[[2],2])")) ==
        "a.wnw: graph: node 'n': key 'kernel': found a list, expected an integer");
}

TEST_CASE("integers beyond 64 bits and values out of range are refused") {
  CHECK(refusal(with_op(R"("op":"max_pool","kernel":18446744073709551615)")) ==
        "a.wnw: graph: node 'n': key 'kernel': 18446744073709551615 is out of range");
  CHECK(refusal(with_op(R"("op":"max_pool","kernel":-9223372036854775808)"))
            .find("found -9223372036854775808, expected an integer") != std::string::npos);
  refusal(with_op(R"("op":"max_pool","kernel":36893488147419103232)"));
  CHECK(refusal(with_op(R"("op":"dropout","probability":1e999)")) ==
        "a.wnw: graph: JSON has a number out of range");
  CHECK(refusal(with_op(R"("op":"conv2d","out_channels":2,"kernel":3)")) ==
        "a.wnw: graph: net: node 'n': key 'in_channels': found 0, expected an integer from 1 to "
        "16777216");
}

TEST_CASE("graphs whose shapes do not meet are bad files") {
  CHECK(refusal(with_op(R"("op":"batch_norm","channels":5)")) ==
        "a.wnw: graph: net: node 'n': expects 5 channels, 'input' gives 4");
}

TEST_CASE("a key that occurs twice is refused wherever it is") {
  CHECK(refusal(with_op(R"("op":"relu","op":"relu")")) == "a.wnw: graph: key 'op' occurs twice");
  CHECK(refusal(R"({"name":"a","nodes":[],"name":"b"})") ==
        "a.wnw: graph: key 'name' occurs twice");
}

TEST_CASE("a byte order mark before the text is refused") {
  CHECK(refusal("\xef\xbb\xbf" + with_op(R"("op":"relu")")) ==
        "a.wnw: graph: byte 0: a byte order mark, expected JSON");
}

TEST_CASE("deep and long texts are refused early") {
  CHECK(refusal(std::string(17, '[') + std::string(17, ']')) ==
        "a.wnw: graph: JSON is nested deeper than 16");
  CHECK(refusal(std::string(1'000'000, '[')) == "a.wnw: graph: JSON is nested deeper than 16");
  CHECK(refusal(std::string((1 << 20) + 1, ' ')) ==
        "a.wnw: graph: JSON text is 1048577 bytes long, at most 1048576 expected");
}

TEST_CASE("names with control characters cannot break the line of a message") {
  const std::string message =
      refusal(with_node("{\"name\":\"n\\n\\u001b[31m\",\"op\":\"relu\",\"inputs\":[\"input\"]}"));
  CHECK(message.find('\n') == std::string::npos);
  CHECK(message.find('\x1b') == std::string::npos);
  CHECK(message.find("'n\\x0a\\x1b[31m'") != std::string::npos);
}

TEST_CASE("every cut of a text is refused, and every changed byte is refused or harmless") {
  const std::string text = graph_to_json(joined_graph());
  for (std::size_t length = 0; length < text.size(); ++length) {
    REQUIRE(error_of([&] { graph_from_json(text.substr(0, length), "x"); }) == ErrorCode::bad_file);
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const char byte : {'\0', '"', '9', '-', '{', '\xff'}) {
      std::string changed = text;
      changed[i] = byte;
      const auto code = error_of([&] { infer_shapes(graph_from_json(changed, "x"), 1); });
      REQUIRE((!code || code == ErrorCode::bad_file));
    }
  }
}

}  // namespace winnow
