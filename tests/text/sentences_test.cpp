#include "runtime/text/sentences.h"

#include <doctest/doctest.h>

#include "runtime/base/file.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

using Texts = std::vector<std::string>;
using Labels = std::vector<std::int32_t>;

TEST_CASE("read_sentences: one file a class") {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "mr.pos", "a fine film . \ncaf\xe9 noir");  // Latin-1, no last end
  write_file_atomically(folder / "mr.neg", "dull\r\n");
  write_file_atomically(folder / "other.pos", "of another set\n");
  const SentenceFiles files = read_sentences(folder / "mr");
  CHECK(files.train.sentences == Texts{"dull", "a fine film . ", "caf\xe9 noir"});
  CHECK(files.train.labels == Labels{0, 1, 1});
  CHECK(files.train.classes == Texts{"neg", "pos"});
  CHECK_FALSE(files.test);
  CHECK(files.paths == Texts{folder / "mr.neg", folder / "mr.pos"});
}

TEST_CASE("read_sentences: labels before a tab; numbers are ordered by value") {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "all.tsv", "10\tten\n9\tnine\tof it\n10\tten again\n");
  const SentenceFiles files = read_sentences(folder / "all.tsv");
  CHECK(files.train.sentences == Texts{"ten", "nine\tof it", "ten again"});
  CHECK(files.train.classes == Texts{"9", "10"});
  CHECK(files.train.labels == Labels{1, 0, 1});
}

TEST_CASE("read_sentences: a folder that is split") {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "train.tsv", "b\tgood\na\tbad\n");
  write_file_atomically(folder / "test.tsv", "b\tfine\n");
  const SentenceFiles files = read_sentences(folder.path());
  REQUIRE(files.test);
  CHECK(files.test->sentences == Texts{"fine"});
  CHECK(files.test->labels == Labels{1});
  CHECK(files.test->classes == Texts{"a", "b"});

  write_file_atomically(folder / "test.tsv", "bb\tfine\n");
  CHECK(message_of([&] { read_sentences(folder.path()); }) ==
        folder / "test.tsv" + ": the class 'bb' is not in " + folder / "train.tsv" +
            "; did you mean 'b'?");
}

TEST_CASE("read_sentences: bad lines are refused by file and line") {
  const TemporaryDirectory folder;
  const std::string file = folder / "a.tsv";
  const auto refusal = [&](std::string_view text) {
    write_file_atomically(file, text);
    const auto read = [&] { read_sentences(file); };
    CHECK(error_of(read) == ErrorCode::bad_file);
    return message_of(read);
  };
  CHECK(refusal("a\tx\nno tab here\n") ==
        file + ":2: found no tab in 'no tab here', expected LABEL<TAB>SENTENCE");
  CHECK(refusal("\tx\n") == file + ":1: found the label '', expected a name in UTF-8");
  CHECK(refusal("\xe9\tx\n") == file + ":1: found the label '\\xe9', expected a name in UTF-8");
  CHECK(refusal("a\tx\nb\t . \n") == file + ":2: found ' . ', expected a sentence");
  CHECK(refusal(std::string_view("a\0\tx\n", 5)) ==
        file +
            ":1: found the control character '\\x00', expected text (UTF-8, Latin-1 or another "
            "extension of ASCII)");
  CHECK(refusal("") == file + ": has no sentences");
  CHECK(refusal("a\tx\na\ty\n") ==
        file + ": found the class 'a' alone, expected at least 2 classes");
}

TEST_CASE("read_sentences: bad files of classes") {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "mr.pos", "good\n\nbetter\n");
  CHECK(message_of([&] { read_sentences(folder / "mr"); }) ==
        folder / "mr.pos" + ":2: found '', expected a sentence");
  write_file_atomically(folder / "mr.pos", "");
  CHECK(message_of([&] { read_sentences(folder / "mr"); }) ==
        folder / "mr.pos" + ": has no sentences");
  CHECK(error_of([&] { read_sentences(folder / "nothing"); }) == ErrorCode::usage);
  CHECK(error_of([&] { read_sentences(folder / "no/where"); }) == ErrorCode::usage);
}

TEST_CASE("renumber_classes: labels get the numbers that a model has") {
  SentenceSet set{{"x", "y"}, {0, 1}, {"neg", "pos"}};
  renumber_classes(set, {"pos", "other", "neg"}, "a.tsv");
  CHECK(set.labels == Labels{2, 0});
  CHECK(set.classes == Texts{"pos", "other", "neg"});
  CHECK(error_of([&] { renumber_classes(set, {"pos"}, "a.tsv"); }) == ErrorCode::usage);
}

}  // namespace
}  // namespace winnow
