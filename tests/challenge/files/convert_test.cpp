#include "runtime/challenge/files/convert.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "runtime/base/file.h"
#include "runtime/base/gzip.h"
#include "runtime/challenge/files/binary/images_file.h"
#include "runtime/challenge/files/binary/network_file.h"
#include "runtime/challenge/files/text/tsv.h"
#include "tests/challenge/file_seal.h"
#include "tests/challenge/sample_data.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kNeurons = 16, kLayers = 7;

SparseLayer layer(std::uint32_t l) {
  SparseLayer layer = random_layer(kNeurons, kNeurons, l);
  layer.bias.assign(kNeurons, -0.25f);
  return layer;
}

void write_network(const std::string& folder, const std::vector<SparseLayer>& layers) {
  NetworkFileWriter writer(folder + "/neuron16.wsn", layers.front().inputs,
                           static_cast<std::uint32_t>(layers.size()));
  for (const SparseLayer& one : layers) writer.append(one);
  writer.commit();
}

void write_all(const std::string& folder) {
  std::vector<SparseLayer> layers;
  for (std::uint32_t l = 0; l < kLayers; ++l) layers.push_back(layer(l));
  write_network(folder, layers);
  write_images_file(folder + "/sparse-images-16.wsi", random_images(kNeurons, 10, 0.4, 9));
  write_categories_tsv(folder + "/neuron16-l7-categories.tsv", {0, 4});
}

Conversion convert(const std::string& from, FileForm form, const std::string& to,
                   std::optional<float> bias = {}) {
  return convert_dataset(find_dataset(from, 0, 0), bias, form, to);
}

// A network that fails while its layers are written, as at Ctrl-C.
class BrokenNetwork : public MemoryNetwork {
 public:
  using MemoryNetwork::MemoryNetwork;

  SparseLayer layer(std::uint32_t l) const override {
    if (l == 5) fail(ErrorCode::interrupted, "interrupted");
    return MemoryNetwork::layer(l);
  }
};

}  // namespace

TEST_CASE("text layers that were not all written are refused, not taken for a short network") {
  const TemporaryDirectory directory;
  std::vector<SparseLayer> layers;
  for (std::uint32_t l = 0; l < kLayers; ++l) layers.push_back(layer(l));
  const DatasetWriter writer(directory.path(), FileForm::tsv);
  const auto write_broken = [&] { writer.write(BrokenNetwork("broken", layers)); };
  CHECK(error_of(write_broken) == ErrorCode::interrupted);
  const auto find = [&](std::uint32_t count) {
    return message_of([&] { find_dataset(directory.path(), kNeurons, count); });
  };
  const std::string refusal = directory / "neuron16/unfinished" +
                              ": the layers beside it were not all written; remove the folder and "
                              "write it again";
  CHECK(find(0) == refusal);
  CHECK(find(1) == refusal);

  writer.write(MemoryNetwork("whole", layers));
  CHECK(find(0) == "");
  CHECK(find_dataset(directory.path(), kNeurons, 0).layers == kLayers);
}

TEST_CASE("data comes back from text, plain and packed, byte for byte") {
  const TemporaryDirectory directory;
  const std::string begin = directory.path(), text = directory / "a/text", packed = directory / "p";
  const std::string end = directory / "end";
  write_all(begin);
  const Conversion first = convert(begin, FileForm::tsv, text);
  CHECK(first.layers == kLayers);
  CHECK(first.connections == open_network_file(begin + "/neuron16.wsn")->connections());
  CHECK(first.images == 10);
  CHECK(first.has_truth);
  CHECK(first.bias_to_give == -0.25f);
  CHECK(std::filesystem::exists(text + "/neuron16/n16-l7.tsv"));
  convert(text, FileForm::packed_tsv, packed, first.bias_to_give);
  CHECK(is_gzip(MappedFile(packed + "/neuron16/n16-l7.tsv.gz").bytes()));
  CHECK(is_gzip(MappedFile(packed + "/neuron16-l7-categories.tsv.gz").bytes()));
  const Conversion last = convert(packed, FileForm::binary, end, first.bias_to_give);
  CHECK(last.connections == first.connections);
  CHECK_FALSE(last.bias_to_give);
  for (const char* name : {"neuron16.wsn", "sparse-images-16.wsi", "neuron16-l7-categories.tsv"}) {
    CHECK(file_bytes(end + "/" + name) == file_bytes(begin + "/" + name));
  }
}

