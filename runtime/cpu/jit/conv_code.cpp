#include "runtime/cpu/jit/conv_code.h"

#include <xbyak/xbyak.h>

#include <algorithm>
#include <limits>

#include "runtime/base/error.h"
#include "runtime/base/isa.h"
#include "runtime/cpu/cpu_features.h"

namespace winnow {
namespace {

constexpr std::int64_t kFloatBytes = sizeof(float);

// Most bytes of an entry's instructions, of a channel's and of all others of a part.
constexpr std::size_t kEntryBytes = 32, kChannelBytes = 64, kPartBytes = 256;

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
    return place_of_code;
  }

  void load_input(std::int64_t offset) {
    const auto mask = static_cast<int>(offset % 4);
    const auto from = zword[in_ + static_cast<int>(offset / 4 * kFloatBytes)];
    if (mask == 0) {
      vmovups(input_, from);
    } else {
      vmovups(input_ | Xbyak::Opmask(mask) | T_z, from);
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
    vfmadd231ps(Xbyak::Zmm(k), input_, ptr_b[weights_ + at]);
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

 private:
  int place(int channel) const { return channel * stride_; }

  const Xbyak::Reg64 weights_ = rsi, bias_ = rdx, in_ = rax, out_ = rcx, lanes_ = r8, count_ = r9,
                     addend_ = r10;
  const std::uint8_t* loop_ = nullptr;  // where the current part's loop begins
  const Xbyak::Zmm input_ = Xbyak::Zmm(31);
  int channels_ = 0;
  int stride_ = 0;          // bytes between the output's channels
  std::int64_t moved_ = 0;  // floats that weights_ is ahead of the part's first
};

ConvCode::ConvCode(const BlockLists& lists, const std::vector<float>& bias, const JitShape& shape)
    : chunks_(lists.chunks), bias_(bias) {
  const std::int64_t vector = lists.vector;
  const std::int64_t most_rows = std::max<std::int64_t>(1, kJitChannels / vector);
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
  entries_.assign(static_cast<std::size_t>(groups), 0);
  for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
    for (std::int64_t g = 0; g < groups; ++g) {
      const auto channels = static_cast<int>(channels_[g + 1] - channels_[g]);
      parts_.push_back({code_->begin(channels, chunk == 0), weights_.size()});
      const std::int64_t first_weight = static_cast<std::int64_t>(weights_.size());
      std::int64_t last_offset = -1;
      for (const Entry& entry : entries_of(lists, chunk, rows[g], rows[g + 1])) {
        if (entry.offset != last_offset) {
          code_->load_input(entry.offset);
          last_offset = entry.offset;
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
