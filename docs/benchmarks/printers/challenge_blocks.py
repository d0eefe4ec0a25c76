"""graph-challenge.md: images divided over streams and outputs into blocks, beside paper 002."""
from printers import challenge
from printers.challenge import MISSING, kept
from printers.challenge_papers import cell, devices, paper_rows, seconds
from printers.common import pivot, table, three_digits

PAPER_002 = ["1024x120", "1024x480", "1024x1920"]
FASTEST_OF_PAPER_002 = 64  # blocks


def curves(name, kind, title):
    """{engine and network: {number of parts: run}}."""
    found = {}
    for run in kept(name):
        found.setdefault(title(run), {})[run["options"][kind]] = run
    return found


def curve(name, kind, title):
    """A row for each number of parts, a column for each engine and network; the fastest of a column is bold."""
    cells = curves(name, kind, title)
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


def stream_title(run):
    queues = run.get("max_connections")
    return f"`{run['engine']}` {challenge.column(run)}" + (f", {queues} queues" if queues else "")


def streams():
    return curve("streams", "streams", stream_title)


def streams_beside_one():
    """Where dividing the images serves, and what the paper's number of blocks takes."""
    rows = []
    for name, runs in curves("streams", "streams", stream_title).items():
        times = {n: seconds(run) for n, run in runs.items() if "error" not in run}
        if not {1, FASTEST_OF_PAPER_002} <= times.keys():
            continue
        fastest = min(times, key=times.get)
        slower = [n for n in sorted(times) if all(times[m] > times[1] for m in times if m >= n)]
        gain = f"{100 * (1 - times[fastest] / times[1]):.1f} %" if fastest > 1 else ""
        rows.append([name, str(fastest), gain, str(slower[0]) if slower else "",
                     f"{times[FASTEST_OF_PAPER_002] / times[1]:.3g}"])
    if not rows:
        return "Not measured."
    return table(["engine and network", "fastest on", "less time than on 1", "more time than on 1 from",
                  f"times the time of 1 on {FASTEST_OF_PAPER_002}"], rows)


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
    "challenge.streams.beside-one": streams_beside_one,
    "challenge.streams.device": lambda: devices("streams"),
    "challenge.blocks": blocks,
    "challenge.blocks.device": lambda: devices("blocks"),
    "challenge.blocks.load": loads,
    "challenge.paper-002": paper_002,
}
