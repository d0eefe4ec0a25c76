#include "prune/run/run_files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <nlohmann/json.hpp>
#include <regex>
#include <span>
#include <string>

#include "prune/config/run_config.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/folder_lock.h"
#include "runtime/base/run_names.h"
#include "runtime/model/model_file_layout.h"
#include "runtime/model/safetensors_header.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

// The names of run.json to inspect.json are those that docs/commands.md gives to results of the
// runtime.
constexpr std::array kResults = {"report.html",   "bench.json",           "run.json",
                                 "verify.json",   "inspect.json",         "export.json",
                                 "quantize.json", "quantized.safetensors"};
constexpr std::array kOfPrune = {"prune.json",         "dense.safetensors",
                                 "pruned.safetensors", "checkpoint.safetensors",
                                 "metrics.jsonl",      kConfigFile};

constexpr std::size_t kMaxDocument = std::size_t{1} << 26;

bool is_model_file(std::span<const std::byte> bytes) {
  return bytes.size() >= kModelFileMagic.size() &&
         std::memcmp(bytes.data(), kModelFileMagic.data(), kModelFileMagic.size()) == 0;
}

// A safetensors file with a key of ours in its metadata: a model or the state of a run.
bool is_checkpoint(std::span<const std::byte> bytes, const std::string& place) {
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length) return false;
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > kMaxSafetensorsHeader || length > bytes.size() - sizeof length) return false;
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + sizeof length;
  const auto header = parse_safetensors_header(std::string(text, length), place);
  return std::any_of(header.metadata.begin(), header.metadata.end(),
                     [](const auto& entry) { return entry.first.starts_with("winnow."); });
}

// A JSON document of one of the programs, or a list of them.
bool is_summary(std::span<const std::byte> bytes) {
  static constexpr std::array kCommands = {"prune", "quantize", "export",  "run",
                                           "bench", "verify",   "inspect", "doctor"};
  if (bytes.size() > kMaxDocument) return false;
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  const auto json = nlohmann::json::parse(text, text + bytes.size(), nullptr, false);
  const auto& first = json.is_array() && !json.empty() ? json.front() : json;
  if (!first.is_object() || !first.contains("version")) return false;
  for (const char* key : {"command", "program"}) {
    const auto found = first.find(key);
    if (found != first.end() && found->is_string() &&
        std::find(kCommands.begin(), kCommands.end(), found->get<std::string>()) !=
            kCommands.end()) {
      return true;
    }
  }
  return false;
}

bool is_ours_by_content(const fs::path& path, const std::string& type) {
  try {
    const MappedFile file(path.string());  // refuses pipes, also behind links
    if (type == ".json") return is_summary(file.bytes());
    return file.bytes().empty() || is_model_file(file.bytes()) ||
           is_checkpoint(file.bytes(), path.string());
  } catch (const Error&) {
    return false;
  }
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

std::string type_of(const std::string& name) {
  std::string type = fs::path(name).extension().string();
  std::transform(type.begin(), type.end(), type.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return type;
}

bool is_ours(const fs::path& path) {
  const std::string name = path.filename().string(), wanted = final_name(name);
  if (contains(kResults, wanted) || contains(kOfPrune, wanted)) return true;
  const bool is_half_written = wanted != name;
  const std::string type = type_of(wanted);
  const bool is_model = type == ".wnw" || type == ".safetensors";
  if (!is_model && type != ".json") return false;
  return is_half_written ? is_model : is_ours_by_content(path, type);
}

// Results of results first, the mark of a run last.
std::size_t rank(const fs::path& path) {
  const std::string name = path.filename().string();
  const auto place = std::find(kOfPrune.begin(), kOfPrune.end(), name);
  if (place != kOfPrune.end()) return 2 + static_cast<std::size_t>(place - kOfPrune.begin());
  return contains(kResults, name) ? 0 : 1;
}

}  // namespace

bool holds_run(const fs::path& folder) {
  if (!fs::exists(folder / kConfigFile)) return false;
  const auto has = [&](const char* name) { return fs::exists(folder / name); };
  if (has("prune.json") || has("metrics.jsonl") || has("checkpoint.safetensors")) return true;
  return is_written_config((folder / kConfigFile).string());
}

bool is_leftover(const fs::path& file) {
  const std::string name = file.filename().string();
  if (name == FolderLock::kFileName) return true;
  return final_name(name) != name && is_ours(file);
}

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
