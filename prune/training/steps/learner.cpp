#include "prune/training/steps/learner.h"

#include <ATen/autocast_mode.h>
#include <torch/nn/functional/loss.h>
#include <torch/types.h>

#include <algorithm>
#include <mutex>

#include "prune/training/network/statistics_estimate.h"
#include "prune/training/steps/shared_step.h"
#include "prune/training/trainability.h"
#include "runtime/base/error.h"
#include "runtime/base/random.h"

namespace winnow {
namespace {

namespace functional = torch::nn::functional;

constexpr std::int64_t kEvaluationBatch = 512;

// Runs matrix products and convolutions in bf16 while it lives.
class Autocast {
 public:
  Autocast(bool is_on, torch::DeviceType device) : is_on_(is_on), device_(device) {
    if (!is_on_) return;
    at::autocast::set_autocast_dtype(device_, torch::kBFloat16);
    at::autocast::set_autocast_enabled(device_, true);
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;
  ~Autocast() {
    if (!is_on_) return;
    at::autocast::clear_cache();  // it holds weights that the next step changes
    at::autocast::set_autocast_enabled(device_, false);
  }

 private:
  bool is_on_;
  torch::DeviceType device_;
};

NetworkOptions network_options(const torch::Device& device, const TrainConfig& config) {
  const auto format =
      config.is_channels_last ? torch::MemoryFormat::ChannelsLast : torch::MemoryFormat::Contiguous;
  return {.device = device,
          .type = torch::kFloat,
          .format = format,
          .fused = config.fuses_kernels ? fused_kernels(device) : nullptr,
          .casts = config.fuses_kernels ? cast_kernels(device) : nullptr};
}

Sgd make_sgd(const Network& network, const TrainConfig& config) {
  std::vector<torch::Tensor> parameters;
  std::vector<bool> is_decayed;
  for (const NamedTensor& parameter : network.parameters()) {
    parameters.push_back(parameter.value);
    // Matrices and filters have two dimensions or more; scales, shifts and biases one.
    is_decayed.push_back(config.decays_norms_and_biases || parameter.value.dim() > 1);
  }
  return Sgd(std::move(parameters), std::move(is_decayed),
             {.momentum = config.momentum,
              .is_nesterov = config.is_nesterov,
              .weight_decay = config.weight_decay,
              .clip_norm = config.clip_norm},
             config.fuses_kernels ? sgd_kernels(network.options().device) : nullptr);
}

BatchOptions batch_options(const TrainConfig& config, const AugmentConfig& augment,
                           std::uint64_t seed) {
  return {.batch_size = config.batch_size,
          .seed = seed,
          .augment = augment,
          .format = {.dtype = torch::kFloat,
                     .is_channels_last = config.is_channels_last,
                     .fuses_kernels = config.fuses_kernels}};
}

bool has_dropout(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
    const Dropout* dropout = std::get_if<Dropout>(&node.op);
    return dropout && dropout->probability > 0;
  });
}

void seed_device(const torch::Device& device, std::uint64_t seed) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_current_seed(seed);
}

const Model& checked(const Model& model, const DataSet& data) {
  require_fit(model.graph, data);
  return model;
}

}  // namespace

bool uses_bf16(TrainingPrecision precision, const torch::Device& device) {
  if (precision == TrainingPrecision::automatic) return device.is_cuda();
  return precision == TrainingPrecision::bf16;
}

LossSum::LossSum(const torch::Device& device, double start)
    : sum_(torch::full({}, start, torch::TensorOptions().dtype(torch::kDouble).device(device))) {}

double LossSum::value() const {
  return sum_.item<double>();
}

Learner::Learner(const Model& model, const DataSet& data, const torch::Device& device,
                 const TrainConfig& config, const AugmentConfig& augment, std::uint64_t seed)
    : config_(config),
      seed_(seed),
      is_bf16_(uses_bf16(config.precision, device)),
      network_(checked(model, data).graph, network_options(device, config)),
      sgd_(make_sgd(network_, config)),
      batches_(ResidentImages(data.train, data.preprocessing, device),
               batch_options(config, augment, seed)),
      training_(batches_.images(), kEvaluationBatch, batch_options(config, augment, seed).format),
      training_count_(data.train.count),
      validation_(ResidentImages(data.validation, data.preprocessing, device), kEvaluationBatch,
                  batch_options(config, augment, seed).format),
      validation_count_(data.validation.count),
      batches_per_epoch_(batches_.batches_per_epoch()),
      has_dropout_(has_dropout(model.graph)),
      rate_(torch::zeros({}, torch::TensorOptions().dtype(torch::kFloat).device(device))),
      replay_(config.records_steps ? make_step_graphs(device) : nullptr) {
  if (data.train.count % config.batch_size == 1 && batches_per_epoch_ > 1) --batches_per_epoch_;
  at::globalContext().setDeterministicCuDNN(true);
  network_.load(model);
}

void Learner::seek(const Stage& stage, std::int64_t index) {
  const BatchPosition wanted = {stage.first_epoch + index / batches_per_epoch_,
                                index % batches_per_epoch_ * config_.batch_size};
  if (!(batches_.position() == wanted)) batches_.seek(wanted);
}

