"""graph-challenge.md: images divided over streams and outputs into blocks, beside paper 002."""
from printers import challenge
from printers.challenge_papers import MISSING, cell, devices, kept, paper_rows, seconds
from printers.common import pivot, three_digits

PAPER_002 = ["1024x120", "1024x480", "1024x1920"]


def curve(name, kind, title):
    """A row for each number of parts, a column for each engine and network; the fastest of a column is bold."""
    cells = {}
    for run in kept(name):
        cells.setdefault(title(run), {})[run["options"][kind]] = run
    if not cells:
        return "Not measured."
    numbers = sorted({n for runs in cells.values() for n in runs})
    rows = {}
    for column, runs in cells.items():
        fastest = min(seconds(run) for run in runs.values() if "error" not in run)
        for n, run in runs.items():
            mark = "**" if "error" not in run and seconds(run) == fastest else ""
            rows.setdefault(n, {})[column] = mark + cell(run, lambda r: f"{1e3 * seconds(r):.4g}") + mark
    return pivot({str(n): {c: rows[n].get(c, MISSING) for c in cells} for n in numbers}, list(cells), kind)


def streams():
    def title(run):
        queues = run.get("max_connections")
        return f"`{run['engine']}` {challenge.column(run)}" + (f", {queues} queues" if queues else "")
    return curve("streams", "streams", title)


def blocks():
    return curve("blocks", "blocks", challenge.column)


def loads():
    """Of the machine before each run, by its kernel's count of what waits to run."""
    found = [run["load_average_before"] for run in kept("blocks") if "load_average_before" in run]
    return f"{min(found):.1f} to {max(found):.1f}" if found else MISSING


def paper_002():
    return pivot(paper_rows("002", PAPER_002, "seconds", three_digits), PAPER_002, "s")


BLOCKS = {
    "challenge.streams": streams,
    "challenge.streams.device": lambda: devices("streams"),
    "challenge.blocks": blocks,
    "challenge.blocks.device": lambda: devices("blocks"),
    "challenge.blocks.load": loads,
    "challenge.paper-002": paper_002,
}
