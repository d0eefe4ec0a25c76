#!/usr/bin/env python3
"""Makes the runs of graph-challenge.md on a GPU that its tables lack, from the project's root.

  challenge_cells.py LIST --runtime RUNTIME --data FOLDER --mnist FILE --output FOLDER [--only PATTERN,...] [--seconds S]

LIST  sizes: every engine of the published networks' tables at their sizes; streams: images on 1 to 256 streams.
DATA  networks are made there by `runtime challenge generate --published`, once.

A run that OUTPUT/LIST.jsonl has is not made again: the same command goes on later. A run that fails is a line with its error;
--seconds ends what is running after so long and leaves no line of it. PATTERN is of `ENGINE NEURONSxLAYERS`, and ` STREAMS` where they are named.
"""
import argparse
import fnmatch
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

NINE = [(neurons, layers) for layers in (120, 480, 1920) for neurons in (1024, 4096, 16384)]
TWELVE = [*NINE, *((65536, layers) for layers in (120, 480, 1920))]
STREAMS = [2 ** i for i in range(9)]
SLOW = ("cusparse", "cusparse-buffer", "cusparse-filter")


def sizes():
    """Fast engines first; a slow one's single run has no other before it."""
    cells = [(engine, size, 0) for engine in ("grouped", "fused") for size in TWELVE]
    cells += [("cusparse-spmm", size, 0) for size in NINE] + [("tiled", size, 0) for size in ((1024, 120), (1024, 480))]
    return cells + [(engine, size, 0) for size in NINE for engine in SLOW]


def streams():
    return [(engine, size, n) for size in ((1024, 120), (1024, 480), (4096, 120)) for engine in ("fused", "cusparse-spmm", "tiled")
            for n in STREAMS if engine != "tiled" or size == (1024, 120)]


LISTS = {"sizes": sizes, "streams": streams}


def name_of(cell):
    engine, (neurons, layers), count = cell
    return f"{engine} {neurons}x{layers}" + (f" {count}" if count else "")


class Maker:
    def __init__(self, options):
        self.options = options
        self.path = options.output / f"{options.list}.jsonl"
        self.end = time.monotonic() + (options.seconds or float("inf"))

    def done(self):
        if not self.path.exists():
            return set()
        lines = [json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines()]
        return {name_of((line["engine"], (line["neurons"], line["last_layer"]), self.streams_of(line))) for line in lines}

    def streams_of(self, line):
        """0: as many as the engine takes by itself."""
        return line["options"]["streams"] if self.options.list == "streams" else 0

    def call(self, command, environment=None):
        """None where time is up."""
        left = self.end - time.monotonic()
        if left <= 0:
            return None
        try:
            return subprocess.run(command, capture_output=True, text=True, env=environment,
                                  timeout=None if left == float("inf") else left)
        except subprocess.TimeoutExpired:
            return None

    def data_of(self, neurons, layers):
        """The folder of a network that has as many layers at least; None where time is up."""
        if neurons <= 4096:
            layers = 1920  # a small file serves all
        folder = self.options.data / f"{neurons}x{layers}"
        if (folder / "done").exists():
            return folder
        shutil.rmtree(folder, ignore_errors=True)  # half-made
        made = self.call([self.options.runtime, "challenge", "generate", "--published", "--neurons", str(neurons), "--layers", str(layers),
                          "--mnist", self.options.mnist, "-o", folder])
        if made is None:
            return None
        if made.returncode != 0:
            sys.exit(f"generate {neurons}x{layers}: exit {made.returncode}: {made.stderr.strip()[-300:]}")
        (folder / "done").touch()
        return folder

    def make(self, cell):
        """False where time is up."""
        engine, (neurons, layers), count = cell
        folder = self.data_of(neurons, layers)
        if folder is None:
            return False
        is_single = engine in SLOW and neurons * layers > 1024 * 480
        with tempfile.TemporaryDirectory() as scratch:
            report = pathlib.Path(scratch) / "run.json"
            command = [self.options.runtime, "challenge", "run", folder, "--layers", str(layers), "--engine", engine, "--quiet",
                       "--repeats", "1" if is_single else "5", "--warm-up", "0" if is_single else "1", "--json", report]
            environment = None
            if count:
                command += ["--streams", str(count)]
                environment = {**os.environ, "CUDA_DEVICE_MAX_CONNECTIONS": "32"}
            ended = self.call(command, environment)
            if ended is None:
                return False
            if "no NVIDIA driver" in ended.stderr:
                sys.exit(ended.stderr.strip())
            if ended.returncode == 0:
                line = json.loads(report.read_text(encoding="utf-8"))
            else:
                line = {"network": str(folder), "neurons": neurons, "last_layer": layers, "engine": engine,
                        "options": {"streams": count}, "exit": ended.returncode, "error": ended.stderr.strip()[-300:]}
        if environment:
            line["max_connections"] = 32
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(f"{name_of(cell)}: {line['inference_ms']['median']:.4g} ms" if "error" not in line else
              f"{name_of(cell)}: {line['error']}", flush=True)
        return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", choices=LISTS)
    for name in ("runtime", "data", "mnist", "output"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="*")
    parser.add_argument("--seconds", type=float, default=0)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    maker = Maker(options)
    patterns = [f"{pattern}*" for pattern in options.only.split(",")]
    wanted = [cell for cell in LISTS[options.list]() if any(fnmatch.fnmatch(name_of(cell), pattern) for pattern in patterns)]
    done = maker.done()
    left = [cell for cell in wanted if name_of(cell) not in done]
    for i, cell in enumerate(left):
        if not maker.make(cell):
            print(f"time is up: {len(left) - i} of {len(wanted)} runs are left", flush=True)
            sys.exit(130)
    print(f"{len(wanted)} runs are done", flush=True)


if __name__ == "__main__":
    main()
