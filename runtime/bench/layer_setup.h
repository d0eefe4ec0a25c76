// One convolution, with or without a pooling behind it, and every kernel that can run it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/gpu/gathered/gathered_values.h"
#include "runtime/gpu/layer/family.h"
#include "runtime/gpu/session/order_tables.h"

namespace winnow {

// One way to compute the layer from its input, both in the kernel's own format.
struct LayerKernel {
  std::string family;
  std::string kernel;
  ActivationFormat in, out;
  std::shared_ptr<const PreparedLayer> layer;
  // How what the pooling kernel reads lies; none: `layer` computes all.
  std::optional<ActivationFormat> between = std::nullopt;
  double clocks = 0;  // as Candidate
};

// Not movable: problems point into it.
class LayerSetup {
 public:
  // `model` is an input, one convolution, perhaps a relu, and perhaps a max pooling; it must
  // outlive the setup. Throws Error{usage} for another model.
  LayerSetup(const DeployedModel& model, const SessionOptions& session);
  LayerSetup(const LayerSetup&) = delete;
  LayerSetup& operator=(const LayerSetup&) = delete;

  const Program& program() const { return program_; }
  const Conv& conv() const;
  const Pool* pool() const;      // null: there is none
  LayerProblem problem() const;  // of the convolution
  Extents input_size() const;    // of the layer
  Extents between_size() const;  // of the convolution's output
  Extents output_size() const;   // of the layer
  Precision precision() const { return asked_.precision; }
  const OrderTables& orders() const { return orders_; }

  // Why the family cannot run the layer, in one line; empty if it can.
  std::string why_not(const std::string& family, GpuContext& gpu);

  // The kernels of a family, whether or not a planner would offer them, each once: formats differ
  // in halos only. With a pooling: its kernel after each, and those that compute both. Throws
  // Error{device} if the family cannot run the layer.
  std::vector<LayerKernel> kernels(const std::string& family, GpuContext& gpu);

  // How the pooling's output lies where its input is `between`; none: no such format is known.
  std::optional<ActivationFormat> pooled_format(const ActivationFormat& between) const;

  // With a pooling kernel behind it, if there is a pooling.
  LayerKernel whole(LayerKernel convolution) const;

 private:
  LayerProblem problem_of(std::size_t step) const;
  void append_alone(const Family& family, GpuContext& gpu, std::vector<LayerKernel>& found) const;
  void append_fused(const Family& family, GpuContext& gpu, std::vector<LayerKernel>& found) const;

  const DeployedModel& model_;
  Program program_;
  SessionOptions asked_;
  std::vector<StepFusions> fusions_;
  GatheredValues gathered_;
  OrderTables orders_;
  std::vector<std::vector<ActivationFormat>> formats_;  // by value
};

}  // namespace winnow
