// A folder with the challenge's data: what lies there, and where.
//
//   network   neuronN.wsn, or neuronN/nN-l1.tsv, nN-l2.tsv ... (also directly in the folder)
//   images    sparse-images-N.wsi or .tsv
//   truth     neuronN-lL-categories.tsv
//
// Each .tsv may be packed (.tsv.gz). Where several forms lie side by side, the first named is
// taken.
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

// Called with (layers read, layers in all), from one thread at a time. May throw to stop.
using ReadProgress = std::function<void(std::uint32_t, std::uint32_t)>;

struct DatasetFiles {
  std::string folder;
  std::uint32_t neurons = 0;
  std::uint32_t layers = 0;              // 0: all of `network`
  std::string network;                   // binary; or empty, and then
  std::vector<std::string> layer_files;  // [layers], TSV
  std::string images;
  bool images_are_binary = false;
};

// `neurons` 0: those of the only network there; `layers` 0: all that are there, which must then be
// a gapless l1, l2 ... Throws Error{bad_file} saying what is missing and where it was looked for,
// Error{usage} if there are several networks to choose from.
DatasetFiles find_dataset(const std::string& folder, std::uint32_t neurons, std::uint32_t layers);

// The categories file for a network of so many layers, or "" if the folder has none.
std::string find_truth(const DatasetFiles& files, std::uint32_t layers);

// The bias that all neurons of the published network with so many neurons a layer have (Kepner et
// al., HPEC 2019), or nothing for other sizes.
std::optional<float> published_bias(std::uint32_t neurons);

struct Dataset {
  std::unique_ptr<Network> network;
  SparseImages images;
  std::string truth;  // path of the categories file, or empty
};

// Finds and reads. TSV layers are read on all cores and held in memory; `bias` is theirs, without
// it the published one. A binary network has its own biases, and `bias` is refused.
// Throws as find_dataset and the readers do; Error{usage} if a TSV network of unpublished size has
// no `bias`.
Dataset open_dataset(const std::string& folder, std::uint32_t neurons = 0, std::uint32_t layers = 0,
                     const ReadProgress& progress = nullptr, std::optional<float> bias = {});

// The network alone. A TSV network is read layer by layer when asked, not held in memory; its
// connections() reads all layers.
std::unique_ptr<Network> open_network(const DatasetFiles& files, std::optional<float> bias);

}  // namespace winnow::challenge
