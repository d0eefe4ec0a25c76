#include "runtime/challenge/ranks/nccl/nccl_gather.h"

#include <algorithm>
#include <thread>

#include "runtime/challenge/ranks/nccl/nccl_library.h"
#include "runtime/challenge/ranks/packed.h"
#include "runtime/device/buffer.h"
#include "runtime/device/gpu.h"
#include "runtime/device/stream.h"

namespace winnow::challenge {
namespace {

constexpr std::chrono::seconds kBlame(3);  // until it is known which rank's end an error comes from

// One rank's part of NCCL's connections. Its calls return at once (NcclConfig::blocking), so that
// waiting ends when the group has lost a rank; what NCCL then still waits for ends by the abort. We
// abort at a good end too, when no rank has anything left to do: ncclCommDestroy() waits for
// others.
class Communicator {
 public:
  explicit Communicator(RankGroup& group) : group_(group) {
    const NcclId id = shared_id();
    try {
      start(id);
    } catch (...) {
      if (handle_ != nullptr) nccl_.abort(handle_);
      throw;
    }
  }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator() { nccl_.abort(handle_); }

  void gather(const DeviceBuffer<char>& mine, DeviceBuffer<char>& all, cudaStream_t stream) {
    check(nccl_.all_gather(mine.get(), all.get(), mine.count(), NcclType::uint8, handle_, stream),
          "ncclAllGather");
    await_state("ncclAllGather");
  }

  // Until the stream has done what was enqueued.
  void await(cudaStream_t stream) {
    while (true) {
      const cudaError_t status = cudaStreamQuery(stream);
      if (status == cudaSuccess) return;
      if (status != cudaErrorNotReady) CUDA_CHECK(status);
      await_state("ncclAllGather");
      group_.require_all();
      std::this_thread::yield();
    }
  }

 private:
  // Rank 0 makes the number by which all find each other.
  NcclId shared_id() {
    NcclId id{};
    if (group_.rank() == 0) check(nccl_.get_unique_id(&id), "ncclGetUniqueId");
    return unpacked<NcclId>(group_.gather(packed(id)).front()).at(0);
  }

  void start(const NcclId& id) {
    NcclConfig config;
    const char* call = "ncclCommInitRankConfig";
    check(nccl_.init_rank(&handle_, static_cast<int>(group_.size()), id,
                          static_cast<int>(group_.rank()), &config),
          call);
    await_state(call);
  }

  void await_state(const char* call) {
    NcclResult state = NcclResult::in_progress;
    while (true) {
      check(nccl_.get_async_error(handle_, &state), "ncclCommGetAsyncError");
      if (state != NcclResult::in_progress) break;
      group_.require_all();
      std::this_thread::yield();
    }
    check(state, call);
  }

  // An error of NCCL's is often the end of another rank, which the group can name.
  void check(NcclResult result, const char* call) {
    if (result == NcclResult::success || result == NcclResult::in_progress) return;
    group_.require_all(kBlame);
    fail(ErrorCode::device, nccl_name(), ": ", call, ": ", nccl_.error_string(result),
         " (NCCL_DEBUG=WARN tells more)");
  }

  RankGroup& group_;
  const Nccl& nccl_ = Nccl::get();
  NcclHandle handle_ = nullptr;
};

class NcclGather : public Gather {
 public:
  NcclGather(RankGroup& group, int gpu)
      : group_(with_gpu(group, gpu)), gpu_(gpu), communicator_(group) {}

  std::string name() const override { return nccl_name(); }

  std::vector<std::string> all(const std::string& mine) override {
    select_gpu(gpu_);
    const auto ranks = static_cast<std::size_t>(group_.size());
    make_room(mine.size(), ranks);
    std::ranges::copy(mine, host_mine_.values().begin());
    enqueue();
    std::vector<std::string> parts;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      parts.emplace_back(host_all_.values().data() + rank * mine.size(), mine.size());
    }
    return parts;
  }

 private:
  // Copies are from and to page-locked memory: others would wait for NCCL within the call.
  void enqueue() {
    const cudaStream_t stream = stream_.get();
    CUDA_CHECK(cudaMemcpyAsync(mine_.get(), host_mine_.values().data(), mine_.bytes(),
                               cudaMemcpyHostToDevice, stream));
    communicator_.gather(mine_, all_, stream);
    CUDA_CHECK(cudaMemcpyAsync(host_all_.values().data(), all_.get(), all_.bytes(),
                               cudaMemcpyDeviceToHost, stream));
    communicator_.await(stream);
  }

  // Makes the GPU the thread's. NCCL hangs where two ranks have one.
  static RankGroup& with_gpu(RankGroup& group, int gpu) {
    select_gpu(gpu);
    const std::string own = machine_name() + " " + gpu_uuid(gpu);
    const std::vector<std::string> all = group.gather(own);
    for (std::size_t a = 0; a < all.size(); ++a) {
      for (std::size_t b = a + 1; b < all.size(); ++b) {
        if (all[a] != all[b]) continue;
        fail(ErrorCode::usage, group.name(static_cast<std::int64_t>(b)),
             " has the same GPU as rank ", a,
             ", and NCCL needs one for each; --gather tcp needs no NCCL");
      }
    }
    return group;
  }

  void make_room(std::size_t bytes, std::size_t ranks) {
    if (mine_.count() == bytes) return;
    mine_ = DeviceBuffer<char>(bytes);
    all_ = DeviceBuffer<char>(bytes * ranks);
    host_mine_ = PinnedBuffer<char>(bytes);
    host_all_ = PinnedBuffer<char>(bytes * ranks);
  }

  RankGroup& group_;
  int gpu_;
  Stream stream_;
  DeviceBuffer<char> mine_, all_;
  PinnedBuffer<char> host_mine_, host_all_;
  Communicator communicator_;  // ends before what it works on
};

}  // namespace

std::unique_ptr<Gather> make_nccl_gather(RankGroup& group, int gpu) {
  return std::make_unique<NcclGather>(group, gpu);
}

}  // namespace winnow::challenge
