// Sentences as a data set: split, vocabulary, tokens.
#pragma once

#include <cstdint>
#include <functional>

#include "prune/data/data_set.h"

namespace winnow {

// load_data_set() of the format text.
DataSet load_text_data(const DataConfig& config, std::uint64_t seed,
                       const std::function<void(const DataSet&)>& check);

// Starts the table of the embedding that reads the input's tokens, of any width: words of
// `data.vectors` as they are there, other words uniform with the variance that the vectors' numbers
// have (of [-0.25, 0.25] without vectors, as in Kim 2014), padding and unknown words 0. Other
// networks stay as they are. Throws Error{usage} if the embedding has another width than the
// vectors.
void start_embedding(Model& model, const DataSet& data, std::uint64_t seed);

}  // namespace winnow
