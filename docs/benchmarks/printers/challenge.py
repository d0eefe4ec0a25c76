"""graph-challenge.md, from the JSON lines of `runtime challenge run`."""
import re

from printers.common import by_size, pivot, read_lines, table, three_digits

SURVIVORS = {1024: 1812, 4096: 1801, 16384: 1918, 65536: 1994}  # as published
NETWORKS = {  # what the folder of a network is called after, and the options that make it
    "published": "",
    "shuffled-positive": "--shuffle --weights positive",
    "shuffled-random": "--shuffle --weights random",
    "classes-random": "--weights random",
}
LOAD_COLUMNS = ["1024x120", "1024x1920", "4096x480", "16384x120", "65536x120", "65536x1920"]
LOAD_ROWS = {
    "`grouped`: groups found, chained, ordered and packed": ("grouped", "prepare_ms"),
    "`grouped`: to load, all in all": ("grouped", "load_ms"),
    "`fused`: lanes ordered": ("fused", "prepare_ms"),
    "`fused`: to load, all in all": ("fused", "load_ms"),
}


OLD_NAMES = {"shared": "grouped"}  # of engines, in results measured before they were renamed


def runs():
    found = read_lines("graph-challenge/runs.jsonl")
    for run in found:
        for result in (run, run.get("baseline") or {}):
            if "engine" in result:
                result["engine"] = OLD_NAMES.get(result["engine"], result["engine"])
    return found


def gpu_runs():
    return [run for run in runs() if run["device"].startswith("cuda")]


def network(run):
    return next((name for name in NETWORKS if name in run["network"]), "published")


def column(run):
    return f"{run['neurons']}x{run['last_layer']}"


def row(run):
    name, options = f"`{run['engine']}`", run["options"]
    if not options.get("half", True):
        name += " `--no-half`"
    if options.get("tensor_cores"):
        name += " `--tensor-cores`"
    if options.get("weight_bytes"):
        name += f" `--weight-memory` {options['weight_bytes'] // 2**20}MB"
    if len(options["gpus"]) > 1:
        name += f" on {len(options['gpus'])} GPUs"
    return name


def is_wrong(run):
    truth = run["truth"]
    if truth is not None and not truth["equal"]:
        return True
    return network(run) == "published" and run["survivors"] != SURVIVORS[run["neurons"]]


def cell(run):
    text = f"{three_digits(run['tera_edges_per_second'])} ({run['inference_ms']['median']:.3g})"
    return text + " (!)" if is_wrong(run) else text


def rates(kind):
    def text():
        cells, columns = {}, set()
        for run in gpu_runs():
            if network(run) != kind:
                continue
            cells.setdefault(row(run), {})[column(run)] = cell(run)
            columns.add(column(run))
        order = sorted(cells.items(), key=lambda item: "GPUs" in item[0])
        return pivot(dict(order), by_size(columns), "engine")
    return text


def baselines():
    rows = []
    for run in gpu_runs():
        other = run.get("baseline")
        if other is None:
            continue
        name = " ".join(filter(None, [column(run), f"`{NETWORKS[network(run)]}`".strip("`") and
                                      f"`{NETWORKS[network(run)]}`"]))
        rows.append([name, row(run), f"{run['inference_ms']['median']:.3g}", f"`{other['engine']}`",
                     f"{other['inference_ms']['median']:.3g}", f"{other['speed_up']:.1f}",
                     "equal" if other["equal_categories"] else "**differ**"])
    return table(["network", "engine", "ms", "baseline", "ms", "times as fast", "categories"], rows)


def plain_runs():
    return {(run["engine"], column(run)): run for run in gpu_runs()
            if network(run) == "published" and row(run) == f"`{run['engine']}`"}


def load_times():
    plain = plain_runs()
    rows = [[name, *(f"{plain[engine, c][field]:,.0f}" if (engine, c) in plain else "" for c in LOAD_COLUMNS)]
            for name, (engine, field) in LOAD_ROWS.items()]
    return table(["ms", *LOAD_COLUMNS], rows)


