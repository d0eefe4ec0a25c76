// Sizes that all kernels of the gathered convolution share.
#pragma once

namespace winnow {

inline constexpr int kGroupChannels = 16;   // output channels of a group
inline constexpr int kStageChannels = 32;   // input channels of a stage
inline constexpr int kGatheredImages = 8;   // images beside each other
inline constexpr int kRowBytes = 16;        // a row: the eight images of one pixel and channel
inline constexpr int kBankClasses = 8;      // rows whose numbers differ mod 8 lie in other banks
inline constexpr int kBatchColumns = 16;    // columns of a group that one product takes
inline constexpr int kFragmentBytes = 512;  // their weights in the order of a matrix product

}  // namespace winnow
