// doctest behind LibTorch: both define CHECK, and the later one wins.
#pragma once

// clang-format off
#include <torch/types.h>
#undef CHECK
#include <doctest/doctest.h>
// clang-format on
