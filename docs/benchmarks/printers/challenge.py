"""graph-challenge.md, from the JSON lines of `runtime challenge run`."""
import re

from printers.common import ROOT, by_size, pivot, read_lines, table, three_digits

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
    card = re.search(r"NVIDIA (\w+)", run["device"])
    return f", {card.group(1)}" if card and card.group(1) != CARD else ""


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
        found = sorted(cells(kind).items(), key=lambda item: ("GPUs" in item[0] or "processes" in item[0], ", H" in item[0]))
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


def plain_run(engine, size):
    """On one GPU of the page, of a published network."""
    return cells("published").get(f"`{engine}`", {}).get(size)


def load_times():
    found = cells("published")
    rows = {name: {c: f"{run[field]:,.0f}" for c, run in found.get(f"`{engine}`", {}).items()}
            for name, (engine, field) in LOAD_ROWS.items()}
    return pivot(rows, by_size({c for row_of_times in rows.values() for c in row_of_times}), "ms")


def largest_load():
    found = [run for engine in ("grouped", "fused") for run in [plain_run(engine, "65536x1920")] if run]
    return " and ".join(f"{run['load_ms'] / 1e3:.1f} s with `{run['engine']}`" for run in found) or MISSING


def spmm_algorithms():
    """Which algorithms the engine cusparse-spmm ran with, as its kernel's name says."""
    named = {}
    for result in results():
        choice = result["kernel"].partition("fastest algorithm of each layer (")[2].partition(")")[0]
        if result["engine"] == "cusparse-spmm" and choice:
            named.setdefault(f"{column(result)} {NETWORKS[network(result)]}".strip(), choice)
    return "; ".join(f"{name}: {choice}" for name, choice in named.items()) or MISSING


def where(run):
    kind = NETWORKS[network(run)]
    return f"{row(run)} at {column(run)}" + (f" `{kind}`" if kind else "")


def survivors():
    found = sorted({(run["neurons"], run["survivors"]) for run in results() if network(run) == "published"})
    return ", ".join(f"{count:,} at {neurons}" for neurons, count in found)


def repeats():
    counts = {run["repeats"] for run in gpu_runs()}
    return f"{min(counts)} to {max(counts)}"


def spread(run):
    times = run["inference_ms"]
    return 100 * (times["max"] - times["min"]) / times["median"]


def spreads():
    wide = [f"{where(run)} {spread(run):.0f} %" for run in gpu_runs() if spread(run) >= 4.5]
    rest = max((spread(run) for run in gpu_runs() if spread(run) < 4.5), default=0)
    return f"at most {rest:.0f} % of the median" + (f", but {' and '.join(wide)}" if wide else "")


def host():
    (line,) = kept("host")
    assert len(set(line["gpus"])) == 1
    return f"{len(line['gpus'])} {line['gpus'][0]} ({line['sm_mhz']} MHz) and {line['cores']} CPU cores"


def memory_clocks():
    """Of an H200 and of the page's card, whose processors have the same."""
    clocks = {}
    for run in gpu_runs():
        found = run.get("highest_clocks_mhz")
        if found:
            clocks[other_card(run)] = (found.get("sm") or found["processor"], found["memory"])
    if not {"", ", H200"} <= clocks.keys():
        return MISSING
    assert clocks[""][0] == clocks[", H200"][0]
    return f"{clocks[', H200'][1]} instead of {clocks[''][1]} MHz"


def weight_memory():
    parts = []
    for name, found in cells("published").items():
        for size, run in found.items():
            plain = plain_run(run["engine"], size)
            if "--weight-memory" in name and plain:
                parts.append(f"{milliseconds(run)} ms instead of {milliseconds(plain)} at {size}")
    return ", ".join(parts) or MISSING


def inputs_of_groups():
    """How many inputs grouped's groups of outputs share where the wiring is random."""
    found = {float(match.group(1)) for run in gpu_runs() if network(run) == "shuffled-random" and run["engine"] == "grouped"
             for match in [re.search(r"share ([0-9.]+) inputs", run["discovery"])] if match}
    return f"{max(found):.0f}" if found else MISSING


def quads_that_share(kind):
    """How many outputs read the same inputs as three others, of fused on wide layers."""
    def text():
        found = {match.group(1) for run in gpu_runs() if network(run) == kind
                 for match in [re.match(r"(\d+) % of the outputs in fours", run["discovery"])] if match}
        return " or ".join(f"{percent} %" for percent in sorted(found)) or MISSING
    return text


def times_as_fast(name):
    """As on one GPU, of runs whose row is `name`."""
    def text():
        parts = []
        for size, run in cells("published").get(name, {}).items():
            one = plain_run(run["engine"], size)
            if one:
                parts.append(f"{one['inference_ms']['median'] / run['inference_ms']['median']:.2f} at {size}")
        return " and ".join(parts) or MISSING
    return text


def processes():
    """What each of two processes took for its own images, and the transport of their lists."""
    run = next((run for run in gpu_runs() if run.get("ranks")), None)
    if run is None:
        return MISSING
    each = " and ".join(milliseconds(rank) for rank in run["ranks"])
    gathered = re.search(r"gathered by ([\w. ]+)", run["kernel"])
    return f"{milliseconds(run)} ms, of which each took {each} ms for its own images; {gathered.group(1)} gathers the categories"


