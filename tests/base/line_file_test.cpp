#include "runtime/base/line_file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "runtime/base/file.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

TEST_CASE("lines are appended, and one that was left unfinished is ended first") {
  const TemporaryDirectory folder;
  const std::string path = folder / "x";
  append_line(path, "one");
  append_line(path, "two");
  CHECK(read_text_file(path) == "one\ntwo\n");
  write_file_atomically(path, std::string_view("one\nunfinis"));
  append_line(path, "two");
  CHECK(read_text_file(path) == "one\nunfinis\ntwo\n");
}

TEST_CASE("a file is rewritten from its text") {
  const TemporaryDirectory folder;
  const std::string path = folder / "x";
  append_line(path, "one");
  rewrite_lines(path, 100, [](const std::string& text) { return text + "two\n"; });
  CHECK(read_text_file(path) == "one\ntwo\n");
  const auto never = [](const std::string&) -> std::string { return "lost"; };
  CHECK(error_of([&] { rewrite_lines(path, 3, never); }) == ErrorCode::bad_file);
  CHECK(read_text_file(path) == "one\ntwo\n");
}

TEST_CASE("no line of several writers is torn or lost, rewrites included") {
  constexpr int kWriters = 4, kLines = 200;
  const TemporaryDirectory folder;
  const std::string path = folder / "x";
  for (int writer = 0; writer < kWriters; ++writer) {
    if (fork() != 0) continue;
    const std::string end(300, static_cast<char>('a' + writer));
    for (int i = 0; i < kLines; ++i) {
      append_line(path, std::to_string(writer) + " " + std::to_string(i) + " " + end);
      if (i % 20 == 0) rewrite_lines(path, 1 << 20, [](const std::string& text) { return text; });
    }
    _exit(0);
  }
  for (int writer = 0; writer < kWriters; ++writer) wait(nullptr);
  std::istringstream text(read_text_file(path));
  std::set<std::pair<int, int>> found;
  int writer = 0, line = 0;
  for (std::string end; text >> writer >> line >> end;) {
    REQUIRE(end == std::string(300, static_cast<char>('a' + writer)));
    CHECK(found.emplace(writer, line).second);
  }
  CHECK(text.eof());
  CHECK(found.size() == kWriters * kLines);
}

TEST_CASE("what is no file is refused") {
  const TemporaryDirectory folder;
  CHECK(error_of([&] { append_line(folder.path(), "x"); }) == ErrorCode::bad_file);
  CHECK(error_of([&] { append_line(folder / "none/x", "x"); }) == ErrorCode::bad_file);
  const std::string pipe = folder / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(message_of([&] { append_line(pipe, "x"); }) == pipe + ": not a regular file");
  CHECK(error_of([&] { require_appendable(pipe); }) == ErrorCode::bad_file);
  write_file_atomically(folder / "mine", std::string_view("mine\n"));
  std::filesystem::create_symlink(folder / "mine", folder / "link");
  CHECK(error_of([&] { append_line(folder / "link", "x"); }) == ErrorCode::bad_file);
  CHECK(read_text_file(folder / "mine") == "mine\n");
}

}  // namespace
}  // namespace winnow
