// What an import refuses: networks that the graph cannot hold, and files that are damaged or
// hostile.
#include <doctest/doctest.h>

#include "import/import_refused.h"
#include "import/onnx_import.h"
#include "tests/import/onnx_writer.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

using namespace onnx_writer;

void import_bytes(const std::string& bytes) {
  const TemporaryDirectory directory;
  const std::string path = directory / "m.onnx";
  write_file_atomically(path, bytes);
  import_onnx(read_onnx(path), "m.onnx");
}

std::vector<std::string> reasons_of(const Network& network) {
  try {
    import_bytes(model(network));
  } catch (const ImportRefused& refused) {
    return refused.reasons();
  }
  return {};
}

void check_refused(const std::string& bytes, const std::string& part) {
  const auto import = [&] { import_bytes(bytes); };
  CHECK(error_of(import) == ErrorCode::bad_file);
  CAPTURE(message_of(import));
  CHECK(message_of(import).find(part) != std::string::npos);
  CHECK(message_of(import).find('\n') == std::string::npos);
}

const Network kGood{{1}, {node("MatMul", {"x", "w"}, "y")}, {floats("w", {1, 1}, {2})}};

// The good network with other nodes.
Network with_nodes(std::vector<std::string> nodes) {
  Network network = kGood;
  network.nodes = std::move(nodes);
  return network;
}

}  // namespace

TEST_CASE("all nodes without a counterpart are named at once, with operator and reason") {
  Network network{{4, 4, 4},
                  {node("LSTM", {"x"}, "a"), node("Clip", {"x", "one", "six"}, "b"),
                   node("Conv", {"a", "missing"}, "c"), node("Relu", {"b"}, "y"),
                   node("MaxPool", {"x"}, "d",
                        {integers("kernel_shape", {3, 3}), integers("dilations", {2, 2})})},
                  {floats("one", {}, {1}), floats("six", {}, {6})}};
  const std::vector<std::string> reasons = reasons_of(network);
  REQUIRE(reasons.size() == 4);
  CHECK(reasons[0] == "node 'the_a' (LSTM): the operator is not supported");
  CHECK(reasons[1] == "node 'the_b' (Clip): clips at 1 from below, expected 0");
  CHECK(reasons[2] ==
        "node 'the_c' (Conv): reads 'missing', which no input, initializer or node gives");
  CHECK(reasons[3] == "node 'the_d' (MaxPool): dilation 2, expected 1");
}

TEST_CASE("bounds and windows that the graph cannot have are refused with the reason") {
  const auto reason = [](const std::string& refused) {
    const Network network{
        {1, 1, 5},
        {node("Pad", {"x", "p"}, "padded"), refused},
        {int64s("p", {0, 0, 0, 0, 0, 0, 0, 1}), floats("low", {}, {0}), floats("high", {}, {0})}};
    const std::vector<std::string> reasons = reasons_of(network);
    REQUIRE(reasons.size() == 1);
    return reasons[0];
  };
  CHECK(reason(node("Clip", {"x", "low", "high"}, "y")).find("'max_value': found 0, expected") !=
        std::string::npos);
  CHECK(reason(node("MaxPool", {"x"}, "y",
                    {integers("kernel_shape", {1, 2}), integers("pads", {0, 0, 0, 2})}))
            .find("padding 2 is not less than the kernel's 2") != std::string::npos);
  CHECK(reason(node("MaxPool", {"x"}, "y",
                    {integers("kernel_shape", {1, 2}), integers("strides", {1, 2}),
                     text("auto_pad", "VALID"), integer("ceil_mode", 1)})) ==
        "node 'the_y' (MaxPool): auto_pad and a ceil_mode that adds a window, which programs read "
        "differently");
  CHECK(reason(node("AveragePool", {"padded"}, "y",
                    {integers("kernel_shape", {1, 1}), integers("strides", {1, 5}),
                     integer("ceil_mode", 1)})) ==
        "node 'the_y' (AveragePool): ceil_mode makes a window that begins in the zeros of a Pad");
}

TEST_CASE("cycles, names given twice and outputs that nothing gives are refused") {
  const auto relu = [](const char* from, const char* to) { return node("Relu", {from}, to); };
  CHECK(reasons_of(with_nodes({relu("b", "a"), relu("a", "b"), relu("b", "y")}))[0] ==
        "node 'the_a' (Relu): reads 'b', which node 'the_b' gives only behind it or not at all");
  CHECK(reasons_of(with_nodes({relu("x", "y"), relu("x", "y")}))[0] ==
        "node 'the_y' (Relu): its output 'y' exists already");
  check_refused(model(with_nodes({relu("x", "z")})), "output 'y' is given by no layer");
  check_refused(model(with_nodes({node("Identity", {"x"}, "y")})), "is given by no layer");
  Network twice = kGood;
  twice.initializers.push_back(twice.initializers[0]);
  check_refused(model(twice), "initializer 'w' comes twice");
  Network two = kGood;
  two.outputs = {"y", "y"};
  check_refused(model(two), "found 2 outputs, expected one");
}

