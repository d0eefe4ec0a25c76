// Convolutions that every sparse convolution kernel is tested with.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/model/graph.h"
#include "runtime/reference/operations.h"

namespace winnow {

struct ConvCase {
  std::int64_t batch, height, width;
  Conv conv;
};

inline Conv square_conv(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                        std::int64_t padding, std::int64_t dilation = 1, std::int64_t groups = 1) {
  return {.in_channels = in,
          .out_channels = out,
          .kernel = {kernel, kernel},
          .stride = {stride, stride},
          .padding = {padding, padding},
          .dilation = {dilation, dilation},
          .groups = groups};
}

// Ragged on purpose: sizes beside powers of two, channels beside 32 and images beside 8, kernels
// larger than the plane, strides that leave rows over, dilations, groups, one dimension, single
// pixels.
inline std::vector<ConvCase> conv_cases() {
  const Conv row{
      .rank = 1, .in_channels = 50, .out_channels = 19, .kernel = {1, 3}, .padding = {0, 1}};
  const Conv dilated_row{.rank = 1,
                         .in_channels = 6,
                         .out_channels = 16,
                         .kernel = {1, 2},
                         .stride = {1, 2},
                         .dilation = {1, 3}};
  return {{1, 1, 1, square_conv(5, 7, 1, 1, 0)},
          {2, 2, 2, square_conv(16, 33, 3, 1, 1)},
          {3, 7, 5, square_conv(6, 16, 3, 2, 1, 1, 2)},
          {7, 14, 14, square_conv(8, 32, 3, 1, 1)},
          {8, 9, 11, square_conv(3, 20, 5, 2, 2)},
          {33, 4, 4, square_conv(12, 48, 3, 1, 1, 1, 3)},
          {128, 2, 3, square_conv(4, 16, 2, 1, 1)},
          {2, 17, 33, square_conv(4, 8, 3, 1, 2, 2)},
          {3, 6, 6, square_conv(9, 9, 3, 1, 1, 1, 9)},
          {5, 8, 8, square_conv(16, 24, 1, 2, 0)},
          {9, 1, 16, dilated_row},
          {7, 1, 33, row},
          {35, 1, 1, square_conv(70, 40, 1, 1, 0)},
          {8, 14, 14, square_conv(64, 64, 3, 1, 1)},
          {19, 7, 7, square_conv(33, 16, 3, 1, 1)},
          {9, 13, 15, square_conv(96, 200, 3, 2, 1)},
          {3, 12, 12, square_conv(40, 48, 3, 1, 2, 2)},
          {5, 8, 9, square_conv(300, 80, 1, 1, 0)},
          {5, 9, 8, square_conv(64, 32, 1, 2, 0)},
          {2, 10, 11, square_conv(20, 18, 1, 3, 1)},
          {3, 7, 9, square_conv(35, 18, 1, 2, 2)},
          {4, 6, 6, square_conv(48, 48, 3, 1, 1, 1, 3)},
          {2, 17, 16, square_conv(8, 24, 5, 2, 2)},
          {2, 21, 20, square_conv(3, 20, 7, 2, 3)}};
}

// The reference, with ReLU where asked for. Convolutions of one dimension run as one row.
inline reference::Array expected_conv(const Conv& conv, const reference::Array& input,
                                      const std::vector<float>& weight,
                                      const std::vector<float>& bias, bool has_relu) {
  Conv two = conv;
  two.rank = 2;
  reference::Array output = reference::conv(two, input, weight, bias);
  return has_relu ? reference::relu(output) : output;
}

}  // namespace winnow