TEST_CASE("a folder may be converted into itself") {
  const TemporaryDirectory directory;
  write_all(directory.path());
  convert(directory.path(), FileForm::tsv, directory.path());
  std::filesystem::remove(directory / "neuron16.wsn");
  CHECK(open_network(find_dataset(directory.path(), 0, 0), -0.25f)->layer(3) == layer(3));
}

TEST_CASE("files that readers would mix with what is written are refused") {
  const TemporaryDirectory directory;
  write_all(directory.path());
  const std::string to = directory / "to";
  const auto refused = [&](FileForm form, const std::string& name) {
    const std::string path = to + "/" + name;
    std::filesystem::create_directories(to + "/neuron16");
    write_text(path, "");
    const auto run = [&] { convert(directory.path(), form, to); };
    CHECK(error_of(run) == ErrorCode::usage);
    CHECK(message_of(run) == path +
                                 ": is there already, and readers would take it for a part of what "
                                 "is written; remove it or take another folder");
    std::filesystem::remove(path);
  };
  for (const FileForm form : {FileForm::tsv, FileForm::packed_tsv}) {
    for (const char* name : {"neuron16.wsn", "neuron16/n16-l8.tsv", "neuron16/n16-l8.tsv.gz",
                             "n16-l8.tsv", "n16-l8.tsv.gz", "sparse-images-16.wsi"}) {
      CAPTURE(name);
      refused(form, name);
    }
  }
  for (const char* name :
       {"neuron16/n16-l3.tsv", "sparse-images-16.tsv", "neuron16-l7-categories.tsv"}) {
    CAPTURE(name);
    refused(FileForm::packed_tsv, name);
  }
  convert(directory.path(), FileForm::tsv, to);
  convert(directory.path(), FileForm::tsv, to);     // replaces what is there
  convert(directory.path(), FileForm::binary, to);  // comes before text
  CHECK(open_network(find_dataset(to, 0, 0), {})->layer(6) == layer(6));
}

TEST_CASE("a published bias need not be given, and parts may be missing") {
  const TemporaryDirectory directory;
  write_layer_tsv(directory / "n1024-l1.tsv", regular_layer(1024, 1024, 32, 1));
  const Conversion result = convert(directory.path(), FileForm::tsv, directory / "out");
  CHECK_FALSE(result.bias_to_give);
  CHECK(result.images == 0);
  CHECK_FALSE(result.has_truth);
  CHECK(file_bytes(directory / "out/neuron1024/n1024-l1.tsv") ==
        file_bytes(directory / "n1024-l1.tsv"));
}

TEST_CASE("what text cannot hold is refused") {
  const TemporaryDirectory directory;
  const auto message = [&](const std::vector<SparseLayer>& layers) {
    write_network(directory.path(), layers);
    const auto run = [&] { convert(directory.path(), FileForm::tsv, directory / "out"); };
    CHECK(error_of(run) == ErrorCode::usage);
    return message_of(run);
  };
  SparseLayer uneven = layer(1);
  uneven.bias[3] = 1;
  CHECK(message({layer(0), uneven})
            .find("layer 1: a bias differs from the network's first, -0.25; "
                  "text files hold no biases") != std::string::npos);
  CHECK(message({random_layer(16, 15, 1)}).find("layer 0: found 16 inputs and 15 outputs") !=
        std::string::npos);
}

TEST_CASE("forms of files have names") {
  CHECK(form_from("tsv") == FileForm::tsv);
  CHECK(form_from("tsv.gz") == FileForm::packed_tsv);
  CHECK(form_from("binary") == FileForm::binary);
  CHECK(message_of([] { form_from("binry"); }) ==
        "unknown form of files 'binry'; did you mean 'binary'?");
}

}  // namespace winnow::challenge
