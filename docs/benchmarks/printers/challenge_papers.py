"""graph-challenge.md at the sizes of papers 000 and 001, and what the papers printed."""
import re

from printers import challenge, peers
from printers.challenge import MISSING, kept
from printers.common import pivot, read_lines, three_digits

NINE = [f"{neurons}x{layers}" for neurons in (1024, 4096, 16384) for layers in (120, 480, 1920)]
PAPER_000 = ["1024x120", "1024x480"]
OURS = ["cusparse", "cusparse-buffer", "cusparse-filter", "cusparse-spmm"]
ALL_OURS = ["tiled", *OURS, "fused", "grouped"]
TOO_LARGE = "/"  # as paper 001 says that memory does not suffice


def papers(number):
    return [line for line in read_lines("graph-challenge/papers.jsonl") if line.get("paper") == number]


def devices(name):
    return " and ".join(dict.fromkeys(run["device"] for run in kept(name) if "device" in run)) or MISSING


def sizes():
    """{row: {column: run}} on one GPU, with those that failed."""
    found = {name: dict(row) for name, row in challenge.cells("published").items()}
    for run in kept("sizes"):
        if "error" in run:
            found.setdefault(f"`{run['engine']}`", {})[challenge.column(run)] = run
    return found


def seconds(run):
    return run["inference_ms"]["median"] / 1e3


def rate(value):
    return three_digits(value) if value >= 0.1 else f"{value:.2g}"


def cell(run, text):
    """`text` of a run, or why there is none."""
    if run is None:
        return MISSING
    if "error" in run:
        return TOO_LARGE
    value = text(run)
    return value + " (!)" if value and challenge.is_wrong(run) else value or MISSING


def rows_of(engines):
    """Those of an engine without options, of another card in a row of its own; an empty one where it was not run."""
    found = sizes()
    rows = {}
    for engine in engines:
        names = [name for name in found if re.fullmatch(rf"`{engine}`(, H\d+)?", name)]
        rows.update({name: found[name] for name in names} or {f"`{engine}`": {}})
    return rows


def our_rows(columns, text, engines=OURS):
    return {name: {c: cell(row.get(c), text) for c in columns} for name, row in rows_of(engines).items()}


def paper_rows(number, columns, key, text, where=None):
    rows = {}
    for line in papers(number):
        if key in line and where in (None, line["where"]):
            values = line[key]
            rows[f"{line['system']}, {line['where']}"] = {
                c: TOO_LARGE if values[c] is None else text(values[c]) for c in columns if c in values}
    return rows


def nine_seconds():
    rows = our_rows(NINE, lambda run: three_digits(seconds(run)))
    return pivot({**rows, **paper_rows("001", NINE, "seconds", three_digits)}, NINE, "s")


def nine_rates():
    rows = our_rows(NINE, lambda run: rate(run["tera_edges_per_second"]))
    return pivot({**rows, **paper_rows("001", NINE, "tera_edges_per_second", rate)}, NINE, "TeraEdges/s")


def nine_memory():
    def text(run):
        taken = run.get("peak_gpu_bytes")  # older runs do not say
        return f"{taken / 2**30:.3g}" if taken else ""
    return pivot(our_rows(NINE, text), NINE, "GB")


def where_of(runs):
    return ", ".join(dict.fromkeys(f"`{run['engine']}` at {challenge.column(run)}" for run in runs)) or "none"


def runs_of_sizes():
    return [run for row in rows_of(ALL_OURS).values() for run in row.values() if "error" not in run]


def in_parts():
    """Runs for whose images memory did not suffice at once."""
    return where_of(run for run in runs_of_sizes() if run["engine"] in OURS and " images at a time" in run["kernel"])


def without_warm_up():
    return where_of(run for run in runs_of_sizes() if run["warm_up"] == 0)


def largest_difference():
    """Of the rates of table IX from those that follow from the times of table VI, in percent."""
    line = next(line for line in papers("001") if "filter" in line["system"] and "tera_edges_per_second" in line)
    differences = []
    for column, value in line["tera_edges_per_second"].items():
        neurons, layers = map(int, column.split("x"))
        follows = 60000 * 32 * neurons * layers / line["seconds"][column] / 1e12
        differences.append(abs(follows / value - 1))
    return f"{100 * max(differences):.0f}"


def with_rate(spent, column):
    neurons, layers = map(int, column.split("x"))
    return f"{three_digits(spent)} ({rate(60000 * 32 * neurons * layers / spent / 1e12)})"


def tiled():
    rows = {name: {c: with_rate(float(values[c]), c) for c in values}
            for name, values in paper_rows("000", PAPER_000, "seconds", str).items()}
    rows.update(our_rows(PAPER_000, lambda run: with_rate(seconds(run), challenge.column(run)),
                         ALL_OURS))
    for system, runs in peers.measured().items():
        if all(c in runs for c in PAPER_000):
            rows[f"{system}, H200"] = {c: with_rate(runs[c]["seconds"], c) for c in PAPER_000}
    return pivot(rows, PAPER_000, "s (TeraEdges/s)")


BLOCKS = {
    "challenge.nine.seconds": nine_seconds,
    "challenge.nine.rates": nine_rates,
    "challenge.nine.memory": nine_memory,
    "challenge.nine.in-parts": in_parts,
    "challenge.nine.without-warm-up": without_warm_up,
    "challenge.nine.table-ix": largest_difference,
    "challenge.nine.device": lambda: devices("sizes"),
    "challenge.tiled": tiled,
}
