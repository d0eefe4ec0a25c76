#include "prune/evolution/evolution.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "tests/evolution/synthetic_trainee.h"
#include "tests/throws.h"

namespace winnow {
namespace {

EvolutionConfig short_run() {
  EvolutionConfig config;
  config.iter_nr = 60;
  config.batch_nr = 100;
  config.pool_size = 6;
  config.seed = 5;
  return config;
}

std::vector<SyntheticLayer> four_layers() {
  return {{500, 0.6, 0.2}, {20000, 0.95, 0.02}, {40000, 0.97, 0.02}, {3000, 0.85, 0.05}};
}

std::vector<IterationRecord> run_to_end(Evolution& evolution) {
  std::vector<IterationRecord> records;
  while (!evolution.finished()) records.push_back(evolution.step().front());
  return records;
}

int count(const std::vector<IterationRecord>& records, Action action) {
  return static_cast<int>(std::count_if(
      records.begin(), records.end(), [&](const auto& record) { return record.action == action; }));
}

bool same(const IterationRecord& a, const IterationRecord& b) {
  return a.iteration == b.iteration && a.phase == b.phase && a.solution == b.solution &&
         a.child == b.child && a.layers == b.layers && a.sparsities == b.sparsities &&
         a.kept == b.kept && a.loss == b.loss && a.accuracy == b.accuracy &&
         a.improvement == b.improvement && a.action == b.action && a.alphas == b.alphas &&
         a.migration_rate == b.migration_rate && a.sensitivity == b.sensitivity &&
         a.stagnation == b.stagnation && a.pool.spread == b.pool.spread &&
         a.best_accuracy == b.best_accuracy && a.batches == b.batches;
}

bool same(const std::vector<IterationRecord>& a, const std::vector<IterationRecord>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return same(x, y); });
}

TEST_CASE("a network is trained from scratch to the target without loss of accuracy") {
  SyntheticTrainee trainee(four_layers());
  Evolution evolution(short_run(), trainee);
  const std::vector<IterationRecord> records = run_to_end(evolution);
  const EvolutionResult result = evolution.result();

  CHECK(result.target_met);
  CHECK(result.shortfall == "");
  CHECK(result.best.sparsity() >= 0.9);
  CHECK(result.best.sparsity() < 0.93);
  CHECK(result.best.accuracy > 0.9);  // 0.95 is what a dense network reaches
  CHECK(result.weight_sparsity == doctest::Approx(result.best.sparsity()));
  CHECK(records.front().accuracy < 0.6);
}

TEST_CASE("the answer's snapshot is the network that was measured") {
  SyntheticTrainee trainee(four_layers());
  Evolution evolution(short_run(), trainee);
  run_to_end(evolution);
  const Solution best = evolution.result().best;
  trainee.restore(*best.snapshot);
  CHECK(trainee.now().sparsities == best.sparsities);
  CHECK(trainee.measure_accuracy() == best.accuracy);
}

TEST_CASE("layers that bear pruning are pruned more, sizes being equal") {
  std::vector<SyntheticLayer> layers;
  for (int i = 0; i < 6; ++i) {
    const bool tough = i % 2 == 0;
    layers.push_back({10000, tough ? 0.99 : 0.3, 0.15, tough ? 0.01 : 0.1});
  }
  double tough = 0.0, tender = 0.0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SyntheticTrainee trainee(layers, 0.9);
    EvolutionConfig config = short_run();
    config.target_sparsity = 0.8;
    config.iter_nr = 100;
    config.seed = seed;
    Evolution evolution(config, trainee);
    run_to_end(evolution);
    const Solution best = evolution.result().best;
    for (std::size_t i = 0; i < 6; ++i) (i % 2 == 0 ? tough : tender) += best.sparsities[i] / 15;
    const std::vector<double>& learned = evolution.state().learned.sensitivity;
    CHECK(learned[0] + learned[2] + learned[4] < learned[1] + learned[3] + learned[5]);
  }
  CHECK(tough > tender + 0.1);
}

