#include "prune/run/run_folder.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "prune/run/run_files.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/output_path.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

constexpr char kProgram[] = "prune";

bool is_unused(const fs::path& folder) {
  return std::all_of(fs::directory_iterator(folder), fs::directory_iterator(),
                     [](const fs::directory_entry& entry) { return is_leftover(entry.path()); });
}

// Whatever lies at the names of the run can be replaced.
void check_names(const std::string& path) {
  for (const char* name : kReservedNames) require_output_name(path + "/" + name);
}

void check_use(const std::string& path, FolderUse use) {
  if (!fs::exists(path)) {
    if (use == FolderUse::resume) {
      fail(ErrorCode::usage, path, ": no such folder: there is no run to resume");
    }
    return;
  }
  if (!fs::is_directory(path)) fail(ErrorCode::usage, path, ": is a file, expected a folder");
  if (is_unused(path)) return;
  if (!holds_run(path)) {
    fail(ErrorCode::usage, path, ": is not empty and holds no run of prune; choose another folder");
  }
  if (use == FolderUse::fresh) {
    fail(ErrorCode::usage, path,
         ": holds a run already; continue it with --resume or replace it with --overwrite");
  }
}

}  // namespace

void check_run_folder(const std::string& path, FolderUse use) {
  try {
    check_use(path, use);
    require_output_folder(path);
    check_names(path);
  } catch (const fs::filesystem_error& error) {
    fail(ErrorCode::bad_file, path, ": ", error.code().message());
  }
}

RunFolder::RunFolder(const std::string& path, FolderUse use) : path_(path), use_(use) {
  check_run_folder(path_, use_);
  if (fs::exists(path_)) hold();
}

// What lies in the folder may have changed until it was held.
void RunFolder::hold() {
  lock_.emplace(path_, kProgram);
  check_run_folder(path_, use_);
}

void RunFolder::open() {
  try {
    fs::create_directories(path_);
    if (!lock_) hold();
    if (use_ != FolderUse::resume) {  // in a fresh folder only what a killed program left
      for (const fs::path& file : files_of_run(path_)) fs::remove(file);
    }
    fs::remove_all(measuring());
    if (fs::exists(metrics())) metrics_bytes_ = static_cast<std::int64_t>(fs::file_size(metrics()));
  } catch (const fs::filesystem_error& error) {
    fail(ErrorCode::bad_file, path_, ": ", error.code().message());
  }
}

bool RunFolder::has_checkpoint() const {
  return use_ == FolderUse::resume && fs::exists(checkpoint());
}
bool RunFolder::is_finished() const {
  return use_ == FolderUse::resume && fs::exists(summary());
}

void RunFolder::append_metrics(const std::string& line) {
  if (!metrics_.is_open()) metrics_.open(metrics(), std::ios::app | std::ios::binary);
  metrics_ << line << '\n' << std::flush;
  if (!metrics_) fail(ErrorCode::bad_file, metrics(), ": cannot be written");
  metrics_bytes_ += static_cast<std::int64_t>(line.size()) + 1;
}

void RunFolder::sync_metrics() const {
  if (metrics_bytes_ > 0) sync_file(metrics());
}

void RunFolder::require_metrics(std::int64_t bytes) const {
  std::error_code error;
  const bool is_there = fs::exists(metrics(), error);
  const std::uintmax_t size = is_there ? fs::file_size(metrics(), error) : 0;
  if (error) fail(ErrorCode::bad_file, metrics(), ": ", error.message());
  if (std::cmp_greater_equal(size, bytes)) return;
  fail(ErrorCode::bad_file, metrics(), ": ", is_there ? "" : "is missing, ", "found ", size,
       " bytes, expected at least ", bytes, " as the checkpoint says; begin anew with --overwrite");
}

void RunFolder::require_dense() const {
  std::error_code ignored;
  if (fs::is_regular_file(dense(), ignored)) return;
  fail(ErrorCode::bad_file, dense(),
       ": is missing, the checkpoint is of after the dense training that wrote it; "
       "put it back or begin anew with --overwrite");
}

void RunFolder::truncate_metrics(std::int64_t bytes) {
  metrics_.close();
  if (metrics_bytes_ <= bytes) return;
  std::error_code error;
  fs::resize_file(metrics(), static_cast<std::uintmax_t>(bytes), error);
  if (error) fail(ErrorCode::bad_file, metrics(), ": ", error.message());
  metrics_bytes_ = bytes;
}

}  // namespace winnow
