#include "runtime/commands/challenge_ranks.h"

#include <exception>
#include <sstream>

#include "runtime/base/error.h"
#include "runtime/base/rank_farewell.h"
#include "runtime/base/version.h"
#include "runtime/challenge/engines/engines.h"
#include "runtime/challenge/engines/gpu/gpu_engines.h"
#include "runtime/challenge/ranks/layer_checksums.h"
#include "runtime/challenge/ranks/nccl/nccl_gather.h"
#include "runtime/challenge/ranks/packed.h"
#include "runtime/challenge/ranks/rank_engine.h"
#include "runtime/cli/interrupt.h"
#include "runtime/device/memory_use.h"

namespace winnow {
namespace {

using challenge::RankGroup;

bool uses_gpu(const ChallengeRunOptions& options) {
  return challenge::runs_on_gpu(options.engine) ||
         (!options.baseline.empty() && challenge::runs_on_gpu(options.baseline));
}

ChallengeRunOptions options_of_rank(ChallengeRunOptions options, const RankPlace& place) {
  if (place.rank > 0) {
    options.truth.clear();
    options.categories.clear();
    options.json.clear();
    options.is_quiet = true;
  }
  const int gpus = options.has_gpu || !uses_gpu(options) ? 0 : challenge::visible_gpus();
  if (gpus > 0) options.engine_options.gpu = static_cast<int>(place.local_rank % gpus);
  return options;
}

std::unique_ptr<challenge::Gather> make_gather(const std::string& engine, const std::string& gather,
                                               const challenge::EngineOptions& options,
                                               RankGroup& group) {
  const bool uses_nccl = gather.empty() ? challenge::runs_on_gpu(engine) : gather == "nccl";
  if (!uses_nccl) return challenge::make_tcp_gather(group);
  if (!challenge::runs_on_gpu(engine)) {
    fail(ErrorCode::usage, "--gather nccl: engine ", engine, " runs on no GPU");
  }
  return challenge::make_nccl_gather(group,
                                     options.gpus.empty() ? options.gpu : options.gpus.front());
}

}  // namespace

int run_as_rank(const ChallengeRunOptions& options,
                const std::function<int(const ChallengeRunOptions&, RankGroup*)>& run) {
  const RankPlace place = rank_place();
  if (place.size == 1) return run(options, nullptr);
  RankGroup group(place, challenge::meeting_ports(place), {},
                  [] { return InterruptGuard::requested(); });
  return tell_ranks_of_failure(group, [&] { return run(options_of_rank(options, place), &group); });
}

void require_same_work(RankGroup& group, const ChallengeRunOptions& options,
                       const ChallengeReport& report, const challenge::SparseImages& images) {
  std::ostringstream work;
  work << "winnow: " << full_version_text() << "\nengine: " << options.engine
       << "\nbaseline: " << options.baseline << "\ngather: " << options.gather
       << "\nrepeats: " << options.repeats.value_or(0)
       << "\nwarm-up: " << static_cast<std::int64_t>(options.warm_up.value_or(-1))
       << "\nneurons: " << report.neurons << "\nlayers: " << report.first_layer << " to "
       << report.last_layer << "\nconnections: " << report.connections
       << "\nimages: " << report.first_image << " to " << report.last_image
       << "\nchecksum of images: " << challenge::checksum_of(images);
  challenge::require_equal(group, work.str());
}

std::unique_ptr<challenge::Engine> make_rank_engine(const std::string& name,
                                                    const challenge::Network& network,
                                                    const challenge::EngineOptions& options,
                                                    const std::string& gather, RankGroup* group) {
  if (group == nullptr) return challenge::make_engine(name, network, options);
  const challenge::ChecksummedNetwork read(network);
  auto engine = challenge::make_engine(name, read, options);
  challenge::require_equal_layers(*group, read);
  return std::make_unique<challenge::RankEngine>(*group, std::move(engine),
                                                 make_gather(name, gather, options, *group));
}

void report_ranks(RankGroup& group, const challenge::Engine& engine, ChallengeReport& report) {
  const auto& divided = dynamic_cast<const challenge::RankEngine&>(engine);
  const std::vector<std::string> peaks =
      group.gather(challenge::packed(std::uint64_t{device_memory_use.peak()}));
  report.peak_gpu_bytes = 0;
  for (std::size_t rank = 0; rank < peaks.size(); ++rank) {
    const std::size_t peak = challenge::unpacked<std::uint64_t>(peaks[rank]).at(0);
    report.peak_gpu_bytes += peak;
    report.ranks.push_back({group.machines()[rank], divided.devices()[rank], peak});
  }
}

}  // namespace winnow
