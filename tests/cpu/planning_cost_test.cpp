// What planning does not make and does not run, by made-up times.
#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cpu/candidates.h"
#include "runtime/cpu/cpu_features.h"
#include "runtime/cpu/dense_layer.h"
#include "runtime/cpu/network_timing.h"
#include "runtime/cpu/peak_rate.h"
#include "tests/cpu/random_work.h"

namespace winnow {
namespace {

// 3 x 3 on 1 image of 5 x 4, 2 to 6 channels in 2 groups, padded by 1.
ConvShape small_shape() {
  ConvShape shape;
  shape.in = {1, 2, 5, 4};
  shape.out = {1, 6, 5, 4};
  shape.kernel = {3, 3};
  shape.padding = {1, 1};
  shape.groups = 2;
  return shape;
}

TEST_CASE("multiply-adds of a dense layer leave out what falls on padding") {
  // Rows see 2, 3, 3, 3 and 2 taps, columns 2, 3, 3 and 2; an output channel reads one channel.
  CHECK(dense_multiply_adds(small_shape()) == 6 * 13 * 10);
  ConvShape linear;
  linear.in = {7, 30, 1, 1};
  linear.out = {7, 4, 1, 1};
  CHECK(dense_multiply_adds(linear) == 7 * 30 * 4);
}

TEST_CASE("a layer may win unless it is slower by more than a quarter at its best") {
  CHECK(may_win(1, 2));
  CHECK(may_win(1.25, 1));
  CHECK_FALSE(may_win(1.26, 1));
  CHECK(may_win(1, std::numeric_limits<double>::infinity()));
}

TEST_CASE("multiply-adds on registers are computed, not optimised away, and timed") {
  for (const Isa isa : available_isas()) {
    const MicroKernels& kernels = micro_kernels(isa);
    float values[] = {0.5f, 1};
    kernels.chain(200, values);  // x / 2 + 1 tends to 2
    CHECK(values[0] == 2.0f * static_cast<float>(kernels.chains));
  }
  ThreadPool pool(2);
  const Timing timing = time_multiply_adds(pool);
  CHECK(timing.min_ms > 0.01);  // 10^14 a second by two threads
  CHECK(timing.min_ms <= timing.median_ms);
}

CandidateOptions free_options() {
  CandidateOptions options;
  options.has_mask = true;
  options.isa = available_isas().back();
  return options;
}

// 3 x 3, 32 to 32 channels of 8 x 8, a tenth of the weights.
ConvWork tenth_work() {
  ConvWork work;
  work.shape.in = work.shape.out = {1, 32, 8, 8};
  work.shape.kernel = {3, 3};
  work.shape.padding = {1, 1};
  std::vector<float> weight(std::size_t{32} * 32 * 9);
  for (std::size_t i = 0; i < weight.size(); i += 10) weight[i] = 1;
  work.blocks = block_csr(weight, 32, 1);
  work.bias.resize(32);
  return work;
}

TEST_CASE("the sparse and the dense candidates together are all, in the same slots") {
  const ConvWork work = tenth_work();
  CandidateOptions options = free_options();
  std::vector<std::pair<int, std::string>> all, parts;
  for (const auto& layer : make_candidates(work, options)) {
    all.emplace_back(layer->slot, layer->kernel);
  }
  for (const CandidateKind kind : {CandidateKind::sparse, CandidateKind::dense}) {
    options.kind = kind;
    for (const auto& layer : make_candidates(work, options)) {
      CHECK((layer->family == "dense") == (kind == CandidateKind::dense));
      parts.emplace_back(layer->slot, layer->kernel);
    }
  }
  CHECK(all.size() > 1);
  CHECK(all == parts);
}

TEST_CASE("a dense candidate is asked for by its multiply-adds, Winograd's by a quarter") {
  const ConvWork work = tenth_work();
  CandidateOptions options = free_options();
  const double direct = dense_multiply_adds(work.shape);
  std::vector<double> asked;
  options.is_worth_making = [&](double multiply_adds) {
    asked.push_back(multiply_adds);
    return false;
  };
  for (const auto& layer : make_candidates(work, options)) CHECK(layer->family != "dense");
  const bool has_onednn = onednn_algorithms(work) > 0;
  CHECK(asked == (has_onednn ? std::vector{direct, direct / 4, direct} : std::vector{direct}));
  // Those that are left keep their slots.
  options.is_worth_making = [&](double multiply_adds) { return multiply_adds < direct; };
  const auto with_winograd = make_candidates(work, options);
  options.is_worth_making = {};
  for (const auto& layer : with_winograd) {
    options.only_slot = layer->slot;
    CHECK(make_candidates(work, options).front()->kernel == layer->kernel);
  }
}

// Times of runs that are made up: the first takes three times as long.
struct FakeRun {
  double ms = 0;
  int runs = 0;
};

std::vector<TimedRun> fake_runs(std::vector<FakeRun>& fakes) {
  std::vector<TimedRun> runs;
  for (FakeRun& fake : fakes) {
    runs.emplace_back([&fake] { return ++fake.runs == 1 ? 3 * fake.ms : fake.ms; });
  }
  return runs;
}

TEST_CASE("long networks are run less often, and slow ones less often than fast ones") {
  std::vector<FakeRun> fakes = {{1}, {1.2}, {1.5}, {9}};
  const std::vector<Timing> short_ones = time_in_turns(fake_runs(fakes));
  CHECK(fastest_of(short_ones) == 0);
  for (std::size_t i = 0; i < 3; ++i) CHECK(short_ones[i].median_ms == fakes[i].ms);
  CHECK(fakes[0].runs == 1 + 3 * 11);
  CHECK(fakes[1].runs == 1 + 3 * 11);
  CHECK(fakes[2].runs == 1 + 11);  // 1.5 times as long as another
  CHECK(fakes[3].runs == 1);       // more than twice as long

  std::vector<FakeRun> longer = {{60}, {50}, {200}, {110}};
  const std::vector<Timing> long_ones = time_in_turns(fake_runs(longer));
  CHECK(fastest_of(long_ones) == 1);
  CHECK(longer[0].runs == 3);
  CHECK(longer[1].runs == 3);
  CHECK(longer[2].runs == 1);  // clearly slower
  CHECK(longer[3].runs == 1);

  std::vector<FakeRun> longest = {{300}, {280}, {400}};
  CHECK(fastest_of(time_in_turns(fake_runs(longest))) == 1);
  for (const FakeRun& fake : longest) CHECK(fake.runs == 2);
}

}  // namespace
}  // namespace winnow
