#include "runtime/gpu/session/kernel_timer.h"

#include <algorithm>
#include <cmath>

#include "runtime/base/median.h"
#include "runtime/device/graph.h"
#include "runtime/plan/choice.h"

namespace winnow {
namespace {

constexpr double kGraphMs = 0.2;   // a graph lasts about this long, far above an event's resolution
constexpr int kMostLaunches = 20;  // per graph
constexpr int kChoiceRepeats = 7;
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

double time_once(const Enqueue& enqueue, double give_up_ms, cudaStream_t stream) {
  const double estimate = first_estimate(enqueue, stream);
  if (estimate > kHopeless * give_up_ms) return estimate;
  const Recording recording = record(enqueue, estimate, stream);
  time_graph(recording.graph, recording.launches, stream);
  std::vector<double> times;
  for (int i = 0; i < kChoiceRepeats; ++i) {
    times.push_back(time_graph(recording.graph, recording.launches, stream));
  }
  return median(times);
}

}  // namespace winnow
