// Runs the built programs as a user would.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace winnow {

struct Outcome {
  int status = -1;     // exit status; 128 + signal if a signal ended it
  std::string output;  // stdout and stderr as they came
};

inline Outcome shell(const std::string& command) {
  Outcome outcome;
  unsetenv("WINNOW_CACHE");  // tests depend on no times of the user's
  std::FILE* pipe = popen(("( " + command + " ) 2>&1").c_str(), "r");
  std::array<char, 4096> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    outcome.output.append(buffer.data(), n);
  }
  const int status = pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

// Runs a program until it prints `line`, then sends it `signal` and waits for its end. `command` is
// one program with its arguments. Whether the signal was sent: `is_hit`.
struct Stopped : Outcome {
  bool is_hit = false;
};

inline Stopped stop_at(const std::string& command, const std::string& line, int signal) {
  Stopped outcome;
  int ends[2];
  if (pipe(ends) != 0) return outcome;
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    const std::string replaced = "exec " + command;  // so that the signal meets the program
    execl("/bin/sh", "sh", "-c", replaced.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  std::array<char, 4096> buffer{};
  for (ssize_t n; (n = read(ends[0], buffer.data(), buffer.size())) > 0;) {
    outcome.output.append(buffer.data(), static_cast<std::size_t>(n));
    if (outcome.is_hit || outcome.output.find(line) == std::string::npos) continue;
    outcome.is_hit = kill(child, signal) == 0;
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

// Path of a program in the build tree: program("prune").
inline std::string program(const std::string& name) {
  return std::string(WINNOW_BIN_DIR) + "/" + name;
}

}  // namespace winnow
