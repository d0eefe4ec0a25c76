#include "prune/training/torch_trainee.h"

#include <ATen/Parallel.h>
#include <torch/types.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <thread>

#include "prune/training/device.h"
#include "prune/training/masks/pruning_masks.h"
#include "prune/training/ranks/state_checksum.h"
#include "prune/training/steps/learner.h"
#include "prune/training/tensor_bridge.h"
#include "prune/training/trainability.h"
#include "prune/training/weight_average.h"
#include "runtime/base/error.h"

namespace winnow {
namespace {

using Tensors = std::vector<torch::Tensor>;

// All tensors of a state, in the order of TorchTrainee::Impl::state().
struct TorchSnapshot : Snapshot {
  Tensors tensors;
};

torch::Device prepare(const TraineeOptions& options) {
  const torch::Device device = resolve_device(options.device, options.local_rank);
  const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  const std::int64_t threads =
      options.threads > 0 ? options.threads : std::max<std::int64_t>(cores, 1);
  at::set_num_threads(static_cast<int>(threads));
  return device;
}

// As make_masks() takes them.
std::vector<std::int64_t> vectors_of(const TraineeOptions& options, const Graph& graph) {
  if (options.vector == kWholeChannels) return {kWholeChannels};
  return vectors_of(graph, options.vector);
}

}  // namespace

class TorchTrainee::Impl {
 public:
  Impl(const Model& model, const DataSet& data, const TraineeOptions& options)
      : options_(options),
        device_(prepare(options)),
        preprocessing_(data.preprocessing),
        learner_(model, data, device_, options.train, options.augment, options.seed) {
    masks_ = make_masks(model, learner_, mask_options(vectors_of(options_, model.graph)));
    if (options_.train.ema_decay > 0) {
      average_.emplace(learner_.network(), options_.train.ema_decay);
    }
  }

  void set_granularities(std::span<const std::int64_t> vectors) {
    Model bare;
    bare.graph = learner_.network().graph();
    masks_ = make_masks(bare, learner_, mask_options({vectors.begin(), vectors.end()}));
    learner_.forget_steps();  // they name the masks of before
  }

  std::vector<MagnitudeCurve> weight_curves(std::int64_t vector) const {
    return masks_->weight_curves(vector);
  }

  void join(const TeamPlace& place) {
    if (place.name == team_name_) return;
    learner_.join(nullptr);
    if (!place.is_alone()) learner_.join(std::make_unique<Team>(place, device_));
    team_name_ = place.name;
  }

  void begin(const Stage& stage) { stage_ = stage; }

  void load(const Model& model) {
    learner_.network().load(model);
    reset_momentum();
    masks_->load(model);
    if (average_) average_->begin();
  }

  void reset_momentum() {
    const torch::NoGradGuard no_grad;
    for (const torch::Tensor& momentum : learner_.sgd().momenta()) momentum.zero_();
    masks_->clear_gradients();
  }

  void store(Model& model) const {
    const auto averaged = as_measured();
    learner_.network().store(model);
    masks_->store(model);
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
    if (Team* team = learner_.team()) team->require_all();
  }

  double measure_accuracy() {
    const auto averaged = as_measured();
    prepare_statistics();
    return learner_.measure_accuracy(pause_);
  }

  double measure_loss(std::int64_t images) {
    const auto averaged = as_measured();
    if (stage_.is_pruning) {
      learner_.reestimate_statistics(std::max(images, options_.batch_norm_images), pause_);
    }
    return learner_.measure_loss(images, pause_);
  }

  std::vector<MagnitudeCurve> magnitude_curves() const { return masks_->magnitude_curves(); }

  double train_batches(std::int64_t first, std::int64_t count) {
    double sum = 0.0;
    train_on(first, count, sum);
    return count > 0 ? sum / static_cast<double>(count) : 0.0;
  }

