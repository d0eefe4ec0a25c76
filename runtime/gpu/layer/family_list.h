// The entries of the table in families.cpp.
#pragma once

#include "runtime/gpu/layer/family.h"

namespace winnow {

const Family& dense_family();
const Family& direct_family();
const Family& direct_ell_family();
const Family& linear_family();
const Family& linear_gather_family();
const Family& linear_stack_family();
const Family& pool_family();
const Family& add_family();
const Family& concat_family();
const Family& flatten_family();
const Family& embedding_family();
const Family& softmax_family();

// Index of the first format in `formats` that is equal to `wanted`; formats.size() if none is.
std::size_t format_index(const std::vector<ActivationFormat>& formats,
                         const ActivationFormat& wanted);

// Whether dense convolutions may run on tensor cores, which want channels in multiples of 8.
inline bool has_padded_channels(const SessionOptions& options) {
  return options.precision == Precision::f16 || options.use_tf32;
}

// Row-major without halo, in `precision`: what flattening, linear layers and softmax work on.
inline constexpr ActivationFormat row_major(Precision precision) {
  return {.layout = Layout::nchw, .precision = precision};
}

// Of values within a stack of linear layers that one launch computes.
inline constexpr ActivationFormat kDeferred = {.is_deferred = true};

}  // namespace winnow
