#!/usr/bin/env python3
"""Prints the tables of graph-challenge.md from the JSON lines of `runtime challenge run`.

usage: challenge_table.py graph-challenge/runs.jsonl
"""
import json
import sys


OLD_NAMES = {"shared": "grouped"}  # of engines, in results measured before they were renamed
SURVIVORS = {1024: 1812, 4096: 1801, 16384: 1918, 65536: 1994}
KINDS = {
    "published": "The published networks",
    "shuffled-positive": "`--shuffle --weights positive`",
    "shuffled-random": "`--shuffle --weights random`",
    "classes-random": "`--weights random`",
}


def has_removed_options(run):
    """Whether a run was measured with options that `runtime challenge run` no longer has."""
    options = run["options"]
    return options.get("fold", False) or (run["engine"] == "shared" and not options["half"])


def kind(run):
    """What the folder of the network is called after."""
    return next((k for k in KINDS if k in run["network"]), "published")


def column(run):
    return f"{run['neurons']}x{run['last_layer']}"


def row(run):
    name = f"`{run['engine']}`"
    options = run["options"]
    if not options["half"]:
        name += " `--no-half`"
    if options.get("weight_bytes"):
        name += f" `--weight-memory` {options['weight_bytes'] // 10**6} MB"
    if len(options["gpus"]) > 1:
        name += f" on {len(options['gpus'])} GPUs"
    return name


def cell(run):
    ms = run["inference_ms"]["median"]
    rate = run["tera_edges_per_second"]
    text = f"{rate:.0f} ({ms:.3g})" if rate >= 100 else f"{rate:.3g} ({ms:.3g})"
    truth = run["truth"]
    is_wrong = truth is not None and not truth["equal"]
    if kind(run) == "published":
        is_wrong = is_wrong or run["survivors"] != SURVIVORS[run["neurons"]]
    return text + " (!)" if is_wrong else text


def print_table(title, runs):
    table, columns = {}, []
    for run in runs:
        table.setdefault(row(run), {})[column(run)] = cell(run)
        if column(run) not in columns:
            columns.append(column(run))
    columns.sort(key=lambda name: [int(part) for part in name.split("x")])
    print(f"{title}:\n")
    print("| engine | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for name, cells in sorted(table.items(), key=lambda item: "GPUs" in item[0]):
        print(f"| {name} | " + " | ".join(cells.get(c, "") for c in columns) + " |")
    print()


def print_baselines(runs):
    print("| network | engine | ms | baseline | ms | times as fast |")
    print("|---|---|---|---|---|---|")
    for run in runs:
        baseline = run.get("baseline")
        if baseline is None:
            continue
        name = column(run) if kind(run) == "published" else f"{column(run)} {KINDS[kind(run)]}"
        ms, other = run["inference_ms"]["median"], baseline["inference_ms"]["median"]
        print(f"| {name} | {row(run)} | {ms:.3g} | `{baseline['engine']}` | {other:.3g} | "
              f"{baseline['speed_up']:.1f} |")
    print()


def print_load(runs):
    plain = {(run["engine"], column(run)): run for run in runs
             if kind(run) == "published" and row(run) == f"`{run['engine']}`"}
    columns = ["1024x120", "1024x1920", "4096x480", "16384x120", "65536x120", "65536x1920"]
    rows = {
        "`grouped`: groups found, chained, ordered and packed": ("grouped", "prepare_ms"),
        "`grouped`: to load, all in all": ("grouped", "load_ms"),
        "`fused`: lanes ordered": ("fused", "prepare_ms"),
        "`fused`: to load, all in all": ("fused", "load_ms"),
    }
    print("| ms | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for name, (engine, field) in rows.items():
        found = [plain.get((engine, c)) for c in columns]
        print(f"| {name} | " + " | ".join(f"{r[field]:,.0f}" if r else "" for r in found) + " |")
    print()


def main():
    runs = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
    runs = [run for run in runs if not has_removed_options(run)]
    for run in runs:
        run["engine"] = OLD_NAMES.get(run["engine"], run["engine"])
    for name, title in KINDS.items():
        print_table(title, [run for run in runs if kind(run) == name])
    print("Baselines in the same process:\n")
    print_baselines(runs)
    print("At load time:\n")
    print_load(runs)


main()
