"""graph-challenge.md: kernels of fused under Nsight Compute."""
from printers.challenge import MISSING, cells, kept
from printers.common import table

PIPE = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"
BUSY = {"shared memory's pipe %": (PIPE, 1), "issue slots %": ("smsp__issue_active.avg.per_cycle_active", 100),
        "L2 %": ("lts__t_sectors.avg.pct_of_peak_sustained_elapsed", 1),
        "HBM %": ("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 1)}


def profile():
    """Kernels of fused under Nsight Compute: a row for each group of launches."""
    rows = [[line["kernels"], str(line["percent_of_all_cycles"]),
             *(f"{scale * line[metric]:.0f}" if metric in line else "" for metric, scale in BUSY.values())]
            for line in kept("profile") if "kernels" in line]
    return table(["launches", "% of all cycles", *BUSY], rows)


def profile_value(text):
    """Of the line that says how it was read, and that of the launches that were read in full."""
    def value():
        lines = kept("profile")
        return text(lines[0], next(line for line in lines if PIPE in line))
    return value


def whole_at_most(line):
    """How many times as fast the whole was if these launches kept their pipe busy all the time."""
    return 1 / (1 - line["percent_of_all_cycles"] / 100 * (1 - line[PIPE] / 100))


def rate_at_most(read, line):
    run = cells("shuffled-random").get("`fused`", {}).get(f"{read['neurons']}x{read['layers']}")
    if run is None:
        return MISSING
    rate = run["tera_edges_per_second"]
    return f"{whole_at_most(line):.2f} times as fast: {whole_at_most(line) * rate:.0f} instead of {rate:.0f} TeraEdges/s"


BLOCKS = {
    "challenge.profile": profile,
    "challenge.profile.device": profile_value(lambda read, line: f"{read['gpu']}, clock locked at {read['sm_mhz'] / 1e3:.2f} GHz"),
    "challenge.profile.network": profile_value(lambda read, line: f"`{read['network']}` at {read['neurons']}x{read['layers']}"),
    "challenge.profile.goal": profile_value(lambda read, line: f"{read['goal_tera_edges_per_second']} TeraEdges/s"),
    "challenge.profile.busy": profile_value(lambda read, line: f"{line[PIPE]} %"),
    "challenge.profile.before": profile_value(lambda read, line: f"{line['before_tiles_moved_beside_layers'][PIPE]} %"),
    "challenge.profile.wavefronts": profile_value(lambda read, line: f"{line['wavefronts_per_access']:.1f}"),
    "challenge.profile.left": profile_value(lambda read, line: f"{100 / line[PIPE]:.2f}"),
    "challenge.profile.whole": profile_value(rate_at_most),
}
