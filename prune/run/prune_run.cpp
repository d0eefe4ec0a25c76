#include "prune/run/prune_run.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "prune/channel_order.h"
#include "prune/evolution/ranks/shared_state.h"
#include "prune/mixed_granularities.h"
#include "prune/run/joined_run.h"
#include "prune/run/record_json.h"
#include "prune/run/run_checks.h"
#include "prune/run/run_summary.h"
#include "prune/run/run_training.h"
#include "prune/start_model.h"
#include "prune/teacher_model.h"
#include "prune/timing/deployed_time.h"
#include "prune/timing/time_table.h"
#include "prune/training/trainability.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/first_difference.h"
#include "runtime/base/suggest.h"
#include "runtime/cli/progress.h"
#include "runtime/model/safetensors.h"
#include "runtime/report/report.h"

namespace winnow {
namespace {

// Batches between looks at the clock.
constexpr std::int64_t kChunk = 50;

std::string percent(double fraction) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%", 100.0 * fraction);
  return text;
}

RunFolder& checked(const RunConfig& config, RunFolder& folder) {
  require_outside(config, "model.weights", config.model.weights);
  require_outside(config, "prune.teacher", config.stage.teacher);
  if (config.time_loop.rounds > 0) {
    with_place(config, "prune", [&] { require_programs(config.time_loop.programs); });
  }
  if (folder.is_finished()) {
    fail(ErrorCode::usage, folder.path(), ": the run is finished; see ", folder.summary());
  }
  return folder;
}

// Where training is: for messages.
struct Moment {
  std::string stage;  // "train"
  std::string name;   // "epoch 3, batch 512"
  double rate = 0.0;  // the learning rate there
};

[[noreturn]] void refuse_divergence(const Moment& moment, const std::string& what) {
  fail(ErrorCode::usage, moment.stage, ": ", what, " at learning rate ", moment.rate,
       ": training diverged; lower ", moment.stage, ".learning_rate or set train.clip_norm");
}

void require_finite_loss(double loss, const Moment& moment) {
  if (std::isfinite(loss)) return;
  refuse_divergence(moment,
                    "the loss of " + moment.name + " is " + (std::isnan(loss) ? "nan" : "inf"));
}

void require_finite_state(const TorchTrainee& trainee, const Moment& moment) {
  const std::string name = trainee.first_not_finite();
  if (name.empty()) return;
  refuse_divergence(
      moment, "after " + moment.name + " " + in_quotes(name) + " has numbers that are not finite");
}

// Of the dense phase, after so many batches of it.
Moment dense_moment(const Stage& stage, std::int64_t batches) {
  const std::int64_t last = std::max<std::int64_t>(batches, 1) - 1;
  return {"train",
          "epoch " + std::to_string(last / stage.batches_per_unit + 1) + ", batch " +
              std::to_string(last % stage.batches_per_unit + 1),
          learning_rate(stage, last)};
}

// With the rate in the middle of the iteration.
Moment pruning_moment(const RunConfig& config, std::int64_t iteration) {
  Stage stage = pruning_stage(config);
  stage.batches_per_unit = 1;
  return {"prune", iteration_name(iteration), learning_rate(stage, iteration)};
}

}  // namespace

PruneRun::PruneRun(const RunConfig& config, const PruneOptions& options, RunFolder& folder,
                   const std::string& image_cache)
    : config_(with_times(config)),
      options_(options),
      folder_(checked(config_, folder)),
      given_(read_given_model(config_)),
      teacher_(read_teacher(config_)),
      data_(load_run_data(config_, options.is_quiet, image_cache, given_)),
      initial_(start_model(config_, given_, data_)),
      trainee_(initial_, data_, counting_options()),
      teams_(config_, peers(), options_.peers ? &options_.peers->store() : nullptr) {
  state_.config = comparable_config(config_);
  require_fit_of_teacher(config_, teacher_, data_);
  if (config_.time_loop.rounds > 0) {
    with_place(config_, "prune",
               [&] { require_device_of(*config_.evolution.time, trainee_.device()); });
  }
  state_.weights_checksum = checksum_of(config_.model.weights);
  state_.teacher_checksum = checksum_of(config_.stage.teacher);
  read_checkpoint_if_any();
  folder_.require_metrics(state_.metrics_bytes);
}

