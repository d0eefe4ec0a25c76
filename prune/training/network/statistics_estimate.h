// Batch norm's running statistics, taken anew from batches of images.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "prune/training/network/network.h"

namespace winnow {

// While it lives, the network's running statistics are those of the batch seen last.
class StatisticsEstimate {
 public:
  explicit StatisticsEstimate(const Network& network);

  // Runs `input` [N, ...] of at least two images through the network; each batch norm normalises by
  // the mean and the variance of the batch.
  void add(const torch::Tensor& input);

  // Makes the running statistics the means over the batches, weighted by their sizes, of mean and
  // unbiased variance. Requires a batch.
  void finish();

 private:
  struct Norm {
    std::string input;   // the node whose value it normalises
    torch::Tensor mean;  // the network's own
    torch::Tensor variance;
    torch::Tensor mean_sum;  // double, weighted by images
    torch::Tensor variance_sum;
  };

  void observe(Norm& norm, const torch::Tensor& value);

  const Network& network_;
  std::vector<Norm> norms_;
  std::int64_t images_ = 0;
};

}  // namespace winnow
