// Which files of a folder Winnow wrote.
#pragma once

#include <filesystem>
#include <vector>

#include "runtime/base/run_names.h"

namespace winnow {

// True if a run of prune lies in `folder`: a config.yaml (its mark, written first, removed last)
// that prune wrote, or one beside results of prune. A configuration that somebody else put there
// makes no run. Throws std::filesystem::filesystem_error if the folder cannot be read.
bool holds_run(const std::filesystem::path& folder);

// True for what a killed program leaves without a result: its lock, half-written files.
bool is_leftover(const std::filesystem::path& file);

// What the stages of a run wrote into `folder`, in the order in which to remove it: what depends on
// other files comes before them.
// - the files of prune, quantized.safetensors and the summaries of the later stages, by their
//   names;
// - checkpoints, model files (empty ones too) and JSON documents under any name, by their content;
// - what a killed program left of one of them (NAME.tmp-PROCESS-NUMBER).
// Everything else is somebody else's, subfolders included. Only regular files are opened.
std::vector<std::filesystem::path> files_of_run(const std::filesystem::path& folder);

}  // namespace winnow
