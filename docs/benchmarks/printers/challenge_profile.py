"""graph-challenge.md: kernels of fused under Nsight Compute, as challenge_profile.py read them, and those that were tried."""
import statistics

from printers.challenge import MISSING, NETWORKS, column, is_wrong, kept, network
from printers.common import table, three_digits

GOAL = 90  # TeraEdges/s that random wiring with weights of either sign was to reach
BEFORE, KEPT, NARROW = KERNELS = "before", "16 loads ahead", "24-bit activations"  # of tried.jsonl
PIPE = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"
BUSY = {"shared memory's pipe %": PIPE, "issue slots %": "smsp__issue_active.avg.pct_of_peak_sustained_elapsed",
        "tensor cores %": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
        "L2 %": "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", "HBM %": "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"}


def kinds(name="profile"):
    return [line for line in kept(name) if "kernels" in line]


def profile():
    """A row for each kind of launch."""
    rows = [[line["kernels"], str(line["launches"]), f"{line['percent_of_all_cycles']:.0f}", *(f"{line[metric]:.0f}" for metric in BUSY.values()),
             f"{line['wavefronts_per_conflict_free_read']:.2f}"] for line in kinds()]
    return table(["launches", "number", "% of all cycles", *BUSY, "wavefronts for one without conflicts"], rows)


def busy(part, name="profile"):
    """How much of the time launches whose name has this part keep the pipe busy."""
    return lambda: next((f"{line[PIPE]:.0f} %" for line in kinds(name) if part in line["kernels"]), MISSING)


def read_value(text):
    return lambda: text(kept("profile")[0])


def title(size, kind):
    return f"{size} `{NETWORKS[kind]}`" if NETWORKS[kind] else size


def tried():
    """{network: {kernel: runs, a process each}}."""
    found = {}
    for run in kept("tried"):
        found.setdefault(title(column(run), network(run)), {}).setdefault(run["tried"], []).append(run)
    return found


def rates(runs):
    return [run["tera_edges_per_second"] for run in runs]


def tried_cell(runs):
    text = f"{statistics.median(rates(runs)):.1f} ({min(rates(runs)):.1f} to {max(rates(runs)):.1f})"
    return text + " (!)" if any(is_wrong(run) for run in runs) else text


def tried_table():
    rows = []
    for name, kernels in tried().items():
        lists = {run["categories_sha256"] for runs in kernels.values() for run in runs}
        rows.append([name, *(tried_cell(kernels[kernel]) if kernel in kernels else "" for kernel in KERNELS),
                     "equal" if len(lists) == 1 else "**differ**"])
    return table(["TeraEdges/s", *KERNELS, "categories"], rows) if rows else "Not measured."


def processes():
    counts = {len(runs) for kernels in tried().values() for runs in kernels.values()}
    return " or ".join(map(str, sorted(counts))) or MISSING


def beside(kernel, other):
    """By how much the rates of a kernel are above or below another's, where their ranges are apart."""
    def text():
        apart, overlapping = [], []
        for name, kernels in tried().items():
            if not {kernel, other} <= kernels.keys():
                continue
            mine, its = rates(kernels[kernel]), rates(kernels[other])
            change = 100 * (statistics.median(mine) / statistics.median(its) - 1)
            if min(mine) > max(its) or max(mine) < min(its):
                apart.append(f"{abs(change):.1f} % {'faster' if change > 0 else 'slower'} at {name}")
            else:
                overlapping.append(name)
        parts = [", ".join(apart)] * bool(apart) + ["the ranges overlap at " + " and ".join(overlapping)] * bool(overlapping)
        return "; ".join(parts) or MISSING
    return text


def rate_of_profiled():
    """Of the kernel that is kept, on the network that was profiled."""
    read = kept("profile")[0]
    runs = tried().get(title(f"{read['neurons']}x{read['layers']}", network(read)), {}).get(KEPT)
    return statistics.median(rates(runs)) if runs else None


def reached():
    rate = rate_of_profiled()
    return f"{three_digits(rate)} TeraEdges/s: {'reached' if rate >= GOAL else 'not reached'}" if rate else MISSING


def whole_at_most():
    """How many times as fast all launches would be that kept their pipe busy all the time."""
    return 1 / sum(line["percent_of_all_cycles"] / 100 * line[PIPE] / 100 for line in kinds())


def rate_at_most():
    rate = rate_of_profiled()
    if rate is None:
        return MISSING
    return f"{whole_at_most():.2f} times as fast: {whole_at_most() * rate:.0f} instead of {three_digits(rate)} TeraEdges/s"


def clocks(read):
    return " to ".join(f"{hertz / 1e9:.2f}" for hertz in read["sm_hz"])


BLOCKS = {
    "challenge.profile": profile,
    "challenge.profile.device": read_value(lambda read: f"{read['device']}, SM clock {clocks(read)} GHz"),
    "challenge.profile.network": read_value(lambda read: f"`{NETWORKS[network(read)]}` at {read['neurons']}x{read['layers']}"),
    "challenge.profile.goal": lambda: f"{GOAL} TeraEdges/s",
    "challenge.profile.reached": reached,
    "challenge.profile.fp32": busy("fp32"),
    "challenge.profile.fp16": busy("fp16"),
    "challenge.profile.24bit": busy("24 bits", "profile-24bit"),
    "challenge.profile.whole": rate_at_most,
    "challenge.tried": tried_table,
    "challenge.tried.processes": processes,
    "challenge.tried.kept": beside(KEPT, BEFORE),
    "challenge.tried.24bit": beside(NARROW, KEPT),
}
