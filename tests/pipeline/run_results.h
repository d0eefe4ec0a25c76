// What a run of prune left, to compare with another one.
#pragma once

#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/file.h"

namespace winnow {

// All that a run left but times, file by file.
inline std::vector<std::pair<std::string, std::string>> results_in(const std::string& folder) {
  static const std::regex seconds("\"seconds\": ?(\\{[^}]*\\}|[-+.e0-9]+)");
  std::vector<std::pair<std::string, std::string>> results;
  for (const char* name : {"dense.safetensors", "pruned.safetensors"}) {
    results.emplace_back(name, read_text_file(folder + "/" + name, 1 << 26));
  }
  for (const char* name : {"metrics.jsonl", "prune.json"}) {
    const std::string text = read_text_file(folder + "/" + name, 1 << 26);
    results.emplace_back(name, std::regex_replace(text, seconds, "\"seconds\": 0"));
  }
  return results;
}

}  // namespace winnow
