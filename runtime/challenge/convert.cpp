#include "runtime/challenge/convert.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <system_error>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/base/thread_pool.h"
#include "runtime/challenge/images_file.h"
#include "runtime/challenge/network_file.h"
#include "runtime/challenge/parallel.h"
#include "runtime/challenge/tsv.h"

namespace winnow::challenge {
namespace {

struct Target {
  std::string folder;
  FileForm form;

  std::string path(const std::string& name) const {
    return folder + "/" + name + (form == FileForm::packed_tsv ? ".gz" : "");
  }
};

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) fail(ErrorCode::bad_file, path, ": cannot make the folder: ", error.message());
}

// Counts layers that are done, for several threads.
class Done {
 public:
  Done(const ReadProgress& progress, std::uint32_t total) : progress_(progress), total_(total) {}

  void count(const SparseLayer& layer) {
    const std::lock_guard lock(mutex_);
    ++done_;
    connections_ += layer.connections();
    if (progress_) progress_(done_, total_);
  }
  std::uint64_t connections() const { return connections_; }

 private:
  const ReadProgress& progress_;
  std::uint32_t total_;
  std::mutex mutex_;
  std::uint32_t done_ = 0;
  std::uint64_t connections_ = 0;
};

// Text has no place for what this refuses.
void require_text_form(const SparseLayer& layer, const Network& network, std::uint32_t l,
                       float bias) {
  const std::uint32_t neurons = network.neurons();
  if (layer.inputs != neurons || layer.outputs() != neurons) {
    fail(ErrorCode::usage, network.name(), ": layer ", l, ": found ", layer.inputs, " inputs and ",
         layer.outputs(), " outputs, expected ", neurons, " of both, as text files have");
  }
  const bool is_equal = std::ranges::all_of(layer.bias, [&](float b) { return b == bias; });
  if (!is_equal) {
    fail(ErrorCode::usage, network.name(), ": layer ", l,
         ": a bias differs from the network's first, ", bias, "; text files hold no biases");
  }
}

std::uint64_t write_text(const Network& network, const Target& target, const ReadProgress& progress,
                         float& bias) {
  const std::uint32_t neurons = network.neurons();
  const std::string inner = layer_folder_name(neurons);
  make_folder(target.folder + "/" + inner);
  bias = network.layer(0).bias.front();
  Done done(progress, network.layers());
  for_each_in_parallel(network.layers(), [&](std::size_t i) {
    const auto l = static_cast<std::uint32_t>(i);
    const SparseLayer layer = network.layer(l);
    require_text_form(layer, network, l, bias);
    write_layer_tsv(target.path(inner + "/" + layer_file_name(neurons, l + 1)), layer);
    done.count(layer);
  });
  return done.connections();
}

std::uint64_t write_binary(const Network& network, const Target& target,
                           const ReadProgress& progress) {
  const std::string path = target.path(network_file_name(network.neurons()));
  NetworkFileWriter file(path, network.neurons(), network.layers());
  Done done(progress, network.layers());
  std::vector<SparseLayer> batch(static_cast<std::size_t>(available_cores()));
  for (std::uint32_t first = 0; first < network.layers();) {
    const std::size_t count = std::min<std::size_t>(batch.size(), network.layers() - first);
    for_each_in_parallel(count, [&](std::size_t i) {
      batch[i] = network.layer(first + static_cast<std::uint32_t>(i));
    });
    for (std::size_t i = 0; i < count; ++i) {
      file.append(batch[i]);
      done.count(batch[i]);
    }
    first += static_cast<std::uint32_t>(count);
  }
  file.commit();
  return done.connections();
}

std::uint32_t write_images(const DatasetFiles& files, const Target& target) {
  if (files.images.empty()) return 0;
  const SparseImages images = read_images(files);
  const bool is_binary = target.form == FileForm::binary;
  const std::string path = target.path(images_file_name(files.neurons, is_binary));
  if (is_binary) {
    write_images_file(path, images);
  } else {
    write_images_tsv(path, images);
  }
  return images.images();
}

bool write_truth(const DatasetFiles& files, std::uint32_t layers, const Target& target) {
  const std::string truth = find_truth(files, layers);
  if (truth.empty()) return false;
  write_categories_tsv(target.path(categories_file_name(files.neurons, layers)),
                       read_categories_tsv(truth));
  return true;
}

}  // namespace

FileForm form_from(const std::string& name) {
  if (name == "tsv") return FileForm::tsv;
  if (name == "tsv.gz") return FileForm::packed_tsv;
  if (name == "binary") return FileForm::binary;
  const std::vector<std::string> names = {"tsv", "tsv.gz", "binary"};
  fail(ErrorCode::usage, "unknown form of files ", in_quotes(name), suggestion(name, names));
}

Conversion convert_dataset(const DatasetFiles& files, std::optional<float> bias, FileForm form,
                           const std::string& folder, const ReadProgress& progress) {
  const auto network = open_network(files, bias);
  const Target target{folder, form};
  make_folder(folder);
  Conversion result;
  result.layers = network->layers();
  if (form == FileForm::binary) {
    result.connections = write_binary(*network, target, progress);
  } else {
    float found = 0;
    result.connections = write_text(*network, target, progress, found);
    if (published_bias(files.neurons) != found) result.bias_to_give = found;
  }
  result.images = write_images(files, target);
  result.has_truth = write_truth(files, network->layers(), target);
  return result;
}

}  // namespace winnow::challenge
