#!/usr/bin/env python3
"""Prints the tables of docs/results.md from the raw results beside this file.

  vgg16_table.py docs/benchmarks/vgg16-cifar10
"""
import json
import pathlib
import sys


def read(folder, name):
    return json.loads((folder / name).read_text())


def percent(fraction):
    return f"{100 * fraction:.2f}"


def accuracy_rows(folders):
    yield "| run | dense % | pruned % | quantized % | deployed % | weight sparsity % | file bytes | smaller |"
    yield "|---|---|---|---|---|---|---|---|"
    for folder in folders:
        prune, quantize = read(folder, "prune.json"), read(folder, "quantize.json")
        export, run = read(folder, "export.json"), read(folder, "run.json")
        ratio = export["dense_f32_bytes"] / export["bytes"]
        yield (f"| {folder.name} | {percent(prune['dense_accuracy'])} | {percent(prune['accuracy'])} | "
               f"{quantize['accuracy_after']:.2f} | {run['accuracy']:.2f} ({run['precision']}) | "
               f"{percent(prune['sparsity'])} | {export['bytes']} | {ratio:.1f}x |")


def network_rows(folders):
    yield "| run | batch | dense ms | sparse ms | chosen ms | sparse / dense | chosen / dense |"
    yield "|---|---|---|---|---|---|---|"
    for folder in folders:
        for result in read(folder, "bench.json"):
            dense, sparse, chosen = (result[plan]["network_ms"] for plan in ("dense", "sparse", "chosen"))
            yield (f"| {folder.name} | {result['batch']} | {dense['median']:.4f} | {sparse['median']:.4f} | "
                   f"{chosen['median']:.4f} | {dense['median'] / sparse['median']:.2f}x | "
                   f"{dense['median'] / chosen['median']:.2f}x |")


def layer_rows(folder, batch):
    result = next(r for r in read(folder, "bench.json") if r["batch"] == batch)
    yield f"{folder.name}, batch {batch}:\n"
    yield "| layer | sparsity % | dense ms | sparse ms | chosen ms | chosen kernel |"
    yield "|---|---|---|---|---|---|"
    plans = [{layer["name"]: layer for layer in result[plan]["layers"]} for plan in ("dense", "sparse", "chosen")]
    for name, layer in plans[2].items():
        if layer["op"] not in ("conv2d", "linear"):
            continue
        times = [f"{plan[name]['ms']['median']:.4f}" if name in plan else "-" for plan in plans]
        yield f"| {name} | {percent(layer['weight_sparsity'])} | {' | '.join(times)} | {layer['kernel']} |"


def main():
    root = pathlib.Path(sys.argv[1])
    folders = sorted(f for f in root.iterdir() if (f / "bench.json").exists())
    for rows in [accuracy_rows(folders), network_rows(folders)]:
        print("\n".join(rows), end="\n\n")
    for folder in folders:
        if folder.name.endswith("4b"):
            for batch in (1, 128):
                print("\n".join(layer_rows(folder, batch)), end="\n\n")


main()
