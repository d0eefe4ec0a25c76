#include "runtime/base/gzip.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/base/random.h"
#include "tests/throws.h"

namespace winnow {
namespace {

using Bytes = std::vector<std::byte>;

// Repeats itself here and there, as data files do.
Bytes some_bytes(std::size_t count) {
  Random random(count);
  Bytes bytes(count);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random.below(7) * random.below(3));
  return bytes;
}

// Written in pieces of up to `piece` bytes.
Bytes packed(const Bytes& bytes, std::size_t piece) {
  Bytes out;
  GzipWriter writer([&](auto part) { out.insert(out.end(), part.begin(), part.end()); });
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    writer.write(std::span(bytes).subspan(at, std::min(piece, bytes.size() - at)));
  }
  writer.finish();
  return out;
}

// Read in pieces of `piece` bytes.
Bytes unpacked(const Bytes& file, std::size_t piece) {
  GzipReader reader("x.gz", file);
  Bytes out;
  for (std::size_t got = piece; got == piece;) {
    out.resize(out.size() + piece);
    got = reader.read(std::span(out).last(piece));
    out.resize(out.size() - piece + got);
  }
  return out;
}

}  // namespace

TEST_CASE("gzip gives back what was packed, whatever the pieces") {
  for (const std::size_t size : {0, 1, 1000, 65536, 300000}) {
    CAPTURE(size);
    const Bytes bytes = some_bytes(size);
    const Bytes file = packed(bytes, 1 << 20);
    CHECK(is_gzip(file));
    CHECK(packed(bytes, 997) == file);
    CHECK(unpacked(file, 1 << 20) == bytes);
    CHECK(unpacked(file, 613) == bytes);
    const auto whole = gunzip("x.gz", file, size + 1);
    CHECK(std::ranges::equal(std::as_bytes(std::span(whole)), bytes));
  }
}

TEST_CASE("gunzip stops at its limit") {
  const Bytes file = packed(some_bytes(5000), 5000);
  CHECK(gunzip("x.gz", file, 100).size() == 100);
}

TEST_CASE("gzip members that follow one another count as one") {
  Bytes file = packed(some_bytes(100), 100);
  const Bytes second = packed(some_bytes(50), 50);
  file.insert(file.end(), second.begin(), second.end());
  Bytes expected = some_bytes(100);
  const Bytes rest = some_bytes(50);
  expected.insert(expected.end(), rest.begin(), rest.end());
  CHECK(unpacked(file, 7) == expected);
  file.push_back(std::byte{0});
  CHECK(message_of([&] { unpacked(file, 7); }) ==
        "x.gz: gzip: bytes follow the packed data, near byte " + std::to_string(file.size() - 1));
}

TEST_CASE("gzip files cut anywhere are refused") {
  const Bytes file = packed(some_bytes(300), 300);
  for (std::size_t size = 0; size < file.size(); ++size) {
    CAPTURE(size);
    const Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    REQUIRE(error_of([&] { unpacked(cut, 64); }) == ErrorCode::bad_file);
  }
}

TEST_CASE("gzip files with a flipped bit behind the header are refused or read the same") {
  const Bytes bytes = some_bytes(300);
  const Bytes file = packed(bytes, 300);
  constexpr std::size_t kHeader = 10;  // time and system in it do not count
  int same = 0;
  for (std::size_t bit = 8 * kHeader; bit < 8 * file.size(); ++bit) {
    CAPTURE(bit);
    Bytes damaged = file;
    damaged[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    Bytes found;
    if (const auto code = error_of([&] { found = unpacked(damaged, 64); })) {
      REQUIRE(*code == ErrorCode::bad_file);
    } else {
      REQUIRE(found == bytes);
      ++same;
    }
  }
  CHECK(same < 8);  // the unused bits in the last byte of packed data
}

}  // namespace winnow
