#include "runtime/challenge/files/text/text_file.h"

#include <algorithm>
#include <span>

#include "runtime/base/error.h"

namespace winnow::challenge {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;
constexpr std::size_t kLongestShown = 60;
constexpr std::size_t kSample = std::size_t{1} << 12;  // bytes, in each of
constexpr std::size_t kSamples = 16;                   // so many places

}  // namespace

TextReader::TextReader(const std::string& path) : path_(path), file_(path) {
  if (!is_gzip(file_.bytes())) return;
  gzip_ = std::make_unique<GzipReader>(path_, file_.bytes());
  room_.resize(kPiece);
}

std::string_view TextReader::next() {
  if (gzip_) return next_unpacked();
  if (is_given_) return {};
  is_given_ = true;
  return {reinterpret_cast<const char*>(file_.bytes().data()), file_.bytes().size()};
}

std::string_view TextReader::next_unpacked() {
  if (is_given_) return {};
  std::copy(room_.begin() + static_cast<std::ptrdiff_t>(begin_),
            room_.begin() + static_cast<std::ptrdiff_t>(end_), room_.begin());
  const std::size_t kept = end_ - begin_;
  end_ = kept + gzip_->read(std::as_writable_bytes(std::span(room_).subspan(kept)));
  const std::string_view text(room_.data(), end_);
  if (end_ < room_.size()) {
    is_given_ = true;
    return text;
  }
  const std::size_t last = text.rfind('\n');
  if (last == std::string_view::npos) {
    fail(ErrorCode::bad_file, path_, ": a line is longer than ", room_.size(), " characters");
  }
  begin_ = last + 1;
  return text.substr(0, begin_);
}

std::size_t TextReader::estimated_lines() const {
  if (gzip_) return 0;
  const auto bytes = file_.bytes();
  const std::size_t sample = std::min(kSample, bytes.size());
  std::size_t seen = 0, ends = 0;
  for (std::size_t i = 0; i < kSamples && sample > 0; ++i) {
    const auto piece = bytes.subspan((bytes.size() - sample) / kSamples * i, sample);
    ends += static_cast<std::size_t>(std::count(piece.begin(), piece.end(), std::byte{'\n'}));
    seen += sample;
  }
  if (ends == 0) return 0;
  return bytes.size() / (seen / ends);  // rounded up, so that mostly nothing has to grow
}

std::string found_line(std::string_view line) {
  std::string text = "found '";
  for (const char c : line.substr(0, kLongestShown)) {
    if (c == '\t') {
      text += "<TAB>";
    } else {
      text += c >= ' ' && c <= '~' ? c : '?';
    }
  }
  return text + (line.size() > kLongestShown ? "...'" : "'");
}

void refuse_open_line(const std::string& path, std::uint64_t number, std::string_view line) {
  fail(ErrorCode::bad_file, path, ":", number, ": ", found_line(line),
       " without an end of line, expected one; is the file cut short?");
}

TextWriter::TextWriter(const std::string& path) : file_(path), buffer_(kPiece) {
  if (!path.ends_with(".gz")) return;
  gzip_ = std::make_unique<GzipWriter>([this](auto packed) { file_.write(packed); });
}

void TextWriter::flush() {
  const auto bytes = std::as_bytes(std::span(buffer_).first(used_));
  if (gzip_) {
    gzip_->write(bytes);
  } else {
    file_.write(bytes);
  }
  used_ = 0;
}

void TextWriter::commit() {
  flush();
  if (gzip_) gzip_->finish();
  file_.commit();
}

}  // namespace winnow::challenge
