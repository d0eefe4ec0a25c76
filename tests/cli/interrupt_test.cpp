#include "runtime/cli/interrupt.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/file.h"
#include "tests/temporary_directory.h"

namespace winnow {
namespace {

struct Ended {
  int status = -1;   // of the process; -1: a signal ended it
  std::string said;  // on stderr
};

// A process that does `body`, writes a line break to stderr and waits; then `signal` is sent to it.
Ended end_by(int signal, const std::function<void()>& body) {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    body();
    if (write(STDERR_FILENO, "\n", 1) != 1) _exit(1);
    for (int i = 0; i < 100 && !InterruptGuard::requested(); ++i) usleep(100'000);
    _exit(77);
  }
  close(ends[1]);
  Ended ended;
  std::array<char, 256> buffer{};
  for (ssize_t n; (n = read(ends[0], buffer.data(), buffer.size())) > 0;) {
    if (ended.said.empty()) CHECK(kill(child, signal) == 0);
    ended.said.append(buffer.data(), static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) ended.status = WEXITSTATUS(status);
  return ended;
}

TEST_CASE("a signal ends a program at once, with one line, status 130 and no half-written file") {
  for (const int signal : {SIGINT, SIGTERM}) {
    const TemporaryDirectory folder;
    const Ended ended = end_by(signal, [&] {
      end_on_interrupt("import");
      new AtomicFile(folder / "result");  // under way when the signal comes
    });
    CHECK(ended.status == 130);
    CHECK(ended.said == "\nimport: interrupted\n");
    CHECK(std::filesystem::is_empty(folder.path()));
  }
}

TEST_CASE("while a guard lives a signal is noted, afterwards it ends the program again") {
  const Ended noted = end_by(SIGINT, [] {
    end_on_interrupt("prune");
    new InterruptGuard;
  });
  CHECK(noted.status == 77);
  CHECK(noted.said == "\n");
  const Ended kept = end_by(SIGINT, [] {
    end_on_interrupt("prune");
    {
      const InterruptGuard guard;
      std::raise(SIGTERM);
    }
    _exit(InterruptGuard::requested() ? 5 : 6);
  });
  CHECK(kept.status == 5);
  const Ended again = end_by(SIGINT, [] {
    end_on_interrupt("prune");
    const InterruptGuard guard;
    std::raise(SIGTERM);  // noted
    usleep(2'000'000);
    std::raise(SIGTERM);  // a second request
    _exit(5);
  });
  CHECK(again.status == 130);
  CHECK(again.said == "prune: interrupted\n");
  const Ended second = end_by(SIGINT, [] {
    end_on_interrupt("prune");
    { const InterruptGuard guard; }
  });
  CHECK(second.status == 130);
}

TEST_CASE("a request that a launcher sends twice counts once") {
  const Ended noted = end_by(SIGINT, [] {
    end_on_interrupt("prune");
    const InterruptGuard guard;
    for (const int signal : {SIGINT, SIGTERM, SIGINT}) std::raise(signal);
    _exit(InterruptGuard::requested() ? 5 : 6);
  });
  CHECK(noted.status == 5);
}

TEST_CASE("threads that are interrupted at once end the program with one line") {
  for (int i = 0; i < 20; ++i) {
    const Ended ended = end_by(0, [] {
      end_on_interrupt("prune");
      std::atomic<int> ready = 0;
      std::vector<std::thread> threads;
      for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
          for (++ready; ready < 4;) {
          }
          std::raise(SIGINT);
        });
      }
      for (std::thread& thread : threads) thread.join();
    });
    CHECK(ended.status == 130);
    CHECK(ended.said == "prune: interrupted\n");
  }
}

TEST_CASE("a signal that is ignored from the start stays so") {
  const Ended ended = end_by(SIGINT, [] {
    std::signal(SIGINT, SIG_IGN);
    end_on_interrupt("t");
    alarm(1);
    std::signal(SIGALRM, [](int) { _exit(5); });
  });
  CHECK(ended.status == 5);
}

}  // namespace
}  // namespace winnow
