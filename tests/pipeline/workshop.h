// A folder with small images and a configuration, and prune on them.
#pragma once

#include <fstream>
#include <string>

#include "tests/pipeline/shell.h"
#include "tests/pipeline/synthetic_idx.h"
#include "tests/temporary_directory.h"

namespace winnow {

inline constexpr int kTrainImages = 640;  // 512 to train on, 128 to validate
inline constexpr int kTestImages = 256;

// A folder with a data set and a configuration that trains in seconds.
class Workshop {
 public:
  explicit Workshop(const std::string& extra_keys = "") {
    write_synthetic_idx(directory_.path(), "train", kTrainImages, 1);
    write_synthetic_idx(directory_.path(), "t10k", kTestImages, 2);
    std::ofstream(config()) << "name: tiny\nseed: 3\ndevice: cpu\nthreads: 1\n"
                            << "output: " << run() << "\n"
                            << "data: {format: idx, path: " << directory_.path()
                            << ", validation: 128}\n"
                            << "model: {architecture: lenet5}\n"
                            << "train: {epochs: 2, batch_size: 32, learning_rate: 0.02}\n"
                            << "prune: {start: dense, iter_nr: 8, batch_nr: 8, pool_size: 3, "
                            << "target_sparsity: 0.8, acc_threshold: -0.1, learning_rate: 0.01}\n"
                            << "checkpoint: {seconds: 0.2}\n"
                            << extra_keys;
  }

  std::string config() const { return directory_ / "tiny.yaml"; }
  std::string run() const { return directory_ / "run"; }
  std::string file(const std::string& name) const { return run() + "/" + name; }
  std::string data() const { return directory_.path(); }

  std::string prune_command(const std::string& more) const {
    return program("prune") + " --config " + config() + " " + more;
  }
  Outcome prune(const std::string& more = "") const { return shell(prune_command(more)); }

 private:
  TemporaryDirectory directory_;
};

}  // namespace winnow
