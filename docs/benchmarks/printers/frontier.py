"""Accuracy against measured time. Each case (network, data, device, precision, batch) has a folder frontier/CASE with a folder for
each run: config.yaml, prune.json, metrics.jsonl and bench.json (`runtime bench --json` of the deployed network, made small by
condense.py). A run whose name begins with dense is the network that was not pruned: its dense_accuracy and its bench.json count.
"""
import sys

from printers.common import ROOT, percent, read, read_config, read_lines, table, three_digits
from printers.figure import chart, steps

FOLDER = "frontier"
DENSE = "dense"
ORDER = (DENSE, "channel", "element", "vector8", "vector16", "vector32", "mixed")
TITLES = {"channel": "channel (filters alone)"}
OWN = ("seed", "name", "output", "device", "threads", "checkpoint.seconds", "model.weights", "prune.time_table", "prune.time_programs")


def refuse(place, message):
    sys.exit(f"docs/benchmarks/{place}: {message}")


def cases():
    """Those of which something was run."""
    return sorted({path.parent.parent.name for path in (ROOT / FOLDER).glob("*/*/prune.json")})


def batches_of(place):
    """Trained in all; each round of a budget of time counts from 1 again."""
    sums = {"dense": 0, "prune": 0}
    last = dict(sums)
    for line in read_lines(f"{place}/metrics.jsonl"):
        stage = line["stage"]
        if stage not in sums:
            continue
        sums[stage] += line["batches"] - (last[stage] if line["batches"] > last[stage] else 0)
        last[stage] = line["batches"]
    return sums["dense"] + sums["prune"]


def run_of(case, name):
    place = f"{FOLDER}/{case}/{name}"
    summary, config = read(f"{place}/prune.json"), read_config(f"{place}/config.yaml")
    is_dense = name.startswith(DENSE)
    time = summary.get("time", {})
    if not is_dense and not time:
        refuse(place, "prune.json has no time: its budget was another one")
    measured = [one for one in read(f"{place}/bench.json") if is_dense or one["batch"] == time["batch"]]
    if len(measured) != 1:
        refuse(place, f"bench.json has {len(measured)} measurements of the run's batch, expected 1")
    bench = measured[0]
    speedup, ms = config.get("prune.target_speedup", "0"), config.get("prune.target_ms", "0")
    return {"name": name, "seed": summary["seed"], "place": place,
            "group": tuple(sorted((key, value) for key, value in config.items() if key not in OWN)),
            "granularity": DENSE if is_dense else summary["granularity"],
            "method": "" if is_dense else summary["method"],
            "target": "" if is_dense else f"{float(speedup):g}x" if float(speedup) > 0 else f"{float(ms):g} ms",
            "accuracy": summary["dense_accuracy" if is_dense else "accuracy"],
            "sparsity": 0.0 if is_dense else summary["sparsity"],
            "predicted": time.get("predicted_ms"), "ms": bench["chosen"]["network_ms"]["median"],
            "is_met": is_dense or summary["target_met"],
            "batches": batches_of(place), "where": (bench["device"], bench["precision"], bench["batch"])}


def place_in_order(run):
    return (ORDER.index(run["granularity"]) if run["granularity"] in ORDER else len(ORDER), run["granularity"])


def runs(case):
    found = [run_of(case, path.name) for path in sorted((ROOT / FOLDER / case).iterdir()) if (path / "prune.json").exists()]
    if not any(run["granularity"] == DENSE for run in found):
        refuse(f"{FOLDER}/{case}", "no run whose name begins with dense")
    for run in found:
        if run["where"] != found[0]["where"]:
            refuse(run["place"], f"measured on {run['where']}, {found[0]['name']} on {found[0]['where']}")
    return sorted(found, key=lambda run: (*place_in_order(run), run["ms"]))


def mean(group, key):
    return sum(run[key] for run in group) / len(group)


def groups(case):
    """Runs that differ in the seed alone, dense ones first, each granularity by time."""
    by_config = {}
    for run in runs(case):
        by_config.setdefault((run["granularity"], run["method"], run["target"], run["group"]), []).append(run)
    for group in by_config.values():
        seeds = [run["seed"] for run in group]
        if len(set(seeds)) < len(seeds):
            refuse(group[-1]["place"], f"a second run of seed {group[-1]['seed']} with one configuration")
    return sorted(by_config.values(), key=lambda group: (*place_in_order(group[0]), mean(group, "ms")))


