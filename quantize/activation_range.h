// Which activations are rounded to fixed point, and in which format (paper 003, section 6).
#pragma once

#include <map>
#include <string>

#include "quantize/fixed_point.h"
#include "quantize/histogram.h"
#include "runtime/model/model.h"

namespace winnow {

// Sets model.activation_bits and model.activation_frac from what was observed.
//
// Rounded are the values that layers read, where they come into being: the input, and the outputs
// of conv, linear, batch norm, add, embedding, relu and average pooling. A node whose only reader
// is a relu is not, its relu is. Max pooling, flatten, dropout and concat give values that are on
// the grid already. The network's answer (the last node, and what a softmax at the end reads) stays
// as it is.
// Throws Error{usage} if a node was not observed or total_bits is not 2 to 16.
void set_activation_formats(Model& model, int total_bits, RangeRule rule,
                            const std::map<std::string, Histogram>& observed);

}  // namespace winnow
