"""Which resource binds a gathered convolution: convolution.md, from what conv_limits.py writes."""
from printers.common import ROOT, read_lines, table

RAW = "convolution/limits.jsonl"
RESOURCES = {"tensor cores": "tensor_percent", "shared memory": "shared_percent", "L2": "l2_percent",
             "HBM": "dram_percent", "issue slots": "issue_percent"}
BINDS = 60  # percent: what is busier holds the launch up


def bound(line):
    name = max(RESOURCES, key=lambda resource: line[RESOURCES[resource]])
    return name if line[RESOURCES[name]] >= BINDS else "latency"


def limits():
    if not (ROOT / RAW).exists():
        return "Not measured."
    rows = []
    for line in read_lines(RAW):
        mask = f"{line['sparsity_percent']:g} %" + (", elements" if line["vector"] == 1 else "")
        busy = (line[metric] for metric in RESOURCES.values())
        rows.append([line["layer"], mask, f"{1e-3 * line['ns']:.1f}", f"{1e-6 * line['sm_hz']:.0f}",
                     f"{100 * line['sm_active_cycles'] / line['cycles']:.0f}", *(f"{percent:.0f}" for percent in busy), bound(line)])
    return table(["layer", "weights", "us", "MHz", "SMs at work %", *(f"{name} %" for name in RESOURCES), "binds"], rows)


BLOCKS = {"convolution.limits": limits}
