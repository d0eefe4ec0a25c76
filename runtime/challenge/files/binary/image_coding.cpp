#include "runtime/challenge/files/binary/image_coding.h"

#include <array>
#include <bit>
#include <cstring>

#include "runtime/base/error.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kShortRange = 65536;
constexpr std::uint32_t kWordBits = 64;

std::uint64_t words_per_image(std::uint32_t neurons) {
  return (std::uint64_t{neurons} + kWordBits - 1) / kWordBits;
}

// The lengths of the arrays in bytes: bitmaps and nothing, or counts and neurons.
std::array<std::uint64_t, 2> array_bytes(const BlockFacts& facts) {
  if (facts.form == BlockForm::bitmaps) {
    return {8 * words_per_image(facts.neurons) * facts.images, 0};
  }
  return {4 * std::uint64_t{facts.images},
          (facts.form == BlockForm::short_lists ? 2 : 4) * facts.ones};
}

BlockForm smallest_form(BlockFacts facts) {
  facts.form = facts.neurons <= kShortRange ? BlockForm::short_lists : BlockForm::lists;
  const std::uint64_t listed = part_bytes(array_bytes(facts));
  const BlockForm lists = facts.form;
  facts.form = BlockForm::bitmaps;
  return listed < part_bytes(array_bytes(facts)) ? lists : BlockForm::bitmaps;
}

template <typename T>
T load(Bytes array, std::uint64_t index) {
  T value;
  std::memcpy(&value, array.data() + index * sizeof(T), sizeof(T));
  return value;
}

std::uint64_t count_ones(Bytes bitmaps) {
  std::uint64_t ones = 0;
  for (std::uint64_t w = 0; w < bitmaps.size() / 8; ++w) {
    ones += static_cast<std::uint64_t>(std::popcount(load<std::uint64_t>(bitmaps, w)));
  }
  return ones;
}

// Writes where the word's ones are and returns the place behind them.
std::uint32_t* list_ones(std::uint64_t word, std::uint32_t first, std::uint32_t* neuron) {
  for (; word != 0; word &= word - 1) {
    *neuron++ = first + static_cast<std::uint32_t>(std::countr_zero(word));
  }
  return neuron;
}

void decode_bitmaps(const BlockFacts& facts, Bytes bitmaps, const std::string& place,
                    std::uint64_t begin, std::span<std::uint64_t> row_end,
                    std::span<std::uint32_t> neuron) {
  if (count_ones(bitmaps) != facts.ones) {
    fail(ErrorCode::bad_file, place, ": found ", count_ones(bitmaps), " ones, expected ",
         facts.ones);
  }
  const std::uint64_t words = words_per_image(facts.neurons);
  std::uint32_t* next = neuron.data();
  for (std::uint32_t i = 0; i < facts.images; ++i) {
    for (std::uint64_t w = 0; w < words; ++w) {
      next = list_ones(load<std::uint64_t>(bitmaps, i * words + w),
                       static_cast<std::uint32_t>(w * kWordBits), next);
    }
    row_end[i] = begin + static_cast<std::uint64_t>(next - neuron.data());
    if (next != neuron.data() && next[-1] >= facts.neurons) {
      fail(ErrorCode::bad_file, place, ": image ", i, " of it: a bit beyond its neurons is set");
    }
  }
}

template <typename T>
void decode_list(const BlockFacts& facts, Bytes list, const std::string& place, std::uint32_t image,
                 std::span<std::uint32_t> neuron) {
  for (std::size_t k = 0; k < neuron.size(); ++k) {
    neuron[k] = load<T>(list, k);
    if (neuron[k] >= facts.neurons || (k > 0 && neuron[k] <= neuron[k - 1])) {
      fail(ErrorCode::bad_file, place, ": image ", image, " of it: neuron ", neuron[k],
           " is out of order or not below ", facts.neurons);
    }
  }
}

void decode_lists(const BlockFacts& facts, Bytes counts, Bytes list, const std::string& place,
                  std::uint64_t begin, std::span<std::uint64_t> row_end,
                  std::span<std::uint32_t> neuron) {
  const bool is_short = facts.form == BlockForm::short_lists;
  std::uint64_t done = 0;
  for (std::uint32_t i = 0; i < facts.images; ++i) {
    const auto count = load<std::uint32_t>(counts, i);
    if (count > facts.ones - done) {
      fail(ErrorCode::bad_file, place, ": image ", i, " of it: found ", count,
           " ones, expected at most ", facts.ones - done);
    }
    const Bytes rest = list.subspan(done * (is_short ? 2 : 4));
    const auto target = neuron.subspan(done, count);
    if (is_short) {
      decode_list<std::uint16_t>(facts, rest, place, i, target);
    } else {
      decode_list<std::uint32_t>(facts, rest, place, i, target);
    }
    done += count;
    row_end[i] = begin + done;
  }
  if (done != facts.ones) {
    fail(ErrorCode::bad_file, place, ": its images have ", done, " ones, expected ", facts.ones);
  }
}

}  // namespace

