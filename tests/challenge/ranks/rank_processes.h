// `runtime challenge run` as several processes, without their launcher: with the variables that it
// sets.
#pragma once

#include <sstream>
#include <string>

#include "tests/challenge/run_folder.h"
#include "tests/free_port.h"
#include "tests/pipeline/launchers.h"

namespace winnow::challenge {

class RankProcesses {
 public:
  // `variables` are set for all, as "A=1 B=2"; in them and in options $r is the rank.
  RankProcesses(const RunFolder& folder, int size, const Launcher& launcher = kTorchrun,
                const std::string& variables = "")
      : folder_(folder), size_(size), launcher_(launcher), variables_(variables) {}

  // Ranks from `first` on. What follows their commands in `then` may use the last one's process,
  // $pid, and all, $pids. A shell's background ignores SIGINT, a launcher's ranks do not.
  void run(const std::string& options, const std::string& then = "wait", int first = 0) {
    std::ostringstream script;
    script << "exec 2> " << said("shell") << "; n=" << size_
           << "; export MASTER_PORT=" << free_port() << " WINNOW_RANK_START_TIMEOUT=60; rm -f "
           << said("*") << "; ";
    for (int rank = first; rank < size_; ++rank) {
      script << "( r=" << rank << "; export " << launcher_.variables << " " << variables_
             << "; exec env --default-signal=INT " << program("runtime") << " challenge run "
             << options << " > " << said(std::to_string(rank))
             << " 2>&1 ) & pid=$!; pids=\"$pids $pid\"; ";
    }
    script << then << "; for p in $pids; do wait $p; echo \"$?\"; done";
    statuses_ = shell(script.str()).output;
  }
  void run_folder(const std::string& options, const std::string& then = "wait") {
    run(folder_.path() + " " + options, then);
  }

  std::string output_of(int rank) const { return read_text_file(said(std::to_string(rank))); }
  const std::string& statuses() const { return statuses_; }  // one a line, by rank

  // All of them, equal.
  bool all_ended_with(int status) const {
    std::string expected;
    for (int rank = 0; rank < size_; ++rank) expected += std::to_string(status) + "\n";
    return statuses_ == expected;
  }

  // Waits, in a script, until rank 0 has shown progress of the engine.
  std::string until_running() const {
    return "for i in $(seq 600); do grep -q ': layer' " + said("0") +
           " 2>/dev/null && break; sleep 0.1; done; ";
  }

 private:
  std::string said(const std::string& rank) const { return folder_.file("said." + rank); }

  const RunFolder& folder_;
  int size_;
  Launcher launcher_;
  std::string variables_;
  std::string statuses_;
};

// The last line of what a rank said.
inline std::string last_line(const std::string& said) {
  const std::string text = said.substr(0, said.find_last_not_of('\n') + 1);
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace winnow::challenge
