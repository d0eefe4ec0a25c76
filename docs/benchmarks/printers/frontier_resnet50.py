"""What the page frontier.md says of ResNet50 without some residual branches."""
from printers import frontier
from printers.common import read
from printers.frontier_runs import median_of
from printers.runs import Runs, mean

CASE = "resnet50-cifar10-h100-b128"
RUNS = Runs(f"{frontier.FOLDER}/{CASE}")
CUT5, CUT7 = "scratch-cut5-1.95-taught", "scratch-cut7-2-taught"


def times_as_fast(kind, plan, file="bench.json"):
    """Beside the dense network that was timed in turns with it."""
    benches = [read(f"{RUNS.folder}/{kind}-seed{seed}/{file}")[0] for seed in RUNS.seeds(kind)]
    factors = [median_of(bench, "against") / median_of(bench, plan) for bench in benches]
    return f"{mean(factors):.2f} ({min(factors):.2f} to {max(factors):.2f})"


BLOCKS = {
    "resnet50_frontier.cut7": lambda: RUNS.beside(CUT7, "dense-80"),
    "resnet50_frontier.cut7_faster": lambda: times_as_fast(CUT7, "chosen"),
    "resnet50_frontier.cut7_single": lambda: times_as_fast(CUT7, "chosen", "bench-b1.json"),
    "resnet50_frontier.cut7_dense": lambda: times_as_fast(CUT7, "dense"),
    "resnet50_frontier.cut5": lambda: RUNS.beside(CUT5, CUT7),
}
