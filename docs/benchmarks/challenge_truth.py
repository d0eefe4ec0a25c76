#!/usr/bin/env python3
"""Finds the categories of challenge networks with the engine `reference`, and whether `cpu` finds the same.

  challenge_truth.py RUNTIME FOLDER LAYERS [A:B] [--engines NAME,...] >> graph-challenge/truth.jsonl

FOLDER: data of `runtime challenge generate --published`. LAYERS: how many of the network's layers run. A:B: of these images,
counted from 0. Prints a line for each engine: survivors and the SHA-256 of the list of categories as `--categories` writes it;
of all engines but the first also how the list differs from the first one's, line by line. Hashes are taken here, not from the program.
"""
import argparse
import difflib
import hashlib
import json
import pathlib
import subprocess
import tempfile


def run(options, engine, folder):
    """What the program says of a run, and the list that it wrote."""
    files = pathlib.Path(folder) / f"{engine}.json", pathlib.Path(folder) / f"{engine}.tsv"
    command = [options.runtime, "challenge", "run", options.folder, "--layers", str(options.layers), "--engine", engine,
               "--repeats", "1", "--warm-up", "0", "--quiet", "--json", files[0], "--categories", files[1]]
    command += ["--images", options.images] if options.images else []
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return json.loads(files[0].read_text(encoding="utf-8")), files[1].read_bytes()


def line_of(report, categories):
    kept = ("version", "neurons", "last_layer", "first_image", "last_image", "engine", "device", "kernel", "survivors")
    seconds = report["inference_ms"]["median"] / 1e3
    return {**{name: report[name] for name in kept}, "sha256": hashlib.sha256(categories).hexdigest(), "seconds": seconds}


def comparison(name, expected, found):
    """Lines that only one of two lists has."""
    lines = difflib.ndiff(expected.decode().splitlines(), found.decode().splitlines())
    different = sum(line[0] in "+-" for line in lines)
    return {"compared_with": name, "different_lines": different, "equal": expected == found}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runtime")
    parser.add_argument("folder")
    parser.add_argument("layers", type=int)
    parser.add_argument("images", nargs="?")
    parser.add_argument("--engines", default="reference,cpu")
    options = parser.parse_args()
    first = None
    with tempfile.TemporaryDirectory() as folder:
        for engine in options.engines.split(","):
            report, categories = run(options, engine, folder)
            line = line_of(report, categories)
            line.update(comparison(*first, categories) if first else {})
            print(json.dumps(line), flush=True)
            first = first or (engine, categories)


if __name__ == "__main__":
    main()
