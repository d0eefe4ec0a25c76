// The challenge's data from one form of files to another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/challenge/files/dataset.h"
#include "runtime/challenge/files/dataset_writer.h"

namespace winnow::challenge {

struct Conversion {
  std::uint32_t layers = 0;
  std::uint64_t connections = 0;
  std::uint32_t images = 0;  // 0: the folder has none
  bool has_truth = false;

  // What a reader of the text files has to be told, because they do not hold it.
  std::optional<float> bias_to_give;
};

// Writes the network, images and categories (where there are some) that `files` name into
// `folder`, which is made and may be theirs. Layers are read on all cores, no more of them at once
// than there are cores. `bias` is as in open_network(). Throws as the readers and writers do;
// Error{usage} if a network whose biases differ or whose layers are not square is to become text,
// or if another `folder` already holds files that readers would take instead of these or together
// with them. After other errors some files of the new form may be there.
Conversion convert_dataset(const DatasetFiles& files, std::optional<float> bias, FileForm form,
                           const std::string& folder, const ReadProgress& progress = nullptr);

}  // namespace winnow::challenge
