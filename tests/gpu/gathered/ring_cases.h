// Convolutions that the gathered kernel with a ring of stages is tested with.
#pragma once

#include <vector>

#include "runtime/model/graph.h"

namespace winnow {

struct RingCase {
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

// Tails of channels and images, every stride, padding, dilation, groups, one dimension, single
// pixels as rows and as images.
inline std::vector<RingCase> ring_cases() {
  return {
      {1, 1, 1, square_conv(5, 7, 1, 1, 0)},
      {35, 1, 1, square_conv(70, 40, 1, 1, 0)},
      {8, 14, 14, square_conv(64, 64, 3, 1, 1)},
      {19, 7, 7, square_conv(33, 16, 3, 1, 1)},
      {9, 13, 15, square_conv(96, 200, 3, 2, 1)},
      {3, 12, 12, square_conv(40, 48, 3, 1, 2, 2)},
      {5, 8, 9, square_conv(300, 80, 1, 1, 0)},
      {5, 9, 8, square_conv(64, 32, 1, 2, 0)},
      {2, 10, 11, square_conv(20, 18, 1, 3, 1)},
      {4, 6, 6, square_conv(48, 48, 3, 1, 1, 1, 3)},
      {4, 6, 6, square_conv(9, 9, 3, 1, 1, 1, 9)},
      {2, 17, 16, square_conv(8, 24, 5, 2, 2)},
      {2, 21, 20, square_conv(3, 20, 7, 2, 3)},
      {7,
       1,
       33,
       {.rank = 1, .in_channels = 50, .out_channels = 19, .kernel = {1, 3}, .padding = {0, 1}}}};
}

}  // namespace winnow
