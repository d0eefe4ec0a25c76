#include "runtime/text/tokenizer.h"

#include <algorithm>
#include <array>

namespace winnow {
namespace {

constexpr std::string_view kPunctuation = "(),!?";
constexpr std::array<std::string_view, 6> kEndings = {"'s", "'ve", "n't", "'re", "'d", "'ll"};

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

// Lower case, with spaces for what separates words.
std::string cleaned(std::string_view sentence) {
  std::string text(sentence);
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool is_kept = is_letter_or_digit(c) || c == '\'' || c == '`' ||
                         kPunctuation.find(c) != std::string_view::npos;
    if (!is_kept) c = ' ';
  }
  return text;
}

bool begins_ending(std::string_view text) {
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return text.starts_with(ending); });
}

}  // namespace

std::vector<std::string> words_of(std::string_view sentence) {
  const std::string text = cleaned(sentence);
  std::vector<std::string> words;
  bool begins_word = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_alone = kPunctuation.find(c) != std::string_view::npos;
    if (c != ' ') {
      if (begins_word || is_alone || begins_ending(std::string_view(text).substr(i))) {
        words.emplace_back();
      }
      words.back() += c;
    }
    begins_word = c == ' ' || is_alone;
  }
  return words;
}

}  // namespace winnow
