// Gzip (RFC 1952), for data files that are usually kept packed. Target winnow_gzip, apart from
// winnow_base, so that only what reads such files links zlib.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace winnow {

// By the two first bytes, whatever the file is called.
inline bool is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

// Unpacks a gzip file piece by piece. Members that follow one another count as one.
class GzipReader {
 public:
  // `packed` must outlive the reader; errors name `path`. Throws Error{usage} if this build lacks
  // zlib.
  GzipReader(const std::string& path, std::span<const std::byte> packed);
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;
  ~GzipReader();

  // Unpacks into `room` until it is full or the file ends; returns the bytes written. At the end
  // checksums and lengths have been checked. Throws Error{bad_file} for damaged, cut or trailing
  // bytes.
  std::size_t read(std::span<std::byte> room);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Packs what is written and hands it to `sink` piece by piece. Equal bytes give equal files: the
// header holds neither time nor name.
class GzipWriter {
 public:
  using Sink = std::function<void(std::span<const std::byte>)>;

  // Throws Error{usage} if this build lacks zlib.
  explicit GzipWriter(Sink sink);
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;
  ~GzipWriter();

  void write(std::span<const std::byte> bytes);
  void finish();  // to be called once, last

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The first `limit` unpacked bytes of a gzip file. If it holds fewer, they are all returned, and
// its end was checked. Throws as GzipReader does.
std::vector<std::uint8_t> gunzip(const std::string& path, std::span<const std::byte> bytes,
                                 std::size_t limit);

// Empty, or what this build lacks.
std::string missing_gzip();

}  // namespace winnow
