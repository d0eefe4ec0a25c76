// Sizes beyond which a file is refused, so that a damaged or hostile one cannot ask for more
// memory than its own length accounts for. Far above the challenge's 65,536 and 60,000.
#pragma once

#include <cstdint>

namespace winnow::challenge {

inline constexpr std::uint32_t kMostNeurons = std::uint32_t{1} << 24;
inline constexpr std::uint32_t kMostImages = std::uint32_t{1} << 24;
inline constexpr std::uint32_t kMostLayers = std::uint32_t{1} << 20;

}  // namespace winnow::challenge
