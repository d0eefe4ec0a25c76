#include "runtime/text/token_set.h"

#include <cstring>

namespace winnow {

ImageSet token_set(const SentenceSet& set, const Vocabulary& vocabulary, std::int64_t length) {
  ImageSet result;
  result.count = static_cast<std::int64_t>(set.sentences.size());
  result.channels = 1;
  result.height = length;
  result.width = kTokenBytes;
  result.token_count = vocabulary.token_count();
  result.labels = set.labels;
  result.classes = set.classes;
  const auto bytes = static_cast<std::size_t>(length * kTokenBytes);
  result.pixels.resize(set.sentences.size() * bytes);
  for (std::size_t i = 0; i < set.sentences.size(); ++i) {
    const TokenSentence sentence = vocabulary.tokens(set.sentences[i], length);
    std::memcpy(result.pixels.data() + i * bytes, sentence.tokens.data(), bytes);
  }
  return result;
}

void floats_of_tokens(std::span<const std::uint8_t> bytes, std::span<float> inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::int32_t token = 0;
    std::memcpy(&token, bytes.data() + i * sizeof token, sizeof token);
    inputs[i] = static_cast<float>(token);
  }
}

}  // namespace winnow
