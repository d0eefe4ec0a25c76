#include "prune/timing/time_table.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>

#include "prune/config/json_value.h"
#include "prune/training/trainability.h"
#include "runtime/base/checksum.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

constexpr int kNewest = 2;  // format that is known; format 1 has no number and no times of channels

// Of a layer or of the network.
JsonValue granularity_of(const std::string& file, const JsonValue& owner, std::int64_t vector) {
  for (const JsonValue& one : owner.at("granularities").filled_list()) {
    if (one.at("vector").count() == vector) return one;
  }
  fail(ErrorCode::usage, "granularity: ", in_quotes(file), " has no times of ",
       granularity_name(vector), "; measure them with runtime tune --table --vectors ", vector);
}

std::vector<std::pair<double, double>> points_of(const JsonValue& curve, double dense_ms) {
  std::vector<std::pair<double, double>> points;
  for (const JsonValue& point : curve.at("points").filled_list()) {
    const double before = points.empty() ? 0.0 : points.back().first;
    const double density = point.at("density").number(before, 0.9999, "a larger density, below 1");
    const double ms = point.at("ms").ms();
    if (ms > dense_ms || (!points.empty() && ms < points.back().second)) {
      point.at("ms").refuse("no less than at a lower density, no more than dense");
    }
    points.emplace_back(density, ms);
  }
  return points;
}

// Among sparse layers a mask runs as it is or as a denser one, or dense at what that takes there.
void keep_sparse(const JsonValue& curve, LayerTimeCurve& times) {
  const std::vector<JsonValue> measured = curve.at("points").filled_list();
  double best = times.dense_among_sparse_ms;
  for (std::size_t i = times.points.size(); i-- > 0;) {
    best = std::min(best, measured[i].at("measured_ms").ms());
    times.points[i].second = best;
  }
}

// Whether a convolution has a weight for each of its channels; others have more, or one channel.
bool is_scale(const JsonValue& layer, std::int64_t weights) {
  for (const char* shape : {"input_shape", "output_shape"}) {
    if (!layer.at(shape).is_there()) return false;
    const std::vector<JsonValue> sizes = layer.at(shape).filled_list();
    if (sizes.size() < 3 || sizes[1].count() != weights) return false;
  }
  return weights > 1;
}

LayerTimeCurve layer_of(const std::string& file, const JsonValue& layer, std::int64_t vector) {
  LayerTimeCurve times{.name = layer.at("name").text(), .weights = layer.at("weights").count()};
  times.dense_ms = layer.at("dense").at("ms").ms();
  const JsonValue curve = granularity_of(file, layer, vector);
  times.points = points_of(curve, times.dense_ms);
  if (const JsonValue among = curve.at("dense_among_sparse_ms"); among.is_there()) {
    times.dense_among_sparse_ms = among.ms();
    keep_sparse(curve, times);
  }
  times.is_scale = is_scale(layer, times.weights);
  return times;
}

[[noreturn]] void refuse_without_channels(const std::string& file) {
  fail(ErrorCode::usage, "granularity: ", in_quotes(file),
       " has no times of whole channels; measure them with runtime tune --table");
}

std::vector<LayerTimeCurve> layers_of(const std::string& file, const JsonValue& batch,
                                      std::int64_t vector) {
  std::vector<LayerTimeCurve> layers;
  for (const JsonValue& layer : batch.at("layers").filled_list()) {
    layers.push_back(layer_of(file, layer, vector));
  }
  return layers;
}

// The numbers of outputs and of inputs that the points are all pairs of, by outputs.
void read_axes(const std::vector<JsonValue>& points, LayerChannelTimes& times) {
  for (const JsonValue& point : points) {
    const std::int64_t outputs = point.at("outputs").count();
    if (times.outputs.empty() || times.outputs.back() != outputs) times.outputs.push_back(outputs);
    if (times.outputs.size() == 1) times.inputs.push_back(point.at("inputs").count());
  }
}

bool is_rising(const std::vector<std::int64_t>& axis) {
  return std::ranges::adjacent_find(axis, std::greater_equal<>()) == axis.end();
}

