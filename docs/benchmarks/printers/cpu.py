"""cpu-conv.md, from what cpu_conv_bench prints."""
import re
import statistics

from printers.common import ROOT, table

COLUMNS = {"90 % x1": "90 %, elements", "95 % x1": "95 %, elements", "90 % x16": "90 %, vectors of 16",
           "95 % x16": "95 %, vectors of 16"}


def processes():
    """One dictionary {(case, mask): times as fast} for each run."""
    for path in sorted((ROOT / "cpu-conv").glob("run-*.txt")):
        found, case = {}, ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("batch"):
                case = line.replace(" channels,", ",")
            gain = re.search(r"([\d.]+) times as fast", line)
            if gain:
                mask = re.match(r"\s+(\d+ % x\d+)", line).group(1)
                found[case, mask] = float(gain.group(1))
        yield found


def gains():
    runs = list(processes())
    rows = []
    for case in dict.fromkeys(case for case, _ in runs[0]):
        row = [case]
        for mask in COLUMNS:
            found = [run[case, mask] for run in runs]
            row.append(f"{statistics.median(found):.1f} ({min(found):.1f} to {max(found):.1f})")
        rows.append(row)
    return table(["layer", *COLUMNS.values()], rows)


def losses():
    """Where the median says that sparse is slower."""
    runs = list(processes())
    slower = []
    for case, mask in runs[0]:
        median = statistics.median(run[case, mask] for run in runs)
        if median < 1:
            slower.append(f"{case}, {COLUMNS[mask]}: {median:.2f}")
    return "; ".join(slower) if slower else "nowhere"


def machine():
    first = next(iter(sorted((ROOT / "cpu-conv").glob("run-*.txt"))))
    return first.read_text(encoding="utf-8").splitlines()[0].replace("(R)", "")


BLOCKS = {"cpu.gains": gains, "cpu.losses": losses, "cpu.machine": machine}
