// Which of the ranks that train one network together this process is. Free of LibTorch's headers.
#pragma once

#include <cstdint>
#include <string>

namespace winnow {

class RankStore;

struct TeamPlace {
  RankStore* store = nullptr;  // of the run; none: this process trains alone
  std::string name;            // of the team's keys in the store
  std::int64_t rank = 0;       // in the team
  std::int64_t size = 1;

  bool is_alone() const { return store == nullptr || size == 1; }
};

}  // namespace winnow
