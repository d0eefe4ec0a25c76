#include "runtime/challenge/files/dataset.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "runtime/challenge/files/binary/images_file.h"
#include "runtime/challenge/files/binary/network_file.h"
#include "runtime/challenge/files/text/tsv.h"
#include "tests/challenge/sample_data.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kNeurons = 24;

SparseLayer layer(std::uint32_t number) {
  SparseLayer layer = random_layer(kNeurons, kNeurons, number);
  layer.bias.assign(kNeurons, -0.25f);
  return layer;
}

SparseImages images() {
  return random_images(kNeurons, 10, 0.4, 9);
}

// Layers 1 to `layers` and images as TSV, every second file packed.
void write_tsv(const std::string& folder, std::uint32_t layers) {
  const std::string inner = folder + "/" + layer_folder_name(kNeurons);
  std::filesystem::create_directories(inner);
  for (std::uint32_t number = 1; number <= layers; ++number) {
    const std::string path = inner + "/" + layer_file_name(kNeurons, number);
    write_layer_tsv(number % 2 ? path : path + ".gz", layer(number));
  }
  write_images_tsv(folder + "/" + images_file_name(kNeurons, false) + ".gz", images());
}

void write_binary(const std::string& folder, std::uint32_t layers) {
  NetworkFileWriter writer(folder + "/" + network_file_name(kNeurons), kNeurons, layers);
  for (std::uint32_t number = 1; number <= layers; ++number) writer.append(layer(number));
  writer.commit();
  write_images_file(folder + "/" + images_file_name(kNeurons, true), images());
}

void check_layers(const Network& network, std::uint32_t layers) {
  CHECK(network.neurons() == kNeurons);
  REQUIRE(network.layers() == layers);
  std::uint64_t connections = 0;
  for (std::uint32_t l = 0; l < layers; ++l) {
    CHECK(network.layer(l) == layer(l + 1));
    connections += layer(l + 1).connections();
  }
  CHECK(network.connections() == connections);
  CHECK(error_of([&] { network.layer(layers); }) == ErrorCode::usage);
}

}  // namespace

TEST_CASE("files of a data folder have the names of the published ones") {
  CHECK(layer_folder_name(1024) + "/" + layer_file_name(1024, 120) == "neuron1024/n1024-l120.tsv");
  CHECK(images_file_name(65536, false) == "sparse-images-65536.tsv");
  CHECK(categories_file_name(4096, 480) == "neuron4096-l480-categories.tsv");
  CHECK(network_file_name(16384) == "neuron16384.wsn");
  CHECK(images_file_name(16384, true) == "sparse-images-16384.wsi");
}

TEST_CASE("a folder of TSV files is found and read whole") {
  const TemporaryDirectory directory;
  write_tsv(directory.path(), 5);
  std::uint32_t last = 0, calls = 0;
  const auto progress = [&](std::uint32_t done, std::uint32_t total) {
    CHECK(total == 5);
    CHECK(done == last + 1);
    last = done;
    ++calls;
  };
  const Dataset data = open_dataset(directory.path(), 0, 0, progress, -0.25f);
  CHECK(calls == 5);
  check_layers(*data.network, 5);
  CHECK(data.network->name() == "24 neurons, 5 layers in " + directory.path());
  CHECK(data.images == images());
  CHECK(data.truth.empty());
  check_layers(*open_dataset(directory.path(), kNeurons, 3, nullptr, -0.25f).network, 3);
}

TEST_CASE("TSV layers may lie in the folder itself and be read one by one") {
  const TemporaryDirectory directory;
  for (std::uint32_t number : {1, 2}) {
    write_layer_tsv(directory / layer_file_name(kNeurons, number), layer(number));
  }
  const DatasetFiles files = find_dataset(directory.path(), 0, 0);
  CHECK(files.neurons == kNeurons);
  CHECK(files.layers == 2);
  check_layers(*open_network(files, -0.25f), 2);
}

TEST_CASE("a folder of binary files is found and read; the binary form goes first") {
  const TemporaryDirectory directory;
  write_tsv(directory.path(), 2);
  write_binary(directory.path(), 4);
  const Dataset data = open_dataset(directory.path());
  check_layers(*data.network, 4);
  CHECK(data.images == images());
  check_layers(*open_dataset(directory.path(), kNeurons, 3).network, 3);
  CHECK(error_of([&] { open_dataset(directory.path(), 0, 5); }) == ErrorCode::usage);
}

TEST_CASE("the categories file is that of the layers in use") {
  const TemporaryDirectory directory;
  write_binary(directory.path(), 4);
  write_categories_tsv(directory / "neuron24-l4-categories.tsv", {1});
  write_categories_tsv(directory / "neuron24-l2-categories.tsv.gz", {2});
  CHECK(open_dataset(directory.path()).truth == directory / "neuron24-l4-categories.tsv");
  CHECK(open_dataset(directory.path(), 0, 2).truth == directory / "neuron24-l2-categories.tsv.gz");
  CHECK(open_dataset(directory.path(), 0, 3).truth.empty());
}