TEST_CASE("failing steps are rewound and answered by mutation and crossover") {
  std::vector<SyntheticLayer> layers = four_layers();
  for (SyntheticLayer& layer : layers) layer.shock = 1.0;  // each increment hurts
  SyntheticTrainee trainee(layers, 0.95);
  trainee.noise = 0.02;
  EvolutionConfig config = short_run();
  config.crossover_probability = 0.5;
  Evolution evolution(config, trainee);
  const std::vector<IterationRecord> records = run_to_end(evolution);

  CHECK(count(records, Action::mutation) >= 2);
  CHECK(count(records, Action::crossover) >= 2);
  CHECK(count(records, Action::rewound) >= 1);
  CHECK(count(records, Action::written) >= 20);
  CHECK(evolution.result().target_met);
  for (const IterationRecord& record : records) {
    const bool has_collapsed = record.forced && record.accuracy < 0.5 * record.reference;
    CHECK((record.accepted || has_collapsed) == (record.forced || record.improvement > -0.01));
    CHECK((record.child >= 0) == (record.action == Action::written));
  }
}

TEST_CASE("a rejected iteration leaves the chosen solution's weights as they were") {
  std::vector<SyntheticLayer> layers = four_layers();
  for (SyntheticLayer& layer : layers) layer.shock = 0.5;
  SyntheticTrainee trainee(layers, 0.95);
  Evolution evolution(short_run(), trainee);
  bool seen = false;
  while (!evolution.finished()) {
    const EvolutionState before = evolution.state();
    const IterationRecord record = evolution.step().front();
    if (record.accepted || record.iteration == 0 || record.stagnation) continue;
    seen = true;
    const auto is_parent = [&](const Solution& s) { return s.id == record.solution; };
    const auto& pool = evolution.state().pool;
    const auto was = std::find_if(before.pool.begin(), before.pool.end(), is_parent);
    const auto now = std::find_if(pool.begin(), pool.end(), is_parent);
    REQUIRE(now != pool.end());
    CHECK(now->snapshot == was->snapshot);
    CHECK(now->sparsities == was->sparsities);
    CHECK(trainee.now().sparsities == now->sparsities);
    CHECK(now->plan != record.sparsities);  // what failed is not tried again
  }
  CHECK(seen);
}

TEST_CASE("a forced iteration meets the target where every step is refused") {
  SyntheticTrainee trainee({{1000, 0.1, 1.0, 1.0}, {1000, 0.1, 1.0, 1.0}}, 1.0);
  EvolutionConfig config = short_run();
  config.acc_threshold = 0.0;
  config.initial_sparsity_max = 0.0;
  config.iter_nr = 20;
  Evolution evolution(config, trainee);
  const std::vector<IterationRecord> records = run_to_end(evolution);

  CHECK(std::any_of(records.begin(), records.end(), [](const auto& r) { return r.forced; }));
  CHECK(evolution.result().target_met);
  CHECK(evolution.result().best.sparsity() >= 0.9);
}

TEST_CASE("even a run of one iteration meets the target") {
  SyntheticTrainee trainee(four_layers(), 0.9);
  EvolutionConfig config = short_run();
  config.iter_nr = 1;
  Evolution evolution(config, trainee);
  run_to_end(evolution);
  CHECK(evolution.result().target_met);
}

TEST_CASE("random networks and targets are met, or the limits are named that forbid it") {
  Random random(21);
  int limited = 0;
  for (int round = 0; round < 40; ++round) {
    CAPTURE(round);
    std::vector<SyntheticLayer> layers;
    for (std::int64_t i = random.between(1, 8); i > 0; --i) {
      layers.push_back({random.between(1, 30000), random.uniform(0.1, 0.97), random.uniform(0, 0.3),
                        random.uniform(0, 0.3), random.uniform(1, 100)});
    }
    SyntheticTrainee trainee(layers, random.uniform());
    trainee.noise = 0.02;
    EvolutionConfig config = short_run();
    config.iter_nr = random.between(1, 30);
    config.seed = random.bits();
    config.target_sparsity = random.uniform(0.3, 0.97);
    config.max_layer_sparsity = random.uniform(0.8, 0.99);
    config.budget = random.chance(0.5) ? Budget::macs : Budget::parameters;
    config.pool_size = random.between(3, 8);
    Evolution evolution(config, trainee);
    run_to_end(evolution);
    const EvolutionResult result = evolution.result();
    CHECK(result.best.sparsity() >= result.goal - 1e-12);
    CHECK(result.target_met == (result.goal >= config.target_sparsity - 1e-12));
    CHECK(result.target_met == result.shortfall.empty());
    if (!result.target_met) {
      CHECK(result.shortfall.find("max_layer_sparsity") != std::string::npos);
      ++limited;
    }
    for (const double sparsity : result.best.sparsities) {
      CHECK(sparsity <= config.max_layer_sparsity);
    }
  }
  CHECK(limited > 0);
  CHECK(limited < 20);
}

