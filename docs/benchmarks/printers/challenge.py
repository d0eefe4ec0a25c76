"""graph-challenge.md, from the JSON lines of `runtime challenge run`."""
from printers.common import ROOT, by_size, card_of, pivot, read_lines, table, three_digits

SURVIVORS = {1024: 1812, 4096: 1801, 16384: 1918, 65536: 1994}  # as published
NETWORKS = {  # what the folder of a network is called after, and the options that make it
    "published": "",
    "shuffled-positive": "--shuffle --weights positive",
    "shuffled-random": "--shuffle --weights random",
    "classes-random": "--weights random",
}
LOAD_ROWS = {
    "`grouped`: groups found, chained, ordered and packed": ("grouped", "prepare_ms"),
    "`grouped`: to load, all in all": ("grouped", "load_ms"),
    "`fused`: lanes ordered": ("fused", "prepare_ms"),
    "`fused`: to load, all in all": ("fused", "load_ms"),
}
SEVERAL_GPUS_GOAL = 3.6  # times as fast as on one GPU that four were to be
CARD = "H100"  # the page's; results of another card say so
MISSING = "not measured"


def kept(name):
    """Lines of a file that may not be there yet."""
    path = f"graph-challenge/{name}.jsonl"
    return read_lines(path) if (ROOT / path).exists() else []


def runs():
    """Those of all sizes first: where a cell has two runs, the first counts."""
    return [run for run in [*kept("sizes"), *kept("runs")] if "error" not in run]


def gpu_runs():
    return [run for run in runs() if run["device"].startswith("cuda")]


def runs_on_several():
    """On one, two and four GPUs of one host, by one process or one for each GPU."""
    return kept("four")


def results():
    """Runs on GPUs, then their baselines as if they were runs of their own."""
    found = gpu_runs()
    return found + [{**run, **run["baseline"], "baseline": None} for run in found if run.get("baseline")]


def network(run):
    return next((name for name in NETWORKS if name in run["network"]), "published")


def column(run):
    return f"{run['neurons']}x{run['last_layer']}"


def setting(run):
    """The engine and the options that matter."""
    name, options = f"`{run['engine']}`", run["options"]
    if not options.get("half", True):
        name += " `--no-half`"
    if options.get("weight_bytes"):
        name += f" `--weight-memory` {options['weight_bytes'] // 2**20}MB"
    if len(options["gpus"]) > 1:
        name += f" on {len(options['gpus'])} GPUs"
    if run.get("ranks"):
        name += f", {len(run['ranks'])} processes"
    return name


def other_card(run):
    card = card_of(run["device"])
    return f", {card}" if card not in ("", CARD) else ""


def row(run):
    return setting(run) + other_card(run)


def cells(kind):
    """{row: {column: result}} of a kind of network; another card's results only where this one's has none."""
    mine = [result for result in results() if network(result) == kind]
    here = {(setting(result), column(result)) for result in mine if not other_card(result)}
    found = {}
    for result in mine:
        if not other_card(result) or (setting(result), column(result)) not in here:
            found.setdefault(row(result), {}).setdefault(column(result), result)
    return found


def is_wrong(run):
    truth = run["truth"]
    if truth is not None and not truth["equal"]:
        return True
    return network(run) == "published" and run["survivors"] != SURVIVORS[run["neurons"]]


def milliseconds(run):
    return three_digits(run["inference_ms"]["median"])


def cell(run):
    text = f"{three_digits(run['tera_edges_per_second'])} ({milliseconds(run)})"
    return text + " (!)" if is_wrong(run) else text


def rates(kind):
    def text():
        found = sorted(cells(kind).items(), key=lambda item: ", H" in item[0])
        columns = by_size({name for _, results_of_row in found for name in results_of_row})
        return pivot({name: {c: cell(result) for c, result in results_of_row.items()} for name, results_of_row in found},
                     columns, "engine")
    return text


def baselines():
    rows, kinds = [], list(NETWORKS)
    for run in sorted(gpu_runs(), key=lambda run: kinds.index(network(run))):
        other = run.get("baseline")
        if other is None:
            continue
        options = NETWORKS[network(run)]
        rows.append([column(run) + (f" `{options}`" if options else ""), row(run), milliseconds(run), f"`{other['engine']}`",
                     milliseconds(other), f"{other['speed_up']:.1f}",
                     "equal" if other["equal_categories"] else "**differ**"])
    return table(["network", "engine", "ms", "baseline", "ms", "times as fast", "categories"], rows)


def by_gpus():
    """{(engine, network, whether each GPU has a process): {number of GPUs: run}}."""
    found = {}
    for run in runs_on_several():
        key = run["engine"], column(run), bool(run["ranks"])
        found.setdefault(key, {})[len(run["ranks"] or run["options"]["gpus"])] = run
    return found


def ms_on_one_gpu(run):
    """Of one process of that host, None where it was not run."""
    one = by_gpus().get((run["engine"], column(run), False), {}).get(1)
    return one["inference_ms"]["median"] if one else None


def times_as_fast(run):
    """As on one GPU."""
    alone = ms_on_one_gpu(run)
    return alone / run["inference_ms"]["median"] if alone else None


def several_gpus():
    """A row for each engine, network and way to divide the images."""
    found = by_gpus()
    if not found:
        return "Not measured."
    numbers = sorted({number for row_of_runs in found.values() for number in row_of_runs})
    rows = []
    for (engine, size, has_ranks), row_of_runs in found.items():
        factors = {number: times_as_fast(run) for number, run in row_of_runs.items()}
        rows.append([f"`{engine}`", size, "one for each GPU" if has_ranks else "one",
                     *(cell(row_of_runs[number]) if number in row_of_runs else "" for number in numbers),
                     *(f"{factors[number]:.2f}" if factors.get(number) else "" for number in numbers if number > 1)])
    gpus = [f"{number} GPU{'s' if number > 1 else ''}" for number in numbers]
    return table(["engine", "network", "processes", *gpus, *(f"times as fast on {number}" for number in numbers if number > 1)], rows)


def plain_run(engine, size):
    """On one GPU of the page, of a published network."""
    return cells("published").get(f"`{engine}`", {}).get(size)


def load_times():
    found = cells("published")
    rows = {name: {c: f"{run[field]:,.0f}" for c, run in found.get(f"`{engine}`", {}).items()}
            for name, (engine, field) in LOAD_ROWS.items()}
    return pivot(rows, by_size({c for row_of_times in rows.values() for c in row_of_times}), "ms")


def cpu():
    rows = []
    for run in runs():
        if not run["device"].startswith("cuda"):
            times = run["inference_ms"]
            rows.append([f"`{run['engine']}`", run["device"], column(run),
                         f"{run['tera_edges_per_second']:.3g}",
                         f"{times['median']:.4g} ({times['min']:.4g} to {times['max']:.4g}, {run['repeats']} runs)",
                         "equal" if run["truth"] and run["truth"]["equal"] else "not compared"])
    if not rows:
        return "(No run on a CPU is kept.)"
    return table(["engine", "device", "network", "TeraEdges/s", "ms", "published categories"], rows)


BLOCKS = {
    "challenge.baselines": baselines,
    "challenge.load": load_times,
    "challenge.cpu": cpu,
    "challenge.gpus": several_gpus,
    **{f"challenge.{kind}": rates(kind) for kind in NETWORKS},
}
