// Text files, plain or packed with gzip, as a sequence of lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/base/gzip.h"

namespace winnow::challenge {

// The text in pieces that end with a line: a plain file as one, mapped; a packed one as it unpacks.
class TextReader {
 public:
  // Throws Error{bad_file}; Error{usage} for a packed file if this build lacks zlib.
  explicit TextReader(const std::string& path);

  // The next piece, empty after the last; valid until the next call. Throws Error{bad_file} if a
  // packed file is damaged or a line in it exceeds a MiB.
  std::string_view next();

  // About how many lines a plain file has, by samples of it; 0 for a packed one.
  std::size_t estimated_lines() const;

 private:
  std::string_view next_unpacked();

  std::string path_;
  MappedFile file_;
  std::unique_ptr<GzipReader> gzip_;  // of packed files only
  std::vector<char> room_;
  std::size_t begin_ = 0;  // the text that is yet to be given: room_[begin_, end_)
  std::size_t end_ = 0;
  bool is_given_ = false;
};

// Calls action(line, number) for every line, without its end ("\n" or "\r\n"); numbers count from
// 1. Throws Error{bad_file} if the last line has no end, as in a file that was cut short.
template <typename Action>
void for_each_line(const std::string& path, TextReader& text, Action action);

// "found '1<TAB>5'" for messages: tabs and other controls made visible, long lines cut.
std::string found_line(std::string_view line);

[[noreturn]] void refuse_open_line(const std::string& path, std::uint64_t number,
                                   std::string_view line);

template <typename Action>
void for_each_line(const std::string& path, TextReader& text, Action action) {
  std::uint64_t number = 0;
  for (std::string_view piece = text.next(); !piece.empty(); piece = text.next()) {
    const char* at = piece.data();
    const char* const end = at + piece.size();
    while (at != end) {
      const auto* stop =
          static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
      ++number;
      if (!stop) refuse_open_line(path, number, {at, static_cast<std::size_t>(end - at)});
      const bool has_return = stop != at && stop[-1] == '\r';
      action(std::string_view(at, static_cast<std::size_t>(stop - at) - has_return), number);
      at = stop + 1;
    }
  }
}

// Collects text and writes it, packed if the path ends in ".gz".
class TextWriter {
 public:
  // Throws Error{bad_file}; Error{usage} for ".gz" if this build lacks zlib.
  explicit TextWriter(const std::string& path);

  // At least `count` characters to be filled from the front, then given to advance().
  char* room(std::size_t count) {
    if (buffer_.size() - used_ < count) flush();
    return buffer_.data() + used_;
  }
  void advance_to(const char* end) { used_ = static_cast<std::size_t>(end - buffer_.data()); }

  void commit();

 private:
  void flush();

  AtomicFile file_;
  std::unique_ptr<GzipWriter> gzip_;  // for ".gz" only
  std::vector<char> buffer_;
  std::size_t used_ = 0;
};

}  // namespace winnow::challenge