TEST_CASE("sparsity rises in the first phase, then stays, and masks are fixed in the last") {
  SyntheticTrainee trainee(four_layers(), 0.5);
  Evolution evolution(short_run(), trainee);
  double before_tune = 0.0;
  while (!evolution.finished()) {
    const int recomputed = trainee.recomputations;
    const IterationRecord record = evolution.step().front();
    CAPTURE(record.iteration);
    CHECK(record.phase == (record.iteration < 36   ? Phase::rise
                           : record.iteration < 48 ? Phase::settle
                                                   : Phase::tune));
    if (record.phase != Phase::rise) CHECK(record.sparsity >= 0.9);
    if (record.phase == Phase::settle) before_tune = record.sparsity;
    if (record.phase == Phase::tune) {
      CHECK(trainee.recomputations == recomputed);
      CHECK(record.migration.entered + record.migration.left == 0);
      CHECK(record.layers.empty());
      CHECK(record.sparsity == doctest::Approx(before_tune).epsilon(0.02));
    }
  }
}

TEST_CASE("near the end of a run the newest weights are trained on") {
  SyntheticTrainee trainee(four_layers(), 0.5);
  trainee.noise = 0.004;  // less than acc_threshold allows
  Evolution evolution(short_run(), trainee);
  run_to_end(evolution);
  const EvolutionState& state = evolution.state();
  std::int64_t most = 0;
  for (const Solution& solution : state.pool) most = std::max(most, solution.trained);
  CHECK(state.batches == 6000);
  CHECK(most >= 4200);  // of 6000 at most three in ten went elsewhere
}

TEST_CASE("masks are recomputed after each interval of an iteration") {
  SyntheticTrainee trainee(four_layers(), 0.5);
  EvolutionConfig config = short_run();
  config.mask_interval = 30;
  Evolution evolution(config, trainee);
  evolution.step();
  CHECK(trainee.recomputations == config.pool_size + 4);  // 30 + 30 + 30 + 10
  CHECK(trainee.firsts == std::vector<std::int64_t>{0, 30, 60, 90});
  evolution.step();
  CHECK(trainee.firsts.back() == 190);
}

TEST_CASE("each layer's alpha follows the migration that it causes") {
  std::vector<SyntheticLayer> layers = four_layers();  // 10 % of alpha migrates
  layers[2].migrates = 0.4;
  SyntheticTrainee trainee(layers, 0.5);
  EvolutionConfig config = short_run();
  config.migration_goal = 0.02;
  config.alpha = 0.5;
  config.alpha_max = 1.0;
  Evolution evolution(config, trainee);
  const std::vector<IterationRecord> records = run_to_end(evolution);
  CHECK(records[0].migration_rate > 0.03);
  CHECK(records[0].migration_rates[2] > records[0].migration_rate);
  CHECK(records[47].alphas[1] == doctest::Approx(0.2).epsilon(0.1));
  CHECK(records[47].alphas[2] == doctest::Approx(0.05).epsilon(0.1));
}

TEST_CASE("stagnation cuts the pool to representatives and refills it") {
  SyntheticTrainee trainee(four_layers(), 1.0);
  EvolutionConfig config = short_run();
  config.acc_threshold = 0.5;  // nothing improves so much
  config.patience = 4;
  config.clusters = 2;
  Evolution evolution(config, trainee);
  std::set<std::int64_t> before;
  for (int i = 0; i < 4; ++i) {
    before.clear();
    for (const Solution& solution : evolution.state().pool) before.insert(solution.id);
    CHECK(!evolution.state().without_progress == (i == 0));
    CHECK(evolution.step().front().stagnation == (i == 3));
  }
  const std::vector<Solution>& pool = evolution.state().pool;
  REQUIRE(pool.size() == 6);
  std::set<std::shared_ptr<const Snapshot>> snapshots;
  int survivors = 0;
  for (const Solution& solution : pool) {
    snapshots.insert(solution.snapshot);
    const bool survivor = before.contains(solution.id);
    survivors += survivor ? 1 : 0;
    if (!survivor) {
      CHECK(before.count(solution.parent) > 0);
      CHECK(solution.plan != solution.sparsities);
    }
  }
  CHECK(survivors == 2);
  CHECK(snapshots.size() == 2);
}

