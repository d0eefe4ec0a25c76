#include "runtime/model/op_conversion.h"

#include "runtime/base/error.h"

namespace winnow {
namespace {

// Reads complete settings. `gap` is what rank 1 has in the place of the vertical extent.
class SettingsView {
 public:
  SettingsView(const OpSettings& settings, int rank) : settings_(settings), rank_(rank) {}

  bool has(const char* key) const { return settings_.contains(key); }
  std::int64_t integer(const char* key) const { return std::get<std::int64_t>(settings_.at(key)); }
  bool flag(const char* key) const { return std::get<bool>(settings_.at(key)); }
  Shape sizes(const char* key) const { return std::get<Shape>(settings_.at(key)); }

  double number(const char* key) const {
    const OpValue& value = settings_.at(key);
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      return static_cast<double>(*integer);
    }
    return std::get<double>(value);
  }

  Pair extent(const char* key, std::int64_t gap) const {
    const OpValue& value = settings_.at(key);
    if (const auto* list = std::get_if<Shape>(&value)) return {(*list)[0], (*list)[1]};
    const std::int64_t size = std::get<std::int64_t>(value);
    return rank_ == 1 ? Pair{gap, size} : Pair{size, size};
  }

 private:
  const OpSettings& settings_;
  int rank_;
};

Conv conv_from(const SettingsView& view, int rank) {
  return {.rank = rank,
          .in_channels = view.integer("in_channels"),
          .out_channels = view.integer("out_channels"),
          .kernel = view.extent("kernel", 1),
          .stride = view.extent("stride", 1),
          .padding = view.extent("padding", 0),
          .dilation = view.extent("dilation", 1),
          .groups = view.integer("groups"),
          .has_bias = view.flag("bias")};
}

Pool pool_from(const SettingsView& view, PoolKind kind, int rank) {
  Pool op{.kind = kind,
          .rank = rank,
          .kernel = view.extent("kernel", 1),
          .stride = view.extent("stride", 1),
          .padding = view.extent("padding", 0)};
  if (view.has("padding_end")) op.padding_end = view.extent("padding_end", 0);
  if (op.padding_end == op.padding) op.padding_end.reset();
  if (view.has("ceil_mode")) op.rounds_up = view.flag("ceil_mode");
  if (view.has("count_include_pad")) op.counts_padding = view.flag("count_include_pad");
  return op;
}

Relu relu_from(const SettingsView& view) {
  Relu op;
  if (view.has("max_value")) op.max_value = view.number("max_value");
  return op;
}

// One line per op of the table.
Op op_from(std::string_view op, const SettingsView& view) {
  if (op == "input") return Input{view.sizes("shape"), view.flag("tokens")};
  if (op == "conv2d") return conv_from(view, 2);
  if (op == "conv1d") return conv_from(view, 1);
  if (op == "linear") {
    return Linear{view.integer("in_features"), view.integer("out_features"), view.flag("bias")};
  }
  if (op == "batch_norm") {
    return BatchNorm{view.integer("channels"), view.number("epsilon"), view.number("momentum")};
  }
  if (op == "relu") return relu_from(view);
  if (op == "max_pool") return pool_from(view, PoolKind::max, 2);
  if (op == "avg_pool") return pool_from(view, PoolKind::average, 2);
  if (op == "max_pool1d") return pool_from(view, PoolKind::max, 1);
  if (op == "avg_pool1d") return pool_from(view, PoolKind::average, 1);
  if (op == "global_max_pool") return GlobalPool{PoolKind::max};
  if (op == "global_avg_pool") return GlobalPool{PoolKind::average};
  if (op == "add") return Add{};
  if (op == "concat") return Concat{};
  if (op == "flatten") return Flatten{};
  if (op == "embedding") return Embedding{view.integer("rows"), view.integer("width")};
  if (op == "dropout") return Dropout{view.number("probability")};
  if (op == "softmax") return Softmax{};
  fail(ErrorCode::internal, "op '", op, "' is in the table but cannot be built");
}

OpValue extent_value(const Pair& extent, int rank) {
  if (rank == 1) return extent[1];
  return Shape{extent[0], extent[1]};
}

struct SettingsWriter {
  OpSettings operator()(const Input& op) const {
    return {{"shape", op.shape}, {"tokens", op.is_tokens}};
  }
  OpSettings operator()(const Conv& op) const {
    return {{"in_channels", op.in_channels},
            {"out_channels", op.out_channels},
            {"kernel", extent_value(op.kernel, op.rank)},
            {"stride", extent_value(op.stride, op.rank)},
            {"padding", extent_value(op.padding, op.rank)},
            {"dilation", extent_value(op.dilation, op.rank)},
            {"groups", op.groups},
            {"bias", op.has_bias}};
  }
  OpSettings operator()(const Linear& op) const {
    return {
        {"in_features", op.in_features}, {"out_features", op.out_features}, {"bias", op.has_bias}};
  }
  OpSettings operator()(const BatchNorm& op) const {
    return {{"channels", op.channels}, {"epsilon", op.epsilon}, {"momentum", op.momentum}};
  }
  OpSettings operator()(const Pool& op) const {
    OpSettings settings = {{"kernel", extent_value(op.kernel, op.rank)},
                           {"stride", extent_value(op.stride, op.rank)},
                           {"padding", extent_value(op.padding, op.rank)}};
    if (op.padding_end) settings["padding_end"] = extent_value(*op.padding_end, op.rank);
    if (op.rounds_up) settings["ceil_mode"] = true;
    if (!op.counts_padding) settings["count_include_pad"] = false;
    return settings;
  }
  OpSettings operator()(const Embedding& op) const {
    return {{"rows", op.rows}, {"width", op.width}};
  }
  OpSettings operator()(const Dropout& op) const { return {{"probability", op.probability}}; }
  OpSettings operator()(const Relu& op) const {
    return op.max_value ? OpSettings{{"max_value", *op.max_value}} : OpSettings{};
  }
  OpSettings operator()(const GlobalPool&) const { return {}; }
  OpSettings operator()(const Add&) const { return {}; }
  OpSettings operator()(const Concat&) const { return {}; }
  OpSettings operator()(const Flatten&) const { return {}; }
  OpSettings operator()(const Softmax&) const { return {}; }
};

// What settings cannot show: the unused half of one-dimensional extents.
struct RankDefect {
  std::string operator()(const Conv& op) const {
    if (op.rank == 2) return "";
    if (op.rank != 1) return "rank is " + std::to_string(op.rank) + ", expected 1 or 2";
    const bool is_flat =
        op.kernel[0] == 1 && op.stride[0] == 1 && op.padding[0] == 0 && op.dilation[0] == 1;
    return is_flat ? "" : "a 1D convolution has vertical extents";
  }
  std::string operator()(const Pool& op) const {
    if (op.rank == 2) return "";
    if (op.rank != 1) return "rank is " + std::to_string(op.rank) + ", expected 1 or 2";
    const bool is_flat = op.kernel[0] == 1 && op.stride[0] == 1 && op.padding[0] == 0 &&
                         op.padding_end.value_or(Pair{})[0] == 0;
    return is_flat ? "" : "a 1D pool has vertical extents";
  }
  template <typename Other>
  std::string operator()(const Other&) const {
    return "";
  }
};

}  // namespace

int rank_of(std::string_view op) {
  return op.ends_with("1d") ? 1 : 2;
}

Op op_from_complete(std::string_view op, const OpSettings& settings) {
  return op_from(op, SettingsView(settings, rank_of(op)));
}

OpSettings settings_of(const Op& op) {
  return std::visit(SettingsWriter{}, op);
}

std::string find_defect(const Op& op) {
  std::string defect = std::visit(RankDefect{}, op);
  if (!defect.empty()) return defect;
  const std::variant<Op, OpDefect> built = build_op(op_name(op), settings_of(op));
  if (const auto* found = std::get_if<OpDefect>(&built)) return found->message;
  return "";
}

}  // namespace winnow
