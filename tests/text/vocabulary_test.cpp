#include "runtime/text/vocabulary.h"

#include <doctest/doctest.h>

#include "runtime/images/selection.h"
#include "runtime/text/token_set.h"

namespace winnow {
namespace {

using Tokens = std::vector<std::int32_t>;

TEST_CASE("Vocabulary: words count from 2, the padding is 0, other words are 1") {
  const Vocabulary vocabulary({"film", "fine", "n't"});
  CHECK(vocabulary.token("film") == 2);
  CHECK(vocabulary.token("n't") == 4);
  CHECK(vocabulary.token("Film") == kUnknownToken);  // words_of makes lower case

  const TokenSentence padded = vocabulary.tokens("A fine film!", 6);
  CHECK(padded.tokens == Tokens{1, 3, 2, 1, 0, 0});
  CHECK(padded.words == 4);
  CHECK(padded.unknown == 2);

  const TokenSentence cut = vocabulary.tokens("Isn't it a fine film?", 3);
  CHECK(cut.tokens == Tokens{1, 4, 1});
  CHECK(cut.words == 7);
  CHECK(cut.unknown == 4);  // "is", "it", "a", "?"
}

TEST_CASE("Vocabulary: of equal words the first counts") {
  CHECK(Vocabulary({"a", "b", "a"}).token("a") == 2);
}

TEST_CASE("frequent_words: by frequency, then by byte, from a smallest count on") {
  const std::vector<std::string> sentences = {"b a b", "A c!", "b"};
  CHECK(frequent_words(sentences, 1) == std::vector<std::string>{"b", "a", "!", "c"});
  CHECK(frequent_words(sentences, 2) == std::vector<std::string>{"b", "a"});
  CHECK(frequent_words(sentences, 4).empty());
}

TEST_CASE("token_set: sentences as samples that can be thinned and fed to a session") {
  const SentenceSet sentences{{"a b", "c", "b a b", "a"}, {0, 1, 0, 1}, {"x", "y"}};
  ImageSet set = token_set(sentences, Vocabulary({"a", "b"}), 3);
  CHECK(set.count == 4);
  CHECK(set.sample_shape() == std::vector<std::int64_t>{3});
  CHECK(set.classes == sentences.classes);

  thin_out(set, 2);  // samples 0 and 2
  CHECK(set.labels == std::vector<std::int32_t>{0, 0});
  std::vector<float> inputs(6);
  floats_of_tokens(set.pixels, inputs);
  CHECK(inputs == std::vector<float>{2, 3, 0, 3, 2, 3});
}

}  // namespace
}  // namespace winnow
