#include "prune/evolution/ranks/peers.h"

namespace winnow {

Peers& alone() {
  static Alone one;
  return one;
}

}  // namespace winnow
