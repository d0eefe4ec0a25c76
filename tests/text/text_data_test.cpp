#include "prune/data/text_data.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "runtime/base/file.h"
#include "tests/model/graphs.h"
#include "tests/temporary_directory.h"
#include "tests/text/sample_sentences.h"
#include "tests/throws.h"

namespace winnow {
namespace {

using Texts = std::vector<std::string>;

// The samples as the text of their tokens, which tells sentences apart.
std::vector<std::string> samples_of(const ImageSet& set) {
  std::vector<std::string> samples;
  const auto size = static_cast<std::size_t>(set.height * kTokenBytes);
  for (std::size_t i = 0; i < set.labels.size(); ++i) {
    samples.emplace_back(reinterpret_cast<const char*>(set.pixels.data()) + i * size, size);
  }
  return samples;
}

// Sentences "word0", "word1", ..., alternately of two classes.
std::string numbered_sentences(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += (i % 2 == 0 ? "even\tword" : "odd\tword") + std::to_string(i) + "\n";
  }
  return text;
}

TEST_CASE("sentences that are not split are dealt into folds, then validation is held out") {
  const TemporaryDirectory folder;
  const std::string path = folder / "all.tsv";
  write_file_atomically(path, numbered_sentences(100));
  DataConfig config = {.format = "text", .path = path, .validation = 9, .folds = 5};
  std::set<std::string> tested;
  for (int i = 0; i < 100; ++i) config.vocabulary.push_back("word" + std::to_string(i));
  for (config.fold = 0; config.fold < 5; ++config.fold) {
    const DataSet data = load_data_set(config, 3);
    CHECK(data.test.count == 20);
    CHECK(data.validation.count == 9);
    CHECK(data.train.count == 71);
    CHECK(data.train.classes == Texts{"even", "odd"});
    CHECK(data.directory == path);
    REQUIRE(data.fold);
    CHECK(to_string(*data.fold) == std::to_string(config.fold) + " of 5, seed 3, 100 sentences");
    for (const std::string& sample : samples_of(data.test)) tested.insert(sample);
  }
  CHECK(tested.size() == 100);
  config.fold = 5;
  CHECK(message_of([&] { load_data_set(config, 3); }) == "data.fold: found 5, expected 0 to 4");
}

TEST_CASE("the vocabulary is of the training part alone, and of words that are frequent enough") {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "train.tsv", "a\tgood good film\nb\tbad film\na\tfine\nb\tdull\n");
  write_file_atomically(folder / "test.tsv", "a\tgood novel film\nb\tnew\n");
  DataConfig config = {.format = "text", .path = folder.path(), .validation = 1, .min_count = 1};
  const DataSet data = load_data_set(config, 1);
  CHECK_FALSE(data.fold);
  CHECK(data.train.count == 3);
  CHECK(data.test.count == 2);
  std::set<std::string> words(data.preprocessing.vocabulary.begin(),
                              data.preprocessing.vocabulary.end());
  CHECK_FALSE(words.contains("novel"));
  CHECK(words.size() == data.preprocessing.vocabulary.size());
  CHECK(data.train.token_count == static_cast<std::int64_t>(words.size()) + 2);
  CHECK(data.train.height == data.test.height);
  CHECK(data.notes.size() == 1);

  config.validation = 0;
  config.min_count = 2;
  CHECK(load_data_set(config, 1).preprocessing.vocabulary == Texts{"film", "good"});
  config.length = 2;
  CHECK(load_data_set(config, 1).train.sample_shape() == std::vector<std::int64_t>{2});
  config.min_count = 3;
  CHECK(message_of([&] { load_data_set(config, 1); }) == "data.min_count: no word occurs 3 times");
  config.min_count = 1;
  config.fold = 1;
  CHECK(error_of([&] { load_data_set(config, 1); }) == ErrorCode::usage);
}

