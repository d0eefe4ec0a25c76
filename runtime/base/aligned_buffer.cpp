#include "runtime/base/aligned_buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>

namespace winnow {

AlignedBuffer::AlignedBuffer(std::int64_t count) : count_(count) {
  constexpr std::size_t kSmall = 4096, kLarge = std::size_t{1} << 21;
  if (count < 0 || count > std::numeric_limits<std::int64_t>::max() / 8) throw std::bad_alloc();
  const std::size_t bytes =
      std::max<std::size_t>(static_cast<std::size_t>(count) * sizeof(float), 1);
  const std::size_t page = bytes >= kLarge ? kLarge : kSmall;
  const std::size_t rounded = (bytes + page - 1) / page * page;
  data_.reset(static_cast<float*>(std::aligned_alloc(page, rounded)));
  if (!data_) throw std::bad_alloc();
  if (page == kLarge) madvise(data_.get(), rounded, MADV_HUGEPAGE);  // a wish; its failure is fine
  std::fill_n(data_.get(), count, 0.0f);
}

void AlignedBuffer::Free::operator()(float* data) const {
  std::free(data);
}

}  // namespace winnow
