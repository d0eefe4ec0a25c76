#include "prune/evolution/peers.h"

namespace winnow {

Peers& alone() {
  static Alone one;
  return one;
}

}  // namespace winnow