  void train(std::int64_t first, std::int64_t count, LossSum& losses) {
    Learner::Hooks hooks;
    hooks.after_update = [this] {
      masks_->follow();
      if (average_) average_->add();
    };
    if (stage_.is_pruning) {
      masks_->clear_gradients();
      hooks.before_update = [this] {
        masks_->add_gradients();
        masks_->begin_update();
      };
      hooks.factors = masks_->factors(learner_.sgd());
      hooks.gradient_sums = masks_->gradient_sums(learner_.sgd());
      hooks.after_update = [this] {
        masks_->finish_update();
        if (average_) average_->add();
      };
    }
    std::int64_t batch = first;
    hooks.after_batch = [this, &batch] {
      if (stage_.is_pruning) masks_->shrink_groups(penalty_, learning_rate(stage_, batch));
      if (options_.on_batch) options_.on_batch(batch);
      stop_if_asked(batch++);
    };
    learner_.train(stage_, first, count, hooks, losses);
  }

  std::vector<Migration> recompute_masks(std::span<const double> sparsities,
                                         std::span<const double> alphas) {
    require_layers("recompute_masks", sparsities.size());
    if (!alphas.empty()) require_layers("recompute_masks", alphas.size());
    return masks_->recompute(sparsities, alphas);
  }

  std::vector<GroupNorms> group_norms() const { return masks_->group_norms(); }

  void set_penalty(const GroupPenalty& penalty) {
    require_layers("set_penalty", penalty.strengths.size());
    penalty_ = penalty;
  }

  std::vector<Migration> keep_groups(std::span<const KeptGroups> kept) {
    require_layers("keep_groups", kept.size());
    return masks_->keep_groups(kept);
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
    const auto of_masks = masks_->state();
    all.insert(all.end(), of_masks.begin(), of_masks.end());
    if (!average_) return all;
    const auto of_average = average_->state();
    all.insert(all.end(), of_average.begin(), of_average.end());
    return all;
  }

  std::string first_not_finite() const {
    const torch::NoGradGuard no_grad;
    std::vector<std::string> names;
    Tensors finite;
    for (const auto* group : {&learner_.network().parameters(), &learner_.network().statistics()}) {
      for (const NamedTensor& tensor : *group) {
        names.push_back(tensor.name);
        finite.push_back(tensor.value.isfinite().all());
      }
    }
    if (finite.empty()) return "";
    const torch::Tensor all = torch::stack(finite).to(torch::kCPU);  // one wait for the device
    const bool* const first = all.const_data_ptr<bool>();
    const bool* const found = std::find(first, first + all.numel(), false);
    return found == first + all.numel() ? "" : names[static_cast<std::size_t>(found - first)];
  }

  std::uint32_t checksum() const {
    Tensors all;
    for (const auto& [name, tensor] : state()) all.push_back(tensor);
    return winnow::checksum(all);
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
    // Tensors of one type can be copied at once.
    std::map<torch::ScalarType, std::pair<Tensors, Tensors>> by_type;
    for (std::size_t i = 0; i < current.size(); ++i) {
      auto& [to, from] = by_type[saved->tensors[i].scalar_type()];
      to.push_back(current[i].second);
      from.push_back(saved->tensors[i]);
    }
    for (auto& [type, tensors] : by_type) torch::_foreach_copy_(tensors.first, tensors.second);
    masks_->refresh();
  }

  // Masks are the only bytes among the tensors.
  std::uint64_t fingerprint(const Snapshot& snapshot) const {
    Tensors masks;
    for (const torch::Tensor& tensor : dynamic_cast<const TorchSnapshot&>(snapshot).tensors) {
      if (tensor.scalar_type() == torch::kByte) masks.push_back(tensor);
    }
    return winnow::checksum(masks);
  }

  void set_teacher(const Snapshot& snapshot) {
    const auto own = this->snapshot();
    restore(snapshot);
    learner_.set_teacher(options_.distillation, learner_.network());
    restore(*own);
  }

  void set_teacher(const Model& model) {
    Network network(model.graph, learner_.network().options());
    network.load(model);
    learner_.set_teacher(
        options_.distillation, network,
        input_change(preprocessing_, model.preprocessing, learner_.network().options()));
  }

