// The folder that a run writes: which files it has, who may write there, metrics line by line.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

#include "runtime/base/folder_lock.h"
#include "runtime/base/run_names.h"

namespace winnow {

enum class FolderUse {
  fresh,      // nothing may lie there
  resume,     // goes on with the run that lies there
  overwrite,  // removes what Winnow wrote there (run_files.h), and only that
};

// Only looks. Throws Error{usage} if `use` does not fit what lies there: a run without --resume or
// --overwrite, no run where one shall go on, files that no run of prune wrote; or if the folder or
// a file of the run cannot be made or written.
void check_run_folder(const std::string& path, FolderUse use);

class RunFolder {
 public:
  // Checks the folder as above and, if it is there, holds it (folder_lock.h) but changes nothing.
  // Throws Error{usage} too if another program holds it.
  RunFolder(const std::string& path, FolderUse use);

  // Makes the folder, holds it and, to overwrite, removes the earlier run with all that later
  // stages made of it. Call it once nothing else can refuse the run any more.
  void open();

  std::string config() const { return path_ + "/" + kConfigFile; }
  std::string dense() const { return path_ + "/dense.safetensors"; }
  std::string pruned() const { return path_ + "/pruned.safetensors"; }
  std::string checkpoint() const { return path_ + "/checkpoint.safetensors"; }
  std::string metrics() const { return path_ + "/metrics.jsonl"; }
  std::string summary() const { return path_ + "/prune.json"; }
  std::string report() const { return path_ + "/report.html"; }
  std::string bench() const { return path_ + "/bench.json"; }
  std::string measuring() const { return path_ + "/" + kMeasuringFolder; }
  const std::string& path() const { return path_; }

  // Of the run to go on with; false where a new one begins.
  bool has_checkpoint() const;
  bool is_finished() const;  // the summary is there: it is written last

  // Appends a line to the metrics and hands it to the operating system.
  void append_metrics(const std::string& line);
  std::int64_t metrics_bytes() const { return metrics_bytes_; }
  void sync_metrics() const;  // what was appended outlasts a loss of power

  // Throws Error{bad_file} if a run to go on with has fewer than `bytes` bytes of metrics: lines of
  // work that is not done again would be missing.
  void require_metrics(std::int64_t bytes) const;

  // Throws Error{bad_file} if the dense network, which was written once, is no longer there.
  void require_dense() const;

  // Drops what lies behind the first `bytes` bytes: lines of work that is done again.
  void truncate_metrics(std::int64_t bytes);

 private:
  void hold();

  std::string path_;
  FolderUse use_;
  std::optional<FolderLock> lock_;
  std::ofstream metrics_;
  std::int64_t metrics_bytes_ = 0;
};

}  // namespace winnow
