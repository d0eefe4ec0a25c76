// The challenge's text files as they are published, described in docs/challenge-files.md: tab
// between numbers, one entry a line, neurons and images counted from 1. Readers take plain and
// packed (gzip) files, told by their content; writers pack where the path ends in ".gz".
//
// All readers throw Error{bad_file}: "FILE:LINE: found '...', expected ...". Entries may stand in
// any order, but none twice. All writers replace the file as a whole or not at all; they throw
// Error{bad_file} if it cannot be written and Error{usage} for malformed arguments.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/challenge/engine.h"
#include "runtime/challenge/images.h"
#include "runtime/challenge/network.h"

namespace winnow::challenge {

// Lines "input<TAB>output<TAB>weight". Weights are the floats nearest to what is written and may
// be 0. All outputs get `bias`, which such files do not hold.
// Throws Error{usage} if a count is 0 or exceeds kMostNeurons or `bias` is not finite.
SparseLayer read_layer_tsv(const std::string& path, std::uint32_t inputs, std::uint32_t outputs,
                           float bias);

// Sorted by output, then input, weights as "%.6e" where that is exact and else with as many digits
// as they need: for the published networks the published files, byte for byte. Biases are lost.
void write_layer_tsv(const std::string& path, const SparseLayer& layer);

// Lines "image<TAB>neuron<TAB>1". There are as many images as the highest number in the file; a
// line that ends in 0 instead adds no one, but counts for that. Throws Error{usage} if `neurons` is
// 0 or exceeds kMostNeurons.
SparseImages read_images_tsv(const std::string& path, std::uint32_t neurons);

// Sorted by image, then neuron. If the last image has no ones, a line with a 0 says that it exists.
void write_images_tsv(const std::string& path, const SparseImages& images);

// One image number a line; a file without lines is no error. Counts from 0, ascending.
Categories read_categories_tsv(const std::string& path);
void write_categories_tsv(const std::string& path, const Categories& categories);

}  // namespace winnow::challenge