TEST_CASE("what is missing is named with where it was looked for") {
  const TemporaryDirectory directory;
  const std::string path = directory.path();
  const auto message = [&](std::uint32_t neurons, std::uint32_t layers) {
    const auto open = [&] { open_dataset(path, neurons, layers, nullptr, -0.25f); };
    CHECK(error_of(open) == ErrorCode::bad_file);
    return message_of(open);
  };
  CHECK(message_of([&] { open_dataset(directory / "x"); }) == directory / "x: no such folder");
  CHECK(message(0, 0) ==
        path +
            ": no network: looked for neuronN.wsn, neuronN/nN-l1.tsv and nN-l1.tsv (also "
            ".tsv.gz), N the number of neurons");
  CHECK(message(24, 0) == path +
                              ": no network: looked for neuron24.wsn, n24-l1.tsv and "
                              "n24-l1.tsv.gz in " +
                              path + " and " + path + "/neuron24");
  write_tsv(path, 4);
  CHECK(message(0, 6) == path + ": no layer 5 of 6: looked for n24-l5.tsv and n24-l5.tsv.gz in " +
                             path + " and " + path + "/neuron24");
  std::filesystem::remove(path + "/neuron24/n24-l2.tsv.gz");
  CHECK(message(0, 0).find(": no layer 2 of 4: ") != std::string::npos);
  write_binary(path, 1);
  std::filesystem::remove(path + "/sparse-images-24.wsi");
  std::filesystem::remove(path + "/sparse-images-24.tsv.gz");
  CHECK(message_of([&] { open_dataset(path); }) ==
        path +
            ": no images: looked for sparse-images-24.wsi, sparse-images-24.tsv and "
            "sparse-images-24.tsv.gz");
}

TEST_CASE("of several networks one has to be chosen") {
  const TemporaryDirectory directory;
  write_tsv(directory.path(), 1);
  std::filesystem::create_directory(directory / "neuron1024");
  write_text(directory / "n64-l1.tsv.gz", "");
  const auto open = [&] { find_dataset(directory.path(), 0, 0); };
  CHECK(error_of(open) == ErrorCode::usage);
  CHECK(message_of(open) == directory.path() +
                                ": found networks of 24, 64, 1024 neurons, expected one; say "
                                "which by its number of neurons");
  CHECK(find_dataset(directory.path(), kNeurons, 0).layers == 1);
}

TEST_CASE("names that are none of ours are no networks") {
  const TemporaryDirectory directory;
  for (const char* name :
       {"neuron24-l4-categories.tsv", "neuron.wsn", "neuron024.wsn", "n24-l1.txt", "n-l1.tsv",
        "neuron24", "n24-l0.tsv", "n99999999999-l1.tsv"}) {
    write_text(directory / name, "");
  }
  CHECK(message_of([&] { find_dataset(directory.path(), 0, 0); }).find(": no network: ") !=
        std::string::npos);
}

TEST_CASE("the bias of TSV layers is the published one or given") {
  const TemporaryDirectory directory;
  write_tsv(directory.path(), 1);
  const auto open = [&] { open_dataset(directory.path()); };
  CHECK(error_of(open) == ErrorCode::usage);
  CHECK(message_of(open) == directory.path() +
                                ": no network of 24 neurons is published, and TSV files hold no "
                                "bias; give one");
  CHECK(published_bias(1024) == -0.3f);
  CHECK(published_bias(4096) == -0.35f);
  CHECK(published_bias(16384) == -0.4f);
  CHECK(published_bias(65536) == -0.45f);
  write_layer_tsv(directory / "n1024-l1.tsv", regular_layer(1024, 1024, 32, 1));
  const auto network = open_network(find_dataset(directory.path(), 1024, 0), {});
  CHECK(network->layer(0) == regular_layer(1024, 1024, 32, 1));
  write_binary(directory.path(), 1);
  CHECK(error_of([&] { open_dataset(directory.path(), 24, 0, nullptr, 1.0f); }) ==
        ErrorCode::usage);
}

TEST_CASE("files whose content contradicts their name are refused") {
  const TemporaryDirectory directory;
  write_binary(directory.path(), 1);
  std::filesystem::rename(directory / "neuron24.wsn", directory / "neuron25.wsn");
  CHECK(message_of([&] { open_dataset(directory.path()); }) ==
        directory / "neuron25.wsn: found 24 neurons, expected those of its name");
  NetworkFileWriter writer(directory / "neuron25.wsn", 25, 1);
  writer.append(random_layer(25, 25, 1));
  writer.commit();
  std::filesystem::rename(directory / "sparse-images-24.wsi", directory / "sparse-images-25.wsi");
  CHECK(message_of([&] { open_dataset(directory.path()); }) ==
        directory / "sparse-images-25.wsi: found 24 neurons, expected those of its name");
}

TEST_CASE("a damaged layer ends the reading of a folder with its line") {
  const TemporaryDirectory directory;
  write_tsv(directory.path(), 5);
  write_text(directory / "neuron24/n24-l3.tsv", "1\t1\t1\n1\t25\t1\n");
  const auto open = [&] { open_dataset(directory.path(), 0, 0, nullptr, -0.25f); };
  CHECK(error_of(open) == ErrorCode::bad_file);
  CHECK(message_of(open).starts_with(directory / "neuron24/n24-l3.tsv:2: found '1<TAB>25<TAB>1'"));
}

TEST_CASE("progress may stop the reading") {
  const TemporaryDirectory directory;
  write_tsv(directory.path(), 5);
  const auto stop = [](std::uint32_t, std::uint32_t) { fail(ErrorCode::interrupted, "stopped"); };
  CHECK(error_of([&] { open_dataset(directory.path(), 0, 0, stop, -0.25f); }) ==
        ErrorCode::interrupted);
}

}  // namespace winnow::challenge
