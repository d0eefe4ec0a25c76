// The cache of timings: its lines, and files of any content.
#include "runtime/plan/timing_cache.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "runtime/base/file.h"
#include "runtime/base/line_file.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

const TimingPlace kHere = {"cpu (Some CPU, 2 threads, avx2)", "oneDNN 2.6.3, winnow 0.1.0"};
const TimingPlace kOther = {"cpu (Some CPU, 2 threads, avx2)", "oneDNN 3.5.0, winnow 0.1.0"};

Timing timing(double ms) {
  return timing_of({ms, ms + 1, ms + 2});
}

std::size_t lines_of(const std::string& path) {
  return static_cast<std::size_t>(std::ranges::count(read_text_file(path, 1 << 24), '\n'));
}

// A folder whose file has this text.
struct Folder {
  explicit Folder(const std::string& text) { write_file_atomically(file(), text); }
  std::string file() const { return directory / TimingCache::kFileName; }
  TemporaryDirectory directory;
};

std::string good_line(const std::string& key = "a", double ms = 1) {
  return line_of({kHere, key, timing(ms)}) + "\n";
}

TEST_CASE("an entry is a line and is read back with all its bits") {
  Timing one = timing_of({0.1, 0.7, 0.3});
  CHECK(one.median_ms == 0.3);
  CHECK(one.min_ms == 0.1);
  CHECK(one.runs == 3);
  one.cold_ms = 1.0 / 3;
  one.clock_mhz = 1980;
  const TimingEntry entry = {kHere, "conv2d \"x\"\n\xff", one};
  const std::string line = line_of({kHere, "conv2d k3x3", one});
  CHECK(line ==
        R"x({"device":"cpu (Some CPU, 2 threads, avx2)","software":"oneDNN 2.6.3, winnow 0.1.0",)x"
        R"("key":"conv2d k3x3","median_ms":0.3,"min_ms":0.1,"runs":3,)"
        R"("cold_ms":0.3333333333333333,"clock_mhz":1980.0})");
  CHECK(entry_of(line) == TimingEntry{kHere, "conv2d k3x3", one});
  CHECK(line_of(entry).find('\n') == std::string::npos);
  const TimingEntry rejected = {kHere, "k", rejected_for("is off by 2.0e-02")};
  CHECK(entry_of(line_of(rejected)) == rejected);
  TimingEntry choice = {kHere, "choice", {}};
  choice.timing.kernels = {{0, "onednn"}, {0, ""}, {2, "direct chwn16"}};
  CHECK(entry_of(line_of(choice)) == choice);
}

TEST_CASE("lines that are no entries are told from entries") {
  const std::string head = R"({"device":"d","software":"s","key":"k",)";
  CHECK(entry_of(head + R"("median_ms":1,"min_ms":1,"runs":1})").has_value());
  CHECK(entry_of(head + R"("median_ms":0,"min_ms":0,"runs":1,"more":[]})").has_value());
  const char* const ends[] = {
      R"("median_ms":1,"min_ms":1})",                     // no runs
      R"("median_ms":1,"min_ms":1,"runs":0})",            //
      R"("median_ms":1,"min_ms":1,"runs":1.5})",          //
      R"("median_ms":1,"min_ms":1,"runs":99999999999})",  //
      R"("median_ms":1,"min_ms":1,"runs":18446744073709551615})",
      R"("median_ms":1,"min_ms":1,"runs":-1})",               //
      R"("median_ms":-1,"min_ms":1,"runs":1})",               //
      R"("median_ms":"1","min_ms":1,"runs":1})",              //
      R"("median_ms":null,"min_ms":1,"runs":1})",             //
      R"("median_ms":NaN,"min_ms":1,"runs":1})",              //
      R"("median_ms":Infinity,"min_ms":1,"runs":1})",         //
      R"("median_ms":1e400,"min_ms":1,"runs":1})",            //
      R"("median_ms":1e300,"min_ms":1,"runs":1})",            //
      R"("median_ms":1,"min_ms":[],"runs":1})",               //
      R"("median_ms":1,"min_ms":1,"runs":1,"cold_ms":"x"})",  //
      R"("median_ms":1,"min_ms":1,"runs":1,"clock_mhz":1e9})",
      R"("rejected":7})",     //
      R"("rejected":""})",    //
      R"("kernels":[]})",     //
      R"("kernels":{}})",     //
      R"("kernels":[[1]]})",  //
      R"("kernels":[["1","a"]]})",
      R"("kernels":[[-1,"a"]]})",
      R"("kernels":[[99999999999,"a"]]})",
      R"("median_ms":1,"min_ms":1,"runs":1)",  // cut off
  };
  for (const char* end : ends) {
    CAPTURE(end);
    CHECK(!entry_of(head + end).has_value());
  }
  for (const std::string line : {"", "x", "[]", "{}", "null", "\xff\xfe", "{\"device\":"}) {
    CHECK(!entry_of(line).has_value());
  }
  CHECK(!entry_of(std::string(100000, '[')).has_value());
  CHECK(!entry_of(head + R"("rejected":")" + std::string(kMostTimingLineBytes, 'x') + "\"}"));
}