def random_wiring():
    """How much longer fused takes with positive weights and random wiring."""
    found = cells("shuffled-positive").get("`fused`", {})
    parts = [f"{run['inference_ms']['median'] / plain_run('fused', size)['inference_ms']['median']:.1f} at {size}"
             for size, run in found.items() if plain_run("fused", size)]
    return ", ".join(parts) or MISSING


def with_range(times):
    return f"{times['median']:.4g} ms ({times['min']:.4g} to {times['max']:.4g})"


def before():
    """The program before rows were shared, on the same GPU, beside what counts now."""
    parts = []
    for line in kept("before"):
        kind = next(name for name, options in NETWORKS.items() if options == line["network"])
        size = f"{line['neurons']}x{line['layers']}"
        now = cells(kind).get("`fused`", {}).get(size)
        old = with_range({"median": line["ms"], "min": line["min"], "max": line["max"]})
        parts.append(f"`{line['network']}` at {size} {old} before, {with_range(now['inference_ms']) if now else MISSING} now")
    return "; ".join(parts) or MISSING


PIPE = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"
BUSY = {"shared memory's pipe %": (PIPE, 1), "issue slots %": ("smsp__issue_active.avg.per_cycle_active", 100),
        "L2 %": ("lts__t_sectors.avg.pct_of_peak_sustained_elapsed", 1),
        "HBM %": ("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 1)}


def profile():
    """Kernels of fused under Nsight Compute: a row for each group of launches."""
    rows = [[line["kernels"], str(line["percent_of_all_cycles"]),
             *(f"{scale * line[metric]:.0f}" if metric in line else "" for metric, scale in BUSY.values())]
            for line in kept("profile") if "kernels" in line]
    return table(["launches", "% of all cycles", *BUSY], rows)


def profile_value(text):
    """Of the line that says how it was read, and that of the launches that were read in full."""
    def value():
        lines = kept("profile")
        return text(lines[0], next(line for line in lines if PIPE in line))
    return value


def whole_at_most(line):
    """How many times as fast the whole was if these launches kept their pipe busy all the time."""
    return 1 / (1 - line["percent_of_all_cycles"] / 100 * (1 - line[PIPE] / 100))


def rate_at_most(read, line):
    run = cells("shuffled-random").get("`fused`", {}).get(f"{read['neurons']}x{read['layers']}")
    if run is None:
        return MISSING
    rate = run["tera_edges_per_second"]
    return f"{whole_at_most(line):.2f} times as fast: {whole_at_most(line) * rate:.0f} instead of {rate:.0f} TeraEdges/s"


def live_images(kind):
    """How many images enter each of the first layers, as an engine counted that drops dead ones layer by layer."""
    def text():
        run = next((run for run in gpu_runs() if network(run) == kind and run["live"] and column(run) == "1024x120"), None)
        if run is None:
            return MISSING
        numbers = ", ".join(f"{n:,}" for n in run["live"][:8])
        card = f" (counted on an{other_card(run).lstrip(',')})" if other_card(run) else ""
        return f"{numbers} images enter the first eight layers, {run['survivors']:,} live at the end{card}"
    return text


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
    "challenge.host": host,
    "challenge.memory-clocks": memory_clocks,
    "challenge.repeats": repeats,
    "challenge.spreads": spreads,
    "challenge.survivors": survivors,
    "challenge.baselines": baselines,
    "challenge.load": load_times,
    "challenge.load.largest": largest_load,
    "challenge.spmm-algorithms": spmm_algorithms,
    "challenge.weight-memory": weight_memory,
    "challenge.inputs-of-groups": inputs_of_groups,
    "challenge.quads.published": quads_that_share("published"),
    "challenge.quads.shuffled": quads_that_share("shuffled-positive"),
    "challenge.random-wiring": random_wiring,
    "challenge.before": before,
    "challenge.profile": profile,
    "challenge.profile.device": profile_value(lambda read, line: f"{read['gpu']}, clock locked at {read['sm_mhz'] / 1e3:.2f} GHz"),
    "challenge.profile.network": profile_value(lambda read, line: f"`{read['network']}` at {read['neurons']}x{read['layers']}"),
    "challenge.profile.goal": profile_value(lambda read, line: f"{read['goal_tera_edges_per_second']} TeraEdges/s"),
    "challenge.profile.busy": profile_value(lambda read, line: f"{line[PIPE]} %"),
    "challenge.profile.before": profile_value(lambda read, line: f"{line['before_tiles_moved_beside_layers'][PIPE]} %"),
    "challenge.profile.wavefronts": profile_value(lambda read, line: f"{line['wavefronts_per_access']:.1f}"),
    "challenge.profile.left": profile_value(lambda read, line: f"{100 / line[PIPE]:.2f}"),
    "challenge.profile.whole": profile_value(rate_at_most),
    "challenge.cpu": cpu,
    "challenge.two-gpus.grouped": times_as_fast("`grouped` on 2 GPUs"),
    "challenge.two-gpus.fused": times_as_fast("`fused` on 2 GPUs"),
    "challenge.two-processes": times_as_fast("`grouped`, 2 processes"),
    "challenge.two-processes.ms": processes,
    **{f"challenge.{kind}": rates(kind) for kind in NETWORKS},
    **{f"challenge.live.{kind}": live_images(kind) for kind in NETWORKS},
}
