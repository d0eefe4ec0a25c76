#include "runtime/challenge/engines/grouped/multilayer_weights.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/challenge/engines/grouped/layout/bank_order.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kMatrices = kStepInputs / 8;  // of 8 columns, read by one instruction
constexpr std::uint32_t kLanes = 32;

// A column of a group's weights: an input's row and the weights of 16 outputs for it, as bits of
// halves.
struct Column {
  std::uint32_t row = 0;
  std::array<std::uint16_t, kGroupOutputs> weight[2] = {};  // [term]

  bool is_zero() const {
    const auto zero = [](std::uint16_t bits) { return bits == 0; };
    return std::ranges::all_of(weight[0], zero) && std::ranges::all_of(weight[1], zero);
  }
};
using Columns = std::array<Column, kStepInputs>;

// A lane's four places in a fragment of 16 columns: (row, column) of the weights in each half of
// a uint4, by PTX's table for mma.m16n8k16.
struct Place {
  std::uint32_t output, column;
};
Place place_of(std::uint32_t lane, std::uint32_t word, std::uint32_t half) {
  return {lane / 4 + word % 2 * 8, lane % 4 * 2 + word / 2 * 8 + half};
}

std::uint32_t word_of(const uint4& v, std::uint32_t i) {
  return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

Columns columns_of(const GroupedLayer& layer, std::uint32_t group) {
  Columns columns;
  for (std::uint32_t f = 0; f < 2; ++f) {
    for (std::uint32_t q = 0; q < 4; ++q) {
      const uint4 rows = layer.input[(std::size_t{group} * 2 + f) * 4 + q];
      for (std::uint32_t i = 0; i < 4; ++i) {
        columns[f * 16 + 2 * q + i % 2 + i / 2 * 8].row = word_of(rows, i);
      }
    }
    for (std::uint32_t term = 0; term < layer.weight_terms; ++term) {
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        const uint4 w =
            layer
                .weight[((std::size_t{group} * layer.weight_terms + term) * 2 + f) * kLanes + lane];
        for (std::uint32_t word = 0; word < 4; ++word) {
          for (std::uint32_t half = 0; half < 2; ++half) {
            const Place p = place_of(lane, word, half);
            columns[f * 16 + p.column].weight[term][p.output] =
                static_cast<std::uint16_t>(word_of(w, word) >> 16 * half);
          }
        }
      }
    }
  }
  return columns;
}

// Columns in an order in which each 8 of them have rows of different banks, as far as possible.
// Columns without weights then read whatever row is in a bank that is left.
Columns in_order_of_banks(const Columns& columns) {
  std::array<std::vector<const Column*>, kBankGroups> of_bank;
  for (const Column& c : columns) {
    if (!c.is_zero()) of_bank[c.row % kBankGroups].push_back(&c);
  }
  std::array<std::array<const Column*, kBankGroups>, kMatrices> order{};
  for (std::uint32_t bank = 0; bank < kBankGroups; ++bank) {
    for (std::uint32_t m = 0; m < kMatrices && !of_bank[bank].empty(); ++m) {
      order[m][bank] = of_bank[bank].back();
      of_bank[bank].pop_back();
    }
  }
  std::vector<const Column*> left;
  for (const auto& bank : of_bank) left.insert(left.end(), bank.begin(), bank.end());
  Columns ordered;
  for (std::uint32_t m = 0; m < kMatrices; ++m) {
    for (std::uint32_t bank = 0; bank < kBankGroups; ++bank) {
      Column& to = ordered[m * kBankGroups + bank];
      to.row = bank;
      if (order[m][bank] == nullptr && !left.empty()) {
        order[m][bank] = left.back();
        left.pop_back();
      }
      if (order[m][bank] != nullptr) to = *order[m][bank];
    }
  }
  return ordered;
}

void append(std::vector<std::uint32_t>& records, const GroupedLayer& layer, std::uint32_t group) {
  const Columns columns = in_order_of_banks(columns_of(layer, group));
  for (std::uint32_t term = 0; term < layer.weight_terms; ++term) {
    for (std::uint32_t f = 0; f < 2; ++f) {
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        for (std::uint32_t word = 0; word < 4; ++word) {
          std::uint32_t halves = 0;
          for (std::uint32_t half = 0; half < 2; ++half) {
            const Place p = place_of(lane, word, half);
            const std::uint32_t bits = columns[f * 16 + p.column].weight[term][p.output];
            halves |= bits << 16 * half;
          }
          records.push_back(halves);
        }
      }
    }
  }
  RecordTail end{};
  for (std::uint32_t k = 0; k < kStepInputs; ++k) {
    end.input[k / 8][k % 8] = static_cast<std::uint16_t>(swizzled_row(columns[k].row));
  }
  for (std::uint32_t n = 0; n < 8; ++n) {
    for (std::uint32_t i = 0; i < 2; ++i) {
      end.bias[n][i] = layer.bias[group * kGroupOutputs + n + 8 * i];
    }
  }
  const std::size_t at = records.size();
  records.resize(at + sizeof(end) / sizeof(std::uint32_t));
  std::memcpy(records.data() + at, &end, sizeof(end));
}

}  // namespace

bool can_pack(const GroupedLayer& layer) {
  constexpr std::uint32_t kMostRows = 0x8000;  // two places each, counted in 16 bits
  return layer.steps() == 1 &&
         std::ranges::all_of(layer.panel_row, [](std::uint32_t row) { return row < kMostRows; });
}

PackedLayer pack_layer(const GroupedLayer& layer) {
  PackedLayer packed{.groups = layer.groups(),
                     .weight_terms = layer.weight_terms,
                     .has_positive_bias = layer.has_positive_bias(),
                     .records = {}};
  for (std::uint32_t g = 0; g < layer.groups(); ++g) append(packed.records, layer, g);
  return packed;
}

void MultilayerWeights::add(const PackedLayer& layer) {
  weight_terms_ = layer.weight_terms;
  has_positive_bias_ |= layer.has_positive_bias;
  records_.push_back(winnow::upload(layer.records));
  views_.push_back({reinterpret_cast<const unsigned char*>(records_.back().get()), layer.groups});
}

std::uint32_t MultilayerWeights::most_groups() const {
  std::uint32_t most = 0;
  for (const PackedLayerView& view : views_) most = std::max(most, view.groups);
  return most;
}

}  // namespace winnow::challenge
