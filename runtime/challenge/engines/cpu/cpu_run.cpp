#include "runtime/challenge/engines/cpu/cpu_run.h"

#include <algorithm>

namespace winnow::challenge {
namespace {

// A batch's images wait when no more than an eighth of them is left: to wait costs about as much
// as a layer.
constexpr std::uint32_t kFewLeft = 8;

TileArgs args_for(const LayerTiles& layer, ImageBatch& batch, std::uint32_t slab) {
  return {.in = batch.in(slab),
          .out = batch.out(),
          .tile = layer.tile.data(),
          .tiles = static_cast<std::int64_t>(layer.tile.size()),
          .input = layer.input.data(),
          .value = layer.value.data(),
          .bias = layer.bias.data(),
          .limit = kLargestActivation,
          .lanes = batch.lanes_of_slab(slab),
          .alive = batch.alive(slab).lane.data()};
}

// The blocks first, first + step, ...
void run_blocks(TileKernel kernel, const CpuLayer& layer, TileArgs args, std::size_t first,
                std::size_t step) {
  const OutputTile* tiles = args.tile;
  for (std::size_t block = first; block + 1 < layer.block_begin.size(); block += step) {
    args.tile = tiles + layer.block_begin[block];
    args.tiles = layer.block_begin[block + 1] - layer.block_begin[block];
    kernel(args);
  }
}

// The same on all threads, each with flags of its own.
void share_blocks(const CpuSetup& setup, const CpuLayer& layer, const TileArgs& args) {
  const auto threads = static_cast<std::size_t>(setup.pool.threads());
  std::vector<LaneFlags> alive(threads);
  setup.pool.run([&](int thread) {
    const auto t = static_cast<std::size_t>(thread);
    TileArgs own = args;
    own.alive = alive[t].lane.data();
    run_blocks(setup.kernel, layer, own, t, threads);
  });
  for (const LaneFlags& own : alive) {
    for (std::size_t lane = 0; lane < own.lane.size(); ++lane) args.alive[lane] |= own.lane[lane];
  }
}

std::uint32_t count_images(const std::vector<WaitingImages>& waiting) {
  std::uint32_t count = 0;
  for (const WaitingImages& images : waiting) count += images.images();
  return count;
}

}  // namespace

CpuRun::CpuRun(const CpuSetup& setup, const SparseImages& images)
    : setup_(setup), images_(images), waiting_(layers()) {
  live_.assign(threads(), std::vector<std::uint32_t>(layers() + std::size_t{1}));
  for (std::uint32_t i = 0; i < images.images(); ++i) {
    if (images.row_begin[i] < images.row_begin[i + std::size_t{1}]) fresh_.push_back(i);
  }
}

Categories CpuRun::run() {
  for (std::uint32_t layer = 0; layer < layers(); ++layer) {
    if (layer == 0 || !waiting_[layer].empty()) run_from(layer);
  }
  if (setup_.progress) setup_.progress(layers(), layers());
  std::sort(categories_.begin(), categories_.end());
  return std::move(categories_);
}

std::vector<std::uint32_t> CpuRun::live() const {
  std::vector<std::uint32_t> sum(layers() + std::size_t{1});
  for (const auto& of_thread : live_) {
    for (std::size_t l = 0; l < sum.size(); ++l) sum[l] += of_thread[l];
  }
  return sum;
}

void CpuRun::run_from(std::uint32_t layer) {
  Pass pass;
  pass.first = pass.deepest = layer;
  pass.last = layer + 1;
  while (pass.last < layers() && waiting_[pass.last].empty()) ++pass.last;
  const bool is_fresh = layer == 0;
  const auto images =
      is_fresh ? static_cast<std::uint32_t>(fresh_.size()) : count_images(waiting_[layer]);
  const auto bounds = cut_evenly(images, setup_.batch_images, threads());
  pass.tasks = is_fresh ? fresh_tasks(fresh_, bounds) : waiting_tasks(waiting_[layer], bounds);
  pass.outcomes.resize(pass.tasks.size());
  run_tasks(pass, images / kLaneMultiple < threads() ? Sharing::blocks : Sharing::images);
  waiting_[layer].clear();
  for (Outcome& outcome : pass.outcomes) {
    categories_.insert(categories_.end(), outcome.survivors.begin(), outcome.survivors.end());
    if (outcome.waiting.images() > 0) {
      waiting_[outcome.layer].push_back(std::move(outcome.waiting));
    }
  }
}

void CpuRun::run_tasks(Pass& pass, Sharing sharing) {
  const auto take_tasks = [&](int thread) {
    try {
      for (std::size_t task = pass.next++; task < pass.tasks.size(); task = pass.next++) {
        run_task(pass, task, static_cast<std::size_t>(thread), sharing);
      }
    } catch (...) {
      is_stopping_ = true;
      throw;
    }
  };
  if (sharing == Sharing::images) {
    setup_.pool.run(take_tasks);
  } else {
    take_tasks(0);
  }
}

void CpuRun::run_task(Pass& pass, std::size_t task, std::size_t thread, Sharing sharing) {
  ImageBatch& batch = setup_.batches[thread];
  const CpuNetwork& network = setup_.network;
  if (pass.first == 0) {
    batch.load(images_, pass.tasks[task].fresh);
  } else {
    batch.load(pass.tasks[task].waiting, network.neurons_before(pass.first));
  }
  const std::uint32_t start = batch.lanes();
  const std::uint32_t enough = pass.tasks.size() > 1 ? start / kFewLeft : 0;
  std::uint32_t layer = pass.first, left = start;
  while (layer < pass.last && left > enough && !is_stopping_) {
    if (layer > pass.first) batch.drop_dead(network.neurons_before(layer));
    live_[thread][layer] += left;
    run_layer(batch, network.layers[layer], sharing);
    left = batch.count_live();
    ++layer;
    if (thread == 0) report(pass, layer);
  }
  Outcome& outcome = pass.outcomes[task];
  outcome.layer = layer;
  if (layer == layers()) {
    live_[thread][layer] += left;
    outcome.survivors = batch.live_images();
  } else {
    outcome.waiting = batch.take_live(network.neurons_before(layer));
  }
  ++pass.done;
}

void CpuRun::run_layer(ImageBatch& batch, const CpuLayer& layer, Sharing sharing) {
  batch.begin_layer();
  for (std::uint32_t slab = 0; slab < batch.slabs(); ++slab) {
    const TileArgs args = args_for(layer.tiles, batch, slab);
    if (sharing == Sharing::blocks) {
      share_blocks(setup_, layer, args);
    } else {
      run_blocks(setup_.kernel, layer, args, 0, 1);
    }
    batch.advance(slab);
  }
}

// Tasks are taken to end as deep as the deepest so far.
void CpuRun::report(Pass& pass, std::uint32_t layer) {
  if (!setup_.progress) return;
  pass.deepest = std::max(pass.deepest, layer);
  const double depth = pass.deepest - pass.first;
  const double own = (layer - pass.first) / depth;
  const double share =
      (static_cast<double>(pass.done) + own) / static_cast<double>(pass.tasks.size());
  setup_.progress(pass.first + static_cast<std::uint32_t>(std::min(share, 1.0) * depth), layers());
}

}  // namespace winnow::challenge
