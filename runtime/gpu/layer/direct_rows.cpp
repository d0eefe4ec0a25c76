#include "runtime/gpu/layer/direct_rows.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "runtime/base/error.h"

namespace winnow {
namespace {

void append_row(DirectRows& rows, const BlockCsr& weight, std::size_t row) {
  const auto first = static_cast<std::size_t>(weight.begin[row]);
  const auto last = static_cast<std::size_t>(weight.begin[row + 1]);
  const auto vector = static_cast<std::size_t>(rows.vector);
  rows.column.insert(rows.column.end(), weight.column.begin() + first,
                     weight.column.begin() + last);
  rows.values.insert(rows.values.end(), weight.value.begin() + first * vector,
                     weight.value.begin() + last * vector);
  while (rows.column.size() % kDirectUnroll != 0) rows.column.push_back(rows.column.back());
  rows.values.resize(rows.column.size() * vector, 0.0f);
  if (rows.column.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    fail(ErrorCode::usage, "a sparse weight has ", rows.column.size(),
         " blocks, more than 31 bits");
  }
  rows.begin.push_back(static_cast<std::int32_t>(rows.column.size()));
}

void sort_by_length(DirectRows& rows) {
  rows.order.resize(static_cast<std::size_t>(rows.rows));
  std::iota(rows.order.begin(), rows.order.end(), 0);
  const auto length = [&](std::int32_t row) {
    const auto r = static_cast<std::size_t>(row);
    return rows.begin[r + 1] - rows.begin[r];
  };
  std::stable_sort(rows.order.begin(), rows.order.end(),
                   [&](std::int32_t a, std::int32_t b) { return length(a) > length(b); });
}

std::int32_t common_length(const DirectRows& rows) {
  const std::int32_t length = rows.rows == 0 ? 0 : rows.begin[1];
  for (std::size_t row = 0; row + 1 < rows.begin.size(); ++row) {
    if (rows.begin[row + 1] - rows.begin[row] != length) return 0;
  }
  return length;
}

int dense_vector(std::int64_t channels, std::int64_t groups) {
  const std::int64_t per_group = channels / std::max<std::int64_t>(groups, 1);
  for (const int vector : {16, 8}) {
    if ((groups == 1 && channels >= vector) || per_group % vector == 0) return vector;
  }
  return 1;
}

}  // namespace

DirectRows direct_rows(const BlockCsr& weight, std::int64_t groups) {
  const bool spans_groups = groups > 1 && (weight.channels / groups) % weight.vector != 0;
  const BlockCsr split = spans_groups ? split_blocks(weight, 1) : BlockCsr();
  const BlockCsr& blocks = spans_groups ? split : weight;
  DirectRows rows;
  rows.channels = blocks.channels;
  rows.vector = blocks.vector;
  rows.rows = blocks.rows();
  rows.begin.push_back(0);
  for (std::size_t row = 0; row + 1 < blocks.begin.size(); ++row) append_row(rows, blocks, row);
  sort_by_length(rows);
  rows.row_length = common_length(rows);
  return rows;
}

DirectRows direct_rows(const Weight& weight, std::int64_t channels, std::int64_t groups) {
  if (const auto* sparse = std::get_if<CsrWeight>(&weight)) {
    return direct_rows(block_csr(*sparse), groups);
  }
  const std::vector<float> dense = decode(std::get<DenseWeight>(weight).values);
  return direct_rows(block_csr(dense, channels, dense_vector(channels, groups)), groups);
}

std::vector<float> values_by_segment(const DirectRows& rows, int thread_channels) {
  std::vector<float> values;
  values.reserve(rows.values.size());
  for (std::int64_t row = 0; row < rows.rows; ++row) {
    const auto r = static_cast<std::size_t>(row);
    for (int segment = 0; segment < rows.vector / thread_channels; ++segment) {
      for (std::int64_t u = rows.begin[r]; u < rows.begin[r + 1]; ++u) {
        const float* block = rows.values.data() + u * rows.vector + segment * thread_channels;
        values.insert(values.end(), block, block + thread_channels);
      }
    }
  }
  return values;
}

std::vector<std::int32_t> direct_offsets(const DirectRows& rows, const Conv& conv,
                                         const ActivationStrides& strides) {
  std::vector<std::int32_t> offsets;
  offsets.reserve(rows.column.size());
  for (const std::uint32_t column : rows.column) {
    const std::int64_t s = column % conv.kernel[1];
    const std::int64_t r = column / conv.kernel[1] % conv.kernel[0];
    const std::int64_t c = column / conv.kernel[1] / conv.kernel[0];
    const std::int64_t offset = c * strides.channel + r * conv.dilation[0] * strides.row +
                                s * conv.dilation[1] * strides.column;
    if (offset > std::numeric_limits<std::int32_t>::max()) {
      fail(ErrorCode::device, "an image is too large for the direct convolution: offset ", offset);
    }
    offsets.push_back(static_cast<std::int32_t>(offset));
  }
  return offsets;
}

}  // namespace winnow
