// A connection to the store at which ranks meet: LibTorch's c10d::TCPStore.
#pragma once

#include <c10/util/intrusive_ptr.h>

#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "runtime/base/rank_place.h"

namespace winnow {

// "host:29500"
std::string address(const RankPlace& place);

// The store itself is kept by the launcher, or with `is_server` by this process as long as the
// connection lives. Waits for it for five minutes. Throws Error{device} with the address if it does
// not answer, and Error{usage} if the port is taken.
c10::intrusive_ptr<c10d::Store> connect_store(const RankPlace& place, bool is_server);

}  // namespace winnow
