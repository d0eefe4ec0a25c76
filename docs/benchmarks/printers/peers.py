"""What other systems reach: the table of graph-challenge.md, and README's comparison with them."""
from printers import challenge
from printers.common import by_size, pivot, read_lines, three_digits

COLUMNS = ["1024x120", "1024x1920", "4096x480", "16384x120", "65536x120", "65536x1920"]
README_ROWS = {
    "`grouped`: outputs that read the same inputs, on tensor cores": ("grouped", "published"),
    "`fused`: any connections and weights": ("fused", "published"),
    "`fused` on networks without structure, positive weights": ("fused", "shuffled-positive"),
    "`fused` on networks without structure, weights of either sign": ("fused", "shuffled-random"),
}
OURS = "cusp_row"  # among the peers' runs
BEST_PEER = "the best published system, run on the same kind of GPU"


def rate(value):
    return f"{value:.2g}" if value < 0.1 else f"{value:.3g}" if value < 100 else f"{value:.4g}"


def measured():
    """{system: {column: fastest run}} of the runs on the published networks."""
    found = {}
    for line in read_lines("graph-challenge/peers.jsonl"):
        if line.get("network") != "published":
            continue
        size = f"{line['neurons']}x{line['layers']}"
        known = found.setdefault(line["system"], {}).get(size)
        if known is None or line["tera_edges_per_second"] > known["tera_edges_per_second"]:
            found[line["system"]][size] = line
    return found


def peers():
    cells = {}
    for system, runs in measured().items():
        cells[f"{system}, H200"] = {size: rate(run["tera_edges_per_second"]) for size, run in runs.items()}
    for line in read_lines("graph-challenge/papers.jsonl"):
        if "tera_edges_per_second" in line:
            cells[f"{line['system']}, {line['where']}"] = {
                size: rate(value) for size, value in line["tera_edges_per_second"].items()}
    return pivot(cells, COLUMNS, "system")


def runs_of_cells():
    """How many runs a cell of the table is the fastest of."""
    counts = {}
    for line in read_lines("graph-challenge/peers.jsonl"):
        if line.get("network") == "published":
            cell = (line["system"], line["neurons"], line["layers"])
            counts[cell] = counts.get(cell, 0) + 1
    return f"{min(counts.values())} to {max(counts.values())}"


def own_spmm():
    """The same SpMM in a program of its own, where that is faster than the engine cusparse-spmm."""
    best = {}
    for run in challenge.gpu_runs():
        for result in (run, run.get("baseline") or {}):
            if result.get("engine") == "cusparse-spmm" and challenge.network(run) == "published":
                size = challenge.column(run)
                best[size] = min(best.get(size, 1e9), result["inference_ms"]["median"])
    parts = [f"{1e3 * run['seconds']:.0f} ms instead of {best[size]:.0f} at {size}"
             for runs in measured().values() for size, run in runs.items()
             if run["program"] == OURS and size in best and 1e3 * run["seconds"] < 0.97 * best[size]]
    return ", ".join(parts)


def kernels_alone():
    """Runs whose own report of the kernels' time is a part of the whole run."""
    cells = {}
    for system, runs in measured().items():
        for size, run in runs.items():
            if "kernel_seconds" in run:
                cells.setdefault(system, {})[size] = (
                    f"{1e3 * run['seconds']:.4g} / {1e3 * run['kernel_seconds']:.3g}")
    return pivot(cells, by_size({size for row in cells.values() for size in row}), "ms, whole run / kernels alone")


def survivors():
    counts = {}
    for runs in measured().values():
        for run in runs.values():
            if run["survivors_are_right"]:
                counts[run["neurons"]] = run["survivors"]
    return ", ".join(f"{counts[n]:,} instead of {challenge.SURVIVORS[n]:,} at {n}" for n in sorted(counts))


def readme():
    cells = {}
    for name, (engine, kind) in README_ROWS.items():
        cells[name] = {challenge.column(run): three_digits(run["tera_edges_per_second"])
                       for run in challenge.gpu_runs()
                       if challenge.network(run) == kind and challenge.row(run) == f"`{engine}`"}
    best = {}
    for runs in measured().values():
        for size, run in runs.items():
            if run["survivors_are_right"] and run["program"] != OURS:
                best[size] = max(best.get(size, 0), run["tera_edges_per_second"])
    cells[BEST_PEER] = {size: three_digits(value) for size, value in best.items()}
    return pivot(cells, COLUMNS, "engine")


BLOCKS = {
    "challenge.peers.runs": runs_of_cells,
    "challenge.peers.own-spmm": own_spmm,
    "challenge.peers": peers,
    "challenge.peers.kernels-alone": kernels_alone,
    "challenge.peers.survivors": survivors,
    "challenge.readme": readme,
}