TEST_CASE("what is kept is found by the next cache, in its place only") {
  const TemporaryDirectory directory;
  const std::string folder = directory / "some/where";
  {
    TimingCache cache(folder);
    CHECK(!cache.find(kHere, "a"));
    cache.keep(kHere, "a", timing(1));
    cache.keep(kHere, "a", timing(2));
    cache.keep(kOther, "a", timing(3));
    CHECK(cache.find(kHere, "a") == timing(2));
    CHECK(cache.notice() == "");
  }
  const TimingCache cache(folder);
  CHECK(cache.path() == folder + "/timings.jsonl");
  CHECK(cache.find(kHere, "a") == timing(2));  // the last counts
  CHECK(cache.find(kOther, "a") == timing(3));
  CHECK(!cache.find(kHere, "b"));
  CHECK(cache.notice() == "");
}

TEST_CASE("lines that are no entries are told in one line, and go with the next entry") {
  const Folder folder(good_line("a") + "garbage\n\n" + good_line("b") + "{\"device\":3}\n");
  TimingCache cache(folder.directory.path());
  CHECK(cache.find(kHere, "a").has_value());
  CHECK(cache.find(kHere, "b").has_value());
  CHECK(cache.notice() ==
        "cache of timings: " + folder.file() + ": ignored 2 lines that are no timings, first 2");
  cache.keep(kHere, "c", timing(1));
  CHECK(read_text_file(folder.file()) == good_line("a") + good_line("b") + good_line("c"));
  CHECK(TimingCache(folder.directory.path()).notice() == "");
}

TEST_CASE("a last line that a crashed writer cut off is no error") {
  const std::string cut = good_line("b").substr(0, 60);
  const Folder folder(good_line("a") + cut);
  TimingCache cache(folder.directory.path());
  CHECK(cache.find(kHere, "a").has_value());
  CHECK(cache.notice() == "");
  cache.keep(kHere, "b", timing(5));
  CHECK(cache.notice() == "");
  const TimingCache next(folder.directory.path());
  CHECK(next.find(kHere, "b") == timing(5));
  CHECK(next.notice() == "");
}

TEST_CASE("entries of other devices and versions are told where there are no others") {
  const Folder folder(good_line("a") + good_line("b"));
  TimingCache cache(folder.directory.path());
  CHECK(cache.notice() == "");
  CHECK(!cache.find(kOther, "a"));
  CHECK(cache.notice() == "cache of timings: " + folder.file() +
                              ": none of its 2 timings is of this device and these versions");
  cache.keep(kOther, "a", timing(1));
  TimingCache next(folder.directory.path());
  CHECK(!next.find(kOther, "b"));
  CHECK(next.find(kHere, "b"));
  CHECK(next.notice() == "");
}

