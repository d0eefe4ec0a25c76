"""The closed loop of a budget of time: time-loop.md. Runs of time-loop/runs.txt; each has config.yaml, prune.json, metrics.jsonl and the
bench.json of its last round."""
from printers.common import percent, read, read_config, read_lines, table
from printers.runs import NOT_RUN, Runs, mean

RUNS = Runs("time-loop")
KIND = "vgg16-2x"
CHANNELS = "channel-2x"
KINDS = {KIND: "vectors of 16", CHANNELS: "channels"}
WITHOUT = Runs("frontier/vgg16-cifar10-h100-b128"), "vector16-2"  # the same goal, predicted only
GOAL = 0.1  # of the prediction


def place(kind, seed):
    return f"{RUNS.folder}/{kind}-seed{seed}"


def text_of(values, form):
    """Of each seed one: what all print, or mean and range."""
    if not values:
        return NOT_RUN
    least, most = form(min(values)), form(max(values))
    return least if least == most else f"{form(mean(values))} ({least} to {most})"


def ms(value):
    return f"{value:.4f} ms"


def fold(value):
    return f"{value:.2f}x"


def share(value):
    return f"{percent(value)} %"


def of_summaries(form, pick, kind=KIND):
    return text_of([pick(summary) for summary in RUNS.summaries(kind).values()], form)


def config(key):
    """Of all runs: one value."""
    values = {read_config(f"{place(kind, seed)}/config.yaml")[key] for kind in KINDS for seed in RUNS.seeds(kind)}
    assert len(values) == 1, (key, values)
    return values.pop()


def measurements():
    rows = []
    for kind, granularity in KINDS.items():
        for seed in RUNS.seeds(kind):
            for line in read_lines(f"{place(kind, seed)}/metrics.jsonl"):
                if line["stage"] == "time":
                    network = "rehearsal" if line["network"] == "rehearsal" else f"pruned, round {line['round']}"
                    rows.append([granularity, seed, network, f"{line['predicted_ms']:.4f}", f"{line['measured_ms']:.4f}", f"{100 * line['deviation']:+.1f}"])
    return table(["granularity", "seed", "network", "predicted ms", "measured ms", "measured beside predicted, %"], rows)


def goal(kind=KIND):
    """Of the last measurement of each seed."""
    found = [summary["time"]["deviation"] for summary in RUNS.summaries(kind).values()]
    if not found:
        return NOT_RUN
    is_met = all(abs(deviation) <= GOAL for deviation in found)
    return f"{', '.join(f'{100 * deviation:+.1f}' for deviation in found)} % (wanted within {100 * GOAL:.0f} %, {'reached' if is_met else 'missed'})"


def measuring():
    """Seconds of all measurements, and of all runs."""
    spent = 0.0
    for seed in RUNS.seeds(KIND):
        before = 0.0
        for line in read_lines(f"{place(KIND, seed)}/metrics.jsonl"):
            if line["stage"] == "time":
                spent += line["seconds"] - before
            before = line.get("seconds", before)
    return f"{spent:.1f} of {sum(summary['seconds']['prune'] for summary in RUNS.summaries(KIND).values()):.1f} s"


def of_benches(form, pick):
    def only(seed):
        found = read(f"{place(KIND, seed)}/bench.json")
        assert len(found) == 1, place(KIND, seed)
        return {plan: found[0][plan]["network_ms"]["median"] for plan in ("dense", "chosen")}

    return text_of([pick(only(seed)) for seed in RUNS.seeds(KIND)], form)


def rounds(kind=KIND):
    """Of each seed."""
    return ", ".join(str(sum(found["network"] == "pruned" for found in summary["time"]["measurements"])) for summary in RUNS.summaries(kind).values())


def without_loop():
    runs, kind = WITHOUT
    found = [summary for seed, summary in runs.summaries(kind).items() if seed in RUNS.seeds(KIND)]
    return f"{text_of([one['accuracy'] for one in found], share)} at {text_of([one['sparsity'] for one in found], share)} sparsity"


def without_measured():
    """On another day, and by another version, than the loop's."""
    runs, kind = WITHOUT
    places = [f"{runs.folder}/{kind}-seed{seed}" for seed in RUNS.seeds(KIND)]
    found = [read(f"{place}/bench.json")[0]["chosen"]["network_ms"]["median"] for place in places]
    beside = [100 * (one / read(f"{place}/prune.json")["time"]["predicted_ms"] - 1) for one, place in zip(found, places)]
    return f"{text_of(found, ms)}, {', '.join(f'{one:+.1f}' for one in beside)} % beside the prediction"


def where():
    found = {f"{time['device']}, {time['precision']}, batch {time['batch']}" for kind in KINDS
             for time in (summary["time"] for summary in RUNS.summaries(kind).values())}
    return "; ".join(sorted(found))


BLOCKS = {
    "time_loop.measurements": measurements,
    "time_loop.seeds": lambda: RUNS.named_seeds(KIND),
    "time_loop.goal": goal,
    "time_loop.channels": lambda: goal(CHANNELS),
    "time_loop.channel_rounds": lambda: rounds(CHANNELS),
    "time_loop.channel_accuracy": lambda: of_summaries(share, lambda one: one["accuracy"], CHANNELS),
    "time_loop.measuring": measuring,
    "time_loop.rounds": rounds,
    "time_loop.allowed_rounds": lambda: config("prune.time_rounds"),
    "time_loop.asked": lambda: f"{float(config('prune.target_speedup')):g}",
    "time_loop.predicted": lambda: of_summaries(ms, lambda one: one["time"]["predicted_ms"]),
    "time_loop.measured": lambda: of_summaries(ms, lambda one: one["time"]["measured_ms"]),
    "time_loop.table_dense": lambda: of_summaries(ms, lambda one: one["time"]["dense_ms"]),
    "time_loop.table_speedup": lambda: of_summaries(fold, lambda one: one["time"]["measured_speedup"]),
    "time_loop.bench_dense": lambda: of_benches(ms, lambda one: one["dense"]),
    "time_loop.bench_speedup": lambda: of_benches(fold, lambda one: one["dense"] / one["chosen"]),
    "time_loop.where": where,
    "time_loop.iterations": lambda: config("prune.iter_nr"),
    "time_loop.accuracy": lambda: of_summaries(share, lambda one: one["accuracy"]),
    "time_loop.dense": lambda: of_summaries(share, lambda one: one["dense_accuracy"]),
    "time_loop.sparsity": lambda: of_summaries(share, lambda one: one["sparsity"]),
    "time_loop.without": without_loop,
    "time_loop.without_measured": without_measured,
}
