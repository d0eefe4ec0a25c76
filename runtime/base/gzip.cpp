#include "runtime/base/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "runtime/base/error.h"

namespace winnow {
namespace {

constexpr int kGzipWindow = 15 + 16;  // zlib: the largest window, gzip header required
constexpr int kMemoryLevel = 8;       // zlib's default
constexpr std::size_t kStep = std::size_t{1} << 20;  // memory follows what really unpacks
constexpr std::size_t kPackedPiece = std::size_t{1} << 16;

uInt at_most_uint(std::size_t count) {  // zlib counts in 32 bits
  return static_cast<uInt>(std::min<std::size_t>(count, std::numeric_limits<uInt>::max()));
}

// zlib's interface lacks const; it does not write here.
Bytef* as_input(const std::byte* bytes) {
  return const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes));
}

}  // namespace

// ------------------------------------------------------------------------------------ reading

struct GzipReader::State {
  std::string path;
  std::span<const std::byte> packed;
  std::size_t fed = 0;
  bool ended = false;
  z_stream stream{};

  ~State() { inflateEnd(&stream); }

  [[noreturn]] void refuse(const char* reason) const {
    fail(ErrorCode::bad_file, path, ": gzip: ", reason, ", near byte ", fed - stream.avail_in);
  }

  void step() {
    if (stream.avail_in == 0) feed();
    const int status = inflate(&stream, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      finish_member();
    } else if (status == Z_BUF_ERROR) {  // no progress: it wants input, and there is none
      refuse("the packed data is cut short");
    } else if (status != Z_OK) {
      refuse(stream.msg ? stream.msg : "the packed data is damaged");
    }
  }

  void finish_member() {
    const auto rest = packed.subspan(fed - stream.avail_in);
    if (rest.empty()) {
      ended = true;
    } else if (!is_gzip(rest) || inflateReset(&stream) != Z_OK) {
      refuse("bytes follow the packed data");
    }
  }

  void feed() {
    stream.next_in = as_input(packed.data() + fed);
    stream.avail_in = at_most_uint(packed.size() - fed);
    fed += stream.avail_in;
  }
};

GzipReader::GzipReader(const std::string& path, std::span<const std::byte> packed)
    : state_(std::make_unique<State>()) {
  state_->path = path;
  state_->packed = packed;
  if (inflateInit2(&state_->stream, kGzipWindow) != Z_OK) state_->refuse("zlib cannot start");
}

GzipReader::~GzipReader() = default;

std::size_t GzipReader::read(std::span<std::byte> room) {
  std::size_t done = 0;
  while (done < room.size() && !state_->ended) {
    z_stream& stream = state_->stream;
    const uInt wanted = at_most_uint(room.size() - done);
    stream.next_out = reinterpret_cast<Bytef*>(room.data() + done);
    stream.avail_out = wanted;
    while (stream.avail_out > 0 && !state_->ended) state_->step();
    done += wanted - stream.avail_out;
  }
  return done;
}

std::vector<std::uint8_t> gunzip(const std::string& path, std::span<const std::byte> bytes,
                                 std::size_t limit) {
  GzipReader reader(path, bytes);
  std::vector<std::uint8_t> unpacked;
  while (unpacked.size() < limit) {
    const std::size_t old = unpacked.size();
    const std::size_t room = std::min(kStep, limit - old);
    unpacked.resize(old + room);
    const std::size_t got = reader.read(std::as_writable_bytes(std::span(unpacked).subspan(old)));
    unpacked.resize(old + got);
    if (got < room) break;
  }
  return unpacked;
}

// ------------------------------------------------------------------------------------ writing

struct GzipWriter::State {
  Sink sink;
  std::vector<std::byte> piece = std::vector<std::byte>(kPackedPiece);
  z_stream stream{};

  ~State() { deflateEnd(&stream); }

  // Packs all input at hand; with Z_FINISH also the end.
  void pack(int flush) {
    do {
      stream.next_out = reinterpret_cast<Bytef*>(piece.data());
      stream.avail_out = static_cast<uInt>(piece.size());
      if (deflate(&stream, flush) == Z_STREAM_ERROR) fail(ErrorCode::internal, "gzip: deflate");
      sink(std::span(piece).first(piece.size() - stream.avail_out));
    } while (stream.avail_out == 0);
  }
};

GzipWriter::GzipWriter(Sink sink) : state_(std::make_unique<State>()) {
  state_->sink = std::move(sink);
  if (deflateInit2(&state_->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    fail(ErrorCode::internal, "gzip: zlib cannot start");
  }
}

GzipWriter::~GzipWriter() = default;

void GzipWriter::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const uInt count = at_most_uint(bytes.size());
    state_->stream.next_in = as_input(bytes.data());
    state_->stream.avail_in = count;
    state_->pack(Z_NO_FLUSH);
    bytes = bytes.subspan(count);
  }
}

void GzipWriter::finish() {
  state_->pack(Z_FINISH);
}

std::string missing_gzip() {
  return "";
}

}  // namespace winnow
