"""graph-challenge.md: kernels of fused under Nsight Compute, as challenge_profile.py read them."""
from printers.challenge import MISSING, cells, kept
from printers.common import table

GOAL = 90  # TeraEdges/s that random wiring with weights of either sign was to reach
PIPE = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"
BUSY = {"shared memory's pipe %": PIPE, "issue slots %": "smsp__issue_active.avg.pct_of_peak_sustained_elapsed",
        "tensor cores %": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
        "L2 %": "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", "HBM %": "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"}


def kinds():
    return [line for line in kept("profile") if "kernels" in line]


def profile():
    """A row for each kind of launch."""
    rows = [[line["kernels"], str(line["launches"]), f"{line['percent_of_all_cycles']:.0f}", *(f"{line[metric]:.0f}" for metric in BUSY.values()),
             f"{line['wavefronts_per_conflict_free_read']:.2f}"] for line in kinds()]
    return table(["launches", "number", "% of all cycles", *BUSY, "wavefronts for one without conflicts"], rows)


def kind_value(part, text):
    """Of the launches whose name has this part."""
    return lambda: next((text(line) for line in kinds() if part in line["kernels"]), MISSING)


def read_value(text):
    return lambda: text(kept("profile")[0])


def whole_at_most():
    """How many times as fast all launches would be that kept their pipe busy all the time."""
    return 1 / sum(line["percent_of_all_cycles"] / 100 * line[PIPE] / 100 for line in kinds())


def rate_at_most():
    read = kept("profile")[0]
    run = cells("shuffled-random").get("`fused`", {}).get(f"{read['neurons']}x{read['layers']}")
    if run is None:
        return MISSING
    rate = run["tera_edges_per_second"]
    return f"{whole_at_most():.2f} times as fast: {whole_at_most() * rate:.0f} instead of {rate:.0f} TeraEdges/s"


def clocks(read):
    return " to ".join(f"{hertz / 1e9:.2f}" for hertz in read["sm_hz"])


BLOCKS = {
    "challenge.profile": profile,
    "challenge.profile.device": read_value(lambda read: f"{read['device']}, SM clock {clocks(read)} GHz"),
    "challenge.profile.network": read_value(lambda read: f"`--shuffle --weights random` at {read['neurons']}x{read['layers']}"),
    "challenge.profile.goal": lambda: f"{GOAL} TeraEdges/s",
    "challenge.profile.fp32": kind_value("fp32", lambda line: f"{line[PIPE]:.0f} %"),
    "challenge.profile.fp16": kind_value("fp16", lambda line: f"{line[PIPE]:.0f} %"),
    "challenge.profile.whole": rate_at_most,
}
