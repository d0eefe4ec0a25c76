"""What other systems reach: the table of graph-challenge.md, and README's comparison with them."""
from printers import challenge
from printers.common import by_size, pivot, read_lines, table, three_digits

COLUMNS = ["1024x120", "1024x1920", "4096x480", "16384x120", "16384x1920", "65536x120", "65536x1920"]
README_ROWS = {
    "`grouped`: outputs that read the same inputs, on tensor cores": ("grouped", "published"),
    "`fused`: any connections and weights": ("fused", "published"),
    "`fused` on networks without structure, positive weights": ("fused", "shuffled-positive"),
    "`fused` on networks without structure, weights of either sign": ("fused", "shuffled-random"),
}
OURS = "cusp_row"  # among the peers' runs
BEST_PEER = "the best published system, run on an H200"
NAMED = {"Xin et al. 2021 (XY)": "XY", "Lin et al. 2023 (SNICIT)": "SNICIT"}  # the fastest on wide networks


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


def best():
    """{column: fastest run} of the systems of others whose survivors are right."""
    found = {}
    for runs in measured().values():
        for size, run in runs.items():
            if run["survivors_are_right"] and run["program"] != OURS and (
                    size not in found or run["tera_edges_per_second"] > found[size]["tera_edges_per_second"]):
                found[size] = run
    return found


def beside():
    """Networks that a published system ran, with the fastest of these."""
    ours = challenge.cells("published")
    rows = []
    for size in by_size(best()):
        run = best()[size]
        mine = [ours.get(f"`{engine}`", {}).get(size) for engine in ("grouped", "fused")]
        rows.append([size, *(three_digits(r["tera_edges_per_second"]) if r else "" for r in mine),
                     rate(run["tera_edges_per_second"]), run["system"],
                     *(f"{r['tera_edges_per_second'] / run['tera_edges_per_second']:.2f}" if r else "" for r in mine)])
    return table(["network", f"`grouped`, {challenge.CARD}", f"`fused`, {challenge.CARD}", "the fastest published, H200", "which",
                  "`grouped` / it", "`fused` / it"], rows)


def wide():
    """fused beside the named systems, where rows are gathered."""
    ours, parts = challenge.cells("published").get("`fused`", {}), []
    for size in ("16384x120", "65536x120"):
        others = [f"{short} {three_digits(measured()[system][size]['tera_edges_per_second'])}" for system, short in NAMED.items()]
        mine = three_digits(ours[size]["tera_edges_per_second"]) if size in ours else challenge.MISSING
        parts.append(f"{mine} TeraEdges/s at {size} ({', '.join(others)})")
    return " and ".join(parts)


def of_papers_alone():
    """The fastest that a paper prints of a network on which no published system was run."""
    ours, printed = challenge.cells("published"), {}
    for line in read_lines("graph-challenge/papers.jsonl"):
        for size, value in line.get("tera_edges_per_second", {}).items():
            if size not in best() and size in COLUMNS:
                printed.setdefault(size, []).append((value, f"{line['system']}, on {line['where']}"))
    parts = []
    for size, values in printed.items():
        value, system = max(values)
        mine = [f"`{engine}` {three_digits(ours[f'`{engine}`'][size]['tera_edges_per_second'])}" for engine in ("grouped", "fused")
                if size in ours.get(f"`{engine}`", {})]
        parts.append(f"at {size} {rate(value)} ({system}); " + ", ".join(mine))
    return "; ".join(parts) or challenge.MISSING


def readme():
    found = {name: challenge.cells(kind).get(f"`{engine}`", {}) for name, (engine, kind) in README_ROWS.items()}
    found[BEST_PEER] = best()
    return pivot({name: {size: three_digits(run["tera_edges_per_second"]) for size, run in row.items()}
                  for name, row in found.items()}, COLUMNS, "engine")


BLOCKS = {
    "challenge.peers.runs": runs_of_cells,
    "challenge.peers": peers,
    "challenge.peers.beside": beside,
    "challenge.peers.wide": wide,
    "challenge.peers.of-papers-alone": of_papers_alone,
    "challenge.peers.kernels-alone": kernels_alone,
    "challenge.peers.survivors": survivors,
    "challenge.readme": readme,
}