def loaded_in_turns():
    """Runs of the program before it named the hash of its list, which is also before it overlapped what loading does."""
    old = [name for (engine, name), run in plain_runs().items()
           if engine == "grouped" and name in LOAD_COLUMNS and "categories_sha256" not in run]
    return f"Reading, packing and upload, which overlap now, did not in these runs of `grouped`: {', '.join(by_size(old))}." if old else ""


def spmm_algorithms():
    """Which algorithms the engine cusparse-spmm ran with, as its kernel's name says."""
    named, fixed = [], []
    for run in gpu_runs():
        for engine in (run, run.get("baseline") or {}):
            if engine.get("engine") != "cusparse-spmm":
                continue
            net = f"{column(run)} {NETWORKS[network(run)]}".strip()
            choice = engine["kernel"].partition("fastest algorithm of each layer (")[2].partition(")")[0]
            (named if choice else fixed).append(f"{net}: {choice}" if choice else net)
    parts = []
    if named:
        parts.append("layers that ran each algorithm, by network: " + "; ".join(dict.fromkeys(named)))
    if fixed:
        parts.append("with CSR_ALG2 alone, before the others were tried: " + ", ".join(dict.fromkeys(fixed)))
    return ". ".join(part[0].upper() + part[1:] for part in parts) + "."


def where(run):
    kind = NETWORKS[network(run)]
    return f"{row(run)} at {column(run)}" + (f" `{kind}`" if kind else "")


def older():
    """Runs of an earlier state of the program, which still had the option `fold`."""
    names = list(dict.fromkeys(where(run) for run in gpu_runs() if "fold" in run["options"]))
    return "; ".join(names) if names else "none"


def fused_before():
    """Runs of `fused` from before tiles moved beside the layers and outputs of equal inputs were made together."""
    now = ("buffers", "in fours")
    names = list(dict.fromkeys(where(run) for run in gpu_runs() if run["engine"] == "fused" and
                               not any(word in run["kernel"] + run["discovery"] for word in now)))
    return "; ".join(names) if names else "none"


def spread(run):
    times = run["inference_ms"]
    return 100 * (times["max"] - times["min"]) / times["median"]


def spreads():
    wide = [f"{where(run)} {spread(run):.0f} %" for run in gpu_runs() if spread(run) >= 4.5]
    rest = max(spread(run) for run in gpu_runs() if spread(run) < 4.5)
    return f"at most {rest:.0f} % of the median, but {' and '.join(wide)}"


def inputs_of_groups():
    """How many inputs grouped's groups of outputs share where the wiring is random."""
    found = {float(match.group(1)) for run in gpu_runs() if network(run) == "shuffled-random" and run["engine"] == "grouped"
             for match in [re.search(r"share ([0-9.]+) inputs", run["discovery"])] if match}
    return f"{max(found):.0f}"


def on_more_gpus(engine):
    def text():
        found = {len(run["options"]["gpus"]): run["inference_ms"]["median"] for run in gpu_runs()
                 if run["engine"] == engine and column(run) == "16384x480"}
        return f"{found[1] / found[2]:.2f}"
    return text


def live_images(kind):
    """How many images enter each of the first layers, as an engine counted that drops dead ones layer by layer."""
    def text():
        run = next(run for run in gpu_runs() if network(run) == kind and run["live"] and column(run) == "1024x120")
        numbers = ", ".join(f"{n:,}" for n in run["live"][:8])
        return f"{numbers} images enter the first eight layers, {run['survivors']:,} live at the end"
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
    "challenge.baselines": baselines,
    "challenge.load": load_times,
    "challenge.load.older": loaded_in_turns,
    "challenge.spmm-algorithms": spmm_algorithms,
    "challenge.older": older,
    "challenge.fused-before": fused_before,
    "challenge.inputs-of-groups": inputs_of_groups,
    "challenge.spreads": spreads,
    "challenge.cpu": cpu,
    "challenge.two-gpus.shared": on_more_gpus("grouped"),
    "challenge.two-gpus.fused": on_more_gpus("fused"),
    **{f"challenge.{kind}": rates(kind) for kind in NETWORKS},
    **{f"challenge.live.{kind}": live_images(kind) for kind in NETWORKS},
}
