#include "runtime/sparse/resident_weights.h"

#include <vector_functions.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/base/thread_pool.h"
#include "runtime/sparse/fragment_order.h"
#include "runtime/sparse/lane_order.h"

namespace winnow {
namespace {

using Clock = std::chrono::steady_clock;

// One layer on its way.
struct Slot {
  SparseLayer layer;
  std::vector<std::uint32_t> position;  // rows of its inputs
  std::vector<std::uint32_t> output;    // outputs_of_lanes() or outputs_of_fragments()
  SliceOrder order;
};

// What one warp reads, of all layers, in host memory.
struct WarpStream {
  std::vector<uint2> row;
  std::vector<uint4> weight;
  std::vector<float> bias;
  std::vector<std::uint16_t> steps;
};

// All layers in host memory, as they go to the device.
struct Streams {
  explicit Streams(std::uint32_t warps) : warp(warps) {}

  // The stream of the warp that computes the next slice of a layer.
  WarpStream& of_slice(std::uint32_t slice) { return warp[slice % warp.size()]; }

  std::vector<WarpStream> warp;
  std::vector<std::uint32_t> slices;
  std::vector<uint2> begin;
  std::uint64_t accesses = 0;
  std::uint64_t passes = 0;
};

std::uint32_t whole_slices(std::uint32_t neurons) {
  return (neurons + kLanes - 1) / kLanes * kLanes;
}

void append_slices(Streams& streams, const SparseLayer& layer, const SliceOrder& order) {
  std::ptrdiff_t at = 0;
  for (std::uint32_t s = 0; s < order.slices(); ++s) {
    WarpStream& stream = streams.of_slice(s);
    const std::ptrdiff_t end = at + std::ptrdiff_t{order.steps[s]} * kLanes;
    stream.row.insert(stream.row.end(), order.row.begin() + at, order.row.begin() + end);
    stream.weight.insert(stream.weight.end(), order.weight.begin() + at,
                         order.weight.begin() + end);
    at = end;
    stream.steps.push_back(static_cast<std::uint16_t>(order.steps[s]));
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      const std::uint32_t output = order.output_of_lane(s, lane);
      stream.bias.push_back(output == kNoOutput ? 0.0f : layer.bias[output]);
    }
  }
}

void append_layer(Streams& streams, const SparseLayer& layer, const SliceOrder& order,
                  std::uint32_t l) {
  for (const std::uint32_t steps : order.steps) {
    if (steps > std::numeric_limits<std::uint16_t>::max()) {
      fail(ErrorCode::usage, "layer ", l, ": an output has more than 262140 connections");
    }
  }
  streams.slices.push_back(order.slices());
  for (const WarpStream& stream : streams.warp) {
    streams.begin.push_back(make_uint2(static_cast<std::uint32_t>(stream.row.size() / kLanes),
                                       static_cast<std::uint32_t>(stream.steps.size())));
  }
  append_slices(streams, layer, order);
  streams.accesses += order.accesses;
  streams.passes += order.passes;
}

void check_rows(const SparseLayer& layer, std::uint32_t l) {
  if (whole_slices(std::max(layer.inputs, layer.outputs())) > 65536) {
    fail(ErrorCode::usage, "layer ", l, ": ", layer.inputs, " inputs and ", layer.outputs(),
         " outputs, at most 65536 rows fit 16 bits");
  }
}

// Orders the lanes of all layers, a batch of layers at a time, one to a thread.
class Ordering {
 public:
  Ordering(const LayerSource& source, const ResidentSchedule& schedule)
      : streams(schedule.warps),
        rows(whole_slices(source.neurons())),
        position(source.neurons()),
        source_(source),
        unroll_(schedule.unroll) {
    std::iota(position.begin(), position.end(), 0u);
  }

  void run(const std::vector<ResidentLayerForm>& forms, int threads) {
    ThreadPool pool(threads);
    std::vector<Slot> slots(static_cast<std::size_t>(pool.threads()));
    for (std::uint32_t first = 0; first < source_.layers();
         first += static_cast<std::uint32_t>(slots.size())) {
      slots.resize(std::min<std::size_t>(slots.size(), source_.layers() - first));
      order(forms, first, slots, pool);
    }
  }

