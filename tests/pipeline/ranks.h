// prune as several processes, without their launcher: with the variables that it sets.
#pragma once

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/base/file.h"
#include "tests/free_port.h"
#include "tests/pipeline/launchers.h"
#include "tests/pipeline/workshop.h"

namespace winnow {

inline constexpr int kRankTimeout =
    6;  // seconds; a busy machine may keep a rank waiting for some of them

class Ranks {
 public:
  explicit Ranks(const Workshop& shop, int size, const Launcher& launcher = kTorchrun,
                 int timeout = kRankTimeout)
      : shop_(shop), size_(size), launcher_(launcher), timeout_(timeout), port_(free_port()) {}

  // What follows the last rank's command in `then` may use its process, $pid. A shell's background
  // ignores SIGINT, a launcher's ranks do not.
  void run(const std::string& options, const std::string& then = "wait") const {
    std::ostringstream script;
    script << "n=" << size_ << "; export MASTER_PORT=" << port_
           << " WINNOW_RANK_TIMEOUT=" << timeout_ << "; rm -f " << said("*") << "; ";
    for (int rank = 0; rank < size_; ++rank) {
      script << "( r=" << rank << "; export " << launcher_.variables
             << "; exec env --default-signal=INT " << shop_.prune_command("--quiet " + options)
             << " > " << said(std::to_string(rank)) << " 2>&1 ) & pid=$!; pids=\"$pids $pid\"; ";
    }
    script << then << "; for p in $pids; do wait $p; echo \"status $?\"; done";
    statuses_ = shell(script.str()).output;
  }

  std::string output_of(int rank) const { return read_text_file(said(std::to_string(rank))); }
  const std::string& statuses() const { return statuses_; }

  // All of them, equal.
  bool all_ended_with(int status) const {
    std::string expected;
    for (int rank = 0; rank < size_; ++rank) expected += "status " + std::to_string(status) + "\n";
    return statuses_ == expected;
  }

 private:
  std::string said(const std::string& rank) const { return shop_.data() + "/said." + rank; }

  const Workshop& shop_;
  int size_;
  Launcher launcher_;
  int timeout_;
  int port_;
  mutable std::string statuses_;
};

// Lines of metrics.jsonl without the times at their ends.
inline std::string metrics_of(const Workshop& shop, const std::string& run) {
  std::istringstream text(read_text_file(shop.data() + "/" + run + "/metrics.jsonl"));
  std::string lines;
  for (std::string line; std::getline(text, line);) {
    lines += line.substr(0, line.find(",\"seconds\":")) + "\n";
  }
  return lines;
}

inline std::string output_option(const Workshop& shop, const std::string& run) {
  return "--output " + shop.data() + "/" + run + " ";
}

inline void require(const Outcome& outcome) {
  INFO(outcome.output);
  REQUIRE(outcome.status == 0);
}

// Waits, in a script, until the run has so many lines of metrics.
inline std::string until_lines(const Workshop& shop, int lines) {
  return "until [ $(cat " + shop.file("metrics.jsonl") + " 2>/dev/null | wc -l) -ge " +
         std::to_string(lines) + " ]; do sleep 0.02; done; ";
}

// The lines of a stage.
inline std::vector<nlohmann::json> stage_of(const Workshop& shop, const std::string& run,
                                            const std::string& stage) {
  std::istringstream text(read_text_file(shop.data() + "/" + run + "/metrics.jsonl"));
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(text, line);) {
    nlohmann::json parsed = nlohmann::json::parse(line);
    if (parsed["stage"] == stage) lines.push_back(std::move(parsed));
  }
  return lines;
}

}  // namespace winnow
