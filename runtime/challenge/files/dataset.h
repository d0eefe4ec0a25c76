// A folder with the challenge's data: what lies there, and where.
//
//   network   neuronN.wsn, else nN-l1.tsv, nN-l2.tsv ... in neuronN/ or the folder itself
//   images    sparse-images-N.wsi, else .tsv
//   truth     neuronN-lL-categories.tsv
//
// Each .tsv may be packed (.tsv.gz); where a plain and a packed file lie side by side, the plain
// one is taken. docs/challenge-files.md describes the files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/challenge/images.h"
#include "runtime/challenge/network.h"

namespace winnow::challenge {

// Names of files, without a folder; those of TSV files without ".gz". Layers count from 1.
std::string network_file_name(std::uint32_t neurons);                      // neuron1024.wsn
std::string layer_file_name(std::uint32_t neurons, std::uint32_t number);  // n1024-l1.tsv
std::string layer_folder_name(std::uint32_t neurons);                      // neuron1024
std::string unfinished_file_name();  // lies beside text layers until all are written
std::string images_file_name(std::uint32_t neurons, bool is_binary);  // sparse-images-1024.wsi
std::string categories_file_name(std::uint32_t neurons,
                                 std::uint32_t layers);  // neuron1024-l120-categories.tsv

// Paths of what a folder holds.
struct DatasetFiles {
  std::string folder;
  std::uint32_t neurons = 0;
  std::uint32_t layers = 0;              // in use; 0: all of `network`
  std::string network;                   // binary; or empty, and then
  std::vector<std::string> layer_files;  // [layers], TSV
  std::string images;                    // empty if there are none
};

// `neurons` 0: those of the only network there; `layers` 0: all that are there, which must then be
// a gapless l1, l2 ... Throws Error{bad_file} saying what is missing and where it was looked for,
// Error{usage} if there are several networks to choose from.
DatasetFiles find_dataset(const std::string& folder, std::uint32_t neurons, std::uint32_t layers);

// The categories file for the first `layers` layers, or "" if the folder has none.
std::string find_truth(const DatasetFiles& files, std::uint32_t layers);

// Reads the images. Throws Error{bad_file}, also if there are none or they have other neurons.
SparseImages read_images(const DatasetFiles& files);

// The bias that all neurons of the published network with so many neurons a layer have (Kepner et
// al., HPEC 2019), or nothing for other sizes.
std::optional<float> published_bias(std::uint32_t neurons);

// The network, each layer read when asked for. `bias` is that of TSV layers; without it they have
// the published one. Throws Error{bad_file}; Error{usage} if a TSV network of unpublished size
// comes without a bias, or a binary one, which has its own, with one.
std::unique_ptr<Network> open_network(const DatasetFiles& files, std::optional<float> bias);

struct Dataset {
  std::unique_ptr<Network> network;
  SparseImages images;
  std::string truth;  // path of the categories file, or empty
};

// Called with (layers read, layers in all), by one thread at a time. May throw to stop.
using ReadProgress = std::function<void(std::uint32_t, std::uint32_t)>;

// Finds and reads all. TSV layers are read on all cores and then held in memory. Throws as the
// functions above do.
Dataset open_dataset(const std::string& folder, std::uint32_t neurons = 0, std::uint32_t layers = 0,
                     const ReadProgress& progress = nullptr, std::optional<float> bias = {});

}  // namespace winnow::challenge
