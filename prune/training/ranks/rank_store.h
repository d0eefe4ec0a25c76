// Where the ranks of a run meet: a store of keys and bytes that rank 0 (or the launcher) keeps,
// and the means to know who is alive. Free of LibTorch's headers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "runtime/base/error.h"
#include "runtime/base/rank_place.h"

namespace winnow {

// LibTorch's c10d::TCPStore. One thread at a time calls it; a thread of its own says every second
// that this rank is alive, and looks who else is.
class RankStore {
 public:
  // A rank that gives no sign of life for `timeout` (rank_timeout()) counts as dead. Waits for the
  // store for five minutes. Throws Error{device} with the address if it does not answer, and
  // Error{usage} if the port is taken.
  RankStore(const RankPlace& place, std::chrono::seconds timeout);
  RankStore(const RankStore&) = delete;
  RankStore& operator=(const RankStore&) = delete;
  // Says farewell; rank 0 waits for the others' for ten seconds, since the store ends with it.
  ~RankStore();

  const RankPlace& place() const;

  // Throw Error{device} if the store does not answer.
  void put(const std::string& key, const std::string& bytes);
  void drop(const std::string& key);
  void count(const std::string& key);  // adds 1

  // Waits for the key, or until a count is at least `least`. Throws Error{device} with the rank and
  // its machine if a rank has died, has failed (with its message) or has not come, and
  // Error{interrupted} if one was interrupted.
  std::string take(const std::string& key);
  void wait_for_count(const std::string& key, std::int64_t least);

  std::int64_t counted(const std::string& key);  // without waiting; 0 where nobody counted

  // For ranks that wait in something else than the store. `call` is called once, by the thread that
  // watches, when a rank is lost: has died, has failed or was interrupted; require_all() throws
  // that, as take() does, and await_loss() waits for it for as long as a rank may be silent.
  void when_lost(std::function<void()> call);
  void require_all();
  void await_loss();

  // From now on a request to stop ends waiting too, in five seconds if the others have not come
  // until then, as an Error{interrupted}: launchers that end the ranks when one has died do not
  // wait for long. Asked by the thread that watches.
  void stop_if(std::function<bool()> should_stop);

  // Tells the others, once, why this rank ends; they end too when they next wait.
  void leave(ErrorCode code, const std::string& why);

  // Whether another rank, or the store, is gone.
  bool is_broken() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace winnow
