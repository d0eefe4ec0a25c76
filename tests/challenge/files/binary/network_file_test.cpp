#include "runtime/challenge/files/binary/network_file.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <thread>

#include "runtime/challenge/files/binary/layer_coding.h"
#include "runtime/challenge/files/binary/part_file_layout.h"
#include "tests/challenge/file_seal.h"
#include "tests/challenge/sample_data.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow::challenge {
namespace {

void write_network(const std::string& path, const std::vector<SparseLayer>& layers) {
  NetworkFileWriter writer(path, layers.front().inputs, static_cast<std::uint32_t>(layers.size()));
  for (const SparseLayer& layer : layers) writer.append(layer);
  writer.commit();
}

// 2 inputs, 3 outputs; all four arrays are stored.
SparseLayer small_layer() {
  return {.inputs = 2,
          .row_begin = {0, 2, 2, 3},
          .input = {0, 1, 1},
          .value = {1, 2, 3},
          .bias = {0, 0, 1}};
}

// Where the arrays of the only layer of a file lie.
struct Places {
  std::size_t bounds, biases, values, inputs;
};

Places places_of_only_layer() {
  const std::size_t begin = aligned(kPartHeaderBytes + kPartEntryBytes);
  return {begin, begin + 64, begin + 128, begin + 192};
}

FileBytes small_file() {
  const TemporaryDirectory directory;
  write_network(directory / "n.wsn", {small_layer()});
  return file_bytes(directory / "n.wsn");
}

std::string message(const FileBytes& bytes) {
  const auto read = [&] { open_network_bytes(bytes, "n.wsn")->layer(0); };
  CHECK(error_of(read) == ErrorCode::bad_file);
  return message_of(read);
}

}  // namespace

TEST_CASE("a network comes back from its file, in any order of layers") {
  const TemporaryDirectory directory;
  std::vector<SparseLayer> layers;
  const std::uint32_t sizes[] = {40, 33, 1, 7, 64, 100, 2};
  for (std::size_t l = 0; l + 1 < std::size(sizes); ++l) {
    layers.push_back(random_layer(sizes[l], sizes[l + 1], l));
  }
  write_network(directory / "n.wsn", layers);
  const auto network = open_network_file(directory / "n.wsn");
  CHECK(network->neurons() == 40);
  CHECK(network->layers() == 6);
  CHECK(network->connections() == MemoryNetwork("", layers).connections());
  CHECK(network->name() == "40 neurons, 6 layers in " + directory / "n.wsn");
  for (std::uint32_t l : {5, 0, 3, 1, 2, 4, 5, 0}) CHECK(network->layer(l) == layers[l]);
  CHECK(error_of([&] { network->layer(6); }) == ErrorCode::usage);
  CHECK(error_of([&] { network->shape(6); }) == ErrorCode::usage);
}

TEST_CASE("layers of other sizes and forms are read into the same memory") {
  const TemporaryDirectory directory;
  std::vector<SparseLayer> layers;
  for (std::uint32_t form = 0; form < 8; ++form) {
    layers.push_back(
        regular_layer(form == 0 ? 70 : layers.back().outputs(), 20 + 7 * (form % 3), 3, form));
  }
  layers.push_back(random_layer(layers.back().outputs(), 9, 1));
  write_network(directory / "n.wsn", layers);
  const auto network = open_network_file(directory / "n.wsn");
  SparseLayer layer;
  for (std::uint32_t l : {5, 0, 3, 8, 1, 2, 4, 7, 6, 5, 0}) {
    network->read(l, layer);
    CHECK(layer == layers[l]);
    const LayerShape shape = network->shape(l);
    CHECK(shape.inputs == layer.inputs);
    CHECK(shape.outputs == layer.outputs());
    CHECK(shape.connections == layer.connections());
  }
}

