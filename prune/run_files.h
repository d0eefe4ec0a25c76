// Which files of a folder Winnow wrote.
#pragma once

#include <filesystem>
#include <vector>

#include "runtime/base/run_names.h"

namespace winnow {

// What the stages of a run wrote into `folder`, in the order in which to remove it: what depends on
// other files comes before them.
// - the files of prune and the summaries of the later stages, by their names;
// - checkpoints and model files under any name, by their content;
// - what a killed program left of one of them (NAME.tmp-PROCESS-NUMBER).
// Everything else is somebody else's, subfolders included.
std::vector<std::filesystem::path> files_of_run(const std::filesystem::path& folder);

}  // namespace winnow
