// The network that `prune.teacher` names.
#pragma once

#include <optional>

#include "prune/config/run_config.h"
#include "prune/data/data_set.h"
#include "runtime/model/model.h"

namespace winnow {

// Nothing if none is named: the dense baseline teaches then. Throws Error{bad_file} if the file
// cannot be read.
std::optional<Model> read_teacher(const RunConfig& config);

// Throws Error{usage}, with the place of the key, unless the teacher takes the run's samples and
// gives its classes.
void require_fit_of_teacher(const RunConfig& config, const std::optional<Model>& teacher,
                            const DataSet& data);

}  // namespace winnow
