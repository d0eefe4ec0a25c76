"""The closed loop of a budget of time: time-loop.md. RUN has config.yaml, prune.json, metrics.jsonl and the bench.json of its last round."""
from printers.common import percent, read, read_config, read_lines, table
from printers.runs import NOT_RUN, Runs

RUN = "time-loop/vgg16-2x-seed1"
WITHOUT = Runs("frontier/vgg16-cifar10-h100-b128"), "vector16-2", "1"  # the same goal, predicted only
GOAL = 0.1  # of the prediction


def summary():
    return read(f"{RUN}/prune.json")


def times():
    return summary()["time"]


def config(key):
    return read_config(f"{RUN}/config.yaml")[key]


def stages():
    return read_lines(f"{RUN}/metrics.jsonl")


def measurements():
    rows = []
    for line in stages():
        if line["stage"] == "time":
            network = "rehearsal" if line["network"] == "rehearsal" else f"pruned, round {line['round']}"
            rows.append([network, f"{line['predicted_ms']:.4f}", f"{line['measured_ms']:.4f}", f"{100 * line['deviation']:+.1f}"])
    return table(["network", "predicted ms", "measured ms", "measured beside predicted, %"], rows)


def goal():
    """Of the last measurement."""
    deviation = times()["deviation"]
    return f"{100 * deviation:+.1f} % (wanted within {100 * GOAL:.0f} %, {'reached' if abs(deviation) <= GOAL else 'missed'})"


def measuring():
    """Seconds of all measurements, and of the whole run."""
    spent = before = 0.0
    for line in stages():
        if line["stage"] == "time":
            spent += line["seconds"] - before
        before = line.get("seconds", before)
    return f"{spent:.1f} of {summary()['seconds']['prune']:.1f} s"


def bench():
    found = read(f"{RUN}/bench.json")
    assert len(found) == 1, RUN
    return found[0]


def median_of(plan):
    return bench()[plan]["network_ms"]["median"]


def rounds():
    return str(sum(found["network"] == "pruned" for found in times()["measurements"]))


def without_loop():
    runs, kind, seed = WITHOUT
    found = runs.summaries(kind).get(seed)
    return f"{percent(found['accuracy'])} % at {percent(found['sparsity'])} % sparsity" if found else NOT_RUN


def without_measured():
    """On another day, and by another version, than the loop's."""
    runs, kind, seed = WITHOUT
    place = f"{runs.folder}/{kind}-seed{seed}"
    ms, predicted = read(f"{place}/bench.json")[0]["chosen"]["network_ms"]["median"], read(f"{place}/prune.json")["time"]["predicted_ms"]
    return f"{ms:.4f} ms, {100 * (ms / predicted - 1):+.1f} % beside the prediction"


BLOCKS = {
    "time_loop.measurements": measurements,
    "time_loop.goal": goal,
    "time_loop.measuring": measuring,
    "time_loop.rounds": rounds,
    "time_loop.allowed_rounds": lambda: config("prune.time_rounds"),
    "time_loop.asked": lambda: f"{float(config('prune.target_speedup')):g}",
    "time_loop.predicted": lambda: f"{times()['predicted_ms']:.4f} ms",
    "time_loop.measured": lambda: f"{times()['measured_ms']:.4f} ms",
    "time_loop.table_dense": lambda: f"{times()['dense_ms']:.4f} ms",
    "time_loop.table_speedup": lambda: f"{times()['measured_speedup']:.2f}x",
    "time_loop.bench_dense": lambda: f"{median_of('dense'):.4f} ms",
    "time_loop.bench_speedup": lambda: f"{median_of('dense') / median_of('chosen'):.2f}x",
    "time_loop.where": lambda: f"{times()['device']}, {times()['precision']}, batch {times()['batch']}",
    "time_loop.iterations": lambda: config("prune.iter_nr"),
    "time_loop.accuracy": lambda: f"{percent(summary()['accuracy'])} %",
    "time_loop.dense": lambda: f"{percent(summary()['dense_accuracy'])} %",
    "time_loop.sparsity": lambda: f"{percent(summary()['sparsity'])} %",
    "time_loop.without": without_loop,
    "time_loop.without_measured": without_measured,
}
