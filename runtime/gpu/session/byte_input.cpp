#include "runtime/gpu/session/byte_input.h"

#include <algorithm>

namespace winnow {

void ByteInput::enqueue(const DeviceNetwork& network, std::span<const std::uint8_t> bytes,
                        bool records, cudaStream_t stream) {
  const bool is_first = device_.count() == 0;
  if (is_first) {
    host_ = PinnedBuffer<std::uint8_t>(bytes.size());
    device_ = DeviceBuffer<std::uint8_t>(bytes.size());
  }
  std::ranges::copy(bytes, host_.values().begin());
  CUDA_CHECK(cudaMemcpyAsync(device_.get(), host_.values().data(), device_.bytes(),
                             cudaMemcpyHostToDevice, stream));
  if (!graph_.is_empty()) return graph_.launch(stream);
  const auto enqueue_network = [&] { network.enqueue_on_bytes(device_.get(), stream); };
  enqueue_network();
  if (!is_first || !records) return;
  CUDA_CHECK(cudaStreamSynchronize(stream));
  graph_ = DeviceGraph::capture(stream, enqueue_network);  // now that the code is loaded
}

}  // namespace winnow
