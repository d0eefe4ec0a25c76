// Which layers store fp32 and which fp16, which are computed in one launch, and after which dead
// images are dropped. Pure host code.
//
// Most images die in the first layers. So all engines drop dead ones often there and then ever more
// rarely; how often depends on what a drop costs an engine and what it gains:
//
//   resident  A drop ends a launch, within which activations stay in shared memory.
//   gathered  A row costs far more to compute than to move: more often than the others.
//   grouped   Images move while the next layer is written. After the very first layer too few have
//             died for whole sectors of memory; later on a drop costs as much as a layer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/challenge/engine.h"

namespace winnow::challenge {

// The layers that keep fp32 before activations may be stored as fp16: log2(neurons / 16), at least
// 6. In the challenge's networks that is the first block, in which an image's fate is decided;
// rounding to fp16 there changes a few categories, after it none (measured on all four sizes).
std::uint32_t full_precision_layers(std::uint32_t neurons);

// The first layer that stores fp16 by `options`; `layers` if none does.
std::uint32_t first_half_layer(const EngineOptions& options, std::uint32_t neurons,
                               std::uint32_t layers);

// Layers [first, last) in one launch, activations as fp16 or fp32.
struct FusedLaunch {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  bool is_half = false;

  friend bool operator==(const FusedLaunch&, const FusedLaunch&) = default;
};

// The launches of `fused` where activations are resident. Dead images are dropped between them: at
// the layers 2 to 8, 10, 12, 16, 24, 32, 48, ... and where fp16 begins (`half_from`, which may be
// >= layers: never).
std::vector<FusedLaunch> plan_resident_launches(std::uint32_t layers, std::uint32_t half_from);

// What a launch costs in the same unit as others: whoever has fewer live images to take through
// more layers wants fewer launches.
struct LaunchCosts {
  std::uint32_t images = 16;  // of a tile, which a thread block takes through the launch
  double layer = 0;           // of a tile
  double border = 0;          // of a tile: its way in and out
  double launch = 0;          // of a launch alone
};

// The cheapest way to join consecutive launches, for a device that computes `blocks` tiles at a
// time. `live[p]` images enter launch p; a launch that others are joined to takes all that enter it
// through their layers. Launches with fp16 activations are joined to such alone.
std::vector<FusedLaunch> join_launches(std::span<const FusedLaunch> launches,
                                       std::span<const std::uint32_t> live, std::uint32_t blocks,
                                       const LaunchCosts& full, const LaunchCosts& half);

// Whether `fused`, where rows are gathered, drops dead images after the first `done` of `layers`
// layers: at 1 to 16, 24, 32, 48, ..., where fp16 begins, and at the end.
bool gathered_drops_at(std::uint32_t done, std::uint32_t layers, std::uint32_t half_from);

// Whether `grouped` does: at 2 to 10, 12, 16, 32, 64, ..., where multilayer_kernel begins
// (`multilayer_from`), and at the end.
bool grouped_drops_at(std::uint32_t done, std::uint32_t layers, std::uint32_t multilayer_from);

}  // namespace winnow::challenge
