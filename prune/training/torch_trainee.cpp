#include "prune/training/torch_trainee.h"

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <thread>

#include "prune/training/device.h"
#include "prune/training/learner.h"
#include "prune/training/mask_selection.h"
#include "prune/training/masked_layer.h"
#include "prune/training/tensor_bridge.h"
#include "prune/training/trainability.h"
#include "runtime/base/error.h"
#include "runtime/model/weight_parts.h"

namespace winnow {
namespace {

using Tensors = std::vector<torch::Tensor>;

// All tensors of a state, in the order of TorchTrainee::Impl::state().
struct TorchSnapshot : Snapshot {
  Tensors tensors;
};

torch::Device prepare(const TraineeOptions& options) {
  const torch::Device device = resolve_device(options.device);
  const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  const std::int64_t threads =
      options.threads > 0 ? options.threads : std::max<std::int64_t>(cores, 1);
  at::set_num_threads(static_cast<int>(threads));
  return device;
}

}  // namespace

class TorchTrainee::Impl {
 public:
  Impl(const Model& model, const DataSet& data, const TraineeOptions& options)
      : options_(options),
        device_(prepare(options)),
        learner_(model, data, device_, options.train, options.augment, options.seed) {
    layers_ = prunable_layers(model, options_.vector);
    find_layers();
    for (const MaskedLayer& layer : masked_) {
      weights_.push_back(layer.weight);
      momenta_.push_back(layer.momentum);
      masks_.push_back(layer.mask);
      gradient_sums_.push_back(layer.gradient_sum);
    }
    load_masks(model);
  }

  void begin(const Stage& stage) { stage_ = stage; }

  void load(const Model& model) {
    learner_.network().load(model);
    reset_momentum();
    load_masks(model);
  }

  void reset_momentum() {
    const torch::NoGradGuard no_grad;
    for (const torch::Tensor& momentum : learner_.sgd().momenta()) momentum.zero_();
    for (const torch::Tensor& sum : gradient_sums_) sum.zero_();
  }

  void store(Model& model) const {
    learner_.network().store(model);
    for (const MaskedLayer& layer : masked_) {
      const std::string name = layer.node + ".weight.mask";
      model.tensors.erase(name);
      model.mask_vector.erase(layer.node);
      if (layer.block_mask.all().item<bool>()) continue;
      model.tensors[name] = to_host(layer.block_mask);
      model.mask_vector[layer.node] = static_cast<int>(layer.vector);
    }
  }

  void train_on(std::int64_t first, std::int64_t count, double& loss_sum) {
    LossSum losses(device_, loss_sum);
    try {
      train(first, count, losses);
    } catch (const Error&) {  // interrupted between two batches
      loss_sum = losses.value();
      throw;
    }
    loss_sum = losses.value();
  }

  double measure_accuracy() {
    prepare_statistics();
    return learner_.measure_accuracy();
  }

  double measure_loss(std::int64_t images) {
    prepare_statistics();
    return learner_.measure_loss(images);
  }

  std::vector<MagnitudeCurve> magnitude_curves() const {
    std::vector<MagnitudeCurve> curves;
    for (const MaskedLayer& layer : masked_) {
      curves.push_back(magnitude_curve(layer.weight, layer.vector));
    }
    return curves;
  }

  double train_batches(std::int64_t first, std::int64_t count) {
    double sum = 0.0;
    train_on(first, count, sum);
    return count > 0 ? sum / static_cast<double>(count) : 0.0;
  }

  void train(std::int64_t first, std::int64_t count, LossSum& losses) {
    Learner::Hooks hooks;
    if (stage_.is_pruning) {
      const torch::NoGradGuard no_grad;
      torch::_foreach_zero_(gradient_sums_);
      hooks.before_update = [this] { add_gradients(); };
    }
    std::int64_t batch = first;
    hooks.after_update = [this, &batch] {
      if (stage_.is_pruning) apply_masks();
      if (options_.on_batch) options_.on_batch(batch);
      ++batch;
      if (options_.should_stop && options_.should_stop()) {
        fail(ErrorCode::interrupted, "training was interrupted");
      }
    };
    learner_.train(stage_, first, count, hooks, losses);
  }

  std::vector<Migration> recompute_masks(std::span<const double> sparsities, double alpha) {
    if (sparsities.size() != masked_.size()) {
      fail(ErrorCode::usage, "recompute_masks: ", sparsities.size(), " sparsities for ",
           masked_.size(), " layers");
    }
    Tensors counts;
    for (std::size_t i = 0; i < masked_.size(); ++i) {
      MaskedLayer& layer = masked_[i];
      const torch::Tensor before = layer.block_mask;
      const torch::Tensor importance =
          block_importance(layer.weight, layer.gradient_sum, layer.vector, alpha);
      layer.set_mask(options_.row_balance ? top_blocks_of_rows(importance, sparsities[i])
                                          : top_blocks(importance, sparsities[i]));
      counts.push_back(layer.migration_from(before));
    }
    return to_migrations(counts);
  }