// The configuration comes first: what lies in a folder without one is no run's, and a program that
// is killed here would leave a folder that no other goes on in.
void PruneRun::begin() {
  folder_.open();
  write_file_atomically(folder_.config(), write_run_config(config_));
  folder_.truncate_metrics(state_.metrics_bytes);
  if (folder_.metrics_bytes() == 0) folder_.append_metrics(metrics_header());
}

TraineeOptions PruneRun::counting_options() {
  TraineeOptions result = trainee_options(config_, options_);
  result.on_batch = [this](std::int64_t batch) {
    if (state_.phase == RunPhase::dense) state_.batch = batch + 1;
  };
  return result;
}

void PruneRun::read_checkpoint_if_any() {
  if (!folder_.has_checkpoint()) return;
  RunCheckpoint read = read_checkpoint(folder_.checkpoint(), trainee_);
  if (read.config != state_.config) {
    fail(ErrorCode::usage, folder_.checkpoint(),
         ": was made with another configuration: ", first_difference(read.config, state_.config));
  }
  const auto require_unchanged = [&](const char* key, const std::string& file, bool is_same) {
    if (is_same) return;
    fail(ErrorCode::usage, config_.place(key), key, ": ", in_quotes(file), " has changed since ",
         in_quotes(folder_.checkpoint()),
         " was begun with it, expected the same file; begin anew with --overwrite");
  };
  require_unchanged("model.weights", config_.model.weights,
                    read.weights_checksum == state_.weights_checksum);
  require_unchanged("prune.teacher", config_.stage.teacher,
                    read.teacher_checksum == state_.teacher_checksum);
  state_ = std::move(read);
  if (state_.phase != RunPhase::dense && config_.has_baseline()) folder_.require_dense();
  take_granularities(state_.granularities, config_, trainee_);
  correct(config_, state_.rounds);
  if (state_.current) trainee_.restore(*state_.current);
}

double PruneRun::lap_seconds() {
  const Clock::time_point now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - lap_).count();
  lap_ = now;
  return seconds;
}

void PruneRun::save_checkpoint() {
  if (state_.phase == RunPhase::dense) {
    const Moment moment = dense_moment(dense_stage(config_, trainee_), state_.batch);
    require_finite_loss(state_.epoch_loss, moment);
    require_finite_state(trainee_, moment);
    state_.current = trainee_.snapshot();
    state_.dense_seconds += lap_seconds();
  }
  if (method_) state_.evolution = method_->state();
  state_.metrics_bytes = folder_.metrics_bytes();
  folder_.sync_metrics();  // the checkpoint counts on as many bytes
  write_checkpoint(folder_.checkpoint(), state_, trainee_);
  saved_ = Clock::now();
}

void PruneRun::save_checkpoint_if_due() {
  const double age = std::chrono::duration<double>(Clock::now() - saved_).count();
  if (age >= config_.checkpoint_seconds) save_checkpoint();
}

PruneSummary PruneRun::run() {
  require_same_run(config_, peers());
  if (options_.on_begin) options_.on_begin();
  begin();
  try {
    if (teams_.shares_dense()) join_dense();
    if (state_.phase == RunPhase::dense) train_dense();
    for (;;) {
      rehearse();
      prune();
      measure_round(method_->result());
      if (!is_again()) return finish(method_->result());
      begin_again();
    }
  } catch (const Error& error) {
    const bool is_left = options_.peers != nullptr && options_.peers->is_broken();
    if (error.code() != ErrorCode::interrupted && !is_left) throw;
    if (is_left) go_back();
    save_checkpoint();
    fail(error.code(), is_left ? error.what() : "interrupted",
         "; checkpoint saved: ", folder_.checkpoint(), " (go on with --resume)");
  }
}

