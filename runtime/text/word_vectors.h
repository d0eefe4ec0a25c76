// Word vectors that others have trained.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow {

struct WordVectors {
  std::int64_t width = 0;
  std::vector<std::string> words;  // in file order
  std::vector<float> values;       // [words.size(), width]
};

// Reads the vectors of the words that `wants` says; of a word that occurs twice the first. The form
// is told by the content:
//   word2vec, binary  "COUNT WIDTH\n", then for each word WORD, a space, WIDTH f32 little-endian
//   and
//                     perhaps a line feed (as GoogleNews-vectors-negative300.bin)
//   word2vec, text    "COUNT WIDTH\n", then lines WORD NUMBER NUMBER ...
//   GloVe             such lines alone
//
// Throws Error{bad_file} naming the file and its line or word: a compressed file, a count or width
// that does not fit, no number, a number that is not finite.
WordVectors read_word_vectors(const std::string& path,
                              const std::function<bool(std::string_view word)>& wants);

}  // namespace winnow
