#!/usr/bin/env python3
"""Which resource binds a gathered convolution: Nsight Compute on the kernels that gpu_conv_bench found fastest.

  conv_limits.py --profile BUILD/bin/gpu_conv_profile [--ncu ncu] [--seconds 100] convolution/targets.jsonl >> convolution/limits.jsonl

For each line of the gathered family: one launch under ncu, its duration, the SM clock and how busy each resource was
(percent of what it can sustain over the launch). ncu flushes caches before the launch and does not fix clocks. Lines that
limits.jsonl has already are left out if it is given by --have.
"""
import argparse
import csv
import io
import json
import pathlib
import subprocess
import sys
import time

SECTIONS = ["SpeedOfLight", "ComputeWorkloadAnalysis", "MemoryWorkloadAnalysis", "SchedulerStats"]
KEPT = {  # of what ncu prints, by the name in the lines
    "ns": "Duration [ns]", "sm_hz": "SM Frequency [hz]", "cycles": "Elapsed Cycles [cycle]",
    "sm_active_cycles": "SM Active Cycles [cycle]", "tensor_percent": "SM: Pipe Tensor Cycles Active [%]",
    "shared_percent": "L1: Data Pipe Lsu Wavefronts [%]", "issue_percent": "SM: Issue Active [%]",
    "l2_percent": "L2 Cache Throughput [%]", "dram_percent": "DRAM: Cycles Active [%]",
    "warps_per_scheduler": "Active Warps Per Scheduler [warp]"}
KEY = ("layer", "batch", "vector", "sparsity_percent", "kernel")


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def metrics_of(text):
    """{metric: value} of ncu's CSV, whose table begins at the line with its columns' names."""
    start = text.find('"ID"')
    if start < 0:
        raise SystemExit("no table in what ncu printed:\n" + text[-2000:])
    found = {}
    for row in csv.DictReader(io.StringIO(text[start:])):
        value = number(row.get("Metric Value") or "")
        if value is not None:
            found[f"{row['Metric Name']} [{row['Metric Unit']}]"] = value
    return {name: found[metric] for name, metric in KEPT.items()}


def profile(args, line):
    command = [args.ncu, "--csv", "--page", "details", "--print-details", "all", "--clock-control", "none",
               "--profile-from-start", "off"]
    for section in SECTIONS:
        command += ["--section", section]
    command += [args.profile, "--set", args.set, "--layer", line["layer"], "--batch", str(line["batch"]),
                "--precision", line["precision"], "--vector", str(line["vector"]),
                "--sparsity", str(line["sparsity_percent"]), "--kernel", line["kernel"]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return metrics_of(done.stdout)


def read(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines() if line]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lines")
    parser.add_argument("--profile", required=True)
    parser.add_argument("--ncu", default="ncu")
    parser.add_argument("--set", default="targets")
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--have")
    args = parser.parse_args()
    have = {tuple(line[k] for k in KEY) for line in read(args.have)} if args.have else set()
    begin = time.monotonic()
    for line in read(args.lines):
        if line.get("family") != "gathered" or "ms" not in line or tuple(line[k] for k in KEY) in have:
            continue
        if args.seconds and time.monotonic() - begin > args.seconds:
            break
        kept = {key: line[key] for key in (*KEY, "ms")}
        print(json.dumps({**kept, **profile(args, line)}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
