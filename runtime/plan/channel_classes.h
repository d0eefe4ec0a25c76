// Values whose channels should lie in the same order.
//
// Some layouts let channels change places, so that a kernel reads them without bank conflicts. What
// a step does channel by channel keeps their order: then its input and output should agree on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/plan/program.h"

namespace winnow {

// Values joined by pooling, addition and relu, and by concatenations whose parts begin at multiples
// of kBlockedChannels, are a class. A class numbers its channels: value v has those from first[v]
// on.
struct ChannelClasses {
  std::vector<std::size_t> class_of;   // by value
  std::vector<std::int64_t> first;     // by value
  std::vector<std::int64_t> channels;  // by class: how many
};

ChannelClasses channel_classes(const Program& program);

}  // namespace winnow
