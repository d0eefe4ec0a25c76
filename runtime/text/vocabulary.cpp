#include "runtime/text/vocabulary.h"

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/text/tokenizer.h"

namespace winnow {

Vocabulary::Vocabulary(std::vector<std::string> words) : words_(std::move(words)) {
  std::int32_t token = kFirstWordToken;
  for (const std::string& word : words_) tokens_.emplace(word, token++);
}

std::int32_t Vocabulary::token(std::string_view word) const {
  const auto found = tokens_.find(word);
  return found == tokens_.end() ? kUnknownToken : found->second;
}

TokenSentence Vocabulary::tokens(std::string_view sentence, std::int64_t length) const {
  TokenSentence result;
  result.tokens.assign(static_cast<std::size_t>(length), kPaddingToken);
  for (const std::string& word : words_of(sentence)) {
    const std::int32_t found = token(word);
    if (result.words < length) result.tokens[static_cast<std::size_t>(result.words)] = found;
    result.unknown += found == kUnknownToken;
    ++result.words;
  }
  return result;
}

std::vector<std::string> frequent_words(std::span<const std::string> sentences,
                                        std::int64_t min_count) {
  std::map<std::string, std::int64_t> counts;
  for (const std::string& sentence : sentences) {
    for (std::string& word : words_of(sentence)) ++counts[std::move(word)];
  }
  std::vector<std::pair<std::string, std::int64_t>> frequent;
  for (const auto& entry : counts) {
    if (entry.second >= min_count) frequent.push_back(entry);
  }
  std::stable_sort(frequent.begin(), frequent.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> words;
  for (auto& entry : frequent) words.push_back(std::move(entry.first));
  return words;
}

}  // namespace winnow
