#include "prune/training/device_name.h"

#include "prune/training/device.h"

namespace winnow {

std::string device_name(const std::string& wanted) {
  return describe_device(resolve_device(wanted));
}

}  // namespace winnow
