// The JSON lines of gpu_conv_bench: one for each kernel and case. Pure host code.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "runtime/bench/conv_cases.h"

namespace winnow {

// What was measured: the same for all lines that are compared.
struct ConvRun {
  std::string layer;
  std::int64_t batch = 1;
  std::string precision;  // "f16", "f32", "tf32"
  ConvMask mask;          // sparsity 0: random dense weights
};

// "layer", "batch", "precision", "masks", "vector", "sparsity_percent".
nlohmann::ordered_json line_of(const ConvRun& run);

// `line` with "family" and "refused": why the family does not run the layer.
nlohmann::ordered_json refused_line(nlohmann::ordered_json line, const std::string& family,
                                    const std::string& reason);

// Results in a file, or on stdout. What a file has need not be measured again.
class ConvLines {
 public:
  // Empty: stdout. A file is read if it is there, and lines are appended. Throws Error{bad_file}
  // if it holds something else than JSON lines.
  explicit ConvLines(std::string path);

  // Whether lines of that run were in the file when it was opened.
  bool has(const ConvRun& run) const;

  // Writes all lines together, so that a run is there as a whole or not at all. Throws
  // Error{bad_file}.
  void write(const std::vector<nlohmann::ordered_json>& lines);

 private:
  std::string path_;
  std::set<std::string> known_;  // line_of() as text
};

}  // namespace winnow