BlockFacts unpack(const PartFacts& facts, std::uint32_t neurons, std::uint32_t images) {
  const bool has_rest = (facts.words[2] | facts.words[3] | facts.words[4] | facts.words[5]) != 0;
  return {.form = has_rest ? BlockForm{} : static_cast<BlockForm>(facts.form),
          .neurons = neurons,
          .images = images,
          .ones = facts.words[0] | std::uint64_t{facts.words[1]} << 32};
}

std::string find_defect(const BlockFacts& facts, std::uint64_t bytes) {
  if (facts.form != BlockForm::bitmaps && facts.form != BlockForm::short_lists &&
      facts.form != BlockForm::lists) {
    return "its form is not known";
  }
  if (facts.ones > std::uint64_t{facts.neurons} * facts.images) {
    return "found " + std::to_string(facts.ones) + " ones, more than its images have neurons";
  }
  const std::uint64_t expected = part_bytes(array_bytes(facts));
  if (bytes != expected) {
    return "found " + std::to_string(bytes) + " bytes, expected " + std::to_string(expected);
  }
  return "";
}

EncodedBlock::EncodedBlock(const SparseImages& images, std::uint32_t first, std::uint32_t last) {
  facts_.neurons = images.neurons;
  facts_.images = last - first;
  facts_.ones = images.row_begin[last] - images.row_begin[first];
  facts_.form = smallest_form(facts_);
  if (facts_.form == BlockForm::bitmaps) {
    fill_bitmaps(images, first);
  } else {
    fill_lists(images, first);
  }
}

void EncodedBlock::fill_bitmaps(const SparseImages& images, std::uint32_t first) {
  const std::uint64_t words = words_per_image(images.neurons);
  bitmaps_.resize(words * facts_.images);
  for (std::uint32_t i = 0; i < facts_.images; ++i) {
    std::uint64_t* bitmap = bitmaps_.data() + i * words;
    const std::uint64_t end = images.row_begin[first + i + 1];
    for (std::uint64_t k = images.row_begin[first + i]; k < end; ++k) {
      bitmap[images.neuron[k] / kWordBits] |= std::uint64_t{1} << images.neuron[k] % kWordBits;
    }
  }
  arrays_ = {std::as_bytes(std::span(bitmaps_))};
}

void EncodedBlock::fill_lists(const SparseImages& images, std::uint32_t first) {
  for (std::uint32_t i = first; i < first + facts_.images; ++i) {
    counts_.push_back(static_cast<std::uint32_t>(images.row_begin[i + 1] - images.row_begin[i]));
  }
  arrays_ = {std::as_bytes(std::span(counts_)), {}};
  const auto neurons = std::span(images.neuron).subspan(images.row_begin[first], facts_.ones);
  if (facts_.form == BlockForm::short_lists) {
    short_neurons_.assign(neurons.begin(), neurons.end());
    arrays_[1] = std::as_bytes(std::span(short_neurons_));
  } else {
    arrays_[1] = std::as_bytes(neurons);
  }
}

PartFacts EncodedBlock::facts() const {
  return {static_cast<std::uint32_t>(facts_.form),
          {static_cast<std::uint32_t>(facts_.ones), static_cast<std::uint32_t>(facts_.ones >> 32)}};
}

void decode_block(const BlockFacts& facts, Bytes part, const std::string& place,
                  std::uint64_t begin, std::span<std::uint64_t> row_end,
                  std::span<std::uint32_t> neuron) {
  const auto lengths = array_bytes(facts);
  ArrayReader arrays(part, place);
  const Bytes first = arrays.take(lengths[0]);
  const Bytes second = arrays.take(lengths[1]);
  if (facts.form == BlockForm::bitmaps) {
    decode_bitmaps(facts, first, place, begin, row_end, neuron);
  } else {
    decode_lists(facts, first, second, place, begin, row_end, neuron);
  }
}

}  // namespace winnow::challenge
