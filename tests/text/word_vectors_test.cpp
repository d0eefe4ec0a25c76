#include "runtime/text/word_vectors.h"

#include <doctest/doctest.h>

#include <cstring>
#include <limits>

#include "runtime/base/file.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

using Words = std::vector<std::string>;
using Values = std::vector<float>;

bool all(std::string_view) {
  return true;
}

std::string floats(const Values& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

struct Desk {
  TemporaryDirectory folder;
  std::string file = folder / "vectors";

  WordVectors read(const std::string& text,
                   const std::function<bool(std::string_view)>& wants = all) const {
    write_file_atomically(file, text);
    return read_word_vectors(file, wants);
  }

  std::string refusal(const std::string& text) const {
    CHECK(error_of([&] { read(text); }) == ErrorCode::bad_file);
    return message_of([&] { read(text); });
  }
};

void check_two(const WordVectors& vectors) {
  CHECK(vectors.width == 3);
  CHECK(vectors.words == Words{"the", "film"});
  CHECK(vectors.values == Values{1, -0.5f, 2e-3f, 0, 0.25f, 4});
}

TEST_CASE("read_word_vectors: GloVe, word2vec text and binary are told apart") {
  const Desk desk;
  const std::string lines = "the 1 -0.5 2e-3\nfilm 0 0.25 4 \r\n";
  check_two(desk.read(lines));
  check_two(desk.read("2 3\n" + lines));
  const std::string the = "the " + floats({1, -0.5f, 2e-3f}),
                    film = "film " + floats({0, 0.25f, 4});
  check_two(desk.read("2 3\n" + the + film));
  check_two(desk.read("2 3\n" + the + "\n" + film + "\n"));
}

TEST_CASE("read_word_vectors: only the words that are wanted, of equal ones the first") {
  const Desk desk;
  const auto wants = [](std::string_view word) { return word != "a"; };
  const WordVectors vectors = desk.read("a 1 2\nb 3 4\nb 5 6\n", wants);
  CHECK(vectors.words == Words{"b"});
  CHECK(vectors.values == Values{3, 4});
}

TEST_CASE("read_word_vectors: refusals name the file and the line or word") {
  const Desk desk;
  const std::string file = desk.file;
  CHECK(desk.refusal("") == file + ": is empty, expected word vectors");
  CHECK(desk.refusal("\x1f\x8b\x08") ==
        file + ": is compressed, expected word vectors; unpack it first");
  CHECK(desk.refusal("a 1 2\nb 1\n") == file + ":2: found a word and 1 numbers, expected 2");
  CHECK(desk.refusal("a 1 2\nb 1 x\n") == file + ":2: found 'x', expected a number");
  CHECK(desk.refusal("a 1 nan\n") == file + ":1: a number is not finite");
  CHECK(desk.refusal("alone\n") == file + ":1: found a word and 0 numbers, expected 1");
  CHECK(desk.refusal("3 2\na 1 2\nb 3 4\n") == file + ": found 2 words, the first line says 3");
  const std::string one = "a " + floats({1, 2});
  CHECK(desk.refusal("2 2\n" + one + "b " + floats({1})) ==
        file + ": word 2: the file ends within the vector of 'b'");
  CHECK(desk.refusal("1 2\n" + one + "more") == file + ": 4 bytes follow the last of 1 words");
  CHECK(desk.refusal("2 2\n" + one + std::string(2000, 'x')) ==
        file + ": word 2: found no word of 1 to 1024 bytes with a space behind it");
  CHECK(desk.refusal("1 2\na " + floats({1, std::numeric_limits<float>::infinity()})) ==
        file + ": word 1: a number is not finite");
  CHECK(desk.refusal("9223372036854775807 65536\nabc") ==
        file + ": word 1: found no word of 1 to 1024 bytes with a space behind it");
}

}  // namespace
}  // namespace winnow
