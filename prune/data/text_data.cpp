#include "prune/data/text_data.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "prune/data/data_places.h"
#include "prune/data/partition.h"
#include "runtime/base/error.h"
#include "runtime/base/number_text.h"
#include "runtime/base/random.h"
#include "runtime/images/selection.h"
#include "runtime/text/sentences.h"
#include "runtime/text/token_set.h"
#include "runtime/text/tokenizer.h"

namespace winnow {
namespace {

static_assert(kReservedTokens == kFirstWordToken);

constexpr double kWidthWithoutVectors = 0.25;
constexpr std::uint64_t kEmbeddingStream = std::uint64_t{5} << 32;  // beside those of partition.cpp

// Sentences of the three parts, with the same classes.
struct Parts {
  SentenceSet train, validation, test;
};

// Moves the sentences that are members out of `set`.
SentenceSet taken_out(SentenceSet& set, const std::vector<bool>& is_member) {
  SentenceSet taken{{}, {}, set.classes}, left{{}, {}, set.classes};
  for (std::size_t i = 0; i < is_member.size(); ++i) {
    SentenceSet& to = is_member[i] ? taken : left;
    to.sentences.push_back(std::move(set.sentences[i]));
    to.labels.push_back(set.labels[i]);
  }
  set = std::move(left);
  return taken;
}

SentenceSet take_test(const DataConfig& config, std::uint64_t seed, SentenceFiles& files,
                      DataSet& data) {
  if (files.test) {
    if (config.fold == 0) return std::move(*files.test);
    fail(ErrorCode::usage, "data.fold: found ", config.fold, ", but ", files.paths.back(),
         " is the test part");
  }
  const auto count = static_cast<std::int64_t>(files.train.sentences.size());
  data.fold = FoldRecord{{config.fold, config.folds, seed}, count};
  return taken_out(files.train, fold_members(count, data.fold->fold));
}

Parts split(const DataConfig& config, std::uint64_t seed, SentenceFiles files, DataSet& data) {
  Parts parts;
  parts.test = take_test(config, seed, files, data);
  parts.train = std::move(files.train);
  const auto count = static_cast<std::int64_t>(parts.train.sentences.size());
  const std::int64_t held = validation_count(config.validation, count);
  parts.validation = taken_out(parts.train, held_out_members(count, held, seed));
  return parts;
}

// The file's own path, or below WINNOW_DATA.
std::string found_file(const std::string& path) {
  const char* root = std::getenv("WINNOW_DATA");
  const bool is_there = std::filesystem::exists(path);
  if (is_there || !root || std::filesystem::path(path).is_absolute()) return path;
  return std::string(root) + "/" + path;
}

// The words of a given model, or the training part's and, if asked for, those of the vectors.
std::vector<std::string> make_vocabulary(const DataConfig& config, const Parts& parts,
                                         DataSet& data) {
  const bool is_given = !config.vocabulary.empty();
  std::vector<std::string> words =
      is_given ? config.vocabulary : frequent_words(parts.train.sentences, config.min_count);
  if (words.empty()) {
    fail(ErrorCode::usage, "data.min_count: no word occurs ", config.min_count, " times");
  }
  if (config.vectors.empty()) return words;
  const bool takes_all = config.vector_words && !is_given;
  const std::unordered_set<std::string> known(words.begin(), words.end());
  data.vectors = read_word_vectors(found_file(config.vectors), [&](std::string_view word) {
    if (known.contains(std::string(word))) return true;
    return takes_all && words_of(word) == std::vector<std::string>{std::string(word)};
  });
  for (const std::string& word : data.vectors.words) {
    if (!known.contains(word)) words.push_back(word);
  }
  return words;
}

std::int64_t longest(const SentenceSet& set) {
  std::size_t most = 1;
  for (const std::string& sentence : set.sentences) {
    most = std::max(most, words_of(sentence).size());
  }
  return static_cast<std::int64_t>(most);
}

std::string percent(std::int64_t part, std::int64_t whole) {
  return fixed(100.0 * static_cast<double>(part) /
                   static_cast<double>(std::max<std::int64_t>(whole, 1)),
               1) +
         " %";
}

// What of the test sentences a network will not see.
void note_coverage(const SentenceSet& test, const Vocabulary& vocabulary, std::int64_t length,
                   DataSet& data) {
  std::int64_t words = 0, unknown = 0, cut = 0;
  for (const std::string& sentence : test.sentences) {
    const TokenSentence tokens = vocabulary.tokens(sentence, length);
    words += tokens.words;
    unknown += tokens.unknown;
    cut += tokens.words > length;
  }
  data.notes.push_back("data: sentences of at most " + std::to_string(length) +
                       " words, a vocabulary of " +
                       std::to_string(data.preprocessing.vocabulary.size()) + " (" +
                       std::to_string(data.vectors.words.size()) +
                       " with a vector); of the test part " + percent(unknown, words) +
                       " of the words are unknown, " + std::to_string(cut) + " sentences are cut");
}

}  // namespace

DataSet load_text_data(const DataConfig& config, std::uint64_t seed,
                       const std::function<void(const DataSet&)>& check) {
  DataSet data;
  data.directory = find_data(ImageFormat::text, config.path);
  Parts parts = split(config, seed, read_sentences(data.directory), data);
  data.preprocessing.vocabulary = make_vocabulary(config, parts, data);
  const std::int64_t length = config.length > 0 ? config.length : longest(parts.train);
  const Vocabulary vocabulary(data.preprocessing.vocabulary);
  if (config.vocabulary.empty()) note_coverage(parts.test, vocabulary, length, data);
  data.train = token_set(parts.train, vocabulary, length);
  data.validation = token_set(parts.validation, vocabulary, length);
  data.test = token_set(parts.test, vocabulary, length);
  for (ImageSet* set : {&data.train, &data.validation, &data.test}) {
    if (config.limit > 0) thin_out(*set, config.limit);
  }
  if (check) check(data);
  return data;
}

void start_embedding(Model& model, const DataSet& data, std::uint64_t seed) {
  if (!data.train.holds_tokens()) return;
  const WordVectors& vectors = data.vectors;
  double squares = 0;
  for (const float value : vectors.values) squares += static_cast<double>(value) * value;
  // A uniform number of [-a, a] has the variance a^2 / 3; the vectors' mean is near 0.
  const double bound = vectors.values.empty()
                           ? kWidthWithoutVectors
                           : std::sqrt(3 * squares / static_cast<double>(vectors.values.size()));
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < vectors.words.size(); ++i) places.emplace(vectors.words[i], i);
  for (const Node& node : model.graph.nodes) {
    const auto* embedding = std::get_if<Embedding>(&node.op);
    if (!embedding || node.inputs.front() != model.graph.nodes.front().name) continue;
    const auto width = static_cast<std::size_t>(embedding->width);
    if (!vectors.words.empty() && embedding->width != vectors.width) {
      fail(ErrorCode::usage, "data.vectors: found vectors of ", vectors.width, ", the network's ",
           node.name, " has a width of ", embedding->width);
    }
    const auto table = model.tensors.at(weight_name(node)).values<float>();
    std::fill(table.begin(), table.end(), 0.0f);
    Random random(seed, kEmbeddingStream);
    for (std::size_t i = 0; i < data.preprocessing.vocabulary.size(); ++i) {
      const auto row = table.subspan((i + kReservedTokens) * width, width);
      const auto found = places.find(data.preprocessing.vocabulary[i]);
      if (found != places.end()) {
        std::copy_n(vectors.values.begin() + static_cast<std::ptrdiff_t>(found->second * width),
                    width, row.begin());
        continue;
      }
      for (float& value : row) value = static_cast<float>(random.uniform(-bound, bound));
    }
  }
}

}  // namespace winnow
