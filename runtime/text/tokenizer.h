// Sentences as words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow {

// The words of `sentence`, by the rules of Kim 2014 (arxiv.org/abs/1408.5882, whose program cleans
// its sentences so), in lower case:
//   - whatever is no letter or digit of ASCII and none of ( ) , ! ? ' ` separates words;
//   - each of ( ) , ! ? is a word;
//   - a word begins before 's, 've, 're, 'd, 'll and n't: "it's" is "it" and "'s", "don't" is "do"
//     and "n't".
// Letters beyond ASCII separate words too, so that the encoding of a file does not matter.
std::vector<std::string> words_of(std::string_view sentence);

}  // namespace winnow
