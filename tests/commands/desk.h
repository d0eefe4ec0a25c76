// A folder with a model file of known content, and commands on it.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/model/model_file.h"
#include "tests/model/sample_models.h"
#include "tests/pipeline/shell.h"
#include "tests/temporary_directory.h"

namespace winnow {

// golden_model: input [1, 3, 3], conv (sparse, 3 of 8 weights kept) with relu, flat, fc (dense).
class Desk {
 public:
  explicit Desk(const DeployedModel& model = golden_model()) {
    write_model_file(this->model(), model);
  }

  std::string file(const std::string& name) const { return directory_ / name; }
  std::string model() const { return file("m.wnw"); }

  // runtime COMMAND m.wnw OPTIONS
  Outcome run(const std::string& command, const std::string& options = "") const {
    return shell(program("runtime") + " " + command + " " + model() + " " + options);
  }

  // What the command writes with --json.
  nlohmann::json json_of(const std::string& command, const std::string& options = "") const {
    const Outcome outcome = run(command, options + " --json " + file("out.json"));
    INFO(outcome.output);
    REQUIRE(outcome.status == 0);
    return nlohmann::json::parse(read_text_file(file("out.json")));
  }

 private:
  TemporaryDirectory directory_;
};

// The cells of the line of a table that begins with `first`: words two spaces or more apart.
inline std::vector<std::string> cells_of(const std::string& output, const std::string& first) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t end = std::min(line.find("  ", at), line.size());
      cells.push_back(line.substr(at, end - at));
      at = std::min(line.find_first_not_of(' ', end), line.size());
    }
    if (!cells.empty() && cells.front() == first) return cells;
  }
  return {};
}

inline std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

// One line with all of `parts`, and this exit status.
inline void check_refusal(const Outcome& outcome, int status,
                          const std::vector<std::string>& parts) {
  INFO(outcome.output);
  CHECK(outcome.status == status);
  CHECK(lines_in(outcome.output) == 1);
  for (const std::string& part : parts) CHECK(outcome.output.find(part) != std::string::npos);
}

}  // namespace winnow
