#include "prune/training/ranks/store_connection.h"

#include <c10/util/Flags.h>

#include <chrono>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "runtime/base/error.h"

C10_DECLARE_int(caffe2_log_level);

namespace winnow {
namespace {

constexpr std::chrono::seconds kPatience(300);

}  // namespace

std::string address(const RankPlace& place) {
  return place.host + ":" + std::to_string(place.port);
}

c10::intrusive_ptr<c10d::Store> connect_store(const RankPlace& place, bool is_server) {
  // What goes wrong is told by our errors, not by logs with stack traces.
  FLAGS_caffe2_log_level = 3;
  c10d::TCPStoreOptions options;
  options.port = place.port;
  options.isServer = is_server;
  options.waitWorkers = false;
  options.timeout = std::chrono::milliseconds(kPatience);
  try {
    auto store = c10::make_intrusive<c10d::TCPStore>(place.host, options);
    return c10::make_intrusive<c10d::PrefixStore>("winnow" + place.start, std::move(store));
  } catch (const std::exception& error) {
    const std::string text = error.what();
    if (text.find("EADDRINUSE") != std::string::npos) {
      fail(ErrorCode::usage, "rank 0: port ", place.port,
           " is in use; MASTER_PORT names another one");
    }
    fail(ErrorCode::device, "rank ", place.rank, ": no answer from rank 0 at ", address(place));
  }
}

}  // namespace winnow
