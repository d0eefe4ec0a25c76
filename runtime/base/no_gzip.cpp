// In place of gzip.cpp where zlib was not found.
#include "runtime/base/error.h"
#include "runtime/base/gzip.h"

namespace winnow {
namespace {

[[noreturn]] void refuse(const std::string& path) {
  fail(ErrorCode::usage, path, ": is packed, but ", missing_gzip(),
       "; unpack it with gunzip, or build again with zlib");
}

}  // namespace

struct GzipReader::State {};
struct GzipWriter::State {};

GzipReader::GzipReader(const std::string& path, std::span<const std::byte>) {
  refuse(path);
}

GzipReader::~GzipReader() = default;

// NOLINTNEXTLINE(readability-convert-member-functions-to-static): the one in gzip.cpp is not.
std::size_t GzipReader::read(std::span<std::byte>) {
  return 0;
}

GzipWriter::GzipWriter(Sink) {
  fail(ErrorCode::usage, "cannot write .gz files: ", missing_gzip());
}

GzipWriter::~GzipWriter() = default;

void GzipWriter::write(std::span<const std::byte>) {}

void GzipWriter::finish() {}

std::vector<std::uint8_t> gunzip(const std::string& path, std::span<const std::byte>, std::size_t) {
  refuse(path);
}

std::string missing_gzip() {
  return "this build lacks zlib (Debian: zlib1g-dev)";
}

}  // namespace winnow
