"""Runs of the frontier. Each case (network, data, device, precision, batch) has a folder frontier/CASE with a folder for each run:
config.yaml, prune.json, metrics.jsonl and, once the deployed network was measured, bench.json (`runtime bench --json`, made small by
condense.py), best with `--against` the dense network, which is then the baseline; bench-b1.json is that of batch 1. search.json is what
`prune --search-layers` found before the run. A run whose name
begins with dense is the network that was not pruned: its dense_accuracy and its bench.json count. One whose name begins with start is a
network that others begin with, and no more.
"""
import re
import sys

from printers.common import ROOT, read, read_config, read_lines
from printers.runs import mean

FOLDER = "frontier"
DENSE = "dense"
START = "start"
ORDER = (DENSE, "channel", "element", "vector8", "vector16", "vector32", "mixed")
SEARCHES = {"evolution": "evolution", "greedy": "a greedy search", "random": "chance"}
OWN = ("seed", "name", "output", "device", "threads", "checkpoint.seconds", "model.weights", "prune.time_table", "prune.time_programs")


def refuse(place, message):
    sys.exit(f"docs/benchmarks/{place}: {message}")


def cases():
    """Those of which something was run."""
    return sorted({path.parent.parent.name for path in (ROOT / FOLDER).glob("*/*/prune.json")})


def batches_of(place, stages):
    """Trained in these; each round of a budget of time counts from 1 again."""
    sums, last = dict.fromkeys(stages, 0), dict.fromkeys(stages, 0)
    for line in read_lines(f"{place}/metrics.jsonl"):
        stage = line["stage"]
        if stage not in sums:
            continue
        sums[stage] += line["batches"] - (last[stage] if line["batches"] > last[stage] else 0)
        last[stage] = line["batches"]
    return sum(sums.values())


def search_of(place):
    """What found the layers that the run leaves out; None if they were given."""
    return read(f"{place}/search.json") if (ROOT / place / "search.json").exists() else None


def batches_of_trials(place):
    search = search_of(place)
    return search["batches"] * sum("accuracy" in trial for trial in search["trials"]) if search else 0


def trained(case, name, is_dense):
    """Batches behind a run's network in all, with those of the run of its case that it began with and of its trials."""
    place = f"{FOLDER}/{case}/{name}"
    weights = read_config(f"{place}/config.yaml").get("model.weights", "").strip('"')
    before = 0
    if weights:
        start = weights.rpartition("/")[0].rpartition("/")[2]
        if not (ROOT / FOLDER / case / start / "prune.json").exists():
            refuse(place, f"begins with {weights}, which is no run of this case")
        before = trained(case, start, weights.endswith("/dense.safetensors"))
    return before + batches_of_trials(place) + batches_of(place, ("dense",) if is_dense else ("dense", "prune"))


def dense_time(case):
    """What the first table of times that pruned runs were made with has of the dense network; {} if none has it. All are of one place."""
    found = {}
    for path in sorted((ROOT / FOLDER / case).glob("*/prune.json")):
        time = read(path).get("time", {})
        if "dense_ms" not in time:
            continue
        if found and where_of(time) != where_of(found):
            refuse(f"{FOLDER}/{case}/{path.parent.name}", f"its table is of {where_of(time)}, that of others of {where_of(found)}")
        found = found or {"device": time["device"], "precision": time["precision"], "batch": time["batch"],
                          "predicted_ms": time["dense_ms"], "dense_ms": time["dense_ms"]}
    return found


def bench_of(place, batch, file="bench.json"):
    """Of the batch, of dense runs the only one; None if the network was not measured yet."""
    if not (ROOT / place / file).exists():
        return None
    measured = [one for one in read(f"{place}/{file}") if batch in (None, one["batch"])]
    if len(measured) != 1:
        refuse(place, f"{file} has {len(measured)} measurements of the run's batch, expected 1")
    return measured[0]


def median_of(bench, plan):
    return bench[plan]["network_ms"]["median"] if plan in (bench or {}) else None


def times_as_fast(runs, kind, plan="chosen", file="bench.json"):
    """Beside the dense network that was timed in turns with it: mean and range of seeds, with their number where not all were timed."""
    places = [f"{runs.folder}/{kind}-seed{seed}/{file}" for seed in runs.seeds(kind)]
    benches = [read(place)[0] for place in places if (ROOT / place).exists()]
    factors = [median_of(bench, "against") / median_of(bench, plan) for bench in benches]
    note = "" if len(benches) == len(places) else f", {len(benches)} of {len(places)} seeds"
    return f"{mean(factors):.2f} ({min(factors):.2f} to {max(factors):.2f}{note})"


def as_fast(runs, kind):
    return f"{times_as_fast(runs, kind)}, at batch 1 {times_as_fast(runs, kind, file='bench-b1.json')}"


def where_of(times):
    return (times["device"], times["precision"], times["batch"]) if times and "device" in times else None


def has_masks(summary, config):
    """A run that asks for no sparsity only trains what the layers left out leave."""
    return "time" in summary or float(config.get("prune.target_sparsity", 1)) > 0


def kind_of(summary, config, search):
    """The granularity, and how many layers the network was left without or what found them."""
    granularity = summary["granularity"] if has_masks(summary, config) else "no masks"
    if search:
        return f"{granularity}, layers left out by {SEARCHES[search['search']]}"
    removed = [name for name in config.get("model.remove_layers", "[]").strip("[]").split(",") if name.strip()]
    return granularity + (f", {len(removed)} layers left out" if removed else "")


def group_of(config, search):
    """What runs of different seeds share. Searches find other layers with each."""
    own = (*OWN, "model.remove_layers") if search else OWN
    settings = sorted((key, without_seed(value)) for key, value in config.items() if key not in own)
    return (*settings, ("batches of a trial", search["batches"])) if search else tuple(settings)


def without_seed(value):
    """Of the folder that a value names: networks of other seeds are another run's."""
    return re.sub(r"-seed\d+/", "/", str(value))


def run_of(case, name):
    place = f"{FOLDER}/{case}/{name}"
    summary, config, search = read(f"{place}/prune.json"), read_config(f"{place}/config.yaml"), search_of(place)
    is_dense = name.startswith(DENSE)
    time = dense_time(case) if is_dense else summary.get("time", {})
    bench = bench_of(place, None if is_dense else (time or dense_time(case)).get("batch"))
    single = bench_of(place, 1, "bench-b1.json")
    speedup, ms = config.get("prune.target_speedup", "0"), config.get("prune.target_ms", "0")
    return {"name": name, "seed": summary["seed"], "place": place,
            "group": group_of(config, search),
            "granularity": DENSE if is_dense else kind_of(summary, config, search),
            "method": "" if is_dense or not has_masks(summary, config) else summary["method"],
            "target": "" if is_dense or not time else f"{float(speedup):g}x" if float(speedup) > 0 else f"{float(ms):g} ms",
            "accuracy": summary["dense_accuracy" if is_dense else "accuracy"],
            "sparsity": 0.0 if is_dense else summary["sparsity"],
            "predicted": time.get("predicted_ms"), "predicted_dense": time.get("dense_ms"), "ms": median_of(bench, "chosen"), "dense_ms": median_of(bench, "against"),
            "single_ms": median_of(single, "chosen"), "single_dense_ms": median_of(single, "against"),
            "is_met": is_dense or summary["target_met"],
            "batches": trained(case, name, is_dense), "where": where_of(bench), "predicted_where": where_of(time)}