TEST_CASE("words of the vectors' file join the vocabulary if asked for") {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "train.tsv", "a\tgood film\nb\tbad film\n");
  write_file_atomically(folder / "test.tsv", "a\tgood\n");
  write_file_atomically(folder / "v.txt", "novel 1 2\nfilm 3 4\nNo 5 6\nof-it 7 8\n");
  DataConfig config = {
      .format = "text", .path = folder.path(), .validation = 0, .vectors = folder / "v.txt"};
  const DataSet few = load_data_set(config, 1);
  CHECK(few.preprocessing.vocabulary == Texts{"film", "bad", "good"});
  CHECK(few.vectors.words == Texts{"film"});
  config.vector_words = true;
  // "No" and "of-it" are words that no sentence has.
  CHECK(load_data_set(config, 1).preprocessing.vocabulary == Texts{"film", "bad", "good", "novel"});
}

TEST_CASE("a given vocabulary and length are taken as they are") {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "all.tsv", "a\tgood film\nb\tbad film\na\tfilm\nb\tfilm bad\n");
  const DataConfig config = {.format = "text",
                             .path = folder / "all.tsv",
                             .validation = 0,
                             .length = 3,
                             .folds = 2,
                             .vocabulary = {"film"}};
  const DataSet data = load_data_set(config, 1);
  CHECK(data.preprocessing.vocabulary == Texts{"film"});
  CHECK(data.test.token_count == 3);
  CHECK(data.test.height == 3);
}

TEST_CASE("data that is not there is refused with the forms that there are") {
  const TemporaryDirectory folder;
  const auto load = [&](const std::string& path) {
    load_data_set({.format = "text", .path = path}, 1);
  };
  CHECK(error_of([&] { load(folder / "none"); }) == ErrorCode::usage);
  CHECK(message_of([&] { load(""); }).starts_with("data.path: is empty, and text has no usual"));
}

std::string numbered(int i) {
  return std::string("w").append(std::to_string(i));
}

TEST_CASE("start_embedding: vectors as given, other words as wide, padding and unknown words 0") {
  constexpr std::int64_t kWidth = 50;
  DataSet data;
  for (int i = 0; i < 400; ++i) data.preprocessing.vocabulary.push_back(numbered(i));
  data.train.token_count = 402;
  Random random(1);
  data.vectors.width = kWidth;
  for (int i = 0; i < 100; ++i) {
    data.vectors.words.push_back(numbered(2 * i));
    for (std::int64_t d = 0; d < kWidth; ++d) {
      data.vectors.values.push_back(static_cast<float>(random.normal(0, 0.7)));
    }
  }
  Model model;
  model.graph = graph_of({5}, {{"words", Embedding{402, kWidth}, {}}}, true);
  model.tensors["words.weight"] = Tensor(DataType::f32, {402, kWidth});
  start_embedding(model, data, 1);

  const auto table = model.tensors.at("words.weight").values<float>();
  for (std::size_t i = 0; i < 2 * kWidth; ++i) REQUIRE(table[i] == 0);
  CHECK(std::memcmp(&table[(2 + 6) * kWidth], &data.vectors.values[3 * kWidth],
                    kWidth * sizeof(float)) == 0);  // w6
  double squares = 0, largest = 0;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < 400; ++i) {
    if (i % 2 == 0 && i < 200) continue;
    for (std::int64_t d = 0; d < kWidth; ++d, ++count) {
      const double value = table[(2 + i) * kWidth + static_cast<std::size_t>(d)];
      squares += value * value;
      largest = std::max(largest, std::abs(value));
    }
  }
  CHECK(std::sqrt(squares / static_cast<double>(count)) == doctest::Approx(0.7).epsilon(0.03));
  CHECK(largest < 0.7 * std::sqrt(3.0) * 1.03);

  data.vectors.width = 25;
  CHECK(error_of([&] { start_embedding(model, data, 1); }) == ErrorCode::usage);
}

}  // namespace
}  // namespace winnow
