// Orders of channels in device memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/device/buffer.h"
#include "runtime/gpu/layer/activation.h"
#include "runtime/plan/channel_orders.h"

namespace winnow {

// Copies share the memory.
class OrderTables {
 public:
  OrderTables() = default;

  // Throws Error{device} if memory runs out.
  explicit OrderTables(const ChannelOrders& orders) : places_(orders.places) {
    for (const std::vector<std::int32_t>& places : orders.places) {
      tables_.push_back(std::make_shared<const DeviceBuffer<std::int32_t>>(upload(places)));
    }
  }

  // Where channel c lies; empty for order 0.
  const std::vector<std::int32_t>& places(int order) const {
    return places_[static_cast<std::size_t>(order)];
  }

  // A view whose channels lie as its format says.
  ActivationView view(void* data, const ActivationFormat& format, const Extents& size) const {
    if (format.order == 0) return {data, format, size};
    return {data, format, size, tables_[static_cast<std::size_t>(format.order)]->get()};
  }

 private:
  std::vector<std::vector<std::int32_t>> places_ = {{}};                   // by order
  std::vector<std::shared_ptr<const DeviceBuffer<std::int32_t>>> tables_;  // by order
};

}  // namespace winnow
