"""What the page frontier.md says of VGG16 without 6 layers, taught by the whole network."""
from printers import frontier
from printers.common import three_digits
from printers.runs import Runs

CASE = "vgg16-cifar10-h200-b128"
RUNS = Runs(f"{frontier.FOLDER}/{CASE}")


def dense_times():
    found = [run["dense_ms"] for run in frontier.runs(CASE) if run["dense_ms"]]
    return f"{three_digits(min(found))} to {three_digits(max(found))} ms"


BLOCKS = {
    "taught_frontier.gain": lambda: RUNS.beside("cut6-vector16-3-taught", "cut6-vector16-3"),
    "taught_frontier.gain_sparse": lambda: RUNS.beside("cut6-sparse-2.75-taught", "cut6-sparse-2.75"),
    "taught_frontier.dense": lambda: RUNS.beside("cut6-vector16-3-taught", "dense-80"),
    "taught_frontier.spread": lambda: RUNS.spread("cut6-vector16-3-taught"),
    "taught_frontier.dense_spread": lambda: RUNS.spread("dense-80"),
    "taught_frontier.dense_ms": dense_times,
}
