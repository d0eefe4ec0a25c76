#!/usr/bin/env python3
"""Makes the runs of a page about accuracy, each for several seeds or folds.

  accuracy_runs.py LIST [--only PATTERN,...] [--numbers 1,2,3] [--output runs] [--data FOLDER] [--prune build/bin/prune]
                   [--jobs N] [--gpus N] [--seconds S] [--keep] [settings of all runs]

LIST is runs.txt of a folder here. Lines of it:
  config FILE              the configuration of the lines below
  number KEY               what --numbers are: seed, which is the default, or data.fold
  NAME = settings          a name for settings; $NAME stands for them later
  RUN: settings            a run: `prune --config FILE seed=N settings --output OUTPUT/RUN-seedN`
  RUN < START: settings    begins with the dense network of START of the same number and trains no other
  RUN << START: settings   begins with the pruned network of START
KEY=@RUN in settings stands for the dense network of RUN, a run above, of the same number: prune.teacher=@dense-80.
--OPTION in settings, as --search=evolution, is one of a search of layers (`prune --search-layers`) that comes first: the run leaves out what it finds, and keeps as many weights.
--KEY=VALUE with a dot in KEY, as --prune.learning_rate=0.05, is a setting of that search alone.

A run that is done is not made again, one that was begun is resumed. Ctrl-C, or --seconds, interrupts the runs in
progress: the same command goes on later. --jobs runs at the same time are spread over --gpus GPUs.
Dense networks that runs begin with come first, then runs in the order of --only, patterns with commas between them, all numbers of each.
--keep copies config.yaml, prune.json, metrics.jsonl and, where there are any, bench.json, bench-b1.json and search.json of all runs
that are done beside LIST, with folders of the machine made relative.
"""
import argparse
import fnmatch
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from condense import condense

SEARCH = "search.json"
KEPT = ("config.yaml", "prune.json", "metrics.jsonl", "bench.json", "bench-b1.json")
INTERRUPTED = 130
STARTS = {"<": "dense", "<<": "pruned"}
FROM_WEIGHTS = ("prune.start=weights", "train.epochs=0")  # of runs that begin with another one's network


class Run:
    def __init__(self, name, start, config, settings, weights="dense"):
        self.name, self.start, self.config, self.weights = name, start, config, weights
        self.settings = [word for word in settings if not word.startswith("--")]
        self.search = [word[2:] if "." in word.partition("=")[0] else word for word in settings if word.startswith("--")]

    def needs(self):
        """The runs whose networks it reads."""
        return [*([self.start] if self.start else []), *(setting.partition("=@")[2] for setting in self.settings if "=@" in setting)]


def read_list(path):
    """{name: Run} in the order of the file, and the key of the numbers."""
    runs, names, config, key = {}, {}, None, "seed"
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = []
        for word in line.split("#")[0].split():
            if word.startswith("$") and word[1:] not in names:
                sys.exit(f"{path}:{number}: found '{word}', expected a name set above")
            words += names[word[1:]] if word.startswith("$") else [word]
        if not words:
            continue
        unknown = [word for word in words if "=@" in word and word.partition("=@")[2] not in runs and words[1:2] != ["="]]
        if unknown:
            sys.exit(f"{path}:{number}: found '{unknown[0]}', expected a run above behind '@'")
        if words[0] == "config":
            config = words[1]
        elif words[0] == "number":
            key = words[1]
        elif words[1:2] == ["="]:
            names[words[0]] = words[2:]
        elif words[0].endswith(":"):
            runs[words[0][:-1]] = Run(words[0][:-1], None, config, words[1:])
        elif len(words) > 2 and words[1] in STARTS and words[2][-1] == ":" and words[2][:-1] in runs:
            runs[words[0]] = Run(words[0], words[2][:-1], config, words[3:], STARTS[words[1]])
        else:
            sys.exit(f"{path}:{number}: found '{line}', expected config, number, NAME =, RUN:, RUN < or << a run above:")
    return runs, key


