#include "runtime/cpu/jit/conv_code.h"

#include <xbyak/xbyak.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "runtime/base/error.h"
#include "runtime/base/isa.h"
#include "runtime/cpu/cpu_features.h"

namespace winnow {
namespace {

constexpr std::int64_t kFloatBytes = sizeof(float);

// Registers for inputs besides one, where inputs lie across aligned vectors.
constexpr int kKeptVectors = 3;

// Most bytes of an entry's instructions, of a channel's and of all others of a part.
constexpr std::size_t kEntryBytes = 48, kChannelBytes = 64, kPartBytes = 256;

// One column of one row of blocks.
struct Entry {
  std::int64_t offset;
  std::int64_t row;    // within the group, of blocks
  std::int64_t index;  // into the lists
};

// Of rows first .. last - 1 in one chunk, equal offsets side by side.
std::vector<Entry> entries_of(const BlockLists& lists, std::int64_t chunk, std::int64_t first,
                              std::int64_t last) {
  std::vector<Entry> entries;
  for (std::int64_t row = first; row < last; ++row) {
    const std::int64_t list = chunk * lists.block_rows + row;
    for (std::int64_t i = lists.begin[list]; i < lists.begin[list + 1]; ++i) {
      entries.push_back({lists.offset[i], row - first, i});
    }
  }
  std::ranges::stable_sort(entries, {}, &Entry::offset);
  return entries;
}

// The first offset behind entry `index` that is another one.
std::optional<std::int64_t> next_offset(const std::vector<Entry>& entries, std::size_t index) {
  for (std::size_t i = index + 1; i < entries.size(); ++i) {
    if (entries[i].offset != entries[index].offset) return entries[i].offset;
  }
  return std::nullopt;
}

}  // namespace

class ConvCode::Generator : public Xbyak::CodeGenerator {
 public:
  explicit Generator(std::size_t bytes) : Xbyak::CodeGenerator(bytes, Xbyak::DontSetProtectRWE) {}

  using Function = void (*)(const JitCall*, const float* weights, const float* bias);

  // Begins a function for `channels` sums and returns its place.
  std::size_t begin(int channels, bool starts) {
    align(64);
    const std::size_t place_of_code = getSize();
    channels_ = channels;
    // System V: rdi, rsi, rdx.
    mov(lanes_, ptr[rdi + offsetof(JitCall, lanes)]);
    mov(count_, ptr[rdi + offsetof(JitCall, vectors)]);
    mov(out_, ptr[rdi + offsetof(JitCall, out)]);
    mov(in_, ptr[rdi + offsetof(JitCall, in)]);
    mov(addend_, ptr[rdi + offsetof(JitCall, addend)]);
    loop_ = getCurr();
    for (int mask = 1; mask < kJitMasks; ++mask) {
      kmovw(Xbyak::Opmask(mask), word[lanes_ + offsetof(JitLanes, in) + mask * 2]);
    }
    for (int k = 0; k < channels; ++k) {
      if (starts) {
        vbroadcastss(Xbyak::Zmm(k), dword[bias_ + k * static_cast<int>(kFloatBytes)]);
      } else {
        vmovups(Xbyak::Zmm(k), zword[out_ + place(k)]);
      }
    }
    moved_ = 0;
    std::ranges::fill(kept_, std::nullopt);
    return place_of_code;
  }

  // Makes the vector at `offset` the operand of what follows. Where it lies across two aligned
  // vectors and one of them is at hand or `next`, the operand after it, will want it too, it is put
  // together of them: a load across a cache line costs as much as two.
  void use_input(std::int64_t offset, std::optional<std::int64_t> next) {
    const Xbyak::Opmask mask(static_cast<int>(offset % 4));
    const std::int64_t place = aligned_place(offset), vector = vector_of(place);
    const auto rest = static_cast<int>(place - vector * kJitLanes);
    operand_ = input_;
    if (!is_split_) return vmovups(masked(input_, mask), at(place));
    if (rest == 0) {
      const Xbyak::Zmm kept = kept_vector(vector);
      if (mask.getIdx() == 0) {
        operand_ = kept;
      } else {
        vmovaps(masked(input_, mask), kept);
      }
      return;
    }
    const bool is_near = next && vector_of(aligned_place(*next)) <= vector + 1;
    if (is_kept(vector) || is_kept(vector + 1) || is_near) {
      const Xbyak::Zmm low = kept_vector(vector), high = kept_vector(vector + 1);
      valignd(masked(input_, mask), high, low, static_cast<std::uint8_t>(rest));
    } else {
      vmovups(masked(input_, mask), at(place));
    }
  }

