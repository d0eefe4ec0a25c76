#include "runtime/challenge/network.h"

#include <doctest/doctest.h>

#include <cmath>

#include "runtime/challenge/images.h"
#include "tests/throws.h"

namespace winnow::challenge {
namespace {

// Three inputs; output 0 reads inputs 0 and 2, output 1 nothing.
SparseLayer small_layer() {
  return {
      .inputs = 3, .row_begin = {0, 2, 2}, .input = {0, 2}, .value = {0.5f, -1}, .bias = {0, 1}};
}

}  // namespace

TEST_CASE("a layer whose members do not fit each other is refused") {
  CHECK_NOTHROW(check_layer(small_layer(), "layer"));
  SparseLayer layer = small_layer();
  layer.input = {2, 0};
  CHECK_THROWS_WITH_AS(check_layer(layer, "layer 7"),
                       "layer 7: output 0: input 0 is out of order or not below 3", Error);
  layer.input = {0, 3};
  CHECK_THROWS_AS(check_layer(layer, "layer"), Error);
  layer = small_layer();
  layer.value[1] = NAN;
  CHECK_THROWS_AS(check_layer(layer, "layer"), Error);
  layer = small_layer();
  layer.row_begin = {0, 3, 2};
  CHECK_THROWS_AS(check_layer(layer, "layer"), Error);
  layer.row_begin = {0, 2};
  CHECK_THROWS_AS(check_layer(layer, "layer"), Error);
}

TEST_CASE("layers of a network follow each other and can be taken in ranges") {
  SparseLayer second = small_layer();
  CHECK_THROWS_AS(MemoryNetwork("net", {small_layer(), second}), Error);
  second.inputs = 2;
  second.input[1] = 1;
  const MemoryNetwork network("net", {small_layer(), second});
  CHECK(network.connections() == 4);
  const LayerRange range(network, 1, 2);
  CHECK(range.neurons() == 2);
  CHECK(range.layers() == 1);
  CHECK(range.connections() == 2);
  CHECK(range.layer(0) == second);
  SparseLayer read = small_layer();  // whose memory is used again
  range.read(0, read);
  CHECK(read == second);
  CHECK(range.shape(0).inputs == 2);
  CHECK(range.shape(0).outputs == 2);
  CHECK(range.shape(0).connections == 2);
  CHECK_THROWS_AS(range.layer(1), Error);
  CHECK_THROWS_AS(range.read(1, read), Error);
  CHECK_THROWS_AS(range.shape(1), Error);
  CHECK_THROWS_AS(LayerRange(network, 1, 3), Error);
}

TEST_CASE("a slice of images keeps their ones") {
  const SparseImages images{.neurons = 4, .row_begin = {0, 2, 2, 3}, .neuron = {0, 3, 1}};
  CHECK_NOTHROW(check_images(images, "images"));
  const SparseImages part = slice(images, 1, 3);
  CHECK(part == SparseImages{.neurons = 4, .row_begin = {0, 0, 1}, .neuron = {1}});
  SparseImages bad = images;
  bad.neuron[2] = 4;
  CHECK_THROWS_WITH_AS(check_images(bad, "images"),
                       "images: image 2: neuron 4 is out of order or not below 4", Error);
}

}  // namespace winnow::challenge