  // Weights and running statistics, momenta, gradient sums and masks, with names for files.
  std::vector<std::pair<std::string, torch::Tensor>> state() const {
    std::vector<std::pair<std::string, torch::Tensor>> all;
    const Network& network = learner_.network();
    const Tensors& momenta = learner_.sgd().momenta();
    for (std::size_t i = 0; i < momenta.size(); ++i) {
      all.emplace_back(network.parameters()[i].name, network.parameters()[i].value.detach());
      all.emplace_back(network.parameters()[i].name + ".momentum", momenta[i]);
    }
    for (const NamedTensor& tensor : network.statistics()) {
      all.emplace_back(tensor.name, tensor.value);
    }
    for (const MaskedLayer& layer : masked_) {
      all.emplace_back(layer.node + ".weight.gradient", layer.gradient_sum);
      all.emplace_back(layer.node + ".weight.mask", layer.block_mask);
    }
    return all;
  }

  std::string first_not_finite() const {
    const torch::NoGradGuard no_grad;
    for (const auto* group : {&learner_.network().parameters(), &learner_.network().statistics()}) {
      for (const NamedTensor& tensor : *group) {
        if (!tensor.value.isfinite().all().item<bool>()) return tensor.name;
      }
    }
    return "";
  }

  std::shared_ptr<const Snapshot> snapshot() const {
    auto copy = std::make_shared<TorchSnapshot>();
    for (const auto& [name, tensor] : state()) copy->tensors.push_back(tensor.clone());
    return copy;
  }

  void restore(const Snapshot& snapshot) {
    const auto* saved = dynamic_cast<const TorchSnapshot*>(&snapshot);
    const auto current = state();
    if (!saved || saved->tensors.size() != current.size()) {
      fail(ErrorCode::internal, "restore: a snapshot of another trainee");
    }
    const torch::NoGradGuard no_grad;
    for (std::size_t i = 0; i < current.size(); ++i) current[i].second.copy_(saved->tensors[i]);
    for (MaskedLayer& layer : masked_) layer.set_mask(layer.block_mask);
  }

  void rewind_weights(const Snapshot& snapshot) {
    Tensors masks;
    for (const MaskedLayer& layer : masked_) masks.push_back(layer.block_mask.clone());
    restore(snapshot);
    for (std::size_t i = 0; i < masked_.size(); ++i) masked_[i].set_mask(masks[i]);
  }

  std::shared_ptr<const Snapshot> read_snapshot(const std::map<std::string, Tensor>& tensors,
                                                const std::string& place) const {
    auto copy = std::make_shared<TorchSnapshot>();
    for (const auto& [name, current] : state()) {
      const auto found = tensors.find(name);
      if (found == tensors.end()) {
        fail(ErrorCode::bad_file, place, ": tensor '", name, "' is missing");
      }
      const torch::Tensor value = to_torch(found->second, device_);
      if (value.sizes() != current.sizes() || value.scalar_type() != current.scalar_type()) {
        fail(ErrorCode::bad_file, place, ": tensor '", name, "' is ",
             to_string(found->second.shape()), ", expected ", to_string(current.sizes().vec()));
      }
      copy->tensors.push_back(torch::empty_like(current).copy_(value));
    }
    return copy;
  }

  Learner& learner() { return learner_; }
  const torch::Device& device() const { return device_; }
  const std::vector<PrunableLayer>& layers() const { return layers_; }

 private:
  // Statistics of training lag behind masks that have just changed.
  void prepare_statistics() {
    if (stage_.is_pruning && options_.batch_norm_images > 0) {
      learner_.reestimate_statistics(options_.batch_norm_images);
    }
  }

  void find_layers() {
    const Graph& graph = learner_.network().graph();
    for (std::size_t i = 0; i < learner_.network().parameters().size(); ++i) {
      const NamedTensor& parameter = learner_.network().parameters()[i];
      const Node& node = graph.nodes[parameter.node];
      if (!has_prunable_weight(node) || parameter.name != weight_name(node)) continue;
      masked_.push_back(MaskedLayer::whole(node.name, options_.vector, parameter.value,
                                           learner_.sgd().momenta()[i]));
    }
  }

