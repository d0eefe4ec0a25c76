#include "runtime/challenge/generate/class_structure.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/throws.h"

namespace winnow::challenge {
namespace {

using Lists = std::vector<std::vector<std::uint32_t>>;

// ceil(log2 classes), but at least 1.
std::uint32_t layers_per_block(const ClassStructure& structure) {
  std::uint32_t layers = 1;
  while (1u << layers < structure.classes()) ++layers;
  return layers;
}

// Inputs that reach each output over the layers of a block. [neurons][neurons]
std::vector<std::vector<bool>> reachable(const ClassStructure& structure, std::uint32_t neurons) {
  std::vector<std::vector<bool>> reach(neurons, std::vector<bool>(neurons));
  for (std::uint32_t i = 0; i < neurons; ++i) reach[i][i] = true;
  for (std::uint32_t l = 0; l < layers_per_block(structure); ++l) {
    const Lists lists = structure.input_lists(l);
    std::vector<std::vector<bool>> next(neurons, std::vector<bool>(neurons));
    for (std::uint32_t j = 0; j < neurons; ++j) {
      for (const std::uint32_t input : lists[j % structure.classes()]) {
        for (std::uint32_t i = 0; i < neurons; ++i) {
          if (reach[input][i]) next[j][i] = true;
        }
      }
    }
    reach = next;
  }
  return reach;
}

// What class_structure.h says, pair by pair.
bool is_connected(const ClassStructure& structure, std::uint32_t l, std::uint32_t i,
                  std::uint32_t j) {
  const std::uint32_t classes = structure.classes();
  const std::uint32_t stride = 1u << (l % layers_per_block(structure));
  const std::uint32_t c = structure.input_classes(l)[i];
  return c == j % classes || c == (j + stride) % classes;
}

}  // namespace

TEST_CASE("the uniform stream gives the doubles of MT19937 seeded with 5489") {
  // MathWorks, "Controlling Random Number Generation": the first results of rand.
  UniformStream stream(5489);
  for (const double expected : {0.8147, 0.9058, 0.1270, 0.9134, 0.6324}) {
    CHECK(stream.next() == doctest::Approx(expected).epsilon(1e-4));
  }
  UniformStream later(5489, 3);
  CHECK(later.next() == doctest::Approx(0.9134).epsilon(1e-4));
}

TEST_CASE("the published sizes follow each other in one stream") {
  CHECK(published_stream_position(1024) == 0);
  CHECK(published_stream_position(4096) == (1920 / 6 - 1) * 1024);
  CHECK(published_stream_position(16384) == 1'305'600);
  CHECK(published_stream_position(65536) == 4'434'944);
  CHECK(message_of([] { published_stream_position(2048); }) ==
        "found 2048 neurons, published are 1024, 4096, 16384 and 65536");
}

TEST_CASE("the classes of a worked example") {
  // Four classes of two; the first block has strides 1 and 2.
  const ClassStructure structure(8, 2, 3, UniformStream(5489));
  CHECK(structure.classes() == 4);
  CHECK(structure.input_lists(0) == Lists{{0, 1, 4, 5}, {1, 2, 5, 6}, {2, 3, 6, 7}, {0, 3, 4, 7}});
  CHECK(structure.input_lists(1) == Lists{{0, 2, 4, 6}, {1, 3, 5, 7}, {0, 2, 4, 6}, {1, 3, 5, 7}});
  // The stream goes on 0.8147 0.9058 0.1270 0.9134 0.6324 0.0975 0.2785 0.5469: in ascending order
  // these are inputs 5 2 6 7 4 0 1 3.
  CHECK(structure.input_classes(2) == std::vector<std::uint32_t>{1, 2, 1, 3, 0, 0, 2, 3});
}

TEST_CASE("layers connect as their definition says, also where neurons are no power of two") {
  for (const std::uint32_t neurons : {1u, 2u, 16u, 17u, 31u, 40u, 48u, 100u, 256u}) {
    CAPTURE(neurons);
    const std::uint32_t class_size = std::min(neurons, 8u);
    const ClassStructure structure(neurons, class_size, 12, UniformStream(3));
    for (std::uint32_t l = 0; l < 12; ++l) {
      const Lists lists = structure.input_lists(l);
      std::uint64_t connections = 0;
      for (std::uint32_t j = 0; j < neurons; ++j) {
        std::vector<std::uint32_t> expected;
        for (std::uint32_t i = 0; i < neurons; ++i) {
          if (is_connected(structure, l, i, j)) expected.push_back(i);
        }
        REQUIRE(lists[j % structure.classes()] == expected);
        connections += expected.size();
      }
      CHECK(structure.connections(l) == connections);
    }
  }
}

TEST_CASE("over a block every input has a way to every output") {
  for (const std::uint32_t neurons : {32u, 48u, 100u, 136u}) {
    const ClassStructure structure(neurons, 8, 1, UniformStream(3));
    for (const std::vector<bool>& inputs : reachable(structure, neurons)) {
      CHECK(std::count(inputs.begin(), inputs.end(), true) == neurons);
    }
  }
}

TEST_CASE("classes are dealt out anew in every block but not within one") {
  const ClassStructure structure(64, 4, 9, UniformStream(3));  // 16 classes, blocks of 4 layers
  CHECK(structure.input_classes(4) == structure.input_classes(7));
  CHECK(structure.input_classes(3) != structure.input_classes(4));
  CHECK(structure.input_classes(7) != structure.input_classes(8));
}

}  // namespace winnow::challenge
