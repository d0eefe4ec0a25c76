#include "runtime/challenge/files/dataset_writer.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/suggest.h"
#include "runtime/base/thread_pool.h"
#include "runtime/challenge/files/binary/images_file.h"
#include "runtime/challenge/files/binary/network_file.h"
#include "runtime/challenge/files/text/tsv.h"
#include "runtime/challenge/parallel.h"

namespace winnow::challenge {
namespace {

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

// A file that says that the layers beside it are not all there yet. It stays if the writing ends
// early, in whatever way.
class UnfinishedMark {
 public:
  explicit UnfinishedMark(const std::string& folder)
      : path_(folder + "/" + unfinished_file_name()) {
    write_file_atomically(path_, std::string_view("The layers here are not all written.\n"));
  }

  void remove() const {
    std::error_code error;
    std::filesystem::remove(path_, error);
    if (error) fail(ErrorCode::bad_file, path_, ": cannot remove: ", error.message());
  }

 private:
  std::string path_;
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

}  // namespace

FileForm form_from(const std::string& name) {
  if (name == "tsv") return FileForm::tsv;
  if (name == "tsv.gz") return FileForm::packed_tsv;
  if (name == "binary") return FileForm::binary;
  const std::vector<std::string> names = {"tsv", "tsv.gz", "binary"};
  fail(ErrorCode::usage, "unknown form of files ", in_quotes(name), suggestion(name, names));
}

DatasetWriter::DatasetWriter(std::string folder, FileForm form)
    : folder_(std::move(folder)), form_(form) {
  make_folder(folder_);
}

std::string DatasetWriter::network_path(std::uint32_t neurons) const {
  const bool is_binary = form_ == FileForm::binary;
  return folder_ + "/" + (is_binary ? network_file_name(neurons) : layer_folder_name(neurons));
}

std::string DatasetWriter::images_path(std::uint32_t neurons) const {
  if (form_ == FileForm::binary) return folder_ + "/" + images_file_name(neurons, true);
  return text_path(images_file_name(neurons, false));
}

std::string DatasetWriter::text_path(const std::string& name) const {
  return folder_ + "/" + name + (form_ == FileForm::packed_tsv ? ".gz" : "");
}

WrittenNetwork DatasetWriter::write(const Network& network, const ReadProgress& progress) const {
  return form_ == FileForm::binary ? write_binary(network, progress)
                                   : write_text(network, progress);
}

WrittenNetwork DatasetWriter::write_text(const Network& network,
                                         const ReadProgress& progress) const {
  const std::uint32_t neurons = network.neurons();
  make_folder(network_path(neurons));
  const UnfinishedMark mark(network_path(neurons));
  const float bias = network.layer(0).bias.front();
  Done done(progress, network.layers());
  for_each_in_parallel(network.layers(), [&](std::size_t i) {
    const auto l = static_cast<std::uint32_t>(i);
    const SparseLayer layer = network.layer(l);
    require_text_form(layer, network, l, bias);
    write_layer_tsv(text_path(layer_folder_name(neurons) + "/" + layer_file_name(neurons, l + 1)),
                    layer);
    done.count(layer);
  });
  mark.remove();
  WrittenNetwork written{.connections = done.connections(), .bias_to_give = {}};
  if (published_bias(neurons) != bias) written.bias_to_give = bias;
  return written;
}

WrittenNetwork DatasetWriter::write_binary(const Network& network,
                                           const ReadProgress& progress) const {
  NetworkFileWriter file(network_path(network.neurons()), network.neurons(), network.layers());
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
  return {.connections = done.connections(), .bias_to_give = {}};
}

void DatasetWriter::write(const SparseImages& images) const {
  const std::string path = images_path(images.neurons);
  if (form_ == FileForm::binary) {
    write_images_file(path, images);
  } else {
    write_images_tsv(path, images);
  }
}

void DatasetWriter::write(const Categories& categories, std::uint32_t neurons,
                          std::uint32_t layers) const {
  write_categories_tsv(text_path(categories_file_name(neurons, layers)), categories);
}

}  // namespace winnow::challenge