LayerChannelTimes channels_of(const std::string& file, const JsonValue& layer) {
  LayerChannelTimes times;
  times.name = layer.at("name").text();
  times.weights = layer.at("weights").count();
  const JsonValue grid = layer.at("channels");
  if (!grid.is_there()) refuse_without_channels(file);
  const std::vector<JsonValue> points = grid.filled_list();
  read_axes(points, times);
  const std::size_t width = times.inputs.size();
  const bool is_whole = points.size() == times.outputs.size() * width;
  if (!is_whole || !is_rising(times.outputs) || !is_rising(times.inputs)) {
    grid.refuse("all pairs of rising numbers of outputs and inputs, by outputs");
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].at("inputs").count() != times.inputs[i % width]) {
      points[i].at("inputs").refuse(std::to_string(times.inputs[i % width]));
    }
    const double ms = points[i].at("ms").ms();
    const bool falls =
        (i >= width && ms < times.ms[i - width]) || (i % width > 0 && ms < times.ms[i - 1]);
    if (falls) points[i].at("ms").refuse("no less than with fewer channels");
    times.ms.push_back(ms);
  }
  return times;
}

// What the table says of whole networks of the granularity.
JsonValue network_of(const std::string& file, const JsonValue& network, std::int64_t vector) {
  if (vector == kMixed) {
    if (network.at("mixed").is_there()) return network.at("mixed");
    fail(ErrorCode::usage, "granularity: ", in_quotes(file),
         " has no times of mixed granularities; measure them with runtime tune --table");
  }
  if (vector != kWholeChannels) return granularity_of(file, network, vector);
  if (!network.at("channels").is_there()) refuse_without_channels(file);
  return network.at("channels");
}

void require_known_format(const JsonValue& table) {
  const JsonValue format = table.at("format");
  if (format.is_there() && format.count() > kNewest) {
    format.refuse("a number up to " + std::to_string(kNewest) + "; this program is older");
  }
}

JsonValue batch_of(const std::string& file, const JsonValue& table, std::int64_t wanted) {
  const std::vector<JsonValue> batches = table.at("batches").filled_list();
  std::string known;
  for (const JsonValue& batch : batches) {
    const std::int64_t size = batch.at("batch").count();
    if (size == wanted || (wanted == 0 && batches.size() == 1)) return batch;
    known += (known.empty() ? "" : ", ") + std::to_string(size);
  }
  fail(ErrorCode::usage, "time_batch: found ", wanted, ", expected one of the batch sizes of ",
       in_quotes(file), ": ", known);
}

}  // namespace

TimeModel read_time_table(const std::string& file, const TimesWanted& wanted) {
  const std::string text = read_text_file(file, kMaxBytes);
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) {
    fail(ErrorCode::bad_file, file,
         ": is no JSON, or was cut short; expected what runtime tune --table writes");
  }
  if (!json.is_object() || json.value("command", Json()) != "tune" || !json.contains("batches")) {
    fail(ErrorCode::bad_file, file,
         ": no table of times, expected what runtime tune --table writes");
  }
  const JsonValue table(file, json, "");
  require_known_format(table);
  const JsonValue batch = batch_of(file, table, wanted.batch);
  const JsonValue network = batch.at("network");
  TimeModel time{.device = table.at("device").text(),
                 .precision = table.at("precision").text(),
                 .batch = batch.at("batch").count(),
                 .vector = wanted.vector,
                 .use_tf32 = table.at("tf32").flag()};
  time.checksum = crc32c(std::as_bytes(std::span(text)));
  time.dense_ms = network.at("dense_ms").ms();
  const JsonValue masked = network_of(file, network, wanted.vector);
  time.constant_ms = masked.at("constant_ms").number(-1e-300, 1e9, "milliseconds, 0 or more");
  time.scale = masked.at("scale").number(0.0, 1e6, "a factor, more than 0");
  if (wanted.vector == kWholeChannels) {
    for (const JsonValue& layer : batch.at("layers").filled_list()) {
      time.channels.push_back(channels_of(file, layer));
    }
  } else if (wanted.vector == kMixed) {
    for (const JsonValue& one : network.at("granularities").filled_list()) {
      const std::int64_t vector = one.at("vector").count();
      time.granularities.push_back({vector, layers_of(file, batch, vector)});
    }
    time.layers = time.granularities.front().layers;  // until the choice
  } else {
    time.layers = layers_of(file, batch, wanted.vector);
  }
  return time;
}

RunConfig with_times(RunConfig config) {
  if (config.evolution.budget != Budget::time) return config;
  const auto refuse_at = [&](const std::string& key, ErrorCode code, const std::string& message) {
    fail(code, config.place(key), message);
  };
  try {
    TimeModel time = read_time_table(config.time_table,
                                     {.batch = config.time_batch, .vector = config.stage.vector});
    time.has_removed_layers = !config.model.removed_layers.empty();
    config.evolution.time = std::make_shared<const TimeModel>(std::move(time));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::usage) throw;
    const std::string message = "prune." + std::string(error.what());
    refuse_at(message.substr(0, message.find(':')), error.code(), message);
  }
  return config;
}

}  // namespace winnow
