"""What graph-challenge.md says in its sentences, from the runs of its tables."""
import re

from printers.challenge import (MISSING, NETWORKS, SEVERAL_GPUS_GOAL, by_gpus, cells, column, gpu_runs, kept, milliseconds,
                                ms_on_one_gpu, network, other_card, plain_run, results, row, runs_on_several, times_as_fast)


def largest_load():
    found = [run for engine in ("grouped", "fused") for run in [plain_run(engine, "65536x1920")] if run]
    return " and ".join(f"{run['load_ms'] / 1e3:.1f} s with `{run['engine']}`" for run in found) or MISSING


def loads_on_few_cores(name):
    """The largest network, each load of a file."""
    found = {}
    for run in kept(name):
        assert column(run) == "65536x1920"
        found.setdefault(run["engine"], []).append(run["load_ms"] / 1e3)
    return ", ".join(f"{' and '.join(f'{seconds:.1f}' for seconds in times)} s with `{engine}`" for engine, times in found.items()) or MISSING


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
    found = sorted({(run["neurons"], run["survivors"]) for run in [*results(), *runs_on_several(), *kept("tried")]
                    if network(run) == "published"})
    return ", ".join(f"{count:,} at {neurons}" for neurons, count in found)


def repeats():
    counts = {run["repeats"] for run in [*gpu_runs(), *runs_on_several()]}
    return f"{min(counts)} to {max(counts)}"


def spread(run):
    times = run["inference_ms"]
    return 100 * (times["max"] - times["min"]) / times["median"]


def spreads():
    found = [*gpu_runs(), *runs_on_several()]
    wide = [f"{where(run)} {spread(run):.0f} %" for run in found if spread(run) >= 4.5]
    rest = max((spread(run) for run in found if spread(run) < 4.5), default=0)
    return f"at most {rest:.0f} % of the median" + (f", but {' and '.join(wide)}" if wide else "")


def host(number):
    line = kept("host")[number]
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


def on_four_gpus(engine):
    """How many times as fast as on one GPU, one process."""
    def text():
        parts = []
        for (name, size, has_ranks), row_of_runs in by_gpus().items():
            factor = times_as_fast(row_of_runs[4]) if name == engine and not has_ranks and 4 in row_of_runs else None
            if factor:
                parts.append(f"{factor:.2f} at {size}" + (f" (less than {SEVERAL_GPUS_GOAL})" if factor < SEVERAL_GPUS_GOAL else ""))
        return " and ".join(parts) or MISSING
    return text


def ranks(engine):
    """What each of four processes took for its own images, beside one process that has them all."""
    def text():
        run = next((run for run in runs_on_several() if run["engine"] == engine and len(run["ranks"]) == 4), None)
        alone = ms_on_one_gpu(run) if run else None
        if alone is None:
            return MISSING
        times = [rank["inference_ms"]["median"] for rank in run["ranks"]]
        each = [milliseconds(rank) for rank in run["ranks"]]
        return (f"{', '.join(each[:-1])} and {each[-1]} ms at {column(run)}; the slowest {max(times) * len(times) / sum(times):.2f} times "
                f"their mean, all together {sum(times) / alone:.2f} times what one process on one GPU takes")
    return text


def transport():
    """Of the lists of categories of several processes."""
    found = {match.group(1) for run in runs_on_several() for match in [re.search(r"gathered by ([\w. ]+)", run["kernel"])] if match}
    return " and ".join(sorted(found)) or MISSING


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
    for old in kept("before"):
        kind = network(old)
        now = cells(kind).get("`fused`", {}).get(column(old))
        parts.append(f"`{NETWORKS[kind]}` at {column(old)} {with_range(old['inference_ms'])} before, "
                     f"{with_range(now['inference_ms']) if now else MISSING} now")
    return "; ".join(parts) or MISSING


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


BLOCKS = {
    "challenge.host": lambda: host(0),
    "challenge.host.one": lambda: host(1),
    "challenge.host.four": lambda: host(2),
    "challenge.host.cores": lambda: str(kept("host")[1]["cores"]),
    "challenge.host.cores.two": lambda: str(kept("host")[0]["cores"]),
    "challenge.memory-clocks": memory_clocks,
    "challenge.repeats": repeats,
    "challenge.spreads": spreads,
    "challenge.survivors": survivors,
    "challenge.load.largest": largest_load,
    "challenge.load.few-cores": lambda: loads_on_few_cores("loads"),
    "challenge.load.bound": lambda: loads_on_few_cores("loads-bound"),
    "challenge.spmm-algorithms": spmm_algorithms,
    "challenge.weight-memory": weight_memory,
    "challenge.inputs-of-groups": inputs_of_groups,
    "challenge.quads.published": quads_that_share("published"),
    "challenge.quads.shuffled": quads_that_share("shuffled-positive"),
    "challenge.random-wiring": random_wiring,
    "challenge.before": before,
    "challenge.gpus.goal": lambda: str(SEVERAL_GPUS_GOAL),
    "challenge.gpus.grouped": on_four_gpus("grouped"),
    "challenge.gpus.fused": on_four_gpus("fused"),
    "challenge.gpus.ranks.grouped": ranks("grouped"),
    "challenge.gpus.ranks.fused": ranks("fused"),
    "challenge.gpus.transport": transport,
    **{f"challenge.live.{kind}": live_images(kind) for kind in NETWORKS},
}
