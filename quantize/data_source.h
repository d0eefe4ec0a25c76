// Which images belong to a checkpoint.
#pragma once

#include <cstdint>
#include <string>

#include "prune/data/data_set.h"
#include "runtime/model/model.h"

namespace winnow {

struct DataSource {
  DataConfig data;
  std::uint64_t seed = 1;  // of the validation split
  std::string origin;      // for people: "--data", "runs/a/config.yaml" or "the checkpoint"
};

// In this order: `text` ("FORMAT:DIRECTORY"); the config.yaml that prune wrote beside `checkpoint`,
// with the directory that the model's metadata names if it still exists; the metadata alone
// (kDataFormatKey, kDataPathKey). Pictures of a folder get the form that the model says, else its
// size.
// Throws Error{usage} if none says it, or if `text` has no colon.
DataSource find_data(const std::string& text, const std::string& checkpoint, const Model& model);

}  // namespace winnow
