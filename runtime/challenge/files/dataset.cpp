#include "runtime/challenge/files/dataset.h"

#include <mutex>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/challenge/files/binary/images_file.h"
#include "runtime/challenge/files/binary/network_file.h"
#include "runtime/challenge/files/text/tsv.h"
#include "runtime/challenge/parallel.h"

namespace winnow::challenge {
namespace {

std::string name_of(const DatasetFiles& files) {
  return std::to_string(files.neurons) + " neurons, " + std::to_string(files.layers) +
         " layers in " + files.folder;
}

// TSV layers, each read when asked for.
class TsvNetwork : public Network {
 public:
  TsvNetwork(DatasetFiles files, float bias) : files_(std::move(files)), bias_(bias) {}

  std::string name() const override { return name_of(files_); }
  std::uint32_t neurons() const override { return files_.neurons; }
  std::uint32_t layers() const override { return files_.layers; }
  std::uint64_t connections() const override;  // reads all layers, once
  SparseLayer layer(std::uint32_t l) const override;

 private:
  DatasetFiles files_;
  float bias_;
  mutable std::once_flag is_counted_;
  mutable std::uint64_t connections_ = 0;
};

std::uint64_t TsvNetwork::connections() const {
  std::call_once(is_counted_, [&] {
    std::vector<std::uint64_t> counts(layers());
    for_each_in_parallel(layers(), [&](std::size_t l) {
      counts[l] = layer(static_cast<std::uint32_t>(l)).connections();
    });
    for (const std::uint64_t count : counts) connections_ += count;
  });
  return connections_;
}

SparseLayer TsvNetwork::layer(std::uint32_t l) const {
  if (l >= layers()) fail(ErrorCode::usage, name(), ": there is no layer ", l);
  return read_layer_tsv(files_.layer_files[l], files_.neurons, files_.neurons, bias_);
}

float bias_of(const DatasetFiles& files, std::optional<float> bias) {
  if (!bias) bias = published_bias(files.neurons);
  if (bias) return *bias;
  fail(ErrorCode::usage, files.folder, ": no network of ", files.neurons,
       " neurons is published, and TSV files hold no bias; give one");
}

std::unique_ptr<Network> open_binary(const DatasetFiles& files) {
  auto network = open_network_file(files.network, files.layers);
  if (network->neurons() == files.neurons) return network;
  fail(ErrorCode::bad_file, files.network, ": found ", network->neurons(),
       " neurons, expected those of its name");
}

// All layers at once in memory.
std::unique_ptr<Network> load(const Network& network, const ReadProgress& progress) {
  std::vector<SparseLayer> layers(network.layers());
  std::mutex mutex;
  std::uint32_t done = 0;
  for_each_in_parallel(layers.size(), [&](std::size_t l) {
    layers[l] = network.layer(static_cast<std::uint32_t>(l));
    if (!progress) return;
    const std::lock_guard lock(mutex);
    progress(++done, network.layers());
  });
  return std::make_unique<MemoryNetwork>(network.name(), std::move(layers));
}

}  // namespace

std::optional<float> published_bias(std::uint32_t neurons) {
  switch (neurons) {
    case 1024:
      return -0.3f;
    case 4096:
      return -0.35f;
    case 16384:
      return -0.4f;
    case 65536:
      return -0.45f;
    default:
      return std::nullopt;
  }
}

SparseImages read_images(const DatasetFiles& files) {
  if (files.images.empty()) {
    const std::string text = images_file_name(files.neurons, false);
    fail(ErrorCode::bad_file, files.folder, ": no images: looked for ",
         images_file_name(files.neurons, true), ", ", text, " and ", text, ".gz");
  }
  if (!files.images.ends_with(".wsi")) return read_images_tsv(files.images, files.neurons);
  SparseImages images = read_images_file(files.images);
  if (images.neurons == files.neurons) return images;
  fail(ErrorCode::bad_file, files.images, ": found ", images.neurons,
       " neurons, expected those of its name");
}

std::unique_ptr<Network> open_network(const DatasetFiles& files, std::optional<float> bias) {
  if (files.network.empty()) return std::make_unique<TsvNetwork>(files, bias_of(files, bias));
  if (bias) {
    fail(ErrorCode::usage, files.network, ": holds its own biases; a bias is for TSV layers only");
  }
  return open_binary(files);
}

Dataset open_dataset(const std::string& folder, std::uint32_t neurons, std::uint32_t layers,
                     const ReadProgress& progress, std::optional<float> bias) {
  const DatasetFiles files = find_dataset(folder, neurons, layers);
  Dataset data;
  data.network = open_network(files, bias);
  data.images = read_images(files);
  if (files.network.empty()) data.network = load(*data.network, progress);
  data.truth = find_truth(files, data.network->layers());
  return data;
}

}  // namespace winnow::challenge
