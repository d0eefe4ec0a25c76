#!/usr/bin/env python3
"""Prints the tables of graph-challenge.md from the JSON lines of `runtime challenge run`.

usage: challenge_table.py graph-challenge/runs.jsonl
"""
import json
import sys


def column(run):
    if "shuffled" in run["network"]:
        return "shuffled"
    return f"{run['neurons']}x{run['last_layer']}"


def row(run):
    name = f"`{run['engine']}`"
    options = run["options"]
    if options["fold"]:
        name += " `--fold`"
    if not options["half"]:
        name += " `--no-half`"
    if options.get("weight_bytes"):
        name += f" `--weight-memory` {options['weight_bytes'] // 10**6} MB"
    if len(options["gpus"]) > 1:
        name += f" on {len(options['gpus'])} GPUs"
    return name


def cell(run):
    ms = run["inference_ms"]["median"]
    text = f"{run['tera_edges_per_second']:.3g} ({ms:.3g})"
    truth = run["truth"]
    return text if truth is None or truth["equal"] else text + " (!)"


def main():
    table, columns = {}, []
    for line in open(sys.argv[1], encoding="utf-8"):
        run = json.loads(line)
        table.setdefault(row(run), {})[column(run)] = cell(run)
        if column(run) not in columns:
            columns.append(column(run))
    columns.sort(key=lambda name: [int(part) if part.isdigit() else 10**9 for part in name.split("x")])
    print("| engine | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for name, cells in sorted(table.items(), key=lambda item: ("fold" in item[0], "GPUs" in item[0])):
        print(f"| {name} | " + " | ".join(cells.get(c, "") for c in columns) + " |")


main()
