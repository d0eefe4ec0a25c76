// Sets of vector instructions. No standard library here: kernels for each set include this.
#pragma once

namespace winnow {

// Narrowest first.
enum class Isa { baseline, avx2, avx512 };

}  // namespace winnow
