// Which files of a folder Winnow wrote.
#pragma once

#include <filesystem>
#include <vector>

namespace winnow {

// The mark of a run folder; written first, removed last.
inline constexpr char kConfigFile[] = "config.yaml";

// What the stages of a run wrote into `folder`, in the order in which to remove it: what depends on
// other files comes before them.
// - the files of prune and the summaries of the later stages, by their names;
// - checkpoints and model files under any name, by their content;
// - what a killed program left of one of them (NAME.tmp-PROCESS-NUMBER).
// Everything else is somebody else's, subfolders included.
std::vector<std::filesystem::path> files_of_run(const std::filesystem::path& folder);

}  // namespace winnow