  // sum[k] += input * weights[index]. Short instructions reach 128 floats either way.
  void multiply_add(int k, std::int64_t index) {
    constexpr std::int64_t kReach = 127, kMove = 254;
    if (index - moved_ > kReach) {
      add(weights_, static_cast<int>(kMove * kFloatBytes));
      moved_ += kMove;
    }
    const auto at = static_cast<int>((index - moved_) * kFloatBytes);
    vfmadd231ps(Xbyak::Zmm(k), operand_, ptr_b[weights_ + at]);
  }

  void end(bool finishes, const JitShape& shape) {
    const bool has_relu = shape.has_relu;
    const bool has_addend = finishes && shape.has_addend;
    const Xbyak::Zmm zero = input_;
    const Xbyak::Opmask written(kJitMasks);
    if (finishes) {
      kmovw(written, word[lanes_ + offsetof(JitLanes, out)]);
      if (has_relu) vpxord(zero, zero, zero);
    }
    for (int k = 0; k < channels_; ++k) {
      const Xbyak::Zmm sum(k);
      if (has_addend) vaddps(sum, sum, zword[addend_ + place(k)]);
      // The second operand of a maximum is its result where one of them is not a number.
      if (finishes && has_relu) vmaxps(sum | written | T_z, zero, sum);
      if (finishes && !has_relu) vmovaps(sum | written | T_z, sum);
      vmovups(zword[out_ + place(k)], sum);
    }
    constexpr int kStep = kJitLanes * kFloatBytes;
    add(in_, kStep);
    add(out_, kStep);
    if (has_addend) add(addend_, kStep);
    add(lanes_, static_cast<int>(sizeof(JitLanes)));
    if (moved_ != 0) sub(weights_, static_cast<int>(moved_ * kFloatBytes));
    dec(count_);
    jnz(static_cast<const void*>(loop_));
    vzeroupper();
    ret();
  }

  // Makes the code runnable and no longer writable.
  void finish() {
    if (!setProtectMode(PROTECT_RE, false)) {
      fail(ErrorCode::device, "the system refuses to run generated code");
    }
  }

  void set_channel_stride(std::int64_t floats) { stride_ = static_cast<int>(floats * kFloatBytes); }

  // Inputs lie `shift` floats behind an aligned place; `is_split`: some across two aligned vectors.
  void set_alignment(std::int64_t shift, bool is_split) {
    shift_ = shift;
    is_split_ = is_split;
  }

  std::int64_t aligned_place(std::int64_t offset) const { return offset / 4 - shift_; }

 private:
  static std::int64_t vector_of(std::int64_t place) {
    return (place - ((place % kJitLanes + kJitLanes) % kJitLanes)) / kJitLanes;
  }
  static Xbyak::Zmm masked(const Xbyak::Zmm& to, const Xbyak::Opmask& mask) {
    return mask.getIdx() == 0 ? to : to | mask | Xbyak::util::T_z;
  }
  Xbyak::Address at(std::int64_t aligned) const {
    return zword[in_ + static_cast<int>((aligned + shift_) * kFloatBytes)];
  }

  bool is_kept(std::int64_t vector) const {
    return std::ranges::find(kept_, std::optional(vector)) != std::end(kept_);
  }
  // The register that holds an aligned vector, loaded now unless it is there.
  Xbyak::Zmm kept_vector(std::int64_t vector) {
    const auto slot = static_cast<int>((vector % kKeptVectors + kKeptVectors) % kKeptVectors);
    const Xbyak::Zmm kept(kJitChannels - kKeptVectors + 1 + slot);
    if (kept_[slot] != vector) vmovups(kept, at(vector * kJitLanes));
    kept_[slot] = vector;
    return kept;
  }

  int place(int channel) const { return channel * stride_; }