TEST_CASE("layers with every combination of forms come back") {
  const TemporaryDirectory directory;
  for (const std::uint32_t inputs : {65536u, 65537u}) {
    for (std::uint32_t form = 0; form < 8; ++form) {
      CAPTURE(form);
      SparseLayer layer = regular_layer(inputs, 6, 3, form);
      layer.input.back() = inputs - 1;
      if (!(form & kEqualRows)) {  // rows 2 and 3 with 4 and 2 inputs
        layer.row_begin[3] += 1;
        std::sort(layer.input.begin() + 6, layer.input.begin() + 10);
      }
      if (!(form & kEqualBiases)) layer.bias[4] = 7;
      if (!(form & kEqualValues)) {
        layer.value[4] = -0.0f;
        layer.value[5] = 0.0f;
      }
      const EncodedLayer encoded(layer);
      CHECK(encoded.facts().form == (inputs == 65536 ? form | kShortInputs : form));
      write_network(directory / "n.wsn", {layer});
      const SparseLayer read = open_network_file(directory / "n.wsn")->layer(0);
      CHECK(read == layer);
      CHECK(std::signbit(read.value[4]) == std::signbit(layer.value[4]));
    }
  }
}

TEST_CASE("layers without connections and full ones come back") {
  const TemporaryDirectory directory;
  const SparseLayer empty{
      .inputs = 4, .row_begin = {0, 0, 0}, .input = {}, .value = {}, .bias = {1, 1}};
  write_network(directory / "n.wsn", {regular_layer(3, 4, 3, 1), empty, regular_layer(2, 2, 2, 2)});
  const auto network = open_network_file(directory / "n.wsn");
  CHECK(network->layer(0) == regular_layer(3, 4, 3, 1));
  CHECK(network->layer(1) == empty);
  CHECK(network->layer(2) == regular_layer(2, 2, 2, 2));
}

TEST_CASE("a published layer needs two bytes a connection") {
  const TemporaryDirectory directory;
  write_network(directory / "n.wsn", {regular_layer(1024, 1024, 32, 1)});
  CHECK(std::filesystem::file_size(directory / "n.wsn") == 128 + 2 * 32 * 1024);
}

TEST_CASE("equal networks give equal files") {
  CHECK(small_file() == small_file());
}

TEST_CASE("the first layers of a network file are a network") {
  const TemporaryDirectory directory;
  write_network(directory / "n.wsn", {random_layer(5, 6, 1), random_layer(6, 7, 2)});
  const auto network = open_network_file(directory / "n.wsn", 1);
  CHECK(network->layers() == 1);
  CHECK(network->connections() == random_layer(5, 6, 1).connections());
  CHECK(error_of([&] { network->layer(1); }) == ErrorCode::usage);
  CHECK(message_of([&] { open_network_file(directory / "n.wsn", 3); }) ==
        directory / "n.wsn" + ": found 2 layers, expected 3");
}

TEST_CASE("threads may read the same layers at once") {
  const TemporaryDirectory directory;
  write_network(directory / "n.wsn", {random_layer(50, 60, 1), random_layer(60, 50, 2)});
  const auto network = open_network_file(directory / "n.wsn");
  const SparseLayer expected[] = {random_layer(50, 60, 1), random_layer(60, 50, 2)};
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::uint32_t i = 0; i < 50; ++i) wrong += network->layer(i % 2) != expected[i % 2];
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("the bytes of a layer are checked when it is first read") {
  const TemporaryDirectory directory;
  write_network(directory / "n.wsn", {random_layer(5, 6, 1), random_layer(6, 7, 2)});
  FileBytes bytes = file_bytes(directory / "n.wsn");
  bytes.back() ^= std::byte{1};
  const auto network = open_network_bytes(bytes, "n.wsn");
  CHECK(network->layer(0) == random_layer(5, 6, 1));
  for (int i = 0; i < 2; ++i) {
    CHECK(message_of([&] { network->layer(1); }) == "n.wsn: layer 1: the checksum does not match");
  }
}

