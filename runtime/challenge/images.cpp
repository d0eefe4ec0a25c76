#include "runtime/challenge/images.h"

#include <algorithm>

#include "runtime/base/error.h"

namespace winnow::challenge {

void check_images(const SparseImages& images, const std::string& where) {
  if (images.row_begin.empty() || images.row_begin.front() != 0 ||
      images.row_begin.back() != images.ones()) {
    fail(ErrorCode::usage, where, ": ", images.row_begin.size(), " row bounds and ", images.ones(),
         " ones do not fit each other");
  }
  for (std::uint32_t i = 0; i < images.images(); ++i) {
    const std::uint64_t begin = images.row_begin[i], end = images.row_begin[i + 1];
    if (begin > end || end > images.ones()) {
      fail(ErrorCode::usage, where, ": image ", i, ": its ones begin at ", begin, " and end at ",
           end, " of ", images.ones());
    }
    for (std::uint64_t k = begin; k < end; ++k) {
      const bool is_ascending = k == begin || images.neuron[k - 1] < images.neuron[k];
      if (images.neuron[k] >= images.neurons || !is_ascending) {
        fail(ErrorCode::usage, where, ": image ", i, ": neuron ", images.neuron[k],
             " is out of order or not below ", images.neurons);
      }
    }
  }
}

void check_neurons(const SparseImages& images, std::uint32_t neurons) {
  if (images.neurons == neurons) return;
  fail(ErrorCode::usage, "images of ", images.neurons, " neurons, the network takes ", neurons);
}

SparseImages slice(const SparseImages& images, std::uint32_t first, std::uint32_t last) {
  if (first > last || last > images.images()) {
    fail(ErrorCode::usage, "images ", first, " to ", last, ": there are ", images.images());
  }
  const std::uint64_t begin = images.row_begin[first], end = images.row_begin[last];
  SparseImages some{.neurons = images.neurons, .row_begin = {}, .neuron = {}};
  some.row_begin.reserve(last - first + 1);
  for (std::uint32_t i = first; i <= last; ++i)
    some.row_begin.push_back(images.row_begin[i] - begin);
  some.neuron.assign(images.neuron.begin() + static_cast<std::ptrdiff_t>(begin),
                     images.neuron.begin() + static_cast<std::ptrdiff_t>(end));
  return some;
}

SparseImages stripes(const SparseImages& images, std::uint32_t width, std::uint32_t share,
                     std::uint32_t shares) {
  SparseImages all{.neurons = images.neurons, .row_begin = {0}, .neuron = {}};
  for (std::uint64_t first = std::uint64_t{share} * width; first < images.images();
       first += std::uint64_t{shares} * width) {
    const std::uint64_t last = std::min<std::uint64_t>(first + width, images.images());
    const std::uint64_t begin = images.row_begin[first], end = images.row_begin[last];
    const std::uint64_t shift = all.ones() - begin;  // modulo 2^64
    for (std::uint64_t i = first + 1; i <= last; ++i) {
      all.row_begin.push_back(images.row_begin[i] + shift);
    }
    all.neuron.insert(all.neuron.end(), images.neuron.begin() + static_cast<std::ptrdiff_t>(begin),
                      images.neuron.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return all;
}

}  // namespace winnow::challenge