TEST_CASE("weights of the wrong shape are refused") {
  Network network = kGood;
  network.initializers = {floats("w", {2, 3}, {1, 2, 3, 4, 5, 6})};
  CHECK(reasons_of(network)[0].find("expects 2 input features") != std::string::npos);
  network.initializers = {floats("w", {1}, {1})};
  CHECK(reasons_of(network)[0] ==
        "node 'the_y' (MatMul): its weight has the shape [1], expected two dimensions");
  network.nodes = {node("Gemm", {"x", "w"}, "y", {integer("transB", 1), integer("turbo", 1)})};
  CHECK(reasons_of(network)[0] == "node 'the_y' (Gemm): its attribute 'turbo' is not supported");
}

TEST_CASE("tensors whose data does not fit their shape are refused before memory is taken") {
  const auto check = [](const std::string& initializer, const std::string& part) {
    Network network = kGood;
    network.initializers = {initializer};
    check_refused(model(network), part);
  };
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  check(tensor("w", {1, 1}, 1, "abc"), "found 3 bytes of data, expected 4 for F32 [1, 1]");
  check(tensor("w", {kHuge, 4}, 1, ""), "negative, too many or too large");
  check(tensor("w", {kHuge}, 2, ""), "negative, too many or too large");
  check(tensor("w", {1 << 30, 1 << 20}, 1, "abcd"), "found 4 bytes of data, expected ");
  check(tensor("w", {-1}, 1, ""), "negative, too many or too large");
  check(tensor("w", {1}, 8, ""), "found the data type 8");
  check(tensor("w", {1}, 1, "") + field(13, field(1, "location")), "lies in another file");
  check(tensor("a\nb", {1}, 1, "abcd"), "'a\\x0ab', expected UTF-8 text without control");
}

TEST_CASE("a shape from a few bytes cannot take all memory") {
  Network network =
      with_nodes({node("ConstantOfShape", {"s"}, "f"), node("MatMul", {"x", "f"}, "y")});
  network.initializers = {int64s("s", {1 << 20, 1 << 20})};
  CHECK(reasons_of(network)[0].find("asks for more than 268435456 values") != std::string::npos);
}

TEST_CASE("whatever is cut off or changed is refused or gives a network, never anything else") {
  const std::string good =
      model({{1, 4, 4},
             {node("Conv", {"x", "w"}, "c", {integers("pads", {0, 0, 1, 1})}),
              node("Flatten", {"c"}, "f"), node("Gemm", {"f", "v"}, "y", {integer("transB", 1)})},
             {floats("w", {1, 1, 2, 2}, {1, 2, 3, 4}),
              floats("v", {2, 16}, std::vector<float>(32, 1.0F))}});
  import_bytes(good);
  int refused = 0;
  for (std::size_t length = 0; length < good.size(); ++length) {
    const auto code = error_of([&] { import_bytes(good.substr(0, length)); });
    CHECK(code == ErrorCode::bad_file);
  }
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string changed = good;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    const auto code = error_of([&] { import_bytes(changed); });
    if (code) CHECK((code == ErrorCode::bad_file || code == ErrorCode::usage));
    refused += code ? 1 : 0;
  }
  CHECK(refused > 100);
}

TEST_CASE("a number of more than 64 bits and a length beyond the file are named with their place") {
  check_refused(field(1, std::uint64_t{8}) + std::string("\x3a\xff\xff\xff\xff\x0f", 6),
                "m.onnx: byte 2: model: field 7 is 4294967295 bytes long, 0 are left");
  check_refused(std::string("\x08\x01\x42\x02\x10\x80", 6),
                "byte 4: operator set: ends within a number");
  check_refused(std::string("\x08") + std::string(10, '\xff'), "has more than 64 bits");
  check_refused("\x0b", "has the wire type 3, expected 0, 1, 2 or 5");
  check_refused("", "no ONNX file, but an empty file");
  check_refused("PK\x03\x04 and more of an archive", "no ONNX file, but a ZIP archive");
}

TEST_CASE("operator sets beyond those known are refused") {
  Network network = kGood;
  network.opset = 99;
  check_refused(model(network), "m.onnx: found operator set 99, expected 7 to 28");
}

}  // namespace winnow
