// Parts of the GPU engines that need no GPU.
#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/challenge/engines/cusparse/products/csr_matrix.h"
#include "runtime/challenge/engines/gpu/image_batches.h"
#include "runtime/challenge/engines/gpu/image_blocks.h"
#include "runtime/challenge/engines/gpu/layer_uploads.h"
#include "tests/challenge/random_network.h"
#include "tests/throws.h"

namespace winnow::challenge {
namespace {

// The matrix [rows][columns] with 0 where nothing is stored; columns must ascend.
std::vector<std::vector<float>> to_dense(const HostCsr& m) {
  std::vector<std::vector<float>> dense(static_cast<std::size_t>(m.rows),
                                        std::vector<float>(static_cast<std::size_t>(m.columns)));
  for (std::size_t r = 0; r < dense.size(); ++r) {
    for (std::int32_t k = m.begin[r]; k < m.begin[r + 1]; ++k) {
      if (k > m.begin[r]) CHECK(m.column[k - 1] < m.column[k]);
      dense[r][static_cast<std::size_t>(m.column[k])] = m.value[k];
    }
  }
  return dense;
}

}  // namespace

TEST_CASE("weights by input are the transpose of weights by output") {
  for (const std::uint32_t outputs : {1u, 7u, 60u}) {
    const SparseLayer layer = random_network({.widths = {23, outputs}, .seed = outputs}).layer(0);
    const auto by_input = to_dense(weights_by_input(layer));
    const auto by_output = to_dense(weights_by_output(layer));
    REQUIRE(by_input.size() == 23);
    REQUIRE(by_output.size() == outputs);
    std::size_t nonzeros = 0;
    for (std::size_t i = 0; i < 23; ++i) {
      for (std::size_t j = 0; j < outputs; ++j) {
        CHECK(by_input[i][j] == by_output[j][i]);
        nonzeros += by_output[j][i] != 0 ? 1 : 0;
      }
    }
    CHECK(nonzeros == layer.connections());
  }
}

TEST_CASE("batches of images fit memory and are nearly equal") {
  CHECK(images_per_batch(0, 100, 50, 0) == 1);
  CHECK(images_per_batch(10, 100, 1000, 0) == 10);
  CHECK(images_per_batch(10, 100, 999, 0) == 5);
  CHECK(images_per_batch(10, 100, 300, 0) == 3);
  CHECK(images_per_batch(60000, 8, 1u << 30, 32767) == 30000);
  CHECK(images_per_batch(10, 100, 1000, 1) == 1);
  CHECK(images_per_batch(10, 0, 0, 4) == 4);
  CHECK(message_of([] { images_per_batch(1, 100, 99, 0); }) ==
        "an image needs 100 bytes of GPU memory, 99 are free");
}

TEST_CASE("blocks hold every image once, in order, and are equal but for one image") {
  for (const std::uint32_t images : {0u, 1u, 2u, 63u, 64u, 65u, 60000u}) {
    for (const std::uint32_t count : {1u, 2u, 3u, 64u, 256u}) {
      CAPTURE(images);
      CAPTURE(count);
      const std::vector<ImageBlock> blocks = divide_images(7, 7 + images, count);
      REQUIRE(blocks.size() == count);
      std::uint32_t next = 7, largest = 0;
      for (const ImageBlock& block : blocks) {
        CHECK(block.first == next);
        CHECK(block.images() >= images / count);
        largest = std::max(largest, block.images());
        next = block.last;
      }
      CHECK(next == 7 + images);
      CHECK(largest == largest_block(images, count));
    }
  }
  CHECK(divide_images(0, 10, 4) == std::vector<ImageBlock>{{0, 2}, {2, 5}, {5, 7}, {7, 10}});
  constexpr std::uint32_t kMost = 0xffffffffu;
  CHECK(divide_images(0, kMost, 256).back() == ImageBlock{kMost - kMost / 256 - 1, kMost});
}

TEST_CASE("a chunk of device memory holds all layers of a small network, a few of a large one") {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  CHECK(chunk_bytes(256, 1) == 256);
  CHECK(chunk_bytes(100, 120) == 120 * 256);
  CHECK(chunk_bytes(5 * kMiB, 1920) == 60 * kMiB);
  CHECK(chunk_bytes(5 * kMiB, 2) == 10 * kMiB);
  CHECK(chunk_bytes(100 * kMiB + 1, 3) == 100 * kMiB + 256);
}

TEST_CASE("the bits of all images are taken off the memory for activations") {
  CHECK(bytes_beside_bits(1000, 0, 10) == 1000);
  CHECK(bytes_beside_bits(1000, 32, 10) == 960);
  CHECK(bytes_beside_bits(1000, 33, 10) == 920);  // words of 32 images
  CHECK(bytes_beside_bits(1000, 60000, 65536) == 0);
  CHECK(bytes_beside_bits(std::size_t{1} << 30, 60000, 65536) == 1073741824 - 491520000);
}

}  // namespace winnow::challenge
