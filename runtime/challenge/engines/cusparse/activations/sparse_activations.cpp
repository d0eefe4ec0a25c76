#include "runtime/challenge/engines/cusparse/activations/sparse_activations.h"

#include <utility>

namespace winnow::challenge {

SparseActivations::SparseActivations(std::uint32_t rows, std::uint32_t width, cudaStream_t stream)
    : stream_(stream),
      counts_(std::size_t{rows} + 1),
      spare_begin_(std::size_t{rows} + 1),
      prefix_sum_(static_cast<std::int32_t>(rows + 1)),
      live_(rows),
      read_(1) {
  for (Matrix* matrix : {&current_, &next_}) {
    matrix->begin = DeviceBuffer<std::int32_t>(std::size_t{rows} + 1);
    matrix->column = DeviceBuffer<std::int32_t>(std::size_t{rows} * width);
    matrix->value = DeviceBuffer<float>(std::size_t{rows} * width);
  }
}

std::size_t SparseActivations::bytes_per_image(std::uint32_t width) {
  constexpr std::size_t kBounds = 5 * sizeof(std::int32_t), kLive = 5 * sizeof(std::uint32_t);
  return 2 * std::size_t{width} * (sizeof(std::int32_t) + sizeof(float)) + kBounds + kLive;
}

void SparseActivations::load(const DeviceImages& images, RowBounds rows) {
  rows_ = static_cast<std::int32_t>(rows.last - rows.first);
  nonzeros_ = static_cast<std::int32_t>(rows.ones);
  next_nonzeros_ = 0;
  load_rows(images, rows, current_.begin.get(), current_.column.get(), current_.value.get(),
            stream_);
  live_.reset(rows.first, rows.last - rows.first, stream_);
}

std::optional<CsrView> SparseActivations::view(const RowRange& range, std::int32_t columns) {
  CsrView view{.rows = range.rows(),
               .columns = columns,
               .nonzeros = range.nonzeros(),
               .begin = current_.begin.get(),
               .column = current_.column.get(),
               .value = current_.value.get()};
  if (range.first == 0) return view;
  // Elsewhere bounds do not begin at 0 and arrays not at an aligned address.
  const auto count = static_cast<std::size_t>(range.nonzeros());
  if (!view_begin_.reserve(static_cast<std::size_t>(range.rows()) + 1) ||
      !view_column_.reserve(count) || !view_value_.reserve(count)) {
    return std::nullopt;
  }
  rebase_bounds(view.begin + range.first, range.rows(), view_begin_.get(), stream_);
  CUDA_CHECK(cudaMemcpyAsync(view_column_.get(), view.column + range.begin,
                             count * sizeof(std::int32_t), cudaMemcpyDeviceToDevice, stream_));
  CUDA_CHECK(cudaMemcpyAsync(view_value_.get(), view.value + range.begin, count * sizeof(float),
                             cudaMemcpyDeviceToDevice, stream_));
  view.begin = view_begin_.get();
  view.column = view_column_.get();
  view.value = view_value_.get();
  return view;
}

std::pair<SparseActivations::RowRange, SparseActivations::RowRange> SparseActivations::halves(
    const RowRange& range) const {
  const std::int32_t middle = range.first + range.rows() / 2;
  const std::int32_t bound = read(current_.begin.get() + middle);
  return {{range.first, middle, range.begin, bound}, {middle, range.last, bound, range.end}};
}

void SparseActivations::append(const RowRange& range, const std::optional<CsrView>& z,
                               const float* bias) {
  std::int32_t* begin = next_.begin.get() + range.first;
  const std::int32_t bounds = range.rows() + 1;
  if (z) {
    count_activated(*z, bias, counts_.get(), stream_);
  } else {
    CUDA_CHECK(cudaMemsetAsync(counts_.get(), 0,
                               static_cast<std::size_t>(bounds) * sizeof(std::int32_t), stream_));
  }
  prefix_sum_.run(counts_.get(), begin, bounds, next_nonzeros_, stream_);
  if (z) {
    store_activated(*z, bias, begin, next_.column.get(), next_.value.get(), stream_);
    next_nonzeros_ = read(begin + range.rows());
  }
}

void SparseActivations::finish() {
  std::swap(current_, next_);
  nonzeros_ = std::exchange(next_nonzeros_, 0);
}

void SparseActivations::drop_dead_rows() {
  flag_rows(current_.begin.get(), rows_, live_.alive(), stream_);
  live_.keep(stream_);
  gather_bounds(current_.begin.get(), rows_, live_.rows(), live_.count(), spare_begin_.get(),
                stream_);
  std::swap(current_.begin, spare_begin_);
  rows_ = read(live_.count());
}

Categories SparseActivations::categories() {
  drop_dead_rows();
  return live_.download(stream_);
}

// One 32-bit word of device memory, once the work before is done.
std::int32_t SparseActivations::read(const void* word) const {
  std::int32_t* value = read_.values().data();
  CUDA_CHECK(cudaMemcpyAsync(value, word, sizeof(*value), cudaMemcpyDeviceToHost, stream_));
  CUDA_CHECK(cudaStreamSynchronize(stream_));
  return *value;
}

}  // namespace winnow::challenge
