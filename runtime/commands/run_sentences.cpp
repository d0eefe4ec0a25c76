#include "runtime/commands/run_sentences.h"

#include <utility>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/text/folds.h"
#include "runtime/text/sentences.h"
#include "runtime/text/token_set.h"

namespace winnow {
namespace {

void append(SentenceSet& to, SentenceSet&& from) {
  for (std::string& sentence : from.sentences) to.sentences.push_back(std::move(sentence));
  to.labels.insert(to.labels.end(), from.labels.begin(), from.labels.end());
}

// The part of sentences that are not split.
SentenceSet part_of(SentenceSet all, bool is_test, const std::string& path,
                    const DeployedModel& model) {
  const auto count = static_cast<std::int64_t>(all.sentences.size());
  const std::optional<FoldRecord> record = recorded_fold(model.metadata);
  if (!record || record->samples != count) {
    fail(ErrorCode::usage, in_quotes(path), ": ", count, " sentences that are not split, and the ",
         record ? "model's test part is one of other sentences (" + to_string(*record) + ")"
                : "model names no test part",
         "; give --split all");
  }
  const std::vector<bool> is_member = fold_members(count, record->fold);
  SentenceSet part{{}, {}, all.classes};
  for (std::size_t i = 0; i < is_member.size(); ++i) {
    if (is_member[i] != is_test) continue;
    part.sentences.push_back(std::move(all.sentences[i]));
    part.labels.push_back(all.labels[i]);
  }
  return part;
}

SentenceSet chosen(SentenceFiles files, const std::string& path, const std::string& split,
                   const DeployedModel& model) {
  if (split == "all") {
    if (files.test) append(files.train, std::move(*files.test));
    return std::move(files.train);
  }
  const bool is_test = split == "test";
  if (files.test) return std::move(is_test ? *files.test : files.train);
  return part_of(std::move(files.train), is_test, path, model);
}

}  // namespace

void require_sentences(const DeployedModel& model, const std::string& file) {
  if (!model.preprocessing.vocabulary.empty()) return;
  fail(ErrorCode::usage, file, ": has no vocabulary, so it takes no sentences but samples of ",
       to_string(std::get<Input>(model.graph.nodes.front().op).shape));
}

ImageSet load_sentences(const std::string& path, const std::string& split,
                        const DeployedModel& model) {
  SentenceSet set = chosen(read_sentences(path), path, split, model);
  if (!model.classes.empty()) renumber_classes(set, model.classes, path);
  const Vocabulary vocabulary(model.preprocessing.vocabulary);
  return token_set(set, vocabulary, std::get<Input>(model.graph.nodes.front().op).shape[0]);
}

}  // namespace winnow
