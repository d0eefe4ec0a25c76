// Whether a result can be written where it shall go: asked before the work, not after it.
#pragma once

#include <string>
#include <vector>

namespace winnow {

// Throws Error{usage} unless the path is UTF-8 text, as what JSON names must be. For inputs.
void require_text_path(const std::string& path);

// Throws Error{usage} with path and reason unless a file can be made or replaced at `path`: the
// path is UTF-8 text, short enough for the temporary file beside it too, its folder is there and
// may be written, and what bears its name, if anything, is a regular file.
void require_output_file(const std::string& path);

// The same without a look at the folder, which may be made later.
void require_output_name(const std::string& path);

// The same for a folder that is there or can be made, with those above it.
void require_output_folder(const std::string& path);

// The files of one program run.
struct ProgramFiles {
  std::vector<std::string> inputs;   // what it reads
  std::vector<std::string> outputs;  // what it writes where the user says
  std::vector<std::string> own;      // what it writes under a name of its own
  std::string json = {};             // --json: an output; empty: none, "-": standard output
};

// Throws Error{usage} if an output is one of the inputs or another output, however the paths are
// spelled, if it is a folder above another output, or if it lies in a run folder and bears a name
// that another file has there (run_names.h). Looks only at paths: nothing need exist.
void require_distinct_files(const ProgramFiles& files);

// The same, and require_output_file() for every output.
void require_distinct_outputs(const ProgramFiles& files);

}  // namespace winnow
