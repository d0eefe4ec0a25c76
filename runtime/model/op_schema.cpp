#include "runtime/model/op_schema.h"

#include <sstream>
#include <type_traits>
#include <utility>

#include "runtime/base/suggest.h"
#include "runtime/model/op_conversion.h"

namespace winnow {
namespace {

// Far above any real network and far below what could overflow when two of them are added.
constexpr double kMostChannels = 1 << 24;
constexpr double kLongestExtent = 1 << 16;
constexpr double kMostRows = 1LL << 31;
// Of a relu; far from what a float cannot hold.
constexpr double kLeastBound = 1e-6;
constexpr double kLargestBound = 1e6;

OpKey required(std::string name, KeyKind kind, double highest) {
  return {std::move(name), kind, KeyPresence::required, 1, highest, false, ""};
}

OpKey inferable(std::string name) {
  return {std::move(name), KeyKind::integer, KeyPresence::inferable, 1, kMostChannels, false, ""};
}

OpKey optional_extent(std::string name, double lowest, std::int64_t value) {
  return {
      std::move(name), KeyKind::extent, KeyPresence::optional, lowest, kLongestExtent, value, ""};
}

OpKey optional_flag(std::string name, bool value) {
  return {std::move(name), KeyKind::boolean, KeyPresence::optional, 0, 1, value, ""};
}

OpKey optional_number(std::string name, double lowest, double highest, double value) {
  return {std::move(name), KeyKind::number, KeyPresence::optional, lowest, highest, value, ""};
}

OpKey seldom(std::string name, KeyKind kind, double lowest, double highest) {
  return {std::move(name), kind, KeyPresence::seldom, lowest, highest, false, ""};
}

OpSchema conv_schema(std::string op) {
  return {std::move(op),
          {inferable("in_channels"), required("out_channels", KeyKind::integer, kMostChannels),
           required("kernel", KeyKind::extent, kLongestExtent), optional_extent("stride", 1, 1),
           optional_extent("padding", 0, 0), optional_extent("dilation", 1, 1),
           OpKey{"groups", KeyKind::integer, KeyPresence::optional, 1, kMostChannels,
                 std::int64_t{1}, ""},
           optional_flag("bias", true)}};
}

OpSchema pool_schema(std::string op) {
  OpKey stride = optional_extent("stride", 1, 1);
  stride.default_from = "kernel";
  OpSchema schema{
      std::move(op),
      {required("kernel", KeyKind::extent, kLongestExtent), std::move(stride),
       optional_extent("padding", 0, 0), seldom("padding_end", KeyKind::extent, 0, kLongestExtent),
       seldom("ceil_mode", KeyKind::boolean, 0, 1)}};
  if (schema.op.starts_with("avg")) {
    schema.keys.push_back(seldom("count_include_pad", KeyKind::boolean, 0, 1));
  }
  return schema;
}

std::vector<OpSchema> make_schemas() {
  return {
      {"input", {required("shape", KeyKind::sizes, kMostChannels), optional_flag("tokens", false)}},
      conv_schema("conv2d"),
      conv_schema("conv1d"),
      {"linear",
       {inferable("in_features"), required("out_features", KeyKind::integer, kMostChannels),
        optional_flag("bias", true)}},
      {"batch_norm",
       {inferable("channels"), optional_number("epsilon", 1e-12, 1, BatchNorm{}.epsilon),
        optional_number("momentum", 0, 1, BatchNorm{}.momentum)}},
      {"relu", {seldom("max_value", KeyKind::number, kLeastBound, kLargestBound)}},
      pool_schema("max_pool"),
      pool_schema("avg_pool"),
      pool_schema("max_pool1d"),
      pool_schema("avg_pool1d"),
      {"global_max_pool", {}},
      {"global_avg_pool", {}},
      {"add", {}},
      {"concat", {}},
      {"flatten", {}},
      {"embedding",
       {required("rows", KeyKind::integer, kMostRows),
        required("width", KeyKind::integer, kMostChannels)}},
      {"dropout", {optional_number("probability", 0, 0.99, Dropout{}.probability)}},
      {"softmax", {}},
  };
}

const OpSchema* find_schema(std::string_view op) {
  for (const OpSchema& schema : op_schemas()) {
    if (schema.op == op) return &schema;
  }
  return nullptr;
}

std::string text_of(const OpValue& value) {
  std::ostringstream text;
  std::visit(
      [&text](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, bool>) {
          text << (held ? "true" : "false");
        } else if constexpr (std::is_same_v<Held, Shape>) {
          text << (held.size() <= 8 ? to_string(held) : std::to_string(held.size()) + " integers");
        } else {
          text << held;
        }
      },
      value);
  return text.str();
}

std::string expectation(const OpKey& key, int rank) {
  std::ostringstream text;
  text.precision(10);
  switch (key.kind) {
    case KeyKind::boolean:
      return "true or false";
    case KeyKind::integer:
      text << "an integer";
      break;
    case KeyKind::number:
      text << "a number";
      break;
    case KeyKind::extent:
      text << (rank == 2 ? "an integer or [vertical, horizontal]," : "an integer");
      break;
    case KeyKind::sizes:
      text << "a list of one to three integers";
      break;
  }
  text << " from " << key.lowest << " to " << key.highest;
  return text.str();
}

bool has_kind(const OpValue& value, KeyKind kind, int rank) {
  const auto* list = std::get_if<std::vector<std::int64_t>>(&value);
  const bool is_integer = std::holds_alternative<std::int64_t>(value);
  switch (kind) {
    case KeyKind::boolean:
      return std::holds_alternative<bool>(value);
    case KeyKind::integer:
      return is_integer;
    case KeyKind::number:
      return is_integer || std::holds_alternative<double>(value);
    case KeyKind::extent:
      return is_integer || (rank == 2 && list && list->size() == 2);
    case KeyKind::sizes:
      return list && !list->empty() && list->size() <= 3;
  }
  return false;
}

bool is_in_range(const OpValue& value, const OpKey& key) {
  // Written so that NaN is out of range.
  const auto fits = [&key](double x) { return x >= key.lowest && x <= key.highest; };
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    return fits(static_cast<double>(*integer));
  }
  if (const auto* number = std::get_if<double>(&value)) return fits(*number);
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    for (const std::int64_t item : *list) {
      if (!fits(static_cast<double>(item))) return false;
    }
  }
  return true;
}

