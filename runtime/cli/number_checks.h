// What numbers on the command line may be: checks for options of CLI11, with messages that say what
// was found and what was expected. Whatever does not fit into 64 bits is refused, not cut.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>

namespace winnow {

// "--limit: found -1, expected a whole number of at least 1", or "... from 1 to 16" where `most` is
// given. For options of signed types of at least the bounds' size.
CLI::Validator whole_number(std::int64_t least,
                            std::int64_t most = std::numeric_limits<std::int64_t>::max());

// Whole numbers of 32 bits without sign, from `least`.
CLI::Validator count_of_32_bits(std::uint32_t least);

// Any whole number of 64 bits without sign.
CLI::Validator seed_number();

// "--max-drop: found nan, expected a number from 0 to 100".
CLI::Validator number_between(double low, double high);

// Any number that a float holds; neither infinite nor "not a number".
CLI::Validator finite_float();

// "20GB", "512 kib", "4096": the unit stands for a power of 1024, in letters of either case. The
// option's text becomes the number of bytes, which is at least `least`.
CLI::Validator byte_size(std::uint64_t least);

}  // namespace winnow
