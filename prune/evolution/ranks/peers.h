// The processes that prune together. Each has a trainee of its own, all compute the same state.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "prune/evolution/trainee/trainee.h"

namespace winnow {

// All ranks make the same calls in the same order. Calls throw Error{device} with the rank's name
// if one does not answer.
class Peers {
 public:
  virtual ~Peers() = default;

  virtual std::int64_t rank() const = 0;
  virtual std::int64_t size() const = 0;

  // What every rank gives, in the order of ranks.
  virtual std::vector<std::string> gather(const std::string& mine) = 0;

  // What rank `from` gives; of the others it may be null.
  virtual std::shared_ptr<const Snapshot> share(std::shared_ptr<const Snapshot> mine,
                                                std::int64_t from) = 0;
};

// One process.
class Alone : public Peers {
 public:
  std::int64_t rank() const override { return 0; }
  std::int64_t size() const override { return 1; }
  std::vector<std::string> gather(const std::string& mine) override { return {mine}; }
  std::shared_ptr<const Snapshot> share(std::shared_ptr<const Snapshot> mine,
                                        std::int64_t) override {
    return mine;
  }
};

Peers& alone();

}  // namespace winnow