  void load_masks(const Model& model) {
    for (MaskedLayer& layer : masked_) {
      torch::Tensor mask = torch::ones_like(layer.block_mask);
      if (const auto found = model.tensors.find(layer.node + ".weight.mask");
          found != model.tensors.end()) {
        mask = to_torch(found->second, device_);
        if (mask.sizes() != layer.block_mask.sizes()) {
          fail(ErrorCode::usage, "layer '", layer.node, "': its mask has another granularity than ",
               layer.vector, " channels");
        }
      }
      layer.set_mask(mask);
    }
  }

  void add_gradients() {
    const torch::NoGradGuard no_grad;
    Tensors gradients;
    for (const torch::Tensor& weight : weights_) gradients.push_back(weight.grad());
    torch::_foreach_add_(gradient_sums_, gradients);
  }

  // Eq 4.
  void apply_masks() {
    const torch::NoGradGuard no_grad;
    torch::_foreach_mul_(weights_, masks_);
    torch::_foreach_mul_(momenta_, masks_);
  }

  // One transfer for all layers.
  static std::vector<Migration> to_migrations(const Tensors& counts) {
    const torch::Tensor all = torch::stack(counts).to(torch::kCPU);
    const auto count = all.accessor<std::int64_t, 2>();
    std::vector<Migration> migrations;
    for (std::int64_t i = 0; i < all.size(0); ++i) {
      migrations.push_back({.entered = count[i][0],
                            .left = count[i][1],
                            .kept = count[i][2],
                            .kept_weights = count[i][3]});
    }
    return migrations;
  }

  TraineeOptions options_;
  torch::Device device_;
  mutable Learner learner_;
  Stage stage_;
  std::vector<PrunableLayer> layers_;
  std::vector<MaskedLayer> masked_;
  // The tensors of masked_, for multi-tensor operations.
  Tensors weights_;
  Tensors momenta_;
  Tensors masks_;
  Tensors gradient_sums_;
};

TorchTrainee::TorchTrainee(const Model& model, const DataSet& data, const TraineeOptions& options)
    : impl_(std::make_unique<Impl>(model, data, options)) {}

TorchTrainee::~TorchTrainee() = default;

void TorchTrainee::begin(const Stage& stage) {
  impl_->begin(stage);
}
void TorchTrainee::load(const Model& model) {
  impl_->load(model);
}
void TorchTrainee::reset_momentum() {
  impl_->reset_momentum();
}
void TorchTrainee::store(Model& model) const {
  impl_->store(model);
}

void TorchTrainee::train_on(std::int64_t first, std::int64_t count, double& loss_sum) {
  impl_->train_on(first, count, loss_sum);
}

std::string TorchTrainee::first_not_finite() const {
  return impl_->first_not_finite();
}

std::int64_t TorchTrainee::batches_per_epoch() const {
  return impl_->learner().batches_per_epoch();
}

std::string TorchTrainee::device() const {
  return describe_device(impl_->device());
}
const std::vector<PrunableLayer>& TorchTrainee::layers() const {
  return impl_->layers();
}

double TorchTrainee::train_batches(std::int64_t first, std::int64_t count) {
  return impl_->train_batches(first, count);
}

double TorchTrainee::measure_accuracy() {
  return impl_->measure_accuracy();
}

double TorchTrainee::measure_loss(std::int64_t images) {
  return impl_->measure_loss(images);
}

std::vector<MagnitudeCurve> TorchTrainee::magnitude_curves() {
  return impl_->magnitude_curves();
}

std::vector<Migration> TorchTrainee::recompute_masks(std::span<const double> sparsities,
                                                     double alpha) {
  return impl_->recompute_masks(sparsities, alpha);
}

std::shared_ptr<const Snapshot> TorchTrainee::snapshot() {
  return impl_->snapshot();
}
void TorchTrainee::restore(const Snapshot& snapshot) {
  impl_->restore(snapshot);
}
void TorchTrainee::rewind_weights(const Snapshot& snapshot) {
  impl_->rewind_weights(snapshot);
}

std::map<std::string, Tensor> TorchTrainee::write_snapshot(const Snapshot& snapshot) const {
  const auto& saved = dynamic_cast<const TorchSnapshot&>(snapshot);
  const auto current = impl_->state();
  std::map<std::string, Tensor> tensors;
  for (std::size_t i = 0; i < current.size(); ++i) {
    tensors[current[i].first] = to_host(saved.tensors[i]);
  }
  return tensors;
}

std::shared_ptr<const Snapshot> TorchTrainee::read_snapshot(
    const std::map<std::string, Tensor>& tensors, const std::string& place) const {
  return impl_->read_snapshot(tensors, place);
}

}  // namespace winnow