  void rewind_weights(const Snapshot& snapshot) {
    const Tensors choice = masks_->choice();
    restore(snapshot);
    masks_->choose(choice);
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

  std::string snapshot_bytes(const Snapshot& snapshot) const {
    const torch::Tensor host = packed(snapshot).cpu();
    return {static_cast<const char*>(host.const_data_ptr()), host.nbytes()};
  }

  std::shared_ptr<const Snapshot> snapshot_from(const std::string& bytes) const {
    const torch::Tensor host = torch::empty({std::ssize(bytes)}, torch::kByte);
    std::memcpy(host.mutable_data_ptr(), bytes.data(), bytes.size());
    return unpacked(host.to(device_));
  }

  std::string gpu_identity() const { return winnow::gpu_identity(device_); }

  // A byte goes to all at once: NCCL connects the ranks by it, while each is known to be there.
  void join_population(const TeamPlace& place) {
    population_.emplace(place, device_);
    torch::Tensor byte = torch::zeros({1}, torch::TensorOptions(torch::kByte).device(device_));
    population_->broadcast(byte, 0);
    population_->wait_for(byte);
  }

  std::shared_ptr<const Snapshot> broadcast(std::shared_ptr<const Snapshot> mine,
                                            std::int64_t from) {
    const torch::NoGradGuard no_grad;
    const bool is_mine = population_->rank() == from;
    torch::Tensor bytes =
        is_mine
            ? packed(*mine)
            : torch::empty({packed_bytes()}, torch::TensorOptions(torch::kByte).device(device_));
    population_->broadcast(bytes, from);
    population_->wait_for(bytes);
    return is_mine ? std::move(mine) : unpacked(bytes);
  }

  Learner& learner() { return learner_; }
  const torch::Device& device() const { return device_; }
  const std::vector<PrunableLayer>& layers() const { return masks_->layers(); }

 private:
  // Tensors lie one behind the other in a buffer of bytes, where elements of each are aligned.
  static std::int64_t packed_size(const torch::Tensor& tensor) {
    constexpr std::size_t kAligned = 16;
    return static_cast<std::int64_t>((tensor.nbytes() + kAligned - 1) / kAligned * kAligned);
  }

  std::int64_t packed_bytes() const {
    std::int64_t bytes = 0;
    for (const auto& [name, tensor] : state()) bytes += packed_size(tensor);
    return bytes;
  }

  torch::Tensor packed(const Snapshot& snapshot) const {
    const torch::Tensor bytes =
        torch::zeros({packed_bytes()}, torch::TensorOptions(torch::kByte).device(device_));
    std::int64_t next = 0;
    for (const torch::Tensor& tensor : dynamic_cast<const TorchSnapshot&>(snapshot).tensors) {
      const torch::Tensor flat = tensor.contiguous().flatten().view(torch::kByte);
      bytes.narrow(0, next, flat.numel()).copy_(flat);
      next += packed_size(tensor);
    }
    return bytes;
  }

  std::shared_ptr<const Snapshot> unpacked(const torch::Tensor& bytes) const {
    if (bytes.numel() != packed_bytes()) {
      fail(ErrorCode::internal, "snapshot of another rank: ", bytes.numel(),
           " bytes do not fit the network");
    }
    auto copy = std::make_shared<TorchSnapshot>();
    std::int64_t next = 0;
    for (const auto& [name, current] : state()) {
      const torch::Tensor flat = bytes.narrow(0, next, static_cast<std::int64_t>(current.nbytes()));
      const torch::Tensor values = flat.view(current.scalar_type()).view(current.sizes());
      copy->tensors.push_back(torch::empty_like(current).copy_(values));
      next += packed_size(current);
    }
    return copy;
  }

  MaskOptions mask_options(std::vector<std::int64_t> vectors) const {
    return {.vectors = std::move(vectors),
            .row_balance = options_.row_balance,
            .uses_gradients = options_.uses_gradients,
            .uses_fisher = options_.uses_fisher,
            .feedback = options_.feedback,
            .feedback_decay = options_.feedback_decay,
            .fuses_kernels = options_.train.fuses_kernels};
  }

  void require_layers(const char* function, std::size_t count) const {
    if (count == layers().size()) return;
    fail(ErrorCode::usage, function, ": for ", count, " layers, expected ", layers().size());
  }

  // While it lives the network is what is measured and stored; null if that is the network itself.
  std::unique_ptr<AveragedNetwork> as_measured() const {
    if (!average_) return nullptr;
    return std::make_unique<AveragedNetwork>(*average_, *masks_);
  }

  // The ranks of a team stop behind the same batch, and none leaves before its sums are over.
  void stop_if_asked(std::int64_t batch) {
    Team* team = learner_.team();
    if (!team) return pause_();
    if (!team->asks_after(batch) || !team->any(options_.should_stop && options_.should_stop()))
      return;
    learner_.wait();
    team->any(false);
    fail(ErrorCode::interrupted, "training was interrupted");
  }

  // Statistics of training lag behind masks that have just changed.
  void prepare_statistics() {
    if (stage_.is_pruning && options_.batch_norm_images > 0) {
      learner_.reestimate_statistics(options_.batch_norm_images, pause_);
    }
  }

  TraineeOptions options_;
  torch::Device device_;
  Preprocessing preprocessing_;  // of the samples
  mutable Learner learner_;
  Stage stage_;
  std::unique_ptr<PruningMasks> masks_;
  std::optional<WeightAverage> average_;
  GroupPenalty penalty_;
  std::string team_name_;
  std::optional<Team> population_;
  Pause pause_ = [this] {
    if (!options_.should_stop || !options_.should_stop()) return;
    fail(ErrorCode::interrupted, "training was interrupted");
  };
};

TorchTrainee::TorchTrainee(const Model& model, const DataSet& data, const TraineeOptions& options)
    : impl_(std::make_unique<Impl>(model, data, options)) {}

TorchTrainee::~TorchTrainee() = default;

void TorchTrainee::join(const TeamPlace& place) {
  impl_->join(place);
}
void TorchTrainee::begin(const Stage& stage) {
  impl_->begin(stage);
}
void TorchTrainee::load(const Model& model) {
  impl_->load(model);
}
void TorchTrainee::set_granularities(std::span<const std::int64_t> vectors) {
  impl_->set_granularities(vectors);
}
std::vector<MagnitudeCurve> TorchTrainee::weight_curves(std::int64_t vector) const {
  return impl_->weight_curves(vector);
}
void TorchTrainee::reset_momentum() {
  impl_->reset_momentum();
}
void TorchTrainee::set_teacher(const Snapshot& snapshot) {
  impl_->set_teacher(snapshot);
}
void TorchTrainee::set_teacher(const Model& model) {
  impl_->set_teacher(model);
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

std::uint32_t TorchTrainee::checksum() const {
  return impl_->checksum();
}
std::string TorchTrainee::device() const {
  std::string device = describe_device(impl_->device());
  if (impl_->learner().records_steps()) device += ", steps as CUDA graphs";
  if (impl_->learner().fuses_kernels()) device += ", fused kernels";
  const Team* team = impl_->learner().team();
  if (!team) return device;
  return device + ", batches divided among " + std::to_string(team->size()) + " processes";
}

std::int64_t TorchTrainee::peak_gpu_bytes() const {
  return winnow::peak_gpu_bytes(impl_->device());
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
                                                     std::span<const double> alphas) {
  return impl_->recompute_masks(sparsities, alphas);
}

std::vector<GroupNorms> TorchTrainee::group_norms() {
  return impl_->group_norms();
}

void TorchTrainee::set_penalty(const GroupPenalty& penalty) {
  impl_->set_penalty(penalty);
}

std::vector<Migration> TorchTrainee::keep_groups(std::span<const KeptGroups> kept) {
  return impl_->keep_groups(kept);
}

std::shared_ptr<const Snapshot> TorchTrainee::snapshot() {
  return impl_->snapshot();
}
void TorchTrainee::restore(const Snapshot& snapshot) {
  impl_->restore(snapshot);
}
std::uint64_t TorchTrainee::fingerprint(const Snapshot& snapshot) const {
  return impl_->fingerprint(snapshot);
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

std::string TorchTrainee::gpu_identity() const {
  return impl_->gpu_identity();
}

void TorchTrainee::join_population(const TeamPlace& place) {
  impl_->join_population(place);
}

std::shared_ptr<const Snapshot> TorchTrainee::broadcast(std::shared_ptr<const Snapshot> mine,
                                                        std::int64_t from) {
  return impl_->broadcast(std::move(mine), from);
}

std::string TorchTrainee::snapshot_bytes(const Snapshot& snapshot) const {
  return impl_->snapshot_bytes(snapshot);
}

std::shared_ptr<const Snapshot> TorchTrainee::snapshot_from(const std::string& bytes) const {
  return impl_->snapshot_from(bytes);
}

}  // namespace winnow
