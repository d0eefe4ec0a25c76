// Runs with a budget of time, for tests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tests/training/run_bench.h"

namespace winnow {

inline nlohmann::json time_curve(int vector, double low, double middle) {
  return {{"vector", vector},
          {"points", {{{"density", 0.1}, {"ms", low}}, {{"density", 0.5}, {"ms", middle}}}}};
}

inline nlohmann::json time_layer(const char* name, int weights, double dense) {
  return {{"name", name},
          {"weights", weights},
          {"dense", {{"ms", dense}}},
          {"granularities",
           {time_curve(1, 0.2 * dense, dense), time_curve(8, 0.1 * dense, 0.4 * dense)}}};
}

inline nlohmann::json channel_point(int outputs, int inputs, double ms) {
  return {{"outputs", outputs}, {"inputs", inputs}, {"ms", ms}};
}

// Of the network of kConfig.
inline nlohmann::json table_of_times() {
  const auto fit = [](int vector) {
    return nlohmann::json{{"vector", vector}, {"constant_ms", 0.25 * vector}, {"scale", 0.5}};
  };
  nlohmann::json conv = time_layer("conv", 72, 4.0), linear = time_layer("linear", 512, 2.0);
  conv["channels"] = {channel_point(2, 1, 1.0), channel_point(4, 1, 2.0), channel_point(8, 1, 4.0)};
  linear["channels"] = {channel_point(4, 64, 1.5), channel_point(4, 128, 2.0)};
  return {{"command", "tune"},
          {"format", 2},
          {"device", "cpu (any)"},
          {"precision", "f32"},
          {"batches",
           {{{"batch", 64},
             {"network",
              {{"dense_ms", 3.25},
               {"granularities", {fit(1), fit(8)}},
               {"mixed", {{"constant_ms", 0.25}, {"scale", 0.5}}},
               {"channels", {{"constant_ms", 0.25}, {"scale", 0.5}}}}},
             {"layers", {conv, linear}}}}}};
}

inline RunConfig time_run(const Bench& bench, const std::string& run, const nlohmann::json& json) {
  RunConfig config = bench.config(run);
  config.time_table = bench.folder("times.json");
  write_file_atomically(config.time_table, json.dump());
  config.evolution.budget = Budget::time;
  config.evolution.target_speedup = 1.5;
  return config;
}

}  // namespace winnow