TEST_CASE("equal seeds give equal records and other seeds other ones") {
  const auto records_of = [](std::uint64_t seed) {
    SyntheticTrainee trainee(four_layers(), 0.5);
    trainee.noise = 0.02;
    EvolutionConfig config = short_run();
    config.seed = seed;
    Evolution evolution(config, trainee);
    return run_to_end(evolution);
  };
  CHECK(same(records_of(1), records_of(1)));
  CHECK(!same(records_of(1), records_of(2)));
}

TEST_CASE("a run that goes on from the numbers of any iteration repeats the rest") {
  EvolutionConfig config = short_run();
  config.iter_nr = 30;
  config.patience = 2;
  SyntheticTrainee trainee(four_layers(), 0.5);
  trainee.noise = 0.03;
  Evolution evolution(config, trainee);
  std::vector<FlatState> states;
  std::vector<IterationRecord> records;
  while (!evolution.finished()) {
    states.push_back(flatten(evolution.state()));
    records.push_back(evolution.step().front());
  }
  CHECK(count(records, Action::mutation) + count(records, Action::crossover) > 0);
  CHECK(std::any_of(records.begin(), records.end(), [](const auto& r) { return r.stagnation; }));
  for (std::size_t i = 0; i < states.size(); ++i) {
    CAPTURE(i);
    SyntheticTrainee other(four_layers(), 0.5);
    other.noise = 0.03;
    Evolution resumed(config, other, unflatten(states[i]));
    const std::vector<IterationRecord> rest = run_to_end(resumed);
    CHECK(same(rest, {records.begin() + static_cast<std::ptrdiff_t>(i), records.end()}));
  }
}

TEST_CASE("an interrupted iteration is repeated as if nothing had happened") {
  EvolutionConfig config = short_run();
  config.iter_nr = 12;
  SyntheticTrainee calm(four_layers(), 0.5);
  Evolution whole(config, calm);
  const std::vector<IterationRecord> expected = run_to_end(whole);

  SyntheticTrainee trainee(four_layers(), 0.5);
  int call = 0;
  trainee.before_training = [&](std::int64_t) {
    if (++call % 2 == 1) fail(ErrorCode::interrupted, "stopped");
  };
  Evolution evolution(config, trainee);
  std::vector<IterationRecord> records;
  while (!evolution.finished()) {
    const std::int64_t before = evolution.state().iteration;
    CHECK(error_of([&] { evolution.step(); }) == ErrorCode::interrupted);
    CHECK(evolution.state().iteration == before);
    records.push_back(evolution.step().front());
  }
  CHECK(same(records, expected));
}

TEST_CASE("a diverging network is rewound each time and the result says so") {
  SyntheticTrainee trainee(four_layers(), 0.5);
  trainee.diverges = true;
  EvolutionConfig config = short_run();
  config.iter_nr = 10;
  Evolution evolution(config, trainee);
  const std::vector<IterationRecord> records = run_to_end(evolution);
  CHECK(std::none_of(records.begin(), records.end(), [](const auto& r) { return r.accepted; }));
  CHECK(!evolution.result().target_met);
  CHECK(evolution.result().shortfall.find("forced to it loss, weights and statistics stayed "
                                          "finite, lower prune.learning_rate") !=
        std::string::npos);
}

TEST_CASE("a network whose statistics overflow is rewound, whatever its loss") {
  SyntheticTrainee trainee(four_layers(), 0.5);
  EvolutionConfig config = short_run();
  trainee.before_training = [&](std::int64_t first) {
    trainee.overflows = first / config.batch_nr % 5 == 2;
  };
  trainee.noise = 0.05;
  Evolution evolution(config, trainee);
  for (std::size_t i = 0; !evolution.finished(); ++i) {
    CAPTURE(i);
    const EvolutionState before = evolution.state();
    const IterationRecord record = evolution.step().front();
    CHECK(std::isfinite(record.loss));
    REQUIRE(record.is_finite == (i % 5 != 2));
    if (record.is_finite) continue;
    CHECK_FALSE(record.accepted);
    const EvolutionState& after = evolution.state();
    CHECK(after.learned.sensitivity == before.learned.sensitivity);
    CHECK(after.alphas == before.alphas);
    for (std::size_t k = 0; k < before.pool.size() && !record.stagnation; ++k) {
      CHECK(after.pool[k].level == before.pool[k].level);
    }
  }
  CHECK(evolution.result().target_met);
}

// Nothing is accepted but what is forced.
EvolutionConfig forced_run() {
  EvolutionConfig config = short_run();
  config.acc_threshold = 1.0;
  return config;
}

