#include "runtime/bench/conv_lines.h"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

const ConvRun kRun = {"a 3x3", 128, "f16", {RandomMask::independent, 16, 90}};

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a line names what was measured") {
  CHECK(line_of(kRun).dump() ==
        R"({"layer":"a 3x3","batch":128,"precision":"f16","masks":"independent","vector":16,)"
        R"("sparsity_percent":90.0})");
}

TEST_CASE("a refusal says which family and why") {
  CHECK(refused_line({{"layer", "a"}}, "gathered", "too small").dump() ==
        R"({"layer":"a","family":"gathered","refused":"too small"})");
}

TEST_CASE("a file of lines knows what it has when it is opened again") {
  const TemporaryDirectory folder;
  const std::string path = folder / "lines.jsonl";
  ConvLines first(path);
  CHECK(!first.has(kRun));
  nlohmann::ordered_json header, line = line_of(kRun);
  header["gpu"] = "H200";
  line["ms"] = 0.5;
  first.write({header});
  first.write({line, line});
  CHECK(text_of(path) == "{\"gpu\":\"H200\"}\n" + line.dump() + "\n" + line.dump() + "\n");

  const ConvLines second(path);
  CHECK(second.has(kRun));
  for (ConvRun other : {ConvRun{"b", 128, "f16", kRun.mask}, ConvRun{"a 3x3", 64, "f16", kRun.mask},
                        ConvRun{"a 3x3", 128, "f32", kRun.mask},
                        ConvRun{"a 3x3", 128, "f16", {RandomMask::balanced, 16, 90}},
                        ConvRun{"a 3x3", 128, "f16", {RandomMask::independent, 1, 90}},
                        ConvRun{"a 3x3", 128, "f16", {RandomMask::independent, 16, 80}}}) {
    CHECK(!second.has(other));
  }
}

TEST_CASE("a file that holds something else is refused") {
  const TemporaryDirectory folder;
  const std::string path = folder / "lines.jsonl";
  std::ofstream(path) << "{\"gpu\":\"H200\"}\n{\"layer\":\n";
  CHECK(message_of([&] { ConvLines lines(path); }) == path + ": line 2: expected a JSON object");
}

}  // namespace winnow