  const Xbyak::Reg64 weights_ = rsi, bias_ = rdx, in_ = rax, out_ = rcx, lanes_ = r8, count_ = r9,
                     addend_ = r10;
  const std::uint8_t* loop_ = nullptr;  // where the current part's loop begins
  const Xbyak::Zmm input_ = Xbyak::Zmm(31);
  Xbyak::Zmm operand_ = input_;                     // of the next multiply-adds
  std::optional<std::int64_t> kept_[kKeptVectors];  // aligned vectors in registers below input_
  std::int64_t shift_ = 0;
  bool is_split_ = false;
  int channels_ = 0;
  int stride_ = 0;          // bytes between the output's channels
  std::int64_t moved_ = 0;  // floats that weights_ is ahead of the part's first
};

ConvCode::ConvCode(const BlockLists& lists, const std::vector<float>& bias, const JitShape& shape)
    : chunks_(lists.chunks), bias_(bias) {
  const std::int64_t vector = lists.vector;
  const bool is_split = std::ranges::any_of(lists.offset, [&](std::int64_t offset) {
    return (offset / 4 - shape.shift) % kJitLanes != 0;
  });
  const int most = is_split ? kJitChannels - kKeptVectors + 1 : kJitChannels;
  const std::int64_t most_rows = std::max<std::int64_t>(1, most / vector);
  const std::int64_t groups = (lists.block_rows + most_rows - 1) / most_rows;
  std::vector<std::int64_t> rows;
  for (std::int64_t g = 0; g <= groups; ++g) {
    rows.push_back(lists.block_rows * g / std::max<std::int64_t>(groups, 1));
    channels_.push_back(std::min(rows.back() * vector, shape.channels));
  }
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max() / kFloatBytes;
  if (shape.channel_stride > kMost / kJitChannels) {
    fail(ErrorCode::usage, "a plane of ", shape.channel_stride, " floats, generated code takes ",
         kMost / kJitChannels);
  }

  const std::size_t parts = static_cast<std::size_t>(chunks_ * groups);
  code_ = std::make_unique<Generator>(lists.value.size() * kEntryBytes +
                                      parts * (kJitChannels * kChannelBytes + kPartBytes) + 4096);
  code_->set_channel_stride(shape.channel_stride);
  code_->set_alignment(shape.shift, is_split);
  entries_.assign(static_cast<std::size_t>(groups), 0);
  for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
    for (std::int64_t g = 0; g < groups; ++g) {
      const auto channels = static_cast<int>(channels_[g + 1] - channels_[g]);
      parts_.push_back({code_->begin(channels, chunk == 0), weights_.size()});
      const std::int64_t first_weight = static_cast<std::int64_t>(weights_.size());
      const std::vector<Entry> entries = entries_of(lists, chunk, rows[g], rows[g + 1]);
      for (std::size_t i = 0; i < entries.size(); ++i) {
        const Entry& entry = entries[i];
        if (i == 0 || entry.offset != entries[i - 1].offset) {
          code_->use_input(entry.offset, next_offset(entries, i));
        }
        for (std::int64_t u = 0; u < vector; ++u) {
          const std::int64_t k = entry.row * vector + u;
          if (k >= channels) break;
          code_->multiply_add(static_cast<int>(k),
                              static_cast<std::int64_t>(weights_.size()) - first_weight);
          weights_.push_back(lists.value[entry.index * vector + u]);
        }
      }
      entries_[g] += static_cast<std::int64_t>(weights_.size()) - first_weight;
      code_->end(chunk + 1 == chunks_, shape);
    }
  }
  parts_.push_back({code_->getSize(), weights_.size()});
  code_->finish();
}

ConvCode::~ConvCode() = default;

void ConvCode::run(std::int64_t chunk, std::int64_t group, const JitCall& call) const {
  const Part& part = parts_[chunk * groups() + group];
  const auto function = reinterpret_cast<Generator::Function>(
      reinterpret_cast<std::uintptr_t>(code_->getCode()) + part.code);
  function(&call, weights_.data() + part.weight, bias_.data() + channels_[group]);
}

void ConvCode::prefetch(std::int64_t chunk, std::int64_t group, std::int64_t portion,
                        std::int64_t portions) const {
  constexpr std::size_t kLine = 64;
  const Part& part = parts_[chunk * groups() + group];
  const Part& next = parts_[chunk * groups() + group + 1];
  const auto fetch = [&](const auto* from, std::size_t bytes) {
    const auto* first = reinterpret_cast<const char*>(from);
    const std::size_t end = bytes * static_cast<std::size_t>(portion + 1) / portions;
    for (std::size_t at = bytes * static_cast<std::size_t>(portion) / portions; at < end;
         at += kLine) {
      __builtin_prefetch(first + at, 0, 2);
    }
  };
  fetch(code_->getCode() + part.code, next.code - part.code);
  fetch(weights_.data() + part.weight, (next.weight - part.weight) * sizeof(float));
}

bool has_jit() {
  static const bool has = [] {
    if (available_isas().back() != Isa::avx512) return false;
    try {
      Xbyak::CodeGenerator code(4096, Xbyak::DontSetProtectRWE);
      code.ret();
      return code.setProtectMode(Xbyak::CodeArray::PROTECT_RE, false);
    } catch (const Xbyak::Error&) {
      return false;
    }
  }();
  return has;
}

}  // namespace winnow
