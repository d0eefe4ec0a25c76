#include "runtime/text/word_vectors.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <unordered_set>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

constexpr std::size_t kMostWordBytes = 1024;
constexpr std::int64_t kMostWidth = 1 << 16;

struct Header {
  std::int64_t count = 0;
  std::int64_t width = 0;
};

// Cuts the text before `end` off; without `end` all of it.
std::string_view cut(std::string_view& rest, char end) {
  const std::size_t at = std::min(rest.find(end), rest.size());
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return part;
}

std::string_view cut_line(std::string_view& rest) {
  std::string_view line = cut(rest, '\n');
  while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
  return line;
}

template <typename Number>
bool parse(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<Header> header_from(std::string_view line) {
  Header header;
  const std::string_view count = cut(line, ' ');
  if (!parse(count, header.count) || !parse(line, header.width)) return std::nullopt;
  if (header.count < 1 || header.width < 1 || header.width > kMostWidth) return std::nullopt;
  return header;
}

std::int64_t fields_of(std::string_view line) {
  return line.empty() ? 0 : 1 + std::count(line.begin(), line.end(), ' ');
}

// Whether the first line behind a header has a word and as many numbers as it says.
bool is_text(std::string_view rest, std::int64_t width) {
  std::string_view line = cut_line(rest);
  if (fields_of(line) != width + 1) return false;
  cut(line, ' ');
  float number = 0;
  while (!line.empty()) {
    if (!parse(cut(line, ' '), number)) return false;
  }
  return true;
}

class VectorFile {
 public:
  VectorFile(const std::string& path, const std::function<bool(std::string_view)>& wants)
      : path_(path), wants_(wants), file_(path) {
    const auto bytes = file_.bytes();
    rest_ = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  WordVectors read() {
    require_vectors();
    std::string_view behind = rest_;
    const std::optional<Header> header = header_from(cut_line(behind));
    if (!header) {
      vectors_.width = fields_of(cut_line(behind = rest_)) - 1;
      read_lines(1);
      return std::move(vectors_);
    }
    rest_ = behind;
    vectors_.width = header->width;
    const std::int64_t found = is_text(rest_, header->width) ? read_lines(2) : read_binary(*header);
    if (found == header->count) return std::move(vectors_);
    fail(ErrorCode::bad_file, path_, ": found ", found, " words, the first line says ",
         header->count);
  }

 private:
  void require_vectors() const {
    if (rest_.empty()) fail(ErrorCode::bad_file, path_, ": is empty, expected word vectors");
    const bool is_packed = rest_.starts_with("\x1f\x8b") ||
                           rest_.starts_with(
                               "\xfd"
                               "7zXZ") ||
                           rest_.starts_with("PK\x03\x04");
    if (is_packed) {
      fail(ErrorCode::bad_file, path_, ": is compressed, expected word vectors; unpack it first");
    }
  }

  // Whether the vector of `word` is to be kept.
  bool takes(std::string_view word) {
    return wants_(word) && seen_.insert(std::string(word)).second;
  }

  void add(float value, const std::string& place) {
    if (!std::isfinite(value)) fail(ErrorCode::bad_file, place, ": a number is not finite");
    vectors_.values.push_back(value);
  }

  std::int64_t read_lines(std::int64_t first) {
    std::int64_t number = first;
    for (; !rest_.empty(); ++number) {
      read_line(cut_line(rest_), path_ + ":" + std::to_string(number));
    }
    return number - first;
  }

  void read_line(std::string_view line, const std::string& place) {
    const std::int64_t numbers = fields_of(line) - 1;
    if (numbers != vectors_.width || numbers < 1 || numbers > kMostWidth) {
      fail(ErrorCode::bad_file, place, ": found a word and ", std::max<std::int64_t>(numbers, 0),
           " numbers, expected ", std::clamp<std::int64_t>(vectors_.width, 1, kMostWidth));
    }
    const std::string_view word = cut(line, ' ');
    const bool is_wanted = takes(word);
    if (is_wanted) vectors_.words.emplace_back(word);
    while (!line.empty()) {
      const std::string_view text = cut(line, ' ');
      float value = 0;
      if (!parse(text, value)) {
        fail(ErrorCode::bad_file, place, ": found ", in_quotes(text), ", expected a number");
      }
      if (is_wanted) add(value, place);
    }
  }

  std::int64_t read_binary(const Header& header) {
    const std::size_t bytes = static_cast<std::size_t>(header.width) * sizeof(float);
    std::int64_t number = 0;
    for (; number < header.count && !rest_.empty(); ++number) {
      const std::string place = path_ + ": word " + std::to_string(number + 1);
      const std::size_t space = rest_.substr(0, kMostWordBytes + 1).find(' ');
      if (space == std::string_view::npos || space == 0) {
        fail(ErrorCode::bad_file, place, ": found no word of 1 to ", kMostWordBytes,
             " bytes with a space behind it");
      }
      const std::string_view word = cut(rest_, ' ');
      if (rest_.size() < bytes) {
        fail(ErrorCode::bad_file, place, ": the file ends within the vector of ", in_quotes(word));
      }
      if (takes(word)) take_binary(word, place);
      rest_.remove_prefix(bytes);
      if (rest_.starts_with('\n')) rest_.remove_prefix(1);
    }
    if (!rest_.empty()) {
      fail(ErrorCode::bad_file, path_, ": ", rest_.size(), " bytes follow the last of ",
           header.count, " words");
    }
    return number;
  }

  void take_binary(std::string_view word, const std::string& place) {
    vectors_.words.emplace_back(word);
    for (std::int64_t i = 0; i < vectors_.width; ++i) {
      float value = 0;
      std::memcpy(&value, rest_.data() + static_cast<std::size_t>(i) * sizeof value, sizeof value);
      add(value, place);
    }
  }

  const std::string& path_;
  const std::function<bool(std::string_view)>& wants_;
  MappedFile file_;
  std::string_view rest_;  // what is not yet read
  WordVectors vectors_;
  std::unordered_set<std::string> seen_;
};

}  // namespace

WordVectors read_word_vectors(const std::string& path,
                              const std::function<bool(std::string_view)>& wants) {
  return VectorFile(path, wants).read();
}

}  // namespace winnow
