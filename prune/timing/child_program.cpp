#include "prune/timing/child_program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "runtime/base/descriptor.h"
#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

constexpr int kAskEveryMs = 100;
constexpr std::size_t kKept = std::size_t{1} << 16;  // bytes of stderr

std::string last_line(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.pop_back();
  }
  return one_line(text.substr(text.find_last_of("\r\n") + 1));
}

// Starts the program with its stderr in the pipe.
pid_t start(const std::vector<std::string>& command, int end_of_pipe) {
  std::vector<char*> arguments;
  for (const std::string& one : command) arguments.push_back(const_cast<char*>(one.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&files, end_of_pipe, STDERR_FILENO);
  pid_t child = -1;
  const int error = posix_spawn(&child, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error == 0) return child;
  fail(ErrorCode::device, command[0], ": cannot be started: ", std::strerror(error));
}

// A program that was started. It ends with this, if it runs still.
class Child {
 public:
  explicit Child(pid_t process) : process_(process) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (process_ < 0) return;
    kill(process_, SIGKILL);
    wait();
  }

  void stop() const { kill(process_, SIGTERM); }

  // Waits for its end; what waitpid() says of it.
  int wait() {
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
    process_ = -1;
    return status;
  }

 private:
  pid_t process_;
};

// What the program writes until it closes the pipe, which is when it ends.
std::string listen(int pipe, const Child& child, const std::function<bool()>& should_stop,
                   bool& is_stopped) {
  std::string said;
  std::array<char, 4096> buffer{};
  for (;;) {
    if (!is_stopped && should_stop && should_stop()) {
      is_stopped = true;
      child.stop();
    }
    pollfd wanted{pipe, POLLIN, 0};
    if (poll(&wanted, 1, kAskEveryMs) <= 0) continue;
    const ssize_t count = read(pipe, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return said;
    said.append(buffer.data(), static_cast<std::size_t>(count));
    if (said.size() > kKept) said.erase(0, said.size() - kKept);
  }
}

}  // namespace

void run_child(const std::vector<std::string>& command, const std::function<bool()>& should_stop) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    fail(ErrorCode::device, command[0], ": cannot be started: ", std::strerror(errno));
  }
  const Descriptor reading(ends[0]);
  const auto start_writing = [&] {
    const Descriptor writing(ends[1]);  // the program's alone, so that its end is the pipe's
    return start(command, writing.get());
  };
  Child child(start_writing());
  bool is_stopped = false;
  const std::string said = listen(reading.get(), child, should_stop, is_stopped);
  const int status = child.wait();
  if (is_stopped) fail(ErrorCode::interrupted, command[0], " was interrupted");
  if (WIFSIGNALED(status)) {
    fail(ErrorCode::device, command[0], ": ended by signal ", WTERMSIG(status));
  }
  const int code = WEXITSTATUS(status);
  if (code == 0) return;
  const std::string line = last_line(said);
  fail(static_cast<ErrorCode>(code), line.empty() ? command[0] : line, ": exit status ", code);
}

std::string own_folder() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) fail(ErrorCode::device, "/proc/self/exe: ", error.message());
  return program.parent_path().string();
}

}  // namespace winnow
