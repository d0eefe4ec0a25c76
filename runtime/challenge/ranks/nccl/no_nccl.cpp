// The twin of nccl_gather.cpp for builds without CUDA.
#include "runtime/base/error.h"
#include "runtime/challenge/ranks/nccl/nccl_gather.h"

namespace winnow::challenge {

std::unique_ptr<Gather> make_nccl_gather(RankGroup&, int) {
  fail(ErrorCode::device, "NCCL: built without CUDA");
}

}  // namespace winnow::challenge
