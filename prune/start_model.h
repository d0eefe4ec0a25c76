// The network and the weights that a run begins with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "prune/config/run_config.h"
#include "prune/data/data_set.h"
#include "runtime/model/model.h"

namespace winnow {

// The checkpoint that `model.weights` names; nothing if none is named. Weights that are quantized
// count as their values; channels of zeros are removed where `model.remove_zero_channels` says so.
// Masks are as `prune.masks` says: none, the zeros of the weights, or those
// of the file. Throws Error{bad_file} if the file cannot be read, and Error{usage} with the place
// of the key if `prune.masks: file` finds no masks or masks of another granularity.
std::optional<Model> read_given_model(const RunConfig& config);

// CRC-32C of a file that a key names; 0 if it names none.
std::uint32_t checksum_of(const std::string& file);

// Throws Error{usage} if the file that `key` names lies in the run folder: --overwrite would remove
// it, and the result could replace it.
void require_outside(const RunConfig& config, const char* key, const std::string& file);

// The network of a run with this data: that of the file, if one is given. Throws Error{usage}
// if `model.architecture` or `model.graph` beside the file names another one.
Graph run_graph(const RunConfig& config, const std::optional<Model>& given, const DataSet& data);

// The weights that training from scratch begins with: random ones, and an embedding as
// start_embedding() makes it.
Model scratch_model(const RunConfig& config, const Graph& graph, const DataSet& data);

// The network that a run begins with: the given one, or one with random weights.
Model start_model(const RunConfig& config, const std::optional<Model>& given, const DataSet& data);

// Gives `data` the preprocessing and the class names of the file. Throws Error{usage} if a class of
// the file has another number in the data.
void take_form(const RunConfig& config, const std::optional<Model>& given, DataSet& data);

// The data of a run, with the form that the file gives it. What can be refused before minutes of
// reading is (check_run). Notes about the cache go to stderr.
DataSet load_run_data(const RunConfig& config, bool is_quiet, const std::string& image_cache,
                      const std::optional<Model>& given);

}  // namespace winnow