EvaluationOptions PruneRun::evaluation() const {
  return {.device = config_.device, .should_stop = options_.should_stop};
}

void PruneRun::join_dense() {
  options_.peers->carry(trainee_, !config_.train.is_data_parallel);
  const bool is_due = state_.phase == RunPhase::dense && config_.train.epochs > 0;
  share_dense({.is_due = is_due,
               .epoch = state_.epoch,
               .batch = state_.batch,
               .current = is_due ? state_.current : nullptr},
              *options_.peers);
  if (is_due) trainee_.join(teams_.dense());
}

void PruneRun::train_dense() {
  if (config_.train.epochs > 0) {
    trainee_.begin(dense_stage(config_, trainee_));
    lap_seconds();
    Progress progress("dense: epoch", config_.train.epochs, options_.is_quiet);
    while (state_.epoch < config_.train.epochs) {
      progress.update(state_.epoch, note_);
      train_epoch();
      finish_epoch();
    }
    progress.update(config_.train.epochs, note_);
  }
  finish_dense();
}

// Trains what is left of the epoch: nothing if the run was stopped behind its last batch.
void PruneRun::train_epoch() {
  const std::int64_t end = (state_.epoch + 1) * trainee_.batches_per_epoch();
  while (state_.batch < end) {
    const std::int64_t count = std::min(kChunk, end - state_.batch);
    if (teams_.shares_dense()) {
      chunk_ = {true, state_.epoch, state_.batch, trainee_.snapshot()};
      chunk_loss_ = state_.epoch_loss;
    }
    trainee_.train_on(state_.batch, count, state_.epoch_loss);
    chunk_ = {};
    save_checkpoint_if_due();
  }
}

void PruneRun::go_back() {
  if (!chunk_.is_due) return;
  trainee_.restore(*chunk_.current);
  state_.batch = chunk_.batch;
  state_.epoch_loss = chunk_loss_;
}

// No checkpoint may come between the line and the count of lines that follows it.
void PruneRun::finish_epoch() {
  const std::int64_t epoch = state_.epoch + 1;
  const Moment moment = dense_moment(dense_stage(config_, trainee_), state_.batch);
  state_.dense_seconds += lap_seconds();
  EpochRecord record = {
      .epoch = epoch,
      .batches = state_.batch,
      .learning_rate = moment.rate,
      .loss = state_.epoch_loss / static_cast<double>(trainee_.batches_per_epoch()),
      .accuracy = {},
      .seconds = state_.dense_seconds};
  require_finite_loss(record.loss, moment);
  require_finite_state(trainee_, moment);
  teams_.require_equal(teams_.dense(), trainee_, "epoch " + std::to_string(epoch));
  if (epoch % config_.train.validate_every == 0 || epoch == config_.train.epochs) {
    record.accuracy = trainee_.measure_accuracy();
    note_ = "validation accuracy " + percent(*record.accuracy);
  }
  folder_.append_metrics(to_json(record));
  state_.epoch = epoch;
  state_.epoch_loss = 0.0;
}

void PruneRun::finish_dense() {
  if (config_.has_baseline()) {
    Model model = current_model();
    state_.dense_accuracy = measure_accuracy(model, data_.test, evaluation());
    model.metadata["accuracy"] = std::to_string(state_.dense_accuracy);
    save_model(folder_.dense(), model);
  }
  choose_granularity();
  load_start();
  state_.phase = RunPhase::evolution;
  state_.current = trainee_.snapshot();
  if (config_.has_baseline()) save_checkpoint();
}

void PruneRun::choose_granularity() {
  if (config_.stage.vector != kMixed) return;
  const GranularityChoice choice = choose_granularities(config_, initial_.graph, trainee_);
  state_.granularities = choice.vectors;
  folder_.append_metrics(to_json(choice, trainee_.layers()));
  take_granularities(state_.granularities, config_, trainee_);
}

