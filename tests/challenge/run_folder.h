// A folder of the challenge's data, and `runtime challenge run` on it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/base/file.h"
#include "runtime/challenge/files/binary/images_file.h"
#include "runtime/challenge/files/binary/network_file.h"
#include "runtime/challenge/files/text/tsv.h"
#include "tests/challenge/random_network.h"
#include "tests/pipeline/shell.h"
#include "tests/temporary_directory.h"

namespace winnow::challenge {

inline constexpr std::uint32_t kRunImages = 70;

// A folder with a network, images and the right categories.
class RunFolder {
 public:
  explicit RunFolder(std::uint32_t images = kRunImages, std::uint64_t network_seed = 8)
      : network_(random_network(
            {.widths = {50, 60, 40, 60, 50}, .seed = network_seed, .highest_bias = 0})),
        images_(random_images(50, images, 3)) {
    NetworkFileWriter writer(directory_ / "neuron50.wsn", 50, network_.layers());
    for (std::uint32_t l = 0; l < network_.layers(); ++l) writer.append(network_.layer(l));
    writer.commit();
    write_images_file(directory_ / "sparse-images-50.wsi", images_);
    write_truth(expected().categories);
  }

  std::string path() const { return directory_.path(); }
  std::string file(const std::string& name) const { return directory_ / name; }
  const Network& network() const { return network_; }
  const SparseImages& images() const { return images_; }
  ExpectedResult expected() const { return expected_result(network_, images_); }

  void write_truth(const Categories& categories) const {
    write_categories_tsv(file("neuron50-l4-categories.tsv"), categories);
  }

  Outcome run(const std::string& options = "") const {
    return shell(program("runtime") + " challenge run " + path() + " " + options);
  }

  nlohmann::json json() const { return nlohmann::json::parse(read_text_file(file("run.json"))); }

 private:
  TemporaryDirectory directory_;
  MemoryNetwork network_;
  SparseImages images_;
};

}  // namespace winnow::challenge
