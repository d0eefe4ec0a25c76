// One program at a time in a folder.
#pragma once

#include <optional>
#include <string>

namespace winnow {

// Holds the folder until it is destroyed, whatever ends the process: the system's lock (flock) on
// the file FOLDER/run.lock, which says for people who holds it. Between machines it is as good as
// the file system's locks.
class FolderLock {
 public:
  static constexpr char kFileName[] = "run.lock";

  // `folder` exists; `program` is what others are told. Throws Error{usage} naming the holder if
  // the folder is held, by this process too, and Error{bad_file} if the file cannot be made.
  FolderLock(const std::string& folder, const std::string& program);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();  // removes the file

 private:
  bool take();  // false if the file went away between its opening and its locking

  std::string folder_;
  std::string path_;
  int descriptor_ = -1;
};

// Holds the folder of `file` if it is a run folder (run_names.h); any other is the user's business,
// and nothing is held. Throws as FolderLock does.
std::optional<FolderLock> lock_run_folder_of(const std::string& file, const std::string& program);

}  // namespace winnow