std::string PruneRun::granularities() const {
  if (config_.stage.vector != kMixed || config_.train.epochs > 0) return "";
  return describe(choose_granularities(config_, initial_.graph, trainee_), trainee_.layers());
}

void PruneRun::load_start() {
  switch (config_.stage.start) {
    case Start::scratch:
      trainee_.load(given_ ? scratch_model(config_, initial_.graph, data_) : initial_);
      break;
    case Start::dense:
      trainee_.load(load_model(folder_.dense()));
      break;
    case Start::weights:
      trainee_.load(*given_);
      break;
  }
  if (config_.stage.permutes_channels) permute_channels();
}

void PruneRun::permute_channels() {
  std::vector<std::int64_t> vectors = state_.granularities;
  if (vectors.empty()) vectors.assign(trainee_.layers().size(), config_.stage.vector);
  folder_.append_metrics(to_json(permute_for_goal(config_, vectors, current_model(), trainee_)));
}

Peers& PruneRun::peers() {
  if (options_.peers == nullptr) return alone();
  return *options_.peers;
}

void PruneRun::rehearse() {
  while (state_.evolution.pool.empty() && wants_rehearsal(config_, state_.rounds)) {
    measure(mask_for_goal(config_, trainee_), false);
    trainee_.restore(*state_.current);
    correct(config_, state_.rounds);
    save_checkpoint();
  }
}

// Nothing without the loop, or if the round is measured already: a run that was stopped behind it.
void PruneRun::measure_round(const EvolutionResult& result) {
  if (config_.time_loop.rounds == 0 || state_.rounds.pruned() > state_.rounds.begun_again) return;
  trainee_.restore(*result.best.snapshot);
  measure(result.cost, true);
}

void PruneRun::measure(double predicted_ms, bool is_pruned) {
  lap_seconds();
  Progress progress(is_pruned ? "measure: network" : "rehearse: network", 1, options_.is_quiet);
  progress.update(0);
  const DeployedTime found = measure_deployed(current_model(), *config_.evolution.time,
                                              {.device = config_.device,
                                               .programs = config_.time_loop.programs,
                                               .scratch = folder_.measuring(),
                                               .should_stop = options_.should_stop});
  with_place(config_, "prune", [&] { require_measured_on(*config_.evolution.time, found.device); });
  TimeMeasurement measured =
      judged(config_, trainee_.layers(), state_.rounds, predicted_ms, found.ms);
  measured.is_pruned = is_pruned;
  progress.update(1, describe(measured));
  state_.prune_seconds += lap_seconds();
  state_.rounds.measured.push_back(measured);
  folder_.append_metrics(last_json(state_.rounds, state_.prune_seconds));
  if (is_pruned) write_file_atomically(folder_.bench(), found.bench);
}

bool PruneRun::is_again() {
  if (config_.time_loop.rounds == 0) return false;
  return share_decision(wants_another_round(config_, state_.rounds), peers());
}

void PruneRun::begin_again() {
  ++state_.rounds.begun_again;
  correct(config_, state_.rounds);
  method_.reset();
  state_.evolution = {};
  load_start();
  state_.current = trainee_.snapshot();
  save_checkpoint();
}

void PruneRun::begin_pruning() {
  if (options_.peers != nullptr) {
    options_.peers->carry(trainee_, !config_.train.is_data_parallel);
  }
  share_granularities(state_.granularities, peers());
  share_prediction(config_, peers());
  share_start({.evolution = state_.evolution, .current = state_.current}, peers());
  share_teacher(config_, teacher_, folder_.dense(), trainee_, peers());
  trainee_.join(teams_.member());
  trainee_.begin(pruning_stage(config_));
  method_ =
      make_method(config_.method, config_.evolution, trainee_, state_.evolution, teams_.peers());
}