  Streams streams;
  std::uint32_t rows;                   // of the widest layer
  std::vector<std::uint32_t> position;  // rows of the last layer's outputs
  double ms = 0;                        // without reading

 private:
  void order(const std::vector<ResidentLayerForm>& forms, std::uint32_t first,
             std::vector<Slot>& slots, ThreadPool& pool) {
    const auto for_each = [&](auto job) {
      pool.run([&](int thread) {
        const auto i = static_cast<std::uint32_t>(thread);
        if (i < slots.size()) job(slots[i], first + i);
      });
    };
    for_each([&](Slot& slot, std::uint32_t l) { slot.layer = source_.layer(l); });
    const auto begin = Clock::now();
    std::uint32_t l = first;
    for (Slot& slot : slots) {
      check_rows(slot.layer, l);
      const auto [bank_groups, has_fragments] = forms[l++];
      slot.output = has_fragments ? outputs_of_fragments(slot.layer, position, bank_groups)
                                  : outputs_of_lanes(slot.layer, position, bank_groups);
      slot.position = std::exchange(position, positions_of(slot.output, slot.layer.outputs()));
    }
    for_each([&](Slot& slot, std::uint32_t layer) {
      const auto [bank_groups, has_fragments] = forms[layer];
      if (has_fragments) {
        slot.order = order_fragments(slot.layer, slot.position, std::move(slot.output), bank_groups,
                                     unroll_);
      } else {
        slot.order =
            order_lanes(slot.layer, slot.position, std::move(slot.output), bank_groups, unroll_);
      }
    });
    l = first;
    for (const Slot& slot : slots) {
      append_layer(streams, slot.layer, slot.order, l++);
      rows = std::max(rows, whole_slices(slot.layer.outputs()));
    }
    ms += std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  }

  const LayerSource& source_;
  std::uint32_t unroll_;
};

// One vector of each warp, `length` elements each; zeros fill shorter ones.
template <typename T>
DeviceBuffer<T> upload_streams(const std::vector<WarpStream>& warps,
                               std::vector<T> WarpStream::*member, std::uint64_t length) {
  DeviceBuffer<T> all(warps.size() * length);
  CUDA_CHECK(cudaMemset(all.get(), 0, all.bytes()));
  for (std::size_t w = 0; w < warps.size(); ++w) {
    const std::vector<T>& stream = warps[w].*member;
    copy_to_device(all.get() + w * length, stream.data(), stream.size() * sizeof(T));
  }
  return all;
}

}  // namespace

ResidentWeights::ResidentWeights(const LayerSource& source,
                                 const std::vector<ResidentLayerForm>& forms,
                                 const ResidentSchedule& schedule, int threads)
    : warps_(schedule.warps) {
  Ordering ordering(source, schedule);
  ordering.run(forms, threads);
  rows_ = ordering.rows;
  result_rows_ = std::move(ordering.position);
  order_ms_ = ordering.ms;
  const Streams& streams = ordering.streams;
  // Threads fetch beyond the last step and slice that they use.
  for (const WarpStream& stream : streams.warp) {
    step_stream_ =
        std::max<std::uint64_t>(step_stream_, stream.row.size() / kLanes + schedule.unroll);
    slice_stream_ = std::max<std::uint64_t>(slice_stream_, stream.steps.size() + 1);
  }
  row_ = upload_streams(streams.warp, &WarpStream::row, step_stream_ * kLanes);
  weight_ = upload_streams(streams.warp, &WarpStream::weight, step_stream_ * kLanes);
  bias_ = upload_streams(streams.warp, &WarpStream::bias, slice_stream_ * kLanes);
  steps_ = upload_streams(streams.warp, &WarpStream::steps, slice_stream_);
  slices_ = upload(streams.slices);
  begin_ = upload(streams.begin);
  if (streams.accesses > 0) {
    passes_per_access_ =
        static_cast<double>(streams.passes) / static_cast<double>(streams.accesses);
  }
}

ResidentView ResidentWeights::view() const {
  return {.row = row_.get(),
          .weight = weight_.get(),
          .bias = bias_.get(),
          .steps = steps_.get(),
          .slices = slices_.get(),
          .begin = begin_.get(),
          .step_stream = step_stream_,
          .slice_stream = slice_stream_,
          .warps = warps_};
}

}  // namespace winnow
