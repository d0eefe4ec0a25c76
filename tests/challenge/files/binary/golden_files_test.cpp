// Files of every released format stay readable and are what we still write.
#include <doctest/doctest.h>

#include <sstream>

#include "runtime/base/file.h"
#include "runtime/challenge/files/binary/images_file.h"
#include "runtime/challenge/files/binary/network_file.h"
#include "tests/challenge/file_seal.h"
#include "tests/temporary_directory.h"

namespace winnow::challenge {
namespace {

const std::string kRoot = WINNOW_SOURCE_DIR;
const std::string kNetwork = kRoot + "/tests/challenge/data/golden-1.0.wsn";
const std::string kImages = kRoot + "/tests/challenge/data/golden-1.0.wsi";

std::vector<SparseLayer> golden_layers() {
  return {{.inputs = 4,
           .row_begin = {0, 3, 3, 4},
           .input = {0, 1, 3, 2},
           .value = {0.0625f, -1, 2, 0.5f},
           .bias = {-0.3f, 0, 1}},
          {.inputs = 3,
           .row_begin = {0, 2, 4},
           .input = {0, 2, 1, 2},
           .value = {0.0625f, 0.0625f, 0.0625f, 0.0625f},
           .bias = {-0.3f, -0.3f}}};
}

SparseImages golden_images() {
  return {.neurons = 300, .row_begin = {0, 2, 2, 3}, .neuron = {0, 299, 7}};
}

// The bytes of all lines "00000040: 01 02 ..." of a document; address 0 begins a file.
std::vector<FileBytes> dumps_in(const std::string& path) {
  std::istringstream text(read_text_file(path));
  std::vector<FileBytes> files;
  for (std::string line; std::getline(text, line);) {
    if (line.find_first_not_of("0123456789abcdef") != 8 || line.find(": ") != 8) continue;
    const unsigned long address = std::stoul(line.substr(0, 8), nullptr, 16);
    if (address == 0) files.emplace_back();
    REQUIRE(!files.empty());
    CHECK(address == files.back().size());
    std::istringstream numbers(line.substr(10, 47));
    for (unsigned number; numbers >> std::hex >> number;) files.back().push_back(std::byte(number));
  }
  return files;
}

}  // namespace

TEST_CASE("the golden network file is read and written") {
  const auto network = open_network_file(kNetwork);
  const std::vector<SparseLayer> layers = golden_layers();
  REQUIRE(network->layers() == 2);
  const TemporaryDirectory directory;
  NetworkFileWriter writer(directory / "n.wsn", 4, 2);
  for (std::uint32_t l = 0; l < 2; ++l) {
    CHECK(network->layer(l) == layers[l]);
    writer.append(layers[l]);
  }
  writer.commit();
  CHECK(file_bytes(directory / "n.wsn") == file_bytes(kNetwork));
}

TEST_CASE("the golden images file is read and written") {
  CHECK(read_images_file(kImages) == golden_images());
  const TemporaryDirectory directory;
  write_images_file(directory / "i.wsi", golden_images());
  CHECK(file_bytes(directory / "i.wsi") == file_bytes(kImages));
}

TEST_CASE("the hex dumps in docs/challenge-files.md are the golden files") {
  CHECK(dumps_in(kRoot + "/docs/challenge-files.md") ==
        std::vector{file_bytes(kNetwork), file_bytes(kImages)});
}

}  // namespace winnow::challenge