TEST_CASE("what is no file, too large or not permitted is told, and nothing is kept there") {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory / "timings.jsonl");
  TimingCache folder(directory.path());
  folder.keep(kHere, "a", timing(1));
  CHECK(folder.find(kHere, "a") == timing(1));  // in memory
  CHECK(folder.notice() ==
        "cache of timings: " + (directory / "timings.jsonl") + ": not a regular file");
  CHECK(error_of([&] { folder.require_writable(); }) == ErrorCode::usage);

  write_file_atomically(directory / "file", std::string_view("x"));
  TimingCache below(directory / "file");
  below.keep(kHere, "a", timing(1));
  CHECK(below.notice().find("cache of timings: " + (directory / "file/timings.jsonl")) == 0);
  CHECK(error_of([&] { below.require_writable(); }) == ErrorCode::usage);

  const Folder large(std::string(5000, 'x'));
  TimingCache small(large.directory.path(), 1000);
  small.keep(kHere, "a", timing(1));
  CHECK(small.notice() == "cache of timings: " + large.file() + ": longer than 4000 bytes");
  CHECK(read_text_file(large.file()) == std::string(5000, 'x'));

  if (getuid() == 0) return;  // who may do everything
  std::filesystem::create_directories(directory / "locked");
  REQUIRE(chmod((directory / "locked").c_str(), 0500) == 0);
  TimingCache locked(directory / "locked");
  locked.keep(kHere, "a", timing(1));
  CHECK(locked.notice().find("nothing is kept: ") != std::string::npos);
  CHECK(error_of([&] { locked.require_writable(); }) == ErrorCode::usage);
}

TEST_CASE("a folder that cannot be made is told once, and the session goes on") {
  TimingCache cache("/proc/no/such");
  cache.keep(kHere, "a", timing(1));
  cache.keep(kHere, "b", timing(2));
  CHECK(cache.find(kHere, "b") == timing(2));
  const std::string notice = cache.notice();
  CAPTURE(notice);
  CHECK(notice.find("nothing is kept: /proc/no/such: cannot make the folder: ") !=
        std::string::npos);
  CHECK(notice.find('\n') == std::string::npos);
}

TEST_CASE("the file does not grow without bound") {
  const TemporaryDirectory directory;
  const std::string path = directory / TimingCache::kFileName;
  constexpr std::size_t kMost = 20000;
  TimingCache cache(directory.path(), kMost);
  for (int round = 0; round < 100; ++round) {
    for (const char* key : {"a", "b", "c"}) cache.keep(kHere, key, timing(round));
  }
  CHECK(std::filesystem::file_size(path) <= kMost);
  TimingCache next(directory.path(), kMost);
  for (const char* key : {"a", "b", "c"}) CHECK(next.find(kHere, key) == timing(99));
  // Of more keys than fit, the oldest go.
  for (int i = 0; i < 1000; ++i) next.keep(kHere, "key " + std::to_string(i), timing(i));
  CHECK(std::filesystem::file_size(path) <= kMost);
  const TimingCache last(directory.path(), kMost);
  CHECK(last.find(kHere, "key 999") == timing(999));
  CHECK(!last.find(kHere, "key 0"));
  CHECK(last.notice() == "");
}

TEST_CASE("a rewrite keeps what other processes have appended") {
  const TemporaryDirectory directory;
  const std::string path = directory / TimingCache::kFileName;
  constexpr std::size_t kMost = 4000;
  TimingCache ours(directory.path(), kMost);
  TimingCache theirs(directory.path(), kMost);
  ours.keep(kHere, "ours", timing(1));
  theirs.keep(kHere, "theirs", timing(2));
  const std::size_t before = lines_of(path);
  for (int i = 0; i < 30; ++i) ours.keep(kHere, "ours", timing(i));
  CHECK(lines_of(path) < before + 30);  // it was rewritten
  CHECK(TimingCache(directory.path()).find(kHere, "theirs") == timing(2));
}

}  // namespace
}  // namespace winnow
