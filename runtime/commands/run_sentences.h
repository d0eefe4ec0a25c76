// The sentences that `run` classifies.
#pragma once

#include <string>

#include "runtime/images/image_set.h"
#include "runtime/model/model.h"

namespace winnow {

// Throws Error{usage} unless the model takes sentences: a vocabulary belongs to it.
void require_sentences(const DeployedModel& model, const std::string& file);

// The sentences at `path` (runtime/text/sentences.h) as the model's tokens, with the numbers that
// its classes have. `split` is "train", "test" or "all"; of sentences that are not split the parts
// are the folds that the model's metadata names. Throws Error{usage} if it names none, or those of
// another number of sentences.
ImageSet load_sentences(const std::string& path, const std::string& split,
                        const DeployedModel& model);

}  // namespace winnow
