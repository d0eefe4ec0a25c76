// One run of prune from its start or its checkpoint to its end.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "prune/methods/make_method.h"
#include "prune/prune_program.h"
#include "prune/run/checkpoint.h"
#include "prune/run/rank_teams.h"
#include "prune/training/accuracy.h"
#include "prune/training/ranks/store_peers.h"
#include "prune/training/torch_trainee.h"

namespace winnow {

class PruneRun {
 public:
  // Makes all checks that come before training: loads the data (prune/data/folder_cache.h) and, if
  // the folder has one, the checkpoint. Changes nothing in the folder.
  PruneRun(const RunConfig& config, const PruneOptions& options, RunFolder& folder,
           const std::string& image_cache);
  PruneRun(const PruneRun&) = delete;  // the trainee calls it back
  PruneRun& operator=(const PruneRun&) = delete;

  // Opens the folder and trains.
  PruneSummary run();

  const DataSet& data() const { return data_; }
  const Graph& graph() const { return initial_.graph; }
  const std::vector<PrunableLayer>& layers() const { return trainee_.layers(); }
  std::string device() const { return trainee_.device(); }

  // Of each layer, where it is mixed and the weights that decide are known: nothing is trained
  // before. A line for each; empty otherwise.
  std::string granularities() const;

 private:
  using Clock = std::chrono::steady_clock;

  TraineeOptions counting_options();  // batches of the dense phase are counted
  Peers& peers();
  void read_checkpoint_if_any();

  void begin();

  void join_dense();  // with the other ranks, where batches are divided
  void train_dense();
  void train_epoch();
  void finish_epoch();
  void finish_dense();
  void choose_granularity();  // of each layer, where it is mixed
  void load_start();          // what pruning begins with
  void permute_channels();    // where masks of vectors want them so
  void rehearse();  // measures networks that are only masked, to correct what is predicted
  void prune();     // one round
  void measure_round(const EvolutionResult& result);
  bool is_again();     // whether another round follows
  void begin_again();  // with what was learned in this one
  void measure(double predicted_ms, bool is_pruned);
  void begin_pruning();
  void require_converging(const IterationRecord& record) const;
  PruneSummary finish(const EvolutionResult& result);
  PruneSummary measured(const Model& model, const EvolutionResult& result) const;
  void save_pruned(Model& model, const PruneSummary& summary) const;

  // The trainee's network with all that a model file says of it.
  Model current_model() const;

  void save_checkpoint();
  void save_checkpoint_if_due();
  void go_back();  // a rank is lost amid a batch: the dense phase is what it was before the chunk
  EvaluationOptions evaluation() const;  // how accuracy on the test images is measured
  double lap_seconds();                  // since the last call

  RunConfig config_;
  PruneOptions options_;
  RunFolder& folder_;
  std::optional<Model> given_;    // what model.weights names
  std::optional<Model> teacher_;  // what prune.teacher names
  DataSet data_;
  Model initial_;  // what training begins with
  TorchTrainee trainee_;
  RankTeams teams_;
  RunCheckpoint state_;  // kept up to date; evolution state aside, which lies in the method
  std::unique_ptr<PruningMethod> method_;
  DensePoint chunk_;  // dense phase with divided batches: where the chunk began, and its loss
  double chunk_loss_ = 0.0;
  std::string note_;  // of the last measurement, for the line of progress
  Clock::time_point lap_ = Clock::now();
  Clock::time_point saved_ = Clock::now();
};

}  // namespace winnow
