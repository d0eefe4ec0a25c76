// Runs the built programs as a user would.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace winnow {

struct Outcome {
  int status = -1;     // exit status; 128 + signal if a signal ended it
  std::string output;  // stdout and stderr as they came
};

inline Outcome shell(const std::string& command) {
  Outcome outcome;
  std::FILE* pipe = popen(("( " + command + " ) 2>&1").c_str(), "r");
  std::array<char, 4096> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    outcome.output.append(buffer.data(), n);
  }
  const int status = pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

// Path of a program in the build tree: program("prune").
inline std::string program(const std::string& name) {
  return std::string(WINNOW_BIN_DIR) + "/" + name;
}

}  // namespace winnow
