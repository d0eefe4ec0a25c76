// What a run of prune left, to compare with another one.
#pragma once

#include <doctest/doctest.h>

#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/file.h"

namespace winnow {

// All that a run left, file by file, but what each process has of its own: times, and the most
// memory that it took.
inline std::vector<std::pair<std::string, std::string>> results_in(const std::string& folder) {
  static const std::regex seconds("\"seconds\": ?(\\{[^}]*\\}|[-+.e0-9]+)");
  static const std::regex peak("\"peak_gpu_bytes\": ?[0-9]+");
  std::vector<std::pair<std::string, std::string>> results;
  for (const char* name : {"dense.safetensors", "pruned.safetensors"}) {
    results.emplace_back(name, read_text_file(folder + "/" + name, 1 << 26));
  }
  for (const char* name : {"metrics.jsonl", "prune.json"}) {
    const std::string text = read_text_file(folder + "/" + name, 1 << 26);
    const std::string timeless = std::regex_replace(text, seconds, "\"seconds\": 0");
    results.emplace_back(name, std::regex_replace(timeless, peak, "\"peak_gpu_bytes\": 0"));
  }
  return results;
}

// File by file, two run folders.
inline void check_equal_runs(const std::string& a, const std::string& b) {
  const auto of_a = results_in(a), of_b = results_in(b);
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    CAPTURE(of_a[i].first);
    CHECK((of_a[i] == of_b[i]));
  }
}

}  // namespace winnow
