// Small networks and images for tests, the same on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/challenge/images.h"
#include "runtime/challenge/network.h"

namespace winnow::challenge {

// Rows of 0 to `inputs` connections, each length as likely; weights and biases of all sizes.
SparseLayer random_layer(std::uint32_t inputs, std::uint32_t outputs, std::uint64_t seed);

// Every output reads `row_length` inputs with weight 1/16 and has the same bias.
SparseLayer regular_layer(std::uint32_t inputs, std::uint32_t outputs, std::uint32_t row_length,
                          std::uint64_t seed);

// Each pixel is 1 with the given chance, except that every third image has no ones.
SparseImages random_images(std::uint32_t neurons, std::uint32_t images, double chance,
                           std::uint64_t seed);

void write_text(const std::string& path, std::string_view text);
std::string read_text(const std::string& path);

}  // namespace winnow::challenge