TEST_CASE("network tables that lie are refused") {
  const FileBytes file = small_file();
  const std::size_t form = kPartHeaderBytes + 16, words = kPartHeaderBytes + 24;
  const auto with = [&](std::size_t at, std::uint32_t value) {
    return message(sealed(changed(file, at, value)));
  };
  const std::string place = "n.wsn: layer 0: ";
  CHECK(with(form, 16) == place + "its form is not known");
  CHECK(with(words, 0) == place + "a number of neurons is out of range");
  CHECK(with(words, 0xffffffff) == place + "a number of neurons is out of range");
  CHECK(with(words + 4, 1 << 25) == place + "a number of neurons is out of range");
  CHECK(with(words, 3) == place + "found 3 inputs, expected 2");
  CHECK(with(words + 4, 1 << 20) == place + "found 198 bytes, expected 8388742");
  CHECK(with(words + 8, 0xffffffff) == place + "found 198 bytes, expected 25769803902");
  CHECK(with(words + 12, 1) == place + "its row length does not give its connections");
  CHECK(with(form, kShortInputs | kEqualRows) ==
        place + "its row length does not give its connections");
  CHECK(with(words + 16, 1) == place + "it has a constant beside an array");
  CHECK(with(words + 20, 0x80000000) == place + "it has a constant beside an array");
  CHECK(with(words + 20, 0x7f800000) == place + "a number is not finite");
}

TEST_CASE("layers whose arrays lie are refused") {
  const FileBytes file = small_file();
  const Places at = places_of_only_layer();
  const auto with = [&](std::size_t place, auto value) {
    return message(sealed(changed(file, place, value)));
  };
  const std::string place = "n.wsn: layer 0: ";
  CHECK(with(at.bounds, 1u).starts_with(place + "4 row bounds"));
  CHECK(with(at.bounds + 4, 0xffffffffu) ==
        place + "output 0: its connections begin at 0 and end at 4294967295 of 3");
  CHECK(with(at.bounds + 8, 1u) ==
        place + "output 1: its connections begin at 2 and end at 1 of 3");
  CHECK(with(at.bounds + 12, 2u).starts_with(place + "4 row bounds"));
  CHECK(with(at.inputs, std::uint16_t{2}) ==
        place + "output 0: input 2 is out of order or not below 2");
  CHECK(with(at.inputs + 2, std::uint16_t{0}) ==
        place + "output 0: input 0 is out of order or not below 2");
  CHECK(with(at.values, NAN) == place + "output 0: a weight is not finite");
  CHECK(with(at.biases, INFINITY) == place + "output 0: the bias is not finite");
  CHECK(with(at.bounds + 16, std::byte{1}) == place + "bytes between its arrays are not 0");
  CHECK(with(at.bounds - 1, std::byte{1}) == place + "the bytes before it are not 0");
}

TEST_CASE("a writer refuses what is no network and leaves no file") {
  const TemporaryDirectory directory;
  const std::string path = directory / "n.wsn";
  CHECK(error_of([&] { NetworkFileWriter(path, 0, 1); }) == ErrorCode::usage);
  CHECK(error_of([&] { NetworkFileWriter(path, 1, 0); }) == ErrorCode::usage);
  {
    NetworkFileWriter writer(path, 2, 2);
    CHECK(message_of([&] { writer.append(random_layer(3, 3, 1)); }) ==
          path + ": layer 0: found 3 inputs and 3 outputs, expected 2 and 1 to 16777216");
    SparseLayer bad = small_layer();
    bad.input[0] = 5;
    CHECK(error_of([&] { writer.append(bad); }) == ErrorCode::usage);
    writer.append(small_layer());
    CHECK(message_of([&] { writer.commit(); }) == path + ": 1 layers were written, expected 2");
    writer.append(random_layer(3, 3, 1));
    CHECK(error_of([&] { writer.append(random_layer(3, 3, 1)); }) == ErrorCode::usage);
  }
  CHECK(std::filesystem::is_empty(directory.path()));
}

}  // namespace winnow::challenge
