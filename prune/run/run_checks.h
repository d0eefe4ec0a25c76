// What can be refused before anything is trained.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "prune/config/run_config.h"
#include "prune/data/data_set.h"
#include "runtime/model/graph.h"
#include "runtime/model/model.h"

namespace winnow {

// Throws Error{usage} unless network, images and configuration fit each other: shapes and classes,
// augmentation, layers named by `exclude` and `layer_limits` (with a did-you-mean), something left
// to prune, images to select by, batches that batch norm can norm. `given` is the
// model that the run begins with (start_model.h), with its masks. Needs of the data sizes, counts
// and classes alone. Messages begin with file and line of the key. Throws Error{device} if the
// weights alone exceed this machine's RAM.
void check_run(const RunConfig& config, const DataSet& data, const Graph& graph,
               const std::optional<Model>& given = {});

// Messages of `check` that begin with a key of the section ("exclude: ...") get its file and line.
void with_place(const RunConfig& config, const std::string& section,
                const std::function<void()>& check);

// What `load` returns; errors about a key of `data:` get its file and line.
DataSet with_data_place(const RunConfig& config, const std::function<DataSet()>& load);

}  // namespace winnow
