#include "runtime/challenge/ranks/gather.h"

namespace winnow::challenge {
namespace {

class TcpGather : public Gather {
 public:
  explicit TcpGather(RankGroup& group) : group_(group) {}

  std::string name() const override { return "TCP"; }
  std::vector<std::string> all(const std::string& mine) override { return group_.gather(mine); }

 private:
  RankGroup& group_;
};

}  // namespace

std::unique_ptr<Gather> make_tcp_gather(RankGroup& group) {
  return std::make_unique<TcpGather>(group);
}

}  // namespace winnow::challenge
