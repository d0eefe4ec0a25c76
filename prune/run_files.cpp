#include "prune/run_files.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <regex>

#include "runtime/base/error.h"
#include "runtime/model/model_file_layout.h"
#include "runtime/model/safetensors_header.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

// run.json and bench.json are the names that docs/commands.md gives the results of the runtime.
constexpr std::array kResults = {"report.html", "bench.json", "run.json", "export.json",
                                 "quantize.json"};
constexpr std::array kOfPrune = {"prune.json", "checkpoint.safetensors", "metrics.jsonl",
                                 kConfigFile};

// The bytes at the beginning of the file, as many as there are.
std::string beginning(std::ifstream& file, std::uint64_t count) {
  std::string bytes(count, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

bool is_model_file(const std::string& bytes) {
  return bytes.size() == kModelFileMagic.size() &&
         std::memcmp(bytes.data(), kModelFileMagic.data(), bytes.size()) == 0;
}

// A safetensors file with a key of ours in its metadata: a model or the state of a run.
bool is_checkpoint(std::ifstream& file, const std::string& first_word, const std::string& place) {
  std::uint64_t length = 0;
  if (first_word.size() != sizeof length) return false;
  std::memcpy(&length, first_word.data(), sizeof length);
  if (length > kMaxSafetensorsHeader) return false;
  try {
    const auto header = parse_safetensors_header(beginning(file, length), place);
    return std::any_of(header.metadata.begin(), header.metadata.end(),
                       [](const auto& entry) { return entry.first.starts_with("winnow."); });
  } catch (const Error&) {
    return false;
  }
}

bool is_ours_by_content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string first_word = beginning(file, sizeof(std::uint64_t));
  return is_model_file(first_word) || is_checkpoint(file, first_word, path.string());
}

// The name that a temporary file would have got; other names as they are.
std::string final_name(const std::string& name) {
  static const std::regex pattern("(.+)\\.tmp-[0-9]+-[0-9]+");
  std::smatch match;
  return std::regex_match(name, match, pattern) ? match[1].str() : name;
}

template <std::size_t kCount>
bool contains(const std::array<const char*, kCount>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_ours(const fs::path& path) {
  const std::string name = path.filename().string(), wanted = final_name(name);
  if (contains(kResults, wanted) || contains(kOfPrune, wanted)) return true;
  const bool is_half_written = wanted != name;
  const std::string type = fs::path(wanted).extension().string();
  if (type != ".wnw" && type != ".safetensors") return false;
  return is_half_written || is_ours_by_content(path);
}

// Results of results first, the mark of a run last.
std::size_t rank(const fs::path& path) {
  const std::string name = path.filename().string();
  const auto place = std::find(kOfPrune.begin(), kOfPrune.end(), name);
  if (place != kOfPrune.end()) return 2 + static_cast<std::size_t>(place - kOfPrune.begin());
  return contains(kResults, name) ? 0 : 1;
}

}  // namespace

std::vector<fs::path> files_of_run(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const bool is_file = entry.is_symlink() || entry.is_regular_file();
    if (is_file && is_ours(entry.path())) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    return std::pair(rank(a), a) < std::pair(rank(b), b);
  });
  return files;
}

}  // namespace winnow
