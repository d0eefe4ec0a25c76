#include "runtime/text/tokenizer.h"

#include <doctest/doctest.h>

#include "runtime/base/random.h"

namespace winnow {
namespace {

using Words = std::vector<std::string>;

TEST_CASE("words_of: lower case, punctuation that counts, and endings are words") {
  CHECK(words_of("A fine film.") == Words{"a", "fine", "film"});
  CHECK(words_of("effective but too-tepid biopic") ==
        Words{"effective", "but", "too", "tepid", "biopic"});
  CHECK(words_of("it's good, isn't it?") == Words{"it", "'s", "good", ",", "is", "n't", "it", "?"});
  CHECK(words_of("They'd've said they'll go; we're (not) here!") ==
        Words{"they", "'d", "'ve", "said", "they", "'ll", "go", "we", "'re", "(", "not", ")",
              "here", "!"});
  CHECK(words_of("the 21st century's new \" conan \"") ==
        Words{"the", "21st", "century", "'s", "new", "conan"});
  CHECK(words_of("rock 'n' roll") == Words{"rock", "'n'", "roll"});
  CHECK(words_of("`quoted`") == Words{"`quoted`"});
}

TEST_CASE("words_of: what is no letter of ASCII separates words, in any encoding") {
  CHECK(words_of("caf\xc3\xa9 noir") == Words{"caf", "noir"});  // UTF-8
  CHECK(words_of("caf\xe9 noir") == Words{"caf", "noir"});      // Latin-1
  CHECK(words_of("na\xefve") == Words{"na", "ve"});
  CHECK(words_of("").empty());
  CHECK(words_of(" . - \" \t").empty());
}

TEST_CASE("words_of: words made of any bytes are words of themselves, and join to the same words") {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    std::string sentence;
    for (std::int64_t i = random.between(0, 60); i > 0; --i) {
      const std::string_view letters = "abnrtsvel'`(),!? DL\xe9.9";
      sentence += letters[random.below(letters.size())];
    }
    const Words words = words_of(sentence);
    std::string joined;
    for (const std::string& word : words) {
      CHECK(words_of(word) == Words{word});
      joined += word + " ";
    }
    CHECK(words_of(joined) == words);
  }
}

}  // namespace
}  // namespace winnow
