// What an import made, as a table and as JSON.
#pragma once

#include <string>
#include <vector>

#include "runtime/model/model.h"

namespace winnow {

// Conv and linear layers with their shapes and zeros.
std::string summary_table(const Model& model);

// `source` is the file that was imported, `file` the checkpoint.
std::string summary_json(const Model& model, const std::vector<std::string>& unmatched,
                         const std::string& source, const std::string& file);

}  // namespace winnow
