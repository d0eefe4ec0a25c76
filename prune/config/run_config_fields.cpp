#include "prune/config/run_config_fields.h"

#include "runtime/model/architectures.h"

namespace winnow {
namespace {

constexpr Range kPositiveCount = {.lowest = 1, .highest = 1e9};
constexpr Range kNotNegative = {.lowest = 0};
constexpr Range kPositive = {.lowest = 0, .excludes_lowest = true};
constexpr Range kFraction = {.lowest = 0, .highest = 1};
constexpr Range kBelowOne = {.lowest = 0, .highest = 1, .excludes_highest = true};

constexpr Named<Decay> kDecays[] = {
    {"cosine", Decay::cosine}, {"step", Decay::step}, {"constant", Decay::constant}};
constexpr Named<TrainingPrecision> kPrecisions[] = {{"auto", TrainingPrecision::automatic},
                                                    {"fp32", TrainingPrecision::fp32},
                                                    {"bf16", TrainingPrecision::bf16}};
constexpr Named<Start> kStarts[] = {
    {"scratch", Start::scratch}, {"dense", Start::dense}, {"weights", Start::weights}};
constexpr Named<Masks> kMasks[] = {
    {"none", Masks::none}, {"from-zeros", Masks::from_zeros}, {"file", Masks::file}};
constexpr Named<Stem> kStems[] = {
    {"auto", Stem::automatic}, {"imagenet", Stem::imagenet}, {"cifar", Stem::cifar}};
constexpr Named<Budget> kBudgets[] = {
    {"parameters", Budget::parameters}, {"macs", Budget::macs}, {"time", Budget::time}};
constexpr Named<Method> kMethods[] = {{"evolutionary", Method::evolutionary},
                                      {"magnitude", Method::magnitude},
                                      {"lottery", Method::lottery},
                                      {"fssl", Method::fssl}};
constexpr Named<Allocation> kAllocations[] = {{"global", Allocation::global},
                                              {"uniform", Allocation::uniform},
                                              {"erk", Allocation::erk},
                                              {"lamp", Allocation::lamp},
                                              {"least_loss", Allocation::least_loss}};
constexpr Named<bool> kCriteria[] = {{"magnitude", false}, {"fisher", true}};
constexpr Named<bool> kFirstPools[] = {{"random", false}, {"known", true}};
constexpr Named<Pace> kPaces[] = {{"exponential", Pace::exponential}, {"cubic", Pace::cubic}};
constexpr Named<std::optional<Allocation>> kBases[] = {
    {"none", std::nullopt},           {"global", Allocation::global},
    {"uniform", Allocation::uniform}, {"erk", Allocation::erk},
    {"lamp", Allocation::lamp},       {"least_loss", Allocation::least_loss}};
constexpr Named<std::int64_t> kGranularities[] = {{"element", 1},   {"vector8", 8},
                                                  {"vector16", 16}, {"vector32", 32},
                                                  {"channel", 0},   {"mixed", -1}};

void visit_data(DataConfig& data, Fields& fields) {
  fields.choice("format", data.format, kDataFormats);
  fields.text("path", data.path);
  fields.count_or_fraction("validation", data.validation, kAutomaticValidation);
  fields.integer("limit", data.limit, kCount);
  fields.integer("size", data.size, {.lowest = 0, .highest = 4096});
  fields.text("resize", data.resize);
  fields.text("crop", data.crop);
  static const std::vector<std::string> interpolations = {"nearest", "box", "bilinear", "bicubic",
                                                          "lanczos"};
  fields.choice("interpolation", data.interpolation, interpolations);
  fields.integer("length", data.length, {.lowest = 0, .highest = 1 << 16});
  fields.integer("min_count", data.min_count, kPositiveCount);
  fields.text("vectors", data.vectors);
  fields.boolean("vector_words", data.vector_words);
  fields.integer("folds", data.folds, {.lowest = 2, .highest = 1e6});
  fields.integer("fold", data.fold, kCount);
}

void visit_model(ModelConfig& model, Fields& fields) {
  fields.text("weights", model.weights);
  fields.boolean("remove_zero_channels", model.removes_zero_channels);
  fields.texts("remove_layers", model.removed_layers);
  fields.choice("architecture", model.architecture, architecture_names());
  fields.real("dropout", model.dropout, kBelowOne);
  enumerator(fields, "stem", model.stem, kStems);
  fields.integer("embedding", model.embedding, {.lowest = 0, .highest = 1 << 16});
  fields.graph("graph", model.graph);
}

void visit_rate(RateSchedule& rate, const std::string& warmup, Fields& fields) {
  fields.real("learning_rate", rate.rate, {.lowest = 0, .highest = 100, .excludes_lowest = true});
  enumerator(fields, "schedule", rate.decay, kDecays);
  fields.real("final_learning_rate", rate.final_rate, {.lowest = 0, .highest = 100});
  fields.reals("milestones", rate.milestones, kNotNegative);
  fields.real("gamma", rate.gamma, {.lowest = 0, .highest = 1, .excludes_lowest = true});
  fields.real(warmup, rate.warmup, kNotNegative);
}

void visit_train(TrainConfig& train, Fields& fields) {
  fields.integer("epochs", train.epochs, {.lowest = 0, .highest = 1e6});
  fields.integer("batch_size", train.batch_size, {.lowest = 1, .highest = 1 << 20});
  visit_rate(train.rate, "warmup_epochs", fields);
  fields.real("momentum", train.momentum, kBelowOne);
  fields.boolean("nesterov", train.is_nesterov);
  fields.real("weight_decay", train.weight_decay, kFraction);
  fields.boolean("decay_norms_and_biases", train.decays_norms_and_biases);
  fields.real("label_smoothing", train.label_smoothing, kBelowOne);
  fields.real("ema_decay", train.ema_decay, kBelowOne);
  fields.real("clip_norm", train.clip_norm, kNotNegative);
  enumerator(fields, "precision", train.precision, kPrecisions);
  fields.boolean("channels_last", train.is_channels_last);
  fields.boolean("cuda_graph", train.records_steps);
  fields.boolean("data_parallel", train.is_data_parallel);
  fields.boolean("fused_kernels", train.fuses_kernels);
  fields.integer("validate_every", train.validate_every, kPositiveCount);
}

void visit_goal(RunConfig& config, Fields& fields) {
  EvolutionConfig& evolution = config.evolution;
  fields.real("acc_threshold", evolution.acc_threshold, {.lowest = -1, .highest = 1});
  fields.integer("iter_nr", evolution.iter_nr, kPositiveCount);
  fields.integer("batch_nr", evolution.batch_nr, kPositiveCount);
  fields.integer("pool_size", evolution.pool_size, {.lowest = 2, .highest = 1000});
  fields.real("target_sparsity", evolution.target_sparsity, kBelowOne);
  enumerator(fields, "budget", evolution.budget, kBudgets);
  fields.integer("target_kept", evolution.target_kept, {.lowest = 0, .highest = 1e15});
  fields.real("target_speedup", evolution.target_speedup, {.lowest = 0, .highest = 1e6});
  fields.real("target_ms", evolution.target_ms, {.lowest = 0, .highest = 1e9});
  fields.text("time_table", config.time_table);
  fields.integer("time_batch", config.time_batch, {.lowest = 0, .highest = 1 << 20});
  fields.integer("time_rounds", config.time_loop.rounds, {.lowest = 0, .highest = 100});
  fields.real("time_tolerance", config.time_loop.tolerance,
              {.lowest = 0, .highest = 1, .excludes_lowest = true});
  fields.text("time_programs", config.time_loop.programs);
  fields.real("initial_sparsity_min", evolution.initial_sparsity_min, kBelowOne);
  fields.real("initial_sparsity_max", evolution.initial_sparsity_max, kBelowOne);
  enumerator(fields, "first_pool", evolution.known_first_pool, kFirstPools);
  fields.real("max_layer_sparsity", evolution.max_layer_sparsity, kBelowOne);
  fields.real("loss_power", evolution.loss_power, {.lowest = 1, .highest = 100});
}

void visit_limits(EvolutionConfig& evolution, Fields& fields) {
  Fields::Intervals limits;
  for (const LayerLimits& limit : evolution.layer_limits) {
    limits[limit.layer] = {limit.min_sparsity, limit.max_sparsity};
  }
  fields.intervals("layer_limits", limits, kBelowOne);
  evolution.layer_limits.clear();
  for (const auto& [layer, ends] : limits) {
    evolution.layer_limits.push_back({layer, ends[0], ends[1]});
  }
  fields.texts("exclude", evolution.exclude);
}

void visit_course(EvolutionConfig& evolution, Fields& fields) {
  fields.real("sparsity_step", evolution.sparsity_step, kFraction);
  fields.real("prune_until", evolution.prune_until, kFraction);
  enumerator(fields, "pace", evolution.pace, kPaces);
  fields.real("freeze_from", evolution.freeze_from, kFraction);
  fields.integer("mask_interval", evolution.mask_interval, kCount);
  fields.real("selection_pressure", evolution.selection_pressure, kFraction);
  fields.real("lag_penalty", evolution.lag_penalty, kNotNegative);
  fields.real("max_lag", evolution.max_lag, kNotNegative);
  fields.real("comparable_range", evolution.comparable_range, kNotNegative);
  fields.real("accuracy_smoothing", evolution.accuracy_smoothing, kFraction);
  fields.real("layer_fraction", evolution.layer_fraction, kFraction);
  fields.real("layer_exploration", evolution.layer_exploration, kFraction);
  fields.real("size_exponent", evolution.size_exponent, kNotNegative);
  enumerator(fields, "base_allocation", evolution.base_allocation, kBases);
  fields.real("mutation_range", evolution.mutation_range, kNotNegative);
  fields.real("crossover_probability", evolution.crossover_probability, kFraction);
  fields.integer("generation", evolution.generation, {.lowest = 1, .highest = 1000});
  fields.integer("offspring", evolution.offspring, {.lowest = 1, .highest = 1000});
  fields.integer("judge_images", evolution.judge_images, kPositiveCount);
  fields.integer("judge_batches", evolution.judge_batches, kCount);
  fields.boolean("known_allocations", evolution.known_allocations);
}

void visit_statistics(EvolutionConfig& evolution, Fields& fields) {
  fields.real("alpha", evolution.alpha, kFraction);
  fields.real("alpha_min", evolution.alpha_min, kFraction);
  fields.real("alpha_max", evolution.alpha_max, kFraction);
  fields.real("alpha_step", evolution.alpha_step, kFraction);
  fields.real("migration_goal", evolution.migration_goal, kFraction);
  fields.real("sensitivity_smoothing", evolution.sensitivity_smoothing, kFraction);
  fields.integer("patience", evolution.patience, kPositiveCount);
  fields.integer("clusters", evolution.clusters, kPositiveCount);
  fields.integer("representatives", evolution.representatives, kPositiveCount);
}

void visit_method(MethodConfig& method, Fields& fields) {
  enumerator(fields, "method", method.method, kMethods);
  enumerator(fields, "allocation", method.allocation, kAllocations);
  fields.integer("rounds", method.rounds, {.lowest = 2, .highest = 1000});
  fields.integer("rewind_to", method.rewind_to, kCount);
  fields.real("group_strength", method.group_strength, kNotNegative);
  fields.real("time_strength", method.time_strength, kNotNegative);
  fields.real("between_channels", method.between_channels, kFraction);
}

void visit_prune(RunConfig& config, Fields& fields) {
  visit_method(config.method, fields);
  visit_goal(config, fields);
  enumerator(fields, "granularity", config.stage.vector, kGranularities);
  fields.boolean("row_balance", config.stage.row_balance);
  fields.boolean("permute_channels", config.stage.permutes_channels);
  enumerator(fields, "criterion", config.stage.uses_fisher, kCriteria);
  fields.boolean("feedback", config.stage.feedback);
  fields.real("feedback_decay", config.stage.feedback_decay, kNotNegative);
  fields.real("distillation", config.stage.distillation.weight, kFraction);
  fields.real("temperature", config.stage.distillation.temperature, kPositive);
  fields.text("teacher", config.stage.teacher);
  enumerator(fields, "start", config.stage.start, kStarts);
  enumerator(fields, "masks", config.stage.masks, kMasks);
  fields.integer("reestimate_batch_norm", config.stage.batch_norm_images, kCount);
  visit_rate(config.stage.rate, "warmup_iterations", fields);
  visit_limits(config.evolution, fields);
  visit_course(config.evolution, fields);
  visit_statistics(config.evolution, fields);
}

void small_integer(Fields& fields, const std::string& key, int& value) {
  std::int64_t wide = value;
  fields.integer(key, wide, {.lowest = 0, .highest = 4096});
  value = static_cast<int>(wide);
}

void visit_augment(AugmentConfig& augment, Fields& fields) {
  small_integer(fields, "crop_padding", augment.crop_padding);
  fields.boolean("flip", augment.flip);
  small_integer(fields, "cutout", augment.cutout);
}

}  // namespace

std::string granularity_name(std::int64_t vector) {
  for (const auto& [name, value] : kGranularities) {
    if (value == vector) return name;
  }
  return "";
}

void visit_run_config(RunConfig& config, Fields& fields) {
  fields.file_name("name", config.name);
  fields.integer("seed", config.seed, {.lowest = 0});
  fields.text("device", config.device);
  fields.integer("threads", config.threads, {.lowest = 0, .highest = 1024});
  fields.text("output", config.output);
  fields.section("data", [&](Fields& inner) { visit_data(config.data, inner); });
  fields.section("augment", [&](Fields& inner) { visit_augment(config.augment, inner); });
  fields.section("model", [&](Fields& inner) { visit_model(config.model, inner); });
  fields.section("train", [&](Fields& inner) { visit_train(config.train, inner); });
  fields.section("prune", [&](Fields& inner) { visit_prune(config, inner); });
  fields.section("checkpoint", [&](Fields& inner) {
    inner.real("seconds", config.checkpoint_seconds, kPositive);
  });
}

}  // namespace winnow
