#include "runtime/images/image_reader.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include "runtime/base/thread_pool.h"
#include "runtime/images/picture.h"

namespace winnow {
namespace {

std::size_t image_bytes(const ImageSet& set) {
  return static_cast<std::size_t>(set.channels * set.height * set.width);
}

std::vector<std::int64_t> all_of(const ImageSet& set) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(set.count));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace

// Batches lie in a ring of buffers. Images are handed out to threads in their order.
class ImageReader::Decoder {
 public:
  Decoder(const ImageSet& set, const std::vector<std::int64_t>& order, std::int64_t batch,
          int threads)
      : set_(set), order_(order), batch_(static_cast<std::size_t>(batch)), ring_(kBatchesAhead) {
    const auto wanted = static_cast<std::size_t>(threads > 0 ? threads : available_cores());
    for (std::size_t i = 0; i < std::min(wanted, order.size()); ++i) {
      threads_.emplace_back([this] { work(); });
    }
  }

  ~Decoder() {
    {
      const std::lock_guard lock(mutex_);
      is_stopping_ = true;
    }
    has_room_.notify_all();
  }

  // The batch that begins at place `first` of the order; gives the one before it free.
  std::span<const std::uint8_t> take(std::size_t first) {
    std::unique_lock lock(mutex_);
    freed_ = first;
    has_room_.notify_all();
    Slot& slot = slot_of(first);
    const std::size_t count = std::min(batch_, order_.size() - first);
    is_complete_.wait(lock, [&] { return slot.first == first && slot.done == count; });
    if (slot.failure) std::rethrow_exception(slot.failure);
    return std::span(slot.bytes).first(count * image_bytes(set_));
  }

 private:
  struct Slot {
    std::size_t first = 0;
    std::size_t done = 0;
    std::size_t failed = 0;  // place of the first damaged picture, if `failure` is one
    std::exception_ptr failure;
    std::vector<std::uint8_t> bytes;
  };

  Slot& slot_of(std::size_t place) { return ring_[place / batch_ % ring_.size()]; }

  // Waits for a place whose buffer is free; the end of the order if there is none to come.
  std::size_t next_place() {
    std::unique_lock lock(mutex_);
    has_room_.wait(lock, [&] {
      return is_stopping_ || next_ >= order_.size() || next_ < freed_ + ring_.size() * batch_;
    });
    if (is_stopping_ || next_ >= order_.size()) return order_.size();
    const std::size_t place = next_++;
    if (place % batch_ == 0) begin_batch(place);
    return place;
  }

  void begin_batch(std::size_t first) {
    Slot& slot = slot_of(first);
    slot.first = first;
    slot.done = 0;
    slot.failure = nullptr;
    slot.bytes.resize(std::min(batch_, order_.size()) * image_bytes(set_));
  }

  void decode(std::size_t place) {
    Slot& slot = slot_of(place);
    const std::size_t size = image_bytes(set_);
    std::exception_ptr failure;
    try {
      const auto planes = std::span(slot.bytes).subspan(place % batch_ * size, size);
      read_file_of(set_, static_cast<std::size_t>(order_[place]), planes);
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    if (failure && (!slot.failure || place < slot.failed)) {
      slot.failure = failure;
      slot.failed = place;
    }
    ++slot.done;
    is_complete_.notify_one();
  }

  void work() {
    for (std::size_t place = next_place(); place < order_.size(); place = next_place()) {
      decode(place);
    }
  }

  const ImageSet& set_;
  const std::vector<std::int64_t>& order_;
  std::size_t batch_;
  std::mutex mutex_;
  std::condition_variable has_room_;
  std::condition_variable is_complete_;
  std::vector<Slot> ring_;
  std::size_t next_ = 0;   // place that is handed out next
  std::size_t freed_ = 0;  // buffers of batches before this place may be overwritten
  bool is_stopping_ = false;
  std::vector<std::jthread> threads_;  // last, so that they end before what they use
};

ImageReader::ImageReader(const ImageSet& set, std::int64_t batch)
    : ImageReader(set, all_of(set), batch) {}

ImageReader::ImageReader(const ImageSet& set, std::vector<std::int64_t> order, std::int64_t batch,
                         int threads)
    : set_(set), order_(std::move(order)), batch_(batch) {
  if (!set.is_in_memory()) decoder_ = std::make_unique<Decoder>(set_, order_, batch_, threads);
}

ImageReader::~ImageReader() = default;

std::span<const std::uint8_t> ImageReader::next() {
  const auto all = static_cast<std::int64_t>(order_.size());
  if (first_ >= all) return {};
  const std::int64_t first = std::exchange(first_, std::min(all, first_ + batch_));
  if (decoder_) return decoder_->take(static_cast<std::size_t>(first));
  const std::size_t size = image_bytes(set_);
  gathered_.resize(static_cast<std::size_t>(first_ - first) * size);
  for (std::int64_t i = first; i < first_; ++i) {
    const auto image =
        set_.pixels.begin() + order_[static_cast<std::size_t>(i)] * static_cast<std::int64_t>(size);
    std::copy_n(image, size, gathered_.begin() + (i - first) * static_cast<std::int64_t>(size));
  }
  return gathered_;
}

}  // namespace winnow
