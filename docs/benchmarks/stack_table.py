#!/usr/bin/env python3
"""Prints the tables of linear-stack.md from the JSON lines of gpu_stack_bench.

usage: stack_table.py linear-stack/stacks.jsonl
"""
import json
import sys

FAMILIES = ["dense", "sparse_linear", "linear_gather", "linear_stack", "measured"]


def cell(run):
    if run is None or "ms" not in run:
        return ""
    us = 1000 * run["ms"]
    return f"{us:.0f}" if us >= 100 else f"{us:.1f}"


def print_table(precision, runs):
    print(f"{precision}:\n")
    print("| stack | batch | " + " | ".join(FAMILIES) + " | dense / measured |")
    print("|---" * (len(FAMILIES) + 3) + "|")
    table = {}
    for run in runs:
        table.setdefault((run["stack"], run["batch"]), {})[run["family"]] = run
    for (stack, batch), row in table.items():
        measured = row.get("measured")
        ratio = f"{row['dense']['ms'] / measured['ms']:.2f}" if measured else ""
        cells = " | ".join(cell(row.get(family)) for family in FAMILIES)
        print(f"| {stack} | {batch} | {cells} | {ratio} |")
    print()


def main():
    lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
    runs = [line for line in lines if "stack" in line]
    for precision in ("f32", "f16"):
        print_table(precision, [run for run in runs if run["precision"] == precision])
    spreads = sorted(run["spread"] for run in runs if "spread" in run)
    print(f"Spread: median {100 * spreads[len(spreads) // 2]:.1f} %, nine in ten below "
          f"{100 * spreads[len(spreads) * 9 // 10]:.0f} %, at most {100 * spreads[-1]:.0f} %")


main()