std::size_t first_forced(const std::vector<IterationRecord>& records) {
  const auto found = std::find_if(records.begin(), records.end(),
                                  [](const IterationRecord& record) { return record.forced; });
  return static_cast<std::size_t>(found - records.begin());
}

TEST_CASE("a forced network that collapsed is refused while sparsity still rises") {
  const EvolutionConfig config = forced_run();
  SyntheticTrainee calm(four_layers(), 0.5);
  Evolution expected(config, calm);
  const std::vector<IterationRecord> calm_records = run_to_end(expected);
  const std::size_t first = first_forced(calm_records);
  REQUIRE(first + 2 < calm_records.size());
  REQUIRE(calm_records[first].accepted);
  REQUIRE(calm_records[first + 1].phase == Phase::rise);

  SyntheticTrainee trainee(four_layers(), 0.5);
  trainee.before_training = [&](std::int64_t at) {
    const bool collapses = at / config.batch_nr == static_cast<std::int64_t>(first);
    trainee.ceiling = collapses ? 0.1 : 1.0;
  };
  Evolution evolution(config, trainee);
  const std::vector<IterationRecord> records = run_to_end(evolution);
  CHECK(records[first].forced);
  CHECK_FALSE(records[first].accepted);
  CHECK(records[first + 1].forced);
  CHECK(records[first + 1].accepted);
  CHECK(evolution.result().target_met);
}

TEST_CASE("of forced networks that collapse each time no two in a row are refused") {
  const EvolutionConfig config = forced_run();
  SyntheticTrainee trainee(four_layers(), 0.9);
  trainee.before_training = [&](std::int64_t) { trainee.ceiling = 0.01; };
  Evolution evolution(config, trainee);
  const std::vector<IterationRecord> records = run_to_end(evolution);
  const std::size_t first = first_forced(records);
  CHECK_FALSE(records[first].accepted);
  REQUIRE(records[first + 1].forced);
  CHECK(records[first + 1].accepted);
  CHECK(evolution.result().target_met);
}

TEST_CASE("masks of weights that are no numbers are not planned with") {
  EvolutionConfig config = short_run();
  config.iter_nr = 15;
  config.base_allocation = Allocation::global;
  config.mask_interval = 50;
  config.initial_sparsity_max = 0.0;
  SyntheticTrainee trainee(four_layers(), 0.5);
  trainee.before_training = [&](std::int64_t first) {
    trainee.diverges = first / config.batch_nr == 9;
    trainee.strength.assign(4, trainee.diverges ? std::nan("") : 1.0);
  };
  Evolution evolution(config, trainee);
  const std::vector<IterationRecord> records = run_to_end(evolution);
  CHECK(std::isnan(records[9].loss));
  CHECK(records[9].sparsity > 0.95);
  CHECK_FALSE(records[9].accepted);
  CHECK(records[10].sparsity < records[8].sparsity + 0.1);
}

TEST_CASE("excluded layers stay dense and the others meet the target among themselves") {
  SyntheticTrainee trainee(four_layers(), 0.5);
  EvolutionConfig config = short_run();
  config.exclude = {"layer0", "layer3"};
  Evolution evolution(config, trainee);
  run_to_end(evolution);
  const EvolutionResult result = evolution.result();
  CHECK(result.target_met);
  CHECK(result.best.sparsities[0] == 0.0);
  CHECK(result.best.kept_weights[3] == 3000);
  const double kept =
      static_cast<double>(result.best.kept_weights[1] + result.best.kept_weights[2]);
  CHECK(1.0 - kept / 60000 >= 0.9);
}

TEST_CASE("an evolution refuses bad configurations, foreign states and steps past the end") {
  SyntheticTrainee trainee(four_layers(), 0.5);
  EvolutionConfig config = short_run();
  config.iter_nr = 1;
  Evolution evolution(config, trainee);
  CHECK(error_of([&] { evolution.result(); }) == ErrorCode::internal);
  evolution.step();
  CHECK(error_of([&] { evolution.step(); }) == ErrorCode::internal);

  SyntheticTrainee other(std::vector<SyntheticLayer>(1));
  CHECK(error_of([&] { Evolution(config, other, evolution.state()); }) == ErrorCode::bad_file);
  config.exclude = {"layr0"};
  CHECK(message_of([&] { Evolution(config, trainee); }) ==
        "exclude: no prunable layer 'layr0'; did you mean 'layer0'?");
  config.exclude = {};
  config.acc_threshold = 3;
  CHECK(error_of([&] { Evolution(config, trainee); }) == ErrorCode::usage);
}

}  // namespace
}  // namespace winnow
