// Random numbers that are equal on every machine and for every version of the standard library.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace winnow {

// The finalizer of SplitMix64: a bijection of 64-bit words with 0 -> 0.
constexpr std::uint64_t mix_bits(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
  return word ^ (word >> 31);
}

// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. Spreads a
// seed.
class SplitMix64 {
 public:
  explicit constexpr SplitMix64(std::uint64_t seed) : state_(seed) {}
  constexpr std::uint64_t next() { return mix_bits(state_ += 0x9e3779b97f4a7c15u); }

 private:
  std::uint64_t state_;
};

// xoshiro256**: Blackman, Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 2021.
// Not for cryptography. One object belongs to one thread.
class Random {
 public:
  using State = std::array<std::uint64_t, 4>;  // never all zero

  // Equal seeds give equal sequences. Streams of one seed are independent: use one per epoch, per
  // solution, per purpose.
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) {
    SplitMix64 words(seed ^ mix_bits(stream));
    for (std::uint64_t& word : state_) word = words.next();
  }

  // The whole state: an object made from it goes on where this one stands.
  const State& state() const { return state_; }
  static Random from_state(const State& state) { return Random(state); }

  // Uniform over all 64-bit words.
  std::uint64_t bits() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform over 0 .. bound - 1, each equally likely. Requires bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t surplus = (0 - bound) % bound;  // 2^64 mod bound
    std::uint64_t word = bits();
    while (word < surplus) word = bits();
    return word % bound;
  }

  // Uniform over first .. last. Requires first <= last.
  std::int64_t between(std::int64_t first, std::int64_t last) {
    const std::uint64_t span = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
    const std::uint64_t step = span == ~std::uint64_t{0} ? bits() : below(span + 1);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(first) + step);
  }

  // Uniform over the multiples of 2^-53 in [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  // True with this probability; 0 is never, 1 always.
  bool chance(double probability) { return uniform() < probability; }

  // Standard normal, by Marsaglia's polar method. The second value of a pair is dropped, so that
  // the state is the four words alone.
  double normal() {
    for (;;) {
      const double x = 2 * uniform() - 1;
      const double y = 2 * uniform() - 1;
      const double square = x * x + y * y;
      if (square < 1 && square > 0) return x * std::sqrt(-2 * natural_log(square) / square);
    }
  }
  double normal(double mean, double deviation) { return mean + deviation * normal(); }

 private:
  explicit Random(const State& state) : state_(state) {}

  // log(x) for a normal x > 0 from basic operations only: the last bit of std::log differs between
  // C libraries. With m in [1/sqrt 2, sqrt 2), log m = 2 artanh((m - 1) / (m + 1)).
  static double natural_log(double x) {
    int exponent = 0;
    double m = std::frexp(x, &exponent);
    if (m < 0.70710678118654752) {
      m *= 2;
      --exponent;
    }
    const double s = (m - 1) / (m + 1);
    double sum = 0;
    for (int k = 21; k >= 1; k -= 2) sum = sum * (s * s) + 1.0 / k;
    return 2 * s * sum + exponent * 0.69314718055994531;
  }

  State state_{};
};

// Puts `items` into a uniformly chosen order (Fisher-Yates).
template <typename T>
void shuffle(std::vector<T>& items, Random& random) {
  for (std::size_t left = items.size(); left > 1; --left) {
    std::swap(items[left - 1], items[random.below(left)]);
  }
}

// 0 .. count - 1 in a uniformly chosen order.
inline std::vector<std::int64_t> permutation(std::int64_t count, Random& random) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  shuffle(order, random);
  return order;
}

}  // namespace winnow
