#include "runtime/bench/conv_lines.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/base/file.h"

namespace winnow {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr const char* kFields[] = {"layer", "batch",  "precision",
                                   "masks", "vector", "sparsity_percent"};

// The fields of line_of() as text; empty if one is missing.
std::string key_of(const nlohmann::ordered_json& line) {
  nlohmann::ordered_json fields;
  for (const char* field : kFields) {
    if (!line.contains(field)) return "";
    fields[field] = line[field];
  }
  return fields.dump();
}

}  // namespace

nlohmann::ordered_json line_of(const ConvRun& run) {
  const bool is_balanced = run.mask.kind == RandomMask::balanced;
  return {{"layer", run.layer},         {"batch", run.batch},
          {"precision", run.precision}, {"masks", is_balanced ? "balanced" : "independent"},
          {"vector", run.mask.vector},  {"sparsity_percent", run.mask.sparsity_percent}};
}

nlohmann::ordered_json refused_line(nlohmann::ordered_json line, const std::string& family,
                                    const std::string& reason) {
  line["family"] = family;
  line["refused"] = reason;
  return line;
}

ConvLines::ConvLines(std::string path) : path_(std::move(path)) {
  if (path_.empty() || !std::filesystem::exists(path_)) return;
  std::istringstream text(read_text_file(path_, kMostBytes));
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    const auto parsed = nlohmann::ordered_json::parse(line, nullptr, false);
    if (!parsed.is_object()) {
      fail(ErrorCode::bad_file, path_, ": line ", number, ": expected a JSON object");
    }
    known_.insert(key_of(parsed));
  }
}

bool ConvLines::has(const ConvRun& run) const {
  return known_.contains(line_of(run).dump());
}

void ConvLines::write(const std::vector<nlohmann::ordered_json>& lines) {
  std::string text;
  for (const auto& line : lines) text += line.dump() + "\n";
  if (path_.empty()) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    return;
  }
  std::ofstream file(path_, std::ios::app);
  file << text << std::flush;
  if (!file) fail(ErrorCode::bad_file, path_, ": cannot be written");
}

}  // namespace winnow
