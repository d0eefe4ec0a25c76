// Made-up reviews that a network can tell apart, for tests.
#pragma once

#include <fstream>
#include <string>

#include "runtime/base/random.h"

namespace winnow {

// Of `count` sentences each, 3 to 9 words: NAME.pos has one of the good words, NAME.neg of the bad
// ones, among words that mean nothing.
inline void write_reviews(const std::string& name, int count, std::uint64_t seed) {
  const char* const words[] = {"the", "film", "is", "a", "story", "of", "it", "and", "one", "that"};
  const char* const telling[2][4] = {{"dull", "bad", "silly", "bland"},
                                     {"fine", "good", "moving", "fresh"}};
  for (const int is_good : {0, 1}) {
    std::ofstream file(name + (is_good ? ".pos" : ".neg"));
    Random random(seed, static_cast<std::uint64_t>(is_good));
    for (int i = 0; i < count; ++i) {
      const std::int64_t length = random.between(3, 9), place = random.between(0, length - 1);
      for (std::int64_t w = 0; w < length; ++w) {
        file << (w == place ? telling[is_good][random.below(4)] : words[random.below(10)]) << ' ';
      }
      file << ".\n";
    }
  }
}

}  // namespace winnow