def dense_of(case):
    """The group that was trained longest: what pruned networks stand beside."""
    return max((group for group in groups(case) if group[0]["granularity"] == DENSE), key=lambda group: mean(group, "batches"))


def with_range(group, key, text):
    values = [run[key] for run in group]
    if len(values) == 1:
        return text(values[0])
    return f"{text(mean(group, key))} ({text(min(values))} to {text(max(values))})"


def title(granularity):
    return TITLES.get(granularity, granularity)


def beside(case, group):
    """Points of accuracy, and how many times as fast."""
    dense = dense_of(case)
    return 100 * (mean(group, "accuracy") - mean(dense, "accuracy")), mean(dense, "ms") / mean(group, "ms")


def means(case):
    rows = []
    for group in groups(case):
        is_dense = group[0]["granularity"] == DENSE
        points, faster = beside(case, group)
        rows.append([title(group[0]["granularity"]), group[0]["method"], group[0]["target"], f"{mean(group, 'batches'):,.0f}", str(len(group)),
                     with_range(group, "accuracy", percent), f"{points:+.2f}", "" if is_dense else percent(mean(group, "sparsity")),
                     "" if is_dense else three_digits(mean(group, "predicted")), with_range(group, "ms", three_digits), f"{faster:.2f}x"])
    return table(["granularity", "method", "asked", "batches trained", "seeds", "accuracy %", "points beside dense", "sparsity %",
                  "predicted ms", "measured ms", "against dense"], rows)


def each(case):
    rows = []
    for run in runs(case):
        is_dense = run["granularity"] == DENSE
        deviation = "" if is_dense else f"{100 * (run['ms'] / run['predicted'] - 1):+.1f}"
        rows.append([f"`{run['name']}`", title(run["granularity"]), run["method"], run["target"], str(run["seed"]), f"{run['batches']:,}",
                     percent(run["accuracy"]), "" if is_dense else percent(run["sparsity"]),
                     "" if is_dense else three_digits(run["predicted"]), three_digits(run["ms"]), deviation, "yes" if run["is_met"] else "no"])
    return table(["run", "granularity", "method", "asked", "seed", "batches trained", "accuracy %", "sparsity %", "predicted ms", "measured ms",
                  "difference %", "target met"], rows)


def fastest(case, within=0.5):
    """Of the networks that lose no more points than that on average."""
    found = [group for group in groups(case) if group[0]["granularity"] != DENSE and beside(case, group)[0] >= -within]
    if not found:
        return f"no pruned network is within {within:g} points of dense"
    best = min(found, key=lambda group: mean(group, "ms"))
    points, faster = beside(case, best)
    return f"{faster:.2f}x, {points:+.2f} points ({title(best[0]['granularity'])}, {best[0]['method']}, asked for {best[0]['target']})"


def where(case):
    device, precision, batch = runs(case)[0]["where"]
    return f"{device}, {precision}, batch {batch}"


def figure(case):
    series = {}
    for group in groups(case):
        series.setdefault(title(group[0]["granularity"]), []).append((mean(group, "ms"), 100 * mean(group, "accuracy")))
    points = [point for line in series.values() for point in line]
    return chart(f"{case}: accuracy against time ({where(case)})", ("ms of a pass", "accuracy %"), series,
                 x_ticks=steps([0.0, *(ms for ms, _ in points)]), y_ticks=steps([accuracy for _, accuracy in points]))


def blocks_of(case):
    of = {"means": means, "runs": each, "fastest": fastest, "where": where,
          "figure": lambda name: f"![Accuracy against milliseconds, a line for each granularity]({FOLDER}/{name}.svg)"}
    return {f"{FOLDER}.{case}.{name}": (lambda printer=printer: printer(case)) for name, printer in of.items()}


BLOCKS = {name: printer for case in cases() for name, printer in blocks_of(case).items()}
FIGURES = {f"{FOLDER}/{case}.svg": (lambda case=case: figure(case)) for case in cases()}