// The evolution rewinds what diverged and tries something else; the other methods have nothing else
// to try, and the last checkpoint stays as it is.
void PruneRun::require_converging(const IterationRecord& record) const {
  if (config_.method.method == Method::evolutionary) return;
  const Moment moment = pruning_moment(config_, record.iteration);
  require_finite_loss(record.loss, moment);
  require_finite_state(trainee_, moment);
}

void PruneRun::prune() {
  begin_pruning();
  lap_seconds();
  std::vector<std::string> layers;
  for (const PrunableLayer& layer : trainee_.layers()) layers.push_back(layer.name);
  const std::int64_t begun_again = state_.rounds.begun_again;
  const std::string round =
      begun_again > 0 ? "round " + std::to_string(begun_again + 1) + ", " : std::string();
  Progress progress("prune: " + round + "iteration", config_.evolution.iter_nr, options_.is_quiet);
  while (!method_->finished()) {
    const std::vector<IterationRecord> records = method_->step();
    for (const IterationRecord& record : records) require_converging(record);
    teams_.require_equal(teams_.member(), trainee_, iteration_name(records.back().iteration));
    state_.current = nullptr;  // only the first iteration starts from it
    state_.prune_seconds += lap_seconds();
    for (const IterationRecord& record : records) {
      folder_.append_metrics(to_json(record, layers, state_.prune_seconds));
    }
    const IterationRecord& last = records.back();
    progress.update(last.iteration + 1,
                    "accuracy " + percent(last.accuracy) + ", sparsity " + percent(last.sparsity));
    save_checkpoint_if_due();
  }
}

Model PruneRun::current_model() const {
  Model model = initial_;
  trainee_.store(model);
  model.preprocessing = data_.preprocessing;
  model.classes = data_.train.classes;
  model.metadata = {{"name", config_.name},
                    {"seed", std::to_string(config_.seed)},
                    {kDataFormatKey, config_.data.format},
                    {kDataPathKey, data_.directory},
                    {"device", trainee_.device()}};
  if (data_.fold) model.metadata[kDataFoldKey] = to_string(*data_.fold);
  add_versions(model.metadata);
  return model;
}

PruneSummary PruneRun::measured(const Model& model, const EvolutionResult& result) const {
  PruneSummary summary;
  summary.dense_accuracy = state_.dense_accuracy;
  summary.pruned_accuracy = measure_accuracy(model, data_.test, evaluation());
  summary.sparsity = sparsity(model);
  summary.target_met = result.target_met;
  summary.shortfall = result.shortfall;
  if (config_.time_loop.rounds > 0) note_time(config_, state_.rounds, summary);
  return summary;
}

void PruneRun::save_pruned(Model& model, const PruneSummary& summary) const {
  if (config_.has_baseline()) {
    model.metadata["dense_accuracy"] = std::to_string(summary.dense_accuracy);
  }
  model.metadata["accuracy"] = std::to_string(summary.pruned_accuracy);
  model.metadata["sparsity"] = std::to_string(summary.sparsity);
  save_model(folder_.pruned(), model);
}

PruneSummary PruneRun::finish(const EvolutionResult& result) {
  trainee_.restore(*result.best.snapshot);
  require_finite_state(trainee_, pruning_moment(config_, config_.evolution.iter_nr - 1));
  Model model = current_model();
  PruneSummary summary = measured(model, result);
  save_pruned(model, summary);
  summary.json = summary_json({.config = config_,
                               .model = model,
                               .result = result,
                               .summary = summary,
                               .rounds = state_.rounds,
                               .granularities = state_.granularities,
                               .pool = method_->state().pool,
                               .layers = trainee_.layers(),
                               .device = trainee_.device(),
                               .peak_gpu_bytes = trainee_.peak_gpu_bytes(),
                               .dense_seconds = state_.dense_seconds,
                               .prune_seconds = state_.prune_seconds});
  write_summary(folder_, summary.json);
  write_report(folder_.path());
  return summary;
}

}  // namespace winnow
