// Words as numbers, the tokens that an embedding reads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace winnow {

inline constexpr std::int32_t kPaddingToken = 0;    // behind the end of a sentence
inline constexpr std::int32_t kUnknownToken = 1;    // a word that is not in the vocabulary
inline constexpr std::int32_t kFirstWordToken = 2;  // of the vocabulary's first word

// A sentence as a network takes it.
struct TokenSentence {
  std::vector<std::int32_t> tokens;  // [length]
  std::int64_t words = 0;            // of the sentence, more than `length` if it was cut
  std::int64_t unknown = 0;          // of them not in the vocabulary
};

class Vocabulary {
 public:
  // Word i gets the token i + kFirstWordToken. Of equal words the first counts.
  explicit Vocabulary(std::vector<std::string> words);
  Vocabulary(const Vocabulary&) = delete;  // tokens_ points into words_
  Vocabulary& operator=(const Vocabulary&) = delete;

  // kUnknownToken for other words.
  std::int32_t token(std::string_view word) const;

  // The words of `sentence` (words_of), cut or padded at the end to `length` tokens.
  TokenSentence tokens(std::string_view sentence, std::int64_t length) const;

  // Tokens are below it: rows of an embedding.
  std::int64_t token_count() const {
    return kFirstWordToken + static_cast<std::int64_t>(words_.size());
  }

 private:
  std::vector<std::string> words_;
  std::unordered_map<std::string_view, std::int32_t> tokens_;
};

// The words of the sentences that occur at least `min_count` times, the most frequent first,
// equally frequent ones by byte.
std::vector<std::string> frequent_words(std::span<const std::string> sentences,
                                        std::int64_t min_count);

}  // namespace winnow
