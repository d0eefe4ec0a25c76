#include "runtime/base/output_path.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <system_error>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/run_names.h"
#include "runtime/base/suggest.h"
#include "runtime/base/utf8.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

void require_text(const std::string& path) {
  if (path.empty()) fail(ErrorCode::usage, "the path of an output is empty");
  require_text_path(path);
}

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  fail(ErrorCode::usage, path, ": cannot be written: ", reason);
}

// `path` is what shall be written, `folder` what it needs.
void require_writable_folder(const std::string& path, const fs::path& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status)) {
    const bool is_missing = !error || error == std::errc::no_such_file_or_directory;
    refuse(path, is_missing ? folder.string() + " is not there" : error.message());
  }
  if (!fs::is_directory(status)) refuse(path, folder.string() + " is no folder");
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    refuse(path, folder.string() + ": " + std::generic_category().message(errno));
  }
}

// `room`: bytes that are put behind the path.
void require_short(const std::string& path, std::size_t room) {
  for (const fs::path& name : fs::path(path)) {
    const std::size_t length = name.native().size();
    if (length + room <= NAME_MAX) continue;
    refuse(path, "a name of " + std::to_string(length) + " bytes, at most " +
                     std::to_string(NAME_MAX - room) + " are possible");
  }
  if (path.size() + room < PATH_MAX) return;
  refuse(path, "a path of " + std::to_string(path.size()) + " bytes, at most " +
                   std::to_string(PATH_MAX - room - 1) + " are possible");
}

// The place that a path stands for, the same for all its spellings.
fs::path place_of(const std::string& path) {
  std::error_code error;
  fs::path place = fs::weakly_canonical(fs::absolute(path), error);
  if (error) place = fs::absolute(path).lexically_normal();
  return place.has_filename() ? place : place.parent_path();  // without a slash at its end
}

bool are_same(const std::string& a, const std::string& b) {
  std::error_code not_there;
  return place_of(a) == place_of(b) || fs::equivalent(a, b, not_there);
}

bool is_above(const std::string& folder, const std::string& path) {
  const fs::path above = place_of(folder), below = place_of(path);
  return above != below &&
         std::mismatch(above.begin(), above.end(), below.begin(), below.end()).first == above.end();
}

void require_distinct(const std::string& a, const std::string& b) {
  if (are_same(a, b)) {
    fail(ErrorCode::usage, a, a == b ? "" : " and " + b, ": two results cannot share one file");
  }
  for (const auto& [folder, path] : {std::pair(a, b), std::pair(b, a)}) {
    if (!is_above(folder, path)) continue;
    fail(ErrorCode::usage, folder, ": cannot be a file, ", path, " shall lie in it");
  }
}

void require_no_input(const std::string& output, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    if (!are_same(input, output)) continue;
    fail(ErrorCode::usage, output, ": would replace the input ", input, "; choose another name");
  }
}

void require_free_name(const std::string& path) {
  const fs::path place = place_of(path);
  const auto& names = kReservedNames;
  std::error_code error;
  if (std::find(names.begin(), names.end(), place.filename()) == names.end()) return;
  if (!fs::exists(place.parent_path() / kConfigFile, error)) return;
  fail(ErrorCode::usage, path, ": would replace a file of the run in ",
       place.parent_path().string(), "; choose another name");
}

std::vector<std::string> named_by_user(const ProgramFiles& files) {
  std::vector<std::string> outputs = files.outputs;
  if (!files.json.empty() && files.json != "-") outputs.push_back(files.json);
  return outputs;
}

}  // namespace

void require_text_path(const std::string& path) {
  if (!is_utf8(path)) fail(ErrorCode::usage, in_quotes(path), ": the path is not UTF-8");
}

void require_output_name(const std::string& path) {
  require_text(path);
  const fs::path name = fs::path(path).filename();
  if (name.empty() || name == "." || name == "..") refuse(path, "is the name of a folder");
  require_short(path, kTemporarySuffixBytes);
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) refuse(path, "is no regular file");
}

void require_output_file(const std::string& path) {
  require_output_name(path);
  const fs::path folder = fs::path(path).parent_path();
  require_writable_folder(path, folder.empty() ? "." : folder);
}

void require_output_folder(const std::string& path) {
  require_text(path);
  require_short(path, 0);
  fs::path nearest = fs::absolute(path);
  std::error_code ignored;
  while (!fs::exists(fs::symlink_status(nearest, ignored)) && nearest.has_relative_path()) {
    nearest = nearest.parent_path();
  }
  require_writable_folder(path, nearest);
}

void require_distinct_files(const ProgramFiles& files) {
  std::vector<std::string> outputs = named_by_user(files);
  for (const std::string& output : outputs) {
    require_text(output);
    require_no_input(output, files.inputs);
  }
  const std::size_t user_count = outputs.size();
  outputs.insert(outputs.end(), files.own.begin(), files.own.end());
  for (std::size_t i = 0; i < user_count; ++i) {
    for (std::size_t j = i + 1; j < outputs.size(); ++j) require_distinct(outputs[i], outputs[j]);
  }
  for (std::size_t i = 0; i < user_count; ++i) require_free_name(outputs[i]);
}

void require_distinct_outputs(const ProgramFiles& files) {
  require_distinct_files(files);
  for (const std::string& path : named_by_user(files)) require_output_file(path);
  for (const std::string& path : files.own) require_output_file(path);
}

}  // namespace winnow
