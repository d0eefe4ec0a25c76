#include "runtime/images/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "runtime/base/error.h"

namespace winnow {
namespace {

constexpr int kGzipWindow = 15 + 16;  // zlib: the largest window, gzip header required
constexpr std::size_t kStep = std::size_t{1} << 20;  // memory follows what really unpacks

class Inflater {
 public:
  Inflater(const std::string& path, std::span<const std::byte> packed)
      : path_(path), packed_(packed) {
    if (inflateInit2(&stream_, kGzipWindow) != Z_OK) refuse("zlib cannot start");
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  // Unpacks into `room` until it is full or the file ends; returns the bytes written.
  std::size_t read(std::span<std::uint8_t> room) {
    stream_.next_out = room.data();
    stream_.avail_out = static_cast<uInt>(room.size());
    while (stream_.avail_out > 0 && !ended_) step();
    return room.size() - stream_.avail_out;
  }

 private:
  void step() {
    if (stream_.avail_in == 0) feed();
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      finish_member();
    } else if (status == Z_BUF_ERROR) {  // no progress: it wants input, and there is none
      refuse("the packed data is cut short");
    } else if (status != Z_OK) {
      refuse(stream_.msg ? stream_.msg : "the packed data is damaged");
    }
  }

  void finish_member() {
    const auto rest = packed_.subspan(fed_ - stream_.avail_in);
    if (rest.empty()) {
      ended_ = true;
    } else if (!is_gzip(rest) || inflateReset(&stream_) != Z_OK) {
      refuse("bytes follow the packed data");
    }
  }

  // zlib counts in 32 bits.
  void feed() {
    const std::size_t left = packed_.size() - fed_;
    const std::size_t chunk = std::min<std::size_t>(left, std::numeric_limits<uInt>::max());
    // zlib's interface lacks const; it does not write here.
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed_.data() + fed_));
    stream_.avail_in = static_cast<uInt>(chunk);
    fed_ += chunk;
  }

  [[noreturn]] void refuse(const char* reason) const {
    fail(ErrorCode::bad_file, path_, ": gzip: ", reason, ", near byte ", fed_ - stream_.avail_in);
  }

  const std::string& path_;
  std::span<const std::byte> packed_;
  std::size_t fed_ = 0;
  bool ended_ = false;
  z_stream stream_{};
};

}  // namespace

std::vector<std::uint8_t> gunzip(const std::string& path, std::span<const std::byte> bytes,
                                 std::size_t limit) {
  Inflater inflater(path, bytes);
  std::vector<std::uint8_t> unpacked;
  while (unpacked.size() < limit) {
    const std::size_t old = unpacked.size();
    const std::size_t room = std::min(kStep, limit - old);
    unpacked.resize(old + room);
    const std::size_t got = inflater.read(std::span(unpacked).subspan(old));
    unpacked.resize(old + got);
    if (got < room) break;
  }
  return unpacked;
}

std::string missing_gzip() {
  return "";
}

}  // namespace winnow
