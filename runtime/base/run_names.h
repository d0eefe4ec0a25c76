// The names of the files in a run folder (docs/commands.md).
#pragma once

#include <array>

namespace winnow {

// The mark of a run folder.
inline constexpr char kConfigFile[] = "config.yaml";

// Names that one program gives and others read: no option may put another file there.
inline constexpr std::array kReservedNames = {
    kConfigFile,     "dense.safetensors", "pruned.safetensors", "checkpoint.safetensors",
    "metrics.jsonl", "prune.json",        "quantize.json",      "export.json",
    "report.html",   "run.lock"};

// Where prune measures a network; it is gone when prune is not at it.
inline constexpr char kMeasuringFolder[] = ".measuring";

}  // namespace winnow
