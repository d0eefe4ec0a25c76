#include "runtime/gpu/session/kernel_timer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "runtime/base/median.h"
#include "runtime/device/buffer.h"
#include "runtime/device/graph.h"
#include "runtime/gpu/pointwise/noise.h"

namespace winnow {
namespace {

constexpr double kGraphMs = 0.2;   // a graph lasts about this long, far above an event's resolution
constexpr int kMostLaunches = 20;  // per graph
constexpr int kChoiceRepeats = 7;
constexpr int kColdRuns = 5;
constexpr int kNetworkRounds = 3;
constexpr int kNetworkRepeats = 7;
constexpr std::uint32_t kNoiseSeed = 7;
constexpr double kHopeless = 4.0;  // times slower than the best: not worth more repeats

double time_graph(const DeviceGraph& graph, int launches, cudaStream_t stream) {
  const Event begin, end;
  begin.record(stream);
  graph.launch(stream);
  end.record(stream);
  return milliseconds_between(begin, end) / launches;
}

// The work recorded often enough to be timed, and how often.
struct Recording {
  DeviceGraph graph;
  int launches = 1;
};

double first_estimate(const Enqueue& enqueue, cudaStream_t stream) {
  enqueue(stream);  // loads code; its time means nothing
  CUDA_CHECK(cudaStreamSynchronize(stream));
  const DeviceGraph once = DeviceGraph::capture(stream, [&] { enqueue(stream); });
  time_graph(once, 1, stream);
  return time_graph(once, 1, stream);
}

Recording record(const Enqueue& enqueue, double estimate_ms, cudaStream_t stream) {
  const double wanted = std::ceil(kGraphMs / std::max(estimate_ms, 1e-3));
  Recording recording;
  recording.launches = std::clamp(static_cast<int>(wanted), 1, kMostLaunches);
  recording.graph = DeviceGraph::capture(stream, [&] {
    for (int i = 0; i < recording.launches; ++i) enqueue(stream);
  });
  return recording;
}

}  // namespace

std::vector<double> time_repeatedly(const Enqueue& enqueue, int warm_up, int repeats,
                                    cudaStream_t stream) {
  const Recording recording = record(enqueue, first_estimate(enqueue, stream), stream);
  for (int i = 0; i < warm_up; ++i) time_graph(recording.graph, recording.launches, stream);
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    times.push_back(time_graph(recording.graph, recording.launches, stream));
  }
  return times;
}

Timing time_kernel(const Enqueue& enqueue, double give_up_ms, cudaStream_t stream) {
  const double estimate = first_estimate(enqueue, stream);
  if (estimate > kHopeless * give_up_ms) return timing_of({estimate});
  const Recording recording = record(enqueue, estimate, stream);
  time_graph(recording.graph, recording.launches, stream);
  std::vector<double> times;
  for (int i = 0; i < kChoiceRepeats; ++i) {
    times.push_back(time_graph(recording.graph, recording.launches, stream));
  }
  return timing_of(times);
}

std::vector<Timing> time_networks(const std::vector<std::unique_ptr<DeviceNetwork>>& networks,
                                  std::int64_t inputs, cudaStream_t stream) {
  std::vector<Recording> recordings;
  for (const auto& network : networks) {
    fill_noise(network->input(), inputs, Precision::f32, kNoiseSeed, stream);
    const Enqueue enqueue = [&](cudaStream_t on) { network->enqueue(on); };
    recordings.push_back(record(enqueue, first_estimate(enqueue, stream), stream));
  }
  std::vector<Timing> best(networks.size());
  for (int round = 0; round < kNetworkRounds; ++round) {
    for (std::size_t i = 0; i < networks.size(); ++i) {
      const Recording& recording = recordings[i];
      time_graph(recording.graph, recording.launches, stream);
      std::vector<double> times;
      for (int run = 0; run < kNetworkRepeats; ++run) {
        times.push_back(time_graph(recording.graph, recording.launches, stream));
      }
      const Timing timing = timing_of(times);
      if (round == 0 || timing.median_ms < best[i].median_ms) best[i] = timing;
    }
  }
  return best;
}

double cold_ms_of(const Enqueue& enqueue, cudaStream_t stream) {
  int gpu = 0, bytes = 0;
  CUDA_CHECK(cudaGetDevice(&gpu));
  CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, gpu));
  const DeviceBuffer<std::byte> evictor(2 * static_cast<std::size_t>(bytes));
  const DeviceGraph once = DeviceGraph::capture(stream, [&] { enqueue(stream); });
  time_graph(once, 1, stream);
  std::vector<double> times;
  for (int i = 0; i < kColdRuns; ++i) {
    CUDA_CHECK(cudaMemsetAsync(evictor.get(), i, evictor.bytes(), stream));
    times.push_back(time_graph(once, 1, stream));
  }
  return median(times);
}

double highest_clock_mhz(int gpu) {
  int kilohertz = 0;
  const cudaError_t status = cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, gpu);
  if (status == cudaSuccess) return kilohertz / 1000.0;
  cudaGetLastError();  // clears it
  return 0;
}

}  // namespace winnow
