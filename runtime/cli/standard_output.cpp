#include "runtime/cli/standard_output.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <system_error>

#include "runtime/base/error.h"

namespace winnow {
namespace {

// Opening takes the lowest free number, so that going upwards fills each gap. Nothing can be
// written to what stands in for standard output, which therefore still reports an error.
void fill_if_closed(int descriptor, int mode) {
  if (::fcntl(descriptor, F_GETFD) == -1) static_cast<void>(::open("/dev/null", mode));
}

bool has_lost_reader(int descriptor) {
  pollfd asked{descriptor, POLLOUT, 0};
  return ::poll(&asked, 1, 0) == 1 && (asked.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

void prepare_standard_streams() {
  fill_if_closed(STDIN_FILENO, O_RDONLY);
  fill_if_closed(STDOUT_FILENO, O_RDONLY);
  fill_if_closed(STDERR_FILENO, O_WRONLY);
  std::signal(SIGPIPE, SIG_IGN);
}

void flush_standard_output() {
  errno = 0;
  std::cout.flush();
  const bool is_flushed = std::fflush(stdout) == 0;
  const int reason = errno;
  if (is_flushed && std::cout.good() && std::ferror(stdout) == 0) return;
  if (has_lost_reader(STDOUT_FILENO)) return;
  const std::string text = reason == 0 ? "" : ": " + std::generic_category().message(reason);
  fail(ErrorCode::bad_file, "standard output: cannot write", text);
}

}  // namespace winnow
