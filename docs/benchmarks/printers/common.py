"""Raw results in, Markdown out. A file is read once, and callers share what was read: they must not change it."""
import json
import pathlib
import re
from functools import cache

ROOT = pathlib.Path(__file__).resolve().parent.parent  # docs/benchmarks


@cache
def read(path):
    return json.loads((ROOT / path).read_text(encoding="utf-8"))


@cache
def read_lines(path):
    return [json.loads(line) for line in (ROOT / path).read_text(encoding="utf-8").splitlines() if line]


@cache
def read_config(path):
    """config.yaml as {section.key: text}: two levels, as the program writes it."""
    values, section = {}, ""
    for line in (ROOT / path).read_text(encoding="utf-8").splitlines():
        key, _, value = line.strip().partition(": ")
        if not line.startswith(" "):
            section = line.rstrip(":")
        values[f"{section}.{key}" if line.startswith(" ") else key] = value
    return values


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def pivot(cells, columns, title):
    """cells: {row name: {column: text}}, rows in their order."""
    return table([title, *columns], [[name, *(row.get(c, "") for c in columns)] for name, row in cells.items()])


def percent(fraction):
    return f"{100 * fraction:.2f}"


def three_digits(x):
    return f"{x:.0f}" if x >= 100 else f"{x:.3g}"


def setting(folders, key):
    """A key of config.yaml that all these runs have alike."""
    values = {read_config(f"{folder}/config.yaml")[key] for folder in folders}
    assert len(values) == 1, (key, values)
    return values.pop()


def timed_lines(path, stage):
    """Of metrics.jsonl the lines of a stage but the first, which holds the start, each with its own seconds."""
    lines = [line for line in read_lines(path) if line["stage"] == stage]
    return [(line, line["seconds"] - before["seconds"]) for before, line in zip(lines, lines[1:])]


def gpu_of(device):
    """Of `cuda:0 (NVIDIA H100 80GB HBM3)`: NVIDIA H100 80GB HBM3."""
    return device.partition("(")[2].partition(")")[0]


def card_of(device):
    """Of `cuda:0 (NVIDIA H100 80GB HBM3)`: H100; nothing of a CPU."""
    found = re.search(r"NVIDIA (\w+)", device)
    return found.group(1) if found else ""


def by_size(names):
    """1024x120, 1024x1920, 4096x120, ..."""
    return sorted(names, key=lambda name: [int(part) for part in name.split("x")])