torch::Tensor Learner::train_batch(const Stage& stage, std::int64_t index, const Hooks& hooks) {
  seek(stage, index);
  const DrawnBatch drawn = batches_.draw();
  if (has_dropout_) {
    const auto number = static_cast<std::uint64_t>(stage.first_epoch * batches_per_epoch_ + index);
    seed_device(network_.options().device, seed_ ^ mix_bits(number + 1));
  }
  rate_.fill_(learning_rate(stage, index));
  if (team_) return train_part(drawn, stage.is_pruning, hooks);
  return replay_.run(drawn, {stage.is_pruning, drawn.target.size(0)},
                     [&](const DrawnBatch& batch) { return step(batch, stage.is_pruning, hooks); });
}

void Learner::join(std::unique_ptr<Team> team) {
  replay_.forget();
  team_ = std::move(team);
  network_.set_part({});
}

torch::Tensor Learner::train_part(const DrawnBatch& drawn, bool is_pruning, const Hooks& hooks) {
  team_->require_all();
  const BatchPart part = team_->part_of(drawn.target.size(0));
  network_.set_part(part);
  const auto of = [&](const torch::Tensor& all) { return all.narrow(0, part.first, part.count); };
  const DrawnBatch mine = {of(drawn.bytes), of(drawn.target), of(drawn.changes)};
  return replay_.run(mine, {is_pruning, part.of}, [&](const DrawnBatch& batch) {
    return shared_step(batch, part, is_pruning, hooks);
  });
}

torch::Tensor Learner::loss_of(const Batch& batch, bool is_pruning) {
  const Autocast autocast(is_bf16_, network_.options().device.type());
  const torch::Tensor logits = network_.logits(batch.input, Mode::training).to(torch::kFloat);
  const torch::Tensor loss = functional::cross_entropy(
      logits, batch.target,
      functional::CrossEntropyFuncOptions().label_smoothing(config_.label_smoothing));
  if (!teacher_ || !is_pruning) return loss;
  return teacher_->blend(loss, logits, batch.input, distillation_);
}

torch::Tensor Learner::step(const DrawnBatch& drawn, bool is_pruning, const Hooks& hooks) {
  const torch::Tensor loss = loss_of(batches_.made(drawn), is_pruning);
  loss.backward();
  update(hooks);
  return loss.detach();
}

// Losses are means over images, and so is their weighted sum.
torch::Tensor Learner::shared_step(const DrawnBatch& drawn, const BatchPart& part, bool is_pruning,
                                   const Hooks& hooks) {
  torch::Tensor loss = loss_of(batches_.made(drawn), is_pruning) * part.weight;
  loss.backward();
  add_up_step(network_, loss, part, *team_);
  update(hooks);
  return loss;
}

void Learner::update(const Hooks& hooks) {
  if (hooks.before_update) hooks.before_update();
  sgd_.step(rate_, {.factors = hooks.factors, .gradient_sums = hooks.gradient_sums});
  if (hooks.after_update) hooks.after_update();
}

void Learner::set_teacher(const Distillation& how, const Network& network,
                          const InputChange& change) {
  distillation_ = how;
  if (teacher_) {
    teacher_->become(network);
  } else {
    teacher_.emplace(network, change);
  }
}

void Learner::train(const Stage& stage, std::int64_t first, std::int64_t count, const Hooks& hooks,
                    LossSum& losses) {
  for (std::int64_t i = 0; i < count; ++i) {
    losses.add(train_batch(stage, first + i, hooks));
    if (hooks.after_batch) hooks.after_batch();
  }
}

void Learner::reestimate_statistics(std::int64_t images, const Pause& pause) {
  const std::int64_t wanted = std::min(images, training_count_);
  if (wanted < 2) return;
  const torch::NoGradGuard no_grad;
  StatisticsEstimate estimate(network_);
  for (std::int64_t done = 0; wanted - done > 1; done += kEvaluationBatch) {
    if (done > 0 && pause) pause();
    const torch::Tensor input = training_.at(done / kEvaluationBatch).input;
    estimate.add(input.narrow(0, 0, std::min(input.size(0), wanted - done)));
  }
  estimate.finish();
}

double Learner::measure_loss(std::int64_t images, const Pause& pause) {
  const torch::NoGradGuard no_grad;
  const Autocast autocast(is_bf16_, network_.options().device.type());
  const std::int64_t wanted = std::min(images, training_count_);
  LossSum sum(network_.options().device, 0.0);
  for (std::int64_t done = 0; done < wanted; done += kEvaluationBatch) {
    if (done > 0 && pause) pause();
    const Batch batch = training_.at(done / kEvaluationBatch);
    const std::int64_t size = std::min(batch.input.size(0), wanted - done);
    const torch::Tensor logits = network_.logits(batch.input.narrow(0, 0, size), Mode::evaluation);
    sum.add(
        functional::cross_entropy(logits.to(torch::kFloat), batch.target.narrow(0, 0, size),
                                  functional::CrossEntropyFuncOptions().reduction(torch::kSum)));
  }
  return sum.value() / static_cast<double>(wanted);
}

double Learner::measure_accuracy(const Pause& pause) {
  const torch::NoGradGuard no_grad;
  const Autocast autocast(is_bf16_, network_.options().device.type());
  torch::Tensor right = torch::zeros(
      {}, torch::TensorOptions().dtype(torch::kLong).device(network_.options().device));
  for (std::int64_t i = 0; i < validation_.count(); ++i) {
    if (i > 0 && pause) pause();
    const Batch batch = validation_.at(i);
    right += (network_.logits(batch.input, Mode::evaluation).argmax(1) == batch.target).sum();
  }
  return right.item<double>() / static_cast<double>(validation_count_);
}

}  // namespace winnow