class Maker:
    def __init__(self, options, runs, key):
        self.options, self.runs, self.key = options, runs, key
        self.lock, self.processes, self.stopped = threading.Lock(), set(), False
        self.load = {device: 0 for device in range(options.gpus)}  # runs on each GPU
        self.made = {}  # one lock for each run, so that a start that two runs want is trained once
        self.failed = set()

    def folder(self, name, number):
        return self.options.output / f"{name}-{self.key.split('.')[-1]}{number}"

    def done(self, name, number):
        return (self.folder(name, number) / "prune.json").exists()

    def make(self, name, number):
        """The run and those that it needs. True if all are done."""
        run = self.runs[name]
        if not all([self.make(need, number) for need in run.needs()]):
            return False
        with self.lock:
            mine = self.made.setdefault((name, number), threading.Lock())
        with mine:
            if (name, number) in self.failed:
                return False
            return self.done(name, number) or self.execute(run, number)

    def settings(self, run, number):
        settings = [f"{self.key}={number}"]
        if self.options.data:
            settings.append(f"data.path={self.options.data}")
        if run.start:
            settings += [f"model.weights={self.folder(run.start, number)}/{run.weights}.safetensors", *FROM_WEIGHTS]
        return settings + [self.with_network(setting, number) for setting in run.settings] + self.options.settings

    def with_network(self, setting, number):
        key, is_network, name = setting.partition("=@")
        return f"{key}={self.folder(name, number)}/dense.safetensors" if is_network else setting

    def search_file(self, run, number):
        """What the search of layers found: beside the run's folder, which a run that begins empties."""
        folder = self.folder(run.name, number)
        return folder.with_name(f"{folder.name}.{SEARCH}")

    def search_command(self, run, number):
        self.options.output.mkdir(parents=True, exist_ok=True)
        file = self.search_file(run, number)
        return [self.options.prune, "--config", run.config, *self.settings(run, number), "--search-layers", *run.search, "--quiet", "--json",
                file, *(["--resume"] if file.exists() else [])]

    def is_searched(self, run, number):
        """A search that was interrupted left trials and nothing found."""
        file = self.search_file(run, number)
        return file.exists() and "remove_layers" in json.loads(file.read_text(encoding="utf-8"))

    def command(self, run, number):
        folder = self.folder(run.name, number)
        if (folder / "checkpoint.safetensors").exists():
            return [self.options.prune, "--output", folder, "--resume", "--quiet"]
        settings = self.settings(run, number)
        if run.search:
            found = json.loads(self.search_file(run, number).read_text(encoding="utf-8"))
            settings.append(f"model.remove_layers=[{','.join(found['remove_layers'])}]")
            settings += [f"prune.target_kept={found['target_kept']}"] if "target_kept" in found else []
        return [self.options.prune, "--config", run.config, *settings, "--output", folder, "--overwrite", "--quiet"]

    def execute(self, run, number):
        if run.search and not self.is_searched(run, number) and not self.call(run, number, self.search_command(run, number)):
            return False
        if not self.call(run, number, self.command(run, number)):
            return False
        print(line_of(self.folder(run.name, number)), flush=True)
        return True

    def call(self, run, number, command):
        with self.lock:
            if self.stopped:
                return False
            device = min(self.load, key=self.load.get, default=None)
            environment = dict(os.environ)
            if device is not None:
                self.load[device] += 1
                environment["CUDA_VISIBLE_DEVICES"] = str(device)
            process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            self.processes.add(process)
        _, errors = process.communicate()
        with self.lock:
            self.processes.discard(process)
            if device is not None:
                self.load[device] -= 1
        if process.returncode not in (0, INTERRUPTED):
            self.failed.add((run.name, number))
            print(f"{self.folder(run.name, number).name}: exit {process.returncode}: {errors.strip()[-300:]}", file=sys.stderr, flush=True)
        return process.returncode == 0

    def stop(self):
        with self.lock:
            self.stopped = True
            for process in self.processes:
                process.send_signal(signal.SIGINT)


def line_of(folder):
    found = json.loads((folder / "prune.json").read_text(encoding="utf-8"))
    dense = f", dense {100 * found['dense_accuracy']:.2f} %" if "dense_accuracy" in found else ""
    return (f"{folder.name}: sparsity {100 * found['sparsity']:.2f} %, accuracy {100 * found['accuracy']:.2f} %{dense}, "
            f"{sum(found['seconds'].values()):.0f} s")


def replace_folder(text, folder, name):
    """Of whole paths and of those that begin with the folder, not of letters within a word."""
    return re.sub(rf"(?<![\w./-]){re.escape(str(folder))}(?![\w.-])", name, text) if folder else text


def keep(maker, folder, pairs):
    for name, number in pairs:
        source = maker.folder(name, number)
        target = folder / source.name
        target.mkdir(exist_ok=True)
        places = {file: source / file for file in KEPT} | {SEARCH: maker.search_file(maker.runs[name], number)}
        for file, place in places.items():
            if not place.exists():
                continue
            text = place.read_text(encoding="utf-8")
            text = replace_folder(replace_folder(text, maker.options.output, "runs"), maker.options.data, "data")
            (target / file).write_text(text, encoding="utf-8")
            if not file.endswith(".yaml"):
                (target / file).write_text(condense(target / file), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("list", type=pathlib.Path)
    parser.add_argument("settings", nargs="*")
    parser.add_argument("--only", default="*")
    parser.add_argument("--numbers", default="1,2,3")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("runs"))
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--prune", default="build/bin/prune")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--gpus", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_intermixed_args()

    runs, key = read_list(options.list)
    patterns = options.only.split(",")
    names = list(dict.fromkeys(name for pattern in patterns for name in runs if fnmatch.fnmatch(name, pattern)))
    if not names:
        sys.exit(f"{options.list}: found no run like '{options.only}', expected one of {', '.join(runs)}")
    pairs = [(name, number) for name in names for number in options.numbers.split(",")]
    maker = Maker(options, runs, key)
    signal.signal(signal.SIGINT, lambda *_: maker.stop())
    if options.seconds:
        timer = threading.Timer(options.seconds, maker.stop)
        timer.daemon = True
        timer.start()
    began = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        for need in dict.fromkeys((need, number) for name, number in pairs for need in runs[name].needs()):
            pool.submit(maker.make, *need)
        done = list(pool.map(lambda pair: maker.make(*pair), pairs))
    print(f"{sum(done)} of {len(done)} runs are done, {time.monotonic() - began:.0f} s", flush=True)
    if options.keep:
        keep(maker, options.list.parent, [pair for pair, is_done in zip(pairs, done) if is_done])
    sys.exit(0 if all(done) else INTERRUPTED if maker.stopped else 1)


if __name__ == "__main__":
    main()
