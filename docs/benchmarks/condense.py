#!/usr/bin/env python3
"""Makes raw results small: a line for each layer or kernel, nine digits, no single samples.

  condense.py FILE...          rewrites *.json and *.jsonl in place; what is small already stays as it is

Times keep their percentiles. Of the kernels that were timed for a layer the fastest of each family stays, with the
number of all, and those that were rejected. Of the numbers of live images those of the first layers stay.
"""
import json
import pathlib
import sys

PERCENTILES = ("min", "p10", "median", "p90", "max", "count")
FIRST_LAYERS = 24
INFINITY = float("inf")  # of what was refused


def rounded(value, digits=9):
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    if isinstance(value, dict):
        return {key: rounded(part, digits) for key, part in value.items()}
    if isinstance(value, list):
        return [rounded(part, digits) for part in value]
    return value


def percentiles(times):
    return {name: times[name] for name in PERCENTILES if name in times}


def is_timed_later(candidate):
    """Whether a later layer's kernel has the time of both (runtime/base/joined_kernel.h)."""
    names = (", in the launch of ", ", in the run of ")
    return candidate.get("ms") == 0 and any(name in candidate["kernel"] for name in names)


def fastest_of_each_family(layer):
    """What a later layer computes stays where it was chosen, or its family has nothing else."""
    candidates = layer.get("candidates")
    if not candidates:
        return layer
    layer.setdefault("kernels_timed", len(candidates))
    timed = [candidate for candidate in candidates if "rejected" not in candidate]
    first = {}
    for candidate in sorted(timed, key=lambda c: (is_timed_later(c), c["ms"])):
        first.setdefault(candidate["family"], candidate)
    kept = list(first.values())
    kept += [c for c in timed if is_timed_later(c) and c["kernel"] == layer.get("kernel") and c not in kept]
    rejected = [candidate for candidate in candidates if "rejected" in candidate]
    layer["candidates"] = sorted(kept, key=lambda c: c["ms"]) + rejected
    return layer


def condense_comparison(comparison):
    for plan in ("dense", "sparse", "chosen", "against"):
        if "layers" not in comparison.get(plan, {}):
            continue
        times = comparison[plan]["network_ms"]
        comparison[plan]["network_ms"] = {**percentiles(times), "count": times.get("count", comparison["repeats"])}
        for layer in comparison[plan]["layers"]:
            if "ms" in layer:
                layer["ms"] = percentiles(layer["ms"])
            fastest_of_each_family(layer)
    return comparison


def condense_challenge_run(run):
    for part in (run, run.get("baseline") or {}):
        part.pop("runs", None)
    if "live" in run:
        run["live"] = run["live"][:FIRST_LAYERS]
    return run


def form_of(line):
    """Of gathered kernels that have them: what they are written for, "gathered resident point" or "... codes"."""
    kernel = line.get("kernel", "")
    return (kernel.split("=")[0], kernel.endswith(" codes")) if line.get("family") == "gathered" else None


def condense_kernels(lines):
    """The fastest line of each family, form and case of gpu_conv_bench, five digits, without what follows from others."""
    best = {}
    for line in lines:
        key = tuple(line.get(k) for k in ("layer", "batch", "precision", "family", "masks", "vector",
                                        "sparsity_percent", "sub_batch")) + (form_of(line),)
        known = best.get(key)
        kernels = line.get("kernels", 1) + (known["kernels"] if known else 0)
        if known is None or line.get("ms", INFINITY) < known.get("ms", INFINITY):
            best[key] = line
        best[key]["kernels"] = kernels
    return [rounded({k: v for k, v in line.items() if k != "speed_up_over_dense"}, 5) for line in best.values()]


def condense_lines(lines):
    if any("layer" in line for line in lines):
        head = [line for line in lines if "layer" not in line]
        return head + condense_kernels([line for line in lines if "layer" in line])
    return [condense_challenge_run(line) if "inference_ms" in line else line for line in lines]


def is_table(value):
    return isinstance(value, list) and bool(value) and all(isinstance(part, dict) for part in value)


def has_table(value):
    return isinstance(value, dict) and any(is_table(part) or has_table(part) for part in value.values())


def text_of(value, depth=0):
    """JSON with a line for each object of a list, and for each field of an object that holds such a list."""
    indent = "\n" + " " * (depth + 1)
    if isinstance(value, dict) and (depth == 0 or has_table(value)):
        parts = [f"{json.dumps(key)}: {text_of(part, depth + 1)}" for key, part in value.items()]
        return "{" + ("," + indent).join(parts) + "}"
    if is_table(value):
        return "[" + indent + ("," + indent).join(text_of(part, depth + 1) for part in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def condense(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        lines = condense_lines([json.loads(line) for line in text.splitlines() if line])
        return "".join(json.dumps(rounded(line), ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
    value = json.loads(text)
    if isinstance(value, list):
        value = [condense_comparison(part) if "chosen" in part else part for part in value]
    return text_of(rounded(value)) + "\n"


def main():
    for name in sys.argv[1:]:
        path = pathlib.Path(name)
        path.write_text(condense(path), encoding="utf-8")


if __name__ == "__main__":
    main()
