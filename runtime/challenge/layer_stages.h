// Layers on their way through several stages of work, on all threads, with few of them in memory.
#pragma once

#include <cstdint>
#include <functional>

namespace winnow::challenge {

struct LayerStages {
  std::uint32_t layers = 0;
  std::uint32_t stages = 1;  // at least 1
  int threads = 0;           // 0: all cores

  // Layer l is in slot l % slots() from its first stage on until layer l + slots() begins. Nobody
  // works on the neighbours of the layer that was in a slot before when that happens.
  std::uint32_t slots() const;

  // Calls job(stage, layer, slot) for every stage of every layer. Stage s of a layer begins when
  // the stages before s are done of the layer and its two neighbours. A thread that is done takes
  // the latest stage that can begin, of the lowest layer. The last stage runs in the calling thread
  // alone, layer after layer. After an exception nothing new begins, and it is rethrown.
  using Job = std::function<void(std::uint32_t stage, std::uint32_t layer, std::uint32_t slot)>;
  void run(const Job& job) const;
};

}  // namespace winnow::challenge
