#include "prune/run_folder.h"

#include <array>
#include <filesystem>

#include "runtime/base/error.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

// What a run writes, the mark of a run first; report.html is the report's.
constexpr std::array kFiles = {"config.yaml",       "checkpoint.safetensors", "metrics.jsonl",
                               "dense.safetensors", "pruned.safetensors",     "prune.json",
                               "report.html"};

bool holds_run(const fs::path& folder) {
  return fs::exists(folder / kFiles[0]);
}

void check_use(const std::string& path, FolderUse use) {
  if (!fs::exists(path)) {
    if (use == FolderUse::resume) {
      fail(ErrorCode::usage, path, ": no such folder: there is no run to resume");
    }
    return;
  }
  if (!fs::is_directory(path)) fail(ErrorCode::usage, path, ": is a file, expected a folder");
  if (fs::is_empty(path)) return;
  if (!holds_run(path)) {
    fail(ErrorCode::usage, path, ": is not empty and holds no run of prune; choose another folder");
  }
  if (use == FolderUse::fresh) {
    fail(ErrorCode::usage, path,
         ": holds a run already; continue it with --resume or replace it with --overwrite");
  }
}

}  // namespace

RunFolder::RunFolder(const std::string& path, FolderUse use) : path_(path), use_(use) {
  try {
    check_use(path_, use_);
  } catch (const fs::filesystem_error& error) {
    fail(ErrorCode::bad_file, path_, ": ", error.code().message());
  }
}

void RunFolder::open() {
  try {
    fs::create_directories(path_);
    if (use_ == FolderUse::overwrite) {
      for (const char* file : kFiles) fs::remove(fs::path(path_) / file);
    }
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

void RunFolder::truncate_metrics(std::int64_t bytes) {
  metrics_.close();
  std::error_code error;
  if (fs::exists(metrics()) && metrics_bytes_ > bytes) {
    fs::resize_file(metrics(), static_cast<std::uintmax_t>(bytes), error);
    if (error) fail(ErrorCode::bad_file, metrics(), ": ", error.message());
    metrics_bytes_ = bytes;
  }
}

}  // namespace winnow
