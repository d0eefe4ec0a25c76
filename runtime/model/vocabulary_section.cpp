#include "runtime/model/vocabulary_section.h"

#include <algorithm>
#include <unordered_set>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/base/utf8.h"
#include "runtime/model/little_endian.h"
#include "runtime/model/preprocessing.h"

namespace winnow {
namespace {

constexpr std::uint32_t kKimTokenizer = 1;  // the rules of runtime/text/tokenizer.h
constexpr std::size_t kFieldBytes = 8;      // tokenizer and number of words
constexpr std::size_t kMostWords = (std::size_t{1} << 24) - kReservedTokens;
constexpr std::size_t kMostWordBytes = 255;
constexpr std::uint64_t kBytesPerWord = 64;

bool is_word(std::string_view word) {
  return !word.empty() && word.size() <= kMostWordBytes && is_utf8(word) &&
         !has_control_characters(word) && word.find(' ') == std::string_view::npos;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string find_vocabulary_defect(const std::vector<std::string>& words) {
  if (words.empty() || words.size() > kMostWords) {
    return std::to_string(words.size()) + " words, expected 1 to " + std::to_string(kMostWords);
  }
  std::unordered_set<std::string_view> seen;
  for (const std::string& word : words) {
    if (!is_word(word)) {
      return in_quotes(word) + " is no word of 1 to " + std::to_string(kMostWordBytes) +
             " bytes of UTF-8 without spaces";
    }
    if (!seen.insert(word).second) return in_quotes(word) + " occurs twice";
  }
  return "";
}

std::string joined_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + "\n";
  return text;
}

std::vector<std::string> split_words(std::string_view text, const std::string& place) {
  if (!text.empty() && text.back() != '\n') {
    fail(ErrorCode::bad_file, place, ": the last word has no end");
  }
  std::vector<std::string> words;
  words.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return words;
}

std::vector<std::byte> encode_vocabulary(const std::vector<std::string>& words) {
  std::vector<std::byte> section;
  append(section, kKimTokenizer);
  append(section, static_cast<std::uint32_t>(words.size()));
  const std::string text = joined_words(words);
  append_bytes(section, std::as_bytes(std::span(text)));
  return section;
}

std::uint64_t vocabulary_bytes(std::span<const std::byte> section, const std::string& place) {
  if (section.size() < kFieldBytes) {
    fail(ErrorCode::bad_file, place, ": ", section.size(), " bytes are too few for a vocabulary");
  }
  const auto tokenizer = load<std::uint32_t>(section.data());
  if (tokenizer != kKimTokenizer) {
    fail(ErrorCode::bad_file, place, ": tokenizer ", tokenizer, ", this program knows ",
         kKimTokenizer);
  }
  const std::uint64_t words = load<std::uint32_t>(section.data() + 4);
  if (words > (section.size() - kFieldBytes) / 2) {
    fail(ErrorCode::bad_file, place, ": ", section.size(), " bytes are too few for ", words,
         " words");
  }
  return section.size() + kBytesPerWord * words;
}

std::vector<std::string> decode_vocabulary(std::span<const std::byte> section,
                                           const std::string& place) {
  vocabulary_bytes(section, place);
  const std::string_view text = text_of(section.subspan(kFieldBytes));
  const std::uint64_t announced = load<std::uint32_t>(section.data() + 4);
  const auto found = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  if (found != announced) {
    fail(ErrorCode::bad_file, place, ": ", found, " words, expected ", announced);
  }
  std::vector<std::string> words = split_words(text, place);
  const std::string defect = find_vocabulary_defect(words);
  if (!defect.empty()) fail(ErrorCode::bad_file, place, ": ", defect);
  return words;
}

}  // namespace winnow
