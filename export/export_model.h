// From a checkpoint to what the runtime deploys.
#pragma once

#include <string>
#include <vector>

#include "export/dead_channels.h"
#include "export/sparse_weight.h"
#include "runtime/model/model.h"

namespace winnow {

struct ExportOptions {
  ValueForm values = ValueForm::automatic;
  bool removes_dead_channels = true;
  std::string place = "export";  // begins messages: the checkpoint's file
};

struct ExportedModel {
  DeployedModel model;
  std::vector<RemovedChannels> removed;
};

// Folds batch norms and leaves out dropouts (fold_batch_norm.h), removes dead channels exactly
// (dead_channels.h), brings every weight into its deployed form (sparse_weight.h).
// Throws Error{bad_file} if the model is damaged.
ExportedModel export_model(const Model& model, const ExportOptions& options);

}  // namespace winnow
