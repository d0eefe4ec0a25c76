#include "prune/evolution/evolution_state.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "runtime/base/error.h"

namespace winnow {
namespace {

constexpr std::int64_t kVersion = 3;
constexpr std::int64_t kWithOneAlpha = 2;      // the last version whose layers share one
constexpr std::int64_t kWithoutCollapsed = 1;  // the version before `collapsed` was there

class Writer {
 public:
  explicit Writer(FlatState& flat) : flat_(flat) {}

  void put(std::int64_t value) { flat_.integers.push_back(value); }
  void put(double value) { flat_.numbers.push_back(value); }
  template <typename T>
  void put_all(const std::vector<T>& values) {
    for (const T value : values) put(value);
  }
  void put(const std::shared_ptr<const Snapshot>& snapshot) {
    const auto found = std::find(flat_.snapshots.begin(), flat_.snapshots.end(), snapshot);
    put(static_cast<std::int64_t>(found - flat_.snapshots.begin()));
    if (found == flat_.snapshots.end()) flat_.snapshots.push_back(snapshot);
  }

 private:
  FlatState& flat_;
};

class Reader {
 public:
  explicit Reader(const FlatState& flat) : flat_(flat) {}

  void get(std::int64_t& value) {
    if (next_integer_ == flat_.integers.size()) fail_short("integers", flat_.integers.size());
    value = flat_.integers[next_integer_++];
  }
  void get(double& value) {
    if (next_number_ == flat_.numbers.size()) fail_short("numbers", flat_.numbers.size());
    value = flat_.numbers[next_number_++];
    if (!std::isfinite(value)) {
      fail(ErrorCode::bad_file, "evolution state: number ", next_number_ - 1, " is not finite");
    }
  }
  // Grows with what is there, so a wrong count cannot ask for much memory.
  template <typename T>
  void get_all(std::vector<T>& values, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) get(values.emplace_back());
  }
  void get(std::shared_ptr<const Snapshot>& snapshot) {
    std::int64_t index = 0;
    get(index);
    if (index < 0 || index >= static_cast<std::int64_t>(flat_.snapshots.size()) ||
        flat_.snapshots[static_cast<std::size_t>(index)] == nullptr) {
      fail(ErrorCode::bad_file, "evolution state: snapshot ", index, " of ", flat_.snapshots.size(),
           " is missing");
    }
    snapshot = flat_.snapshots[static_cast<std::size_t>(index)];
  }
  std::int64_t get_count(const char* what) {
    std::int64_t count = 0;
    get(count);
    if (count < 0) fail(ErrorCode::bad_file, "evolution state: ", what, " is ", count);
    return count;
  }
  void expect_end() const {
    if (next_integer_ == flat_.integers.size() && next_number_ == flat_.numbers.size()) return;
    fail(ErrorCode::bad_file, "evolution state: found ", flat_.integers.size(), " integers and ",
         flat_.numbers.size(), " numbers, expected ", next_integer_, " and ", next_number_);
  }

 private:
  [[noreturn]] static void fail_short(const char* what, std::size_t found) {
    fail(ErrorCode::bad_file, "evolution state: ends after ", found, " ", what);
  }

  const FlatState& flat_;
  std::size_t next_integer_ = 0;
  std::size_t next_number_ = 0;
};

void put_solution(Writer& out, const Solution& solution) {
  for (const std::int64_t value :
       {solution.id, solution.parent, solution.trained, solution.continued}) {
    out.put(value);
  }
  out.put(solution.snapshot);
  out.put_all(solution.kept_weights);
  for (const double value : {solution.density, solution.accuracy, solution.level}) out.put(value);
  out.put_all(solution.sparsities);
  out.put_all(solution.plan);
}

void check_sparsities(const std::vector<double>& sparsities, std::int64_t id) {
  for (const double sparsity : sparsities) {
    if (sparsity >= 0.0 && sparsity < 1.0) continue;
    fail(ErrorCode::bad_file, "evolution state: solution ", id, " has sparsity ", sparsity,
         ", expected at least 0 and less than 1");
  }
}

Solution get_solution(Reader& in, std::int64_t layers) {
  Solution solution;
  for (std::int64_t* value :
       {&solution.id, &solution.parent, &solution.trained, &solution.continued}) {
    in.get(*value);
  }
  in.get(solution.snapshot);
  in.get_all(solution.kept_weights, layers);
  for (double* value : {&solution.density, &solution.accuracy, &solution.level}) in.get(*value);
  if (!(solution.density > 0.0 && solution.density <= 1.0)) {
    fail(ErrorCode::bad_file, "evolution state: solution ", solution.id, " has density ",
         solution.density, ", expected more than 0, at most 1");
  }
  in.get_all(solution.sparsities, layers);
  in.get_all(solution.plan, layers);
  check_sparsities(solution.sparsities, solution.id);
  check_sparsities(solution.plan, solution.id);
  return solution;
}

}  // namespace

FlatState flatten(const EvolutionState& state) {
  FlatState flat;
  Writer out(flat);
  out.put(kVersion);
  out.put(static_cast<std::int64_t>(state.learned.sensitivity.size()));
  out.put(static_cast<std::int64_t>(state.pool.size()));
  for (const std::int64_t value : {state.iteration, state.batches, state.next_id, state.best_id,
                                   state.without_progress, state.collapsed}) {
    out.put(value);
  }
  for (const std::uint64_t word : state.random) out.put(std::bit_cast<std::int64_t>(word));
  out.put_all(state.alphas);
  for (const double value : {state.initial_density, state.learned.trend, state.learned.noise}) {
    out.put(value);
  }
  out.put_all(state.learned.sensitivity);
  for (const Solution& solution : state.pool) put_solution(out, solution);
  return flat;
}

EvolutionState unflatten(const FlatState& flat) {
  Reader in(flat);
  std::int64_t version = 0;
  in.get(version);
  if (version < kWithoutCollapsed || version > kVersion) {
    fail(ErrorCode::bad_file, "evolution state: version ", version, ", expected ", kVersion);
  }
  const std::int64_t layers = in.get_count("the number of layers");
  const std::int64_t solutions = in.get_count("the number of solutions");
  EvolutionState state;
  for (std::int64_t* value : {&state.iteration, &state.batches, &state.next_id, &state.best_id,
                              &state.without_progress}) {
    in.get(*value);
  }
  if (version != kWithoutCollapsed) in.get(state.collapsed);
  for (std::uint64_t& word : state.random) {
    std::int64_t bits = 0;
    in.get(bits);
    word = std::bit_cast<std::uint64_t>(bits);
  }
  if (state.random == Random::State{}) {
    fail(ErrorCode::bad_file, "evolution state: the random state is all zero");
  }
  in.get_all(state.alphas, version <= kWithOneAlpha ? 1 : layers);
  for (double* value : {&state.initial_density, &state.learned.trend, &state.learned.noise}) {
    in.get(*value);
  }
  in.get_all(state.learned.sensitivity, layers);
  if (version <= kWithOneAlpha) {
    state.alphas.resize(state.learned.sensitivity.size(), state.alphas[0]);
  }
  for (std::int64_t i = 0; i < solutions; ++i) state.pool.push_back(get_solution(in, layers));
  in.expect_end();
  return state;
}

}  // namespace winnow
