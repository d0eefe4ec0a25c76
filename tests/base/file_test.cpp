#include "runtime/base/file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

std::size_t entries_in(const TemporaryDirectory& directory) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    count += entry.exists() || entry.is_symlink() ? 1 : 0;
  }
  return count;
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

TEST_CASE("a written file maps and reads back") {
  const TemporaryDirectory directory;
  const std::string text("one\0two", 7);
  write_file_atomically(directory / "a", text);
  CHECK(text_of(MappedFile(directory / "a")) == text);
  CHECK(read_text_file(directory / "a") == text);
  CHECK(entries_in(directory) == 1);
}

TEST_CASE("an empty file maps as no bytes") {
  const TemporaryDirectory directory;
  write_file_atomically(directory / "empty", std::string_view());
  CHECK(MappedFile(directory / "empty").bytes().empty());
  CHECK(read_text_file(directory / "empty") == "");
}

TEST_CASE("a mapping moves and outlives its file's name") {
  const TemporaryDirectory directory;
  write_file_atomically(directory / "a", std::string_view("first"));
  write_file_atomically(directory / "b", std::string_view("second"));
  MappedFile a(directory / "a");
  MappedFile b(std::move(a));
  CHECK(text_of(b) == "first");
  b = MappedFile(directory / "b");
  CHECK(text_of(b) == "second");
  write_file_atomically(directory / "b", std::string_view("third"));
  CHECK(text_of(b) == "second");
}

TEST_CASE("missing files and folders are refused with path and reason") {
  const TemporaryDirectory directory;
  const std::string missing = directory / "missing";
  CHECK(error_of([&] { MappedFile{missing}; }) == ErrorCode::bad_file);
  CHECK(message_of([&] { MappedFile{missing}; }) ==
        missing + ": cannot open: No such file or directory");
  CHECK(message_of([&] { read_text_file(missing); }) ==
        missing + ": cannot open: No such file or directory");
  CHECK(error_of([&] { MappedFile{directory.path()}; }) == ErrorCode::bad_file);
  CHECK(error_of([&] { read_text_file(directory.path()); }) == ErrorCode::bad_file);
}

TEST_CASE("read_text_file refuses one byte too many") {
  const TemporaryDirectory directory;
  write_file_atomically(directory / "a", std::string_view("12345"));
  CHECK(read_text_file(directory / "a", 5) == "12345");
  CHECK(error_of([&] { read_text_file(directory / "a", 4); }) == ErrorCode::bad_file);
}

TEST_CASE("a pipe is refused at once, with or without a writer") {
  const TemporaryDirectory directory;
  const std::string path = directory / "pipe";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  CHECK(message_of([&] { read_text_file(path); }) == path + ": not a regular file");
  CHECK(message_of([&] { MappedFile{path}; }) == path + ": not a regular file");
  const int writer = ::open(path.c_str(), O_RDWR | O_NONBLOCK);
  REQUIRE(writer >= 0);
  CHECK(error_of([&] { read_text_file(path); }) == ErrorCode::bad_file);
  ::close(writer);
}

TEST_CASE("files of the system that tell no size are read whole") {
  CHECK(read_text_file("/proc/self/status").find("Pid:") != std::string::npos);
}

TEST_CASE("until commit the old content stays, after it the new one is there") {
  const TemporaryDirectory directory;
  write_file_atomically(directory / "a", std::string_view("old"));
  AtomicFile file(directory / "a");
  file.write(bytes_of("new "));
  file.write(bytes_of("content"));
  CHECK(read_text_file(directory / "a") == "old");
  file.commit();
  CHECK(read_text_file(directory / "a") == "new content");
  CHECK(entries_in(directory) == 1);
}

TEST_CASE("bytes written before are replaced at their place") {
  const TemporaryDirectory directory;
  AtomicFile file(directory / "a");
  file.write(bytes_of("....tail"));
  file.write_at(0, bytes_of("head"));
  file.write(bytes_of("!"));
  file.commit();
  CHECK(read_text_file(directory / "a") == "headtail!");
}

TEST_CASE("an abandoned write leaves nothing behind") {
  const TemporaryDirectory directory;
  write_file_atomically(directory / "a", std::string_view("old"));
  {
    AtomicFile file(directory / "a");
    file.write(bytes_of("half a fi"));
  }
  CHECK(read_text_file(directory / "a") == "old");
  CHECK(entries_in(directory) == 1);
}

TEST_CASE("two writers of one file do not mix") {
  const TemporaryDirectory directory;
  AtomicFile first(directory / "a");
  AtomicFile second(directory / "a");
  first.write(bytes_of("first"));
  second.write(bytes_of("second"));
  second.commit();
  first.commit();
  CHECK(read_text_file(directory / "a") == "first");
  CHECK(entries_in(directory) == 1);
}

TEST_CASE("writing into a missing folder is refused") {
  const TemporaryDirectory directory;
  const std::string path = directory / "no/such/file";
  CHECK(error_of([&] { AtomicFile{path}; }) == ErrorCode::bad_file);
  CHECK(message_of([&] { AtomicFile{path}; }) ==
        path + ": cannot write: No such file or directory");
}

TEST_CASE("pipes, devices and folders are not replaced by a file") {
  const TemporaryDirectory directory;
  const std::string pipe = directory / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(error_of([&] { write_file_atomically(pipe, std::string_view("x")); }) ==
        ErrorCode::bad_file);
  CHECK(std::filesystem::is_fifo(pipe));
  CHECK(error_of([&] { write_file_atomically(directory.path(), std::string_view("x")); }) ==
        ErrorCode::bad_file);
}

TEST_CASE("a link is written through and stays a link") {
  const TemporaryDirectory directory;
  write_file_atomically(directory / "target", std::string_view("old"));
  std::filesystem::create_symlink(directory / "target", directory / "link");
  write_file_atomically(directory / "link", std::string_view("new"));
  CHECK(std::filesystem::is_symlink(directory / "link"));
  CHECK(read_text_file(directory / "target") == "new");
}

TEST_CASE("new files get the permissions that the user's mask asks for") {
  const TemporaryDirectory directory;
  const mode_t before = umask(027);
  write_file_atomically(directory / "a", std::string_view("x"));
  umask(before);
  const auto permissions = std::filesystem::status(directory / "a").permissions();
  CHECK(permissions == static_cast<std::filesystem::perms>(0640));
}

}  // namespace winnow
