#!/usr/bin/env python3
"""How busy the kernels of `fused` keep a GPU, for graph-challenge.md: the first inference under Nsight Compute.

  challenge_profile.py --runtime RUNTIME --network FOLDER --output profile.jsonl [--ncu ncu]

FOLDER is made by `runtime challenge generate`. Launches of one kind are put together by their cycles: a line of OUTPUT for each
kind, after one that says how they were read. Clocks are left as they are; ncu runs one launch at a time and empties caches before it.
"""
import argparse
import csv
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile

KERNEL = "resident_kernel"
FIRST = r"\b2>\("  # Input::bits is the last argument of the launch that reads the images: an inference begins there
KINDS = ((FIRST, "layer 0, images as bits"), ("<float", "layers with activations in fp32"), ("<__half", "layers with activations in fp16"))
CYCLES = "gpc__cycles_elapsed.max"
CLOCK = "gpc__cycles_elapsed.avg.per_second"
READS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
SHARES = ("l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed", "smsp__issue_active.avg.pct_of_peak_sustained_elapsed",
          "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
          "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed")
METRICS = (CYCLES, CLOCK, READS, CONFLICTS, *SHARES)


def launches_of(text):
    """[(kernel's name, {metric: value})] of ncu's raw table, whose second line has the units."""
    start = text.find('"ID"')
    if start < 0:
        sys.exit(f"no table in what ncu printed:\n{text[-1000:]}")
    rows = list(csv.DictReader(io.StringIO(text[start:])))
    units = rows[0]
    scale = {metric: {"Ghz": 1e9, "Mhz": 1e6}.get(units[metric], 1) for metric in METRICS}
    return [(row["Kernel Name"], {metric: scale[metric] * float(row[metric].replace(",", "")) for metric in METRICS}) for row in rows[1:]]


def first_inference(launches):
    begins = [i for i, (name, _) in enumerate(launches) if re.search(FIRST, name)]
    if not begins:
        sys.exit(f"found no launch that reads bits, expected the first one of an inference; the first is {launches[0][0]}")
    return launches[begins[0]:begins[1] if len(begins) > 1 else None]


def kind_of(name):
    return next(kind for mark, kind in KINDS if re.search(mark, name))


def lines_of(launches):
    """Shares are means weighted by cycles."""
    all_cycles = sum(values[CYCLES] for _, values in launches)
    for _, kind in KINDS:
        mine = [values for name, values in launches if kind_of(name) == kind]
        cycles = sum(values[CYCLES] for values in mine)
        if not mine:
            continue
        reads, conflicts = (sum(values[metric] for values in mine) for metric in (READS, CONFLICTS))
        yield {"kernels": kind, "launches": len(mine), "percent_of_all_cycles": 100 * cycles / all_cycles,
               "wavefronts_per_conflict_free_read": reads / (reads - conflicts) if reads > conflicts else None,
               **{metric: sum(values[CYCLES] * values[metric] for values in mine) / cycles for metric in SHARES}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("runtime", "network", "output"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--ncu", default="ncu")
    parser.add_argument("--csv", type=pathlib.Path, help="keep there what ncu printed")
    parser.add_argument("--launches", type=int, default=40, help="read at most, of which those of the first inference count")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch) / "run.json"
        command = [options.ncu, "--csv", "--page", "raw", "--clock-control", "none", "--kernel-name", f"regex:{KERNEL}", "--launch-count",
                   str(options.launches), "--metrics", ",".join(METRICS), options.runtime, "challenge", "run", options.network, "--engine", "fused",
                   "--streams", "1", "--repeats", "1", "--warm-up", "0", "--quiet", "--json", report]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"ncu: exit {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-1000:]}")
        run = json.loads(report.read_text(encoding="utf-8"))
    if options.csv:
        options.csv.write_text(done.stdout, encoding="utf-8")
    launches = first_inference(launches_of(done.stdout))
    clocks = [values[CLOCK] for _, values in launches]
    lines = [{"what": "the first inference of fused under Nsight Compute, metrics as it names them", "device": run["device"],
              "version": run["version"], "network": run["network"], "neurons": run["neurons"], "layers": run["last_layer"],
              "sm_hz": [min(clocks), max(clocks)]}, *lines_of(launches)]
    options.output.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
