#include "runtime/challenge/engines/fused/tile_buffers.h"

#include <doctest/doctest.h>

#include <array>
#include <optional>

namespace winnow::challenge {
namespace {

// What a buffer has: the inputs of a tile, its result, or nothing that is wanted.
struct Held {
  std::optional<std::uint32_t> inputs, result;
  bool is_free() const { return !inputs && !result; }
};

// Goes through tiles in the order of the threads that move: after the n-th is computed, its result
// is stored and the inputs of the tile follow that may then be there too.
void check_tiles(bool has_three, std::uint32_t layers) {
  TileBuffers buffers(has_three);
  std::array<Held, 3> held;
  held[buffers.in()].inputs = 0;
  if (has_three) held[buffers.next()].inputs = 1;
  for (std::uint32_t n = 0; n < 20; ++n) {
    CAPTURE(n);
    REQUIRE(held[buffers.in()].inputs == n);
    REQUIRE(held[buffers.other()].is_free());
    held[buffers.in()] = {};
    const std::uint32_t result = buffers.result(layers);
    CHECK((result == buffers.in()) == (layers % 2 == 0));
    held[result].result = n;
    buffers.advance(layers);
    REQUIRE(held[buffers.next()].result == n);
    held[buffers.next()] = {.inputs = n + buffers.tiles_at_once(), .result = {}};
  }
}

}  // namespace

TEST_CASE("a tile's inputs are there when its turn comes, and nothing wanted is written over") {
  for (const bool has_three : {false, true}) {
    for (const std::uint32_t layers : {1u, 2u, 3u, 8u}) {
      CAPTURE(has_three);
      CAPTURE(layers);
      check_tiles(has_three, layers);
    }
  }
}

TEST_CASE("two buffers are the first two") {
  TileBuffers buffers(false);
  for (int n = 0; n < 10; ++n) {
    CHECK(buffers.in() + buffers.other() == 1);
    CHECK(buffers.next() < 2);
    buffers.advance(3);
  }
}

}  // namespace winnow::challenge
