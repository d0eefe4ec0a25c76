"""linear-stack.md, from the JSON lines of gpu_stack_bench."""
from printers.common import read_lines, table

FAMILIES = ["dense", "sparse_linear", "linear_gather", "linear_stack", "measured"]


def runs():
    return [line for line in read_lines("linear-stack/stacks.jsonl") if "stack" in line]


def cell(run):
    if run is None or "ms" not in run:
        return ""
    us = 1000 * run["ms"]
    return f"{us:.0f}" if us >= 100 else f"{us:.1f}"


def by_case(precision):
    cases = {}
    for run in runs():
        if run["precision"] == precision:
            cases.setdefault((run["stack"], run["batch"]), {})[run["family"]] = run
    return cases


def ratio(row):
    return row["dense"]["ms"] / row["measured"]["ms"] if "measured" in row and "dense" in row else None


def times(precision):
    def text():
        rows = []
        for (stack, batch), row in by_case(precision).items():
            gain = ratio(row)
            rows.append([stack, str(batch), *(cell(row.get(family)) for family in FAMILIES),
                         f"{gain:.2f}" if gain else ""])
        return table(["stack", "batch", *FAMILIES, "dense / measured"], rows)
    return text


def spread():
    spreads = sorted(run["spread"] for run in runs() if "spread" in run)
    return (f"median {100 * spreads[len(spreads) // 2]:.1f} %, nine in ten below "
            f"{100 * spreads[len(spreads) * 9 // 10]:.0f} %, at most {100 * spreads[-1]:.0f} %")


def range_of_gains(precision):
    def text():
        gains = [gain for gain in map(ratio, by_case(precision).values()) if gain]
        return f"{min(gains):.2f} to {max(gains):.2f}"
    return text


def repeats():
    return " or ".join(str(n) for n in sorted({run["repeats"] for run in runs() if "repeats" in run}))


BLOCKS = {
    "stack.f32": times("f32"),
    "stack.tf32": times("tf32"),
    "stack.f16": times("f16"),
    "stack.spread": spread,
    "stack.repeats": repeats,
    "stack.gains.f32": range_of_gains("f32"),
    "stack.gains.tf32": range_of_gains("tf32"),
    "stack.gains.f16": range_of_gains("f16"),
}
