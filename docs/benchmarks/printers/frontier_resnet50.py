"""What the page frontier.md says of ResNet50 without some residual branches."""
from printers import frontier
from printers.frontier_runs import times_as_fast
from printers.runs import Runs

CASE = "resnet50-cifar10-h100-b128"
RUNS = Runs(f"{frontier.FOLDER}/{CASE}")
CUT5, CUT7 = "scratch-cut5-1.95-taught", "scratch-cut7-2-taught"
LARGE7, LATE8, LATE10 = "plain-large7-taught", "plain-late8-taught", "plain-late10-taught"


BLOCKS = {
    "resnet50_frontier.cut7": lambda: RUNS.beside(CUT7, "dense-80"),
    "resnet50_frontier.cut7_faster": lambda: times_as_fast(RUNS, CUT7),
    "resnet50_frontier.cut7_single": lambda: times_as_fast(RUNS, CUT7, file="bench-b1.json"),
    "resnet50_frontier.cut7_dense": lambda: times_as_fast(RUNS, CUT7, "dense"),
    "resnet50_frontier.late8": lambda: RUNS.beside(LATE8, "dense-80"),
    "resnet50_frontier.late8_seeds": lambda: RUNS.named_seeds(LATE8),
    "resnet50_frontier.late10": lambda: RUNS.beside(LATE10, "dense-80"),
    "resnet50_frontier.late10_faster": lambda: times_as_fast(RUNS, LATE10),
    "resnet50_frontier.late10_single": lambda: times_as_fast(RUNS, LATE10, file="bench-b1.json"),
    "resnet50_frontier.large7": lambda: RUNS.beside(LARGE7, "dense-80"),
    "resnet50_frontier.cut5": lambda: RUNS.beside(CUT5, CUT7),
}
