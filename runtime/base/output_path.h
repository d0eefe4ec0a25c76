// Whether a result can be written where it shall go: asked before the work, not after it.
#pragma once

#include <string>

namespace winnow {

// Throws Error{usage} with path and reason unless a file can be made or replaced at `path`: the
// path is UTF-8 text, its folder is there and may be written, and what bears its name, if anything,
// is a regular file.
void require_output_file(const std::string& path);

// The same for a folder that is there or can be made, with those above it.
void require_output_folder(const std::string& path);

}  // namespace winnow
