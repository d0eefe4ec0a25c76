// Networks made from a recipe: the published ones of the challenge exactly, and others to test with
// what those are too regular for (16 outputs with equal inputs, equal weights).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/challenge/network.h"

namespace winnow::challenge {

// Of C connections an output.
//   constant  2 / C. Values double from layer to layer until all are 32.
//   positive  uniform from 0 to 4 / C: as many images die as with constant ones, no two weights are
//             equal.
//   random    uniform with mean 1 / C and deviation sqrt(2 / C): of images that live on, 0.3 of the
//             values are 0 and a quarter 32, however many layers there are.
enum class Weights { constant, positive, random };

// All layers are square.
struct NetworkRecipe {
  std::uint32_t neurons = 1024;
  std::uint32_t layers = 120;

  // Nothing: the published network, for which all that follows must be as it is here.
  std::optional<std::uint32_t> seed = {};

  // Connections of every output. Even unless `is_shuffled`; where neurons are no multiple of half
  // of it, some outputs have one or two more (class_structure.h).
  std::uint32_t connections = 32;

  // Random wiring (random_wiring.h) in place of the class structure: no outputs share their inputs.
  bool is_shuffled = false;

  Weights weights = Weights::constant;

  // Of all neurons; nothing: default_bias().
  std::optional<float> bias = {};
};

// The published bias for constant weights in class structure, -0.3 - 0.05 log4(neurons / 1024).
// Random wiring spreads the bright spots of an image, random weights spread the sums: with -0.18
// (wiring), -0.19 (that and positive weights), -0.28 (random weights) and -0.225 (both) also 2 to
// 10 % of the images of MNIST live on, as measured with 256, 1024 and 4096 neurons; the published
// networks keep 3 %.
float default_bias(const NetworkRecipe& recipe);

// A network whose layers are made when asked for: equal recipes give equal networks, on every
// machine. Holds the classes of its blocks, 4 * neurons bytes a block of log2 G layers.
// Throws Error{usage} saying what a recipe must be.
std::unique_ptr<Network> make_network(const NetworkRecipe& recipe);

}  // namespace winnow::challenge
