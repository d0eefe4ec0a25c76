// Sentences as the samples of a data set.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/images/image_set.h"
#include "runtime/text/sentences.h"
#include "runtime/text/vocabulary.h"

namespace winnow {

// Every sentence as `length` tokens (Vocabulary::tokens). Requires length >= 1.
ImageSet token_set(const SentenceSet& set, const Vocabulary& vocabulary, std::int64_t length);

// Tokens as an ImageSet stores them, as the floats that a session takes.
// Requires bytes.size() == 4 * inputs.size().
void floats_of_tokens(std::span<const std::uint8_t> bytes, std::span<float> inputs);

}  // namespace winnow