std::string value_defect(const OpValue& value, const OpKey& key, int rank) {
  if (has_kind(value, key.kind, rank) && is_in_range(value, key)) return "";
  return "key '" + key.name + "': found " + text_of(value) + ", expected " + expectation(key, rank);
}

std::string unknown_key(const std::string& name, const OpSchema& schema) {
  std::vector<std::string> known = {"name", "op", "inputs"};
  for (const OpKey& key : schema.keys) known.push_back(key.name);
  return "key " + in_quotes(name) + " is unknown to op '" + schema.op + "'" +
         suggestion(name, known);
}

// Adds what is absent. Requires that default_from names an earlier key.
void complete(OpSettings& settings, const OpSchema& schema) {
  for (const OpKey& key : schema.keys) {
    if (settings.contains(key.name) || key.presence == KeyPresence::seldom) continue;
    if (key.presence == KeyPresence::inferable) {
      settings[key.name] = std::int64_t{0};
    } else {
      settings[key.name] =
          key.default_from.empty() ? key.default_value : settings.at(key.default_from);
    }
  }
}

std::variant<OpSettings, OpDefect> completed(const OpSettings& settings, const OpSchema& schema) {
  for (const auto& [name, value] : settings) {
    const OpKey* known = nullptr;
    for (const OpKey& key : schema.keys) {
      if (key.name == name) known = &key;
    }
    if (!known) return OpDefect{name, unknown_key(name, schema)};
    std::string defect = value_defect(value, *known, rank_of(schema.op));
    if (!defect.empty()) return OpDefect{name, std::move(defect)};
  }
  for (const OpKey& key : schema.keys) {
    const bool is_missing = key.presence == KeyPresence::required && !settings.contains(key.name);
    if (is_missing) return OpDefect{"", "key '" + key.name + "' is missing"};
  }
  OpSettings all = settings;
  complete(all, schema);
  return all;
}

}  // namespace

const std::vector<OpSchema>& op_schemas() {
  static const std::vector<OpSchema> schemas = make_schemas();
  return schemas;
}

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const OpSchema& schema : op_schemas()) names.push_back(schema.op);
  return names;
}

std::variant<Op, OpDefect> build_op(std::string_view op, const OpSettings& settings) {
  const OpSchema* schema = find_schema(op);
  if (!schema)
    return OpDefect{"", "op " + in_quotes(op) + " is unknown" + suggestion(op, op_names())};
  const std::variant<OpSettings, OpDefect> all = completed(settings, *schema);
  if (const auto* defect = std::get_if<OpDefect>(&all)) return *defect;
  return op_from_complete(op, std::get<OpSettings>(all));
}

}  // namespace winnow
