// Sentences with their classes, read from text files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace winnow {

struct SentenceSet {
  std::vector<std::string> sentences;  // as the file has them
  std::vector<std::int32_t> labels;    // [sentences.size()] in [0, classes.size())
  std::vector<std::string> classes;    // rising: by value if all are whole numbers, else by byte
};

struct SentenceFiles {
  SentenceSet train;                // all sentences, where the files are not split
  std::optional<SentenceSet> test;  // of the same classes
  std::vector<std::string> paths;   // what was read
};

// Reads what `path` names, a sentence a line:
//   a folder          train.tsv and test.tsv, lines LABEL<TAB>SENTENCE
//   a file            such lines, not split
//   the name of files NAME.CLASS, one file a class, not split: "data/rt-polarity" for
//                     rt-polarity.neg and rt-polarity.pos
// Sentences in file order, those of class files class by class.
//
// Any encoding that extends ASCII (UTF-8, Latin-1, ...) is read alike, since letters beyond ASCII
// only separate words (tokenizer.h); labels are UTF-8. A line may end with CR LF.
//
// Throws Error{usage} if nothing lies at `path`. Throws Error{bad_file} naming file and line for an
// empty sentence or label, a missing tab and control characters (those of UTF-16 among them),
// naming the file for one without sentences, for less than two classes, and for a test class that
// the training sentences do not have.
SentenceFiles read_sentences(const std::string& path);

// Whether read_sentences() finds something to read at `path`.
bool holds_sentences(const std::string& path);

// Gives the labels the numbers that `classes` has. Throws Error{usage} for a class that is not
// among them; `place` begins the message.
void renumber_classes(SentenceSet& set, const std::vector<std::string>& classes,
                      const std::string& place);

}  // namespace winnow
