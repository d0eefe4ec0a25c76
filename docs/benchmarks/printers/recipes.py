"""Recipes of magnitude pruning for VGG16 at 96.2 %, up to six seeds: sparse-accuracy.md. sparse-recipes/KIND-seedN has config.yaml, prune.json and metrics.jsonl."""
from printers import sparse_accuracy
from printers.common import percent, table
from printers.runs import MOST_SEEDS, Runs, mean, seed_cells, seed_columns
from printers.teachers import epochs_of

RUNS = Runs("sparse-recipes", 6)
DENSE = (40, 80, 120, 160)
RECIPES = {
    "steps": "40 epochs after 40 dense ones",
    "early": "70 epochs at a learning rate of 0.1 after 10 dense ones",
    "rate1": "from a learning rate of 0.1 on",
    "decay5": "half the weight decay",
    "feedback": "feedback",
    "taught": "40 epochs after 80 dense ones, taught by that network",
    "taught-more": "the same, 0.9 of the loss from the teacher",
    "taught-80": "80 epochs after 80 dense ones, taught by that network",
    "taught-80-rate1": "the same, from a learning rate of 0.1 on",
    "longer": "80 epochs after 80 dense ones, not taught",
    "taught-early": "70 epochs at a learning rate of 0.1 after 10 dense ones, taught by a dense network of 80",
}
COMPARED = [("rate1", "steps"), ("feedback", "steps"), ("decay5", "steps"), ("taught-80", "longer")]  # each beside the plainer one


def epochs(kind):
    """In all, the teacher's too."""
    return epochs_of(RUNS, f"{kind}-seed{RUNS.seeds(kind)[0]}")


def dense(epochs):
    """Kind and runs; the longest are those of another table."""
    kind = f"dense-{epochs}"
    return kind, sparse_accuracy.RUNS if kind == sparse_accuracy.LONGEST else RUNS


def dense_columns(epochs):
    kind, runs = dense(epochs)
    return seed_cells(runs.accuracies(kind), RUNS.most)


def beside_dense(kind):
    return RUNS.beside(kind, *dense(epochs(kind)))


def validation(kind):
    """Of the images that no run trained on, by which recipes are compared."""
    return percent(mean(summary["validation_accuracy"] for seed, summary in RUNS.summaries(kind).items() if int(seed) <= MOST_SEEDS))


def results():
    rows = [[f"dense, {number} epochs", str(number), "", *dense_columns(number), ""] for number in DENSE]
    rows += [[name, str(epochs(kind)), validation(kind), *RUNS.columns(kind), beside_dense(kind)] for kind, name in RECIPES.items()]
    return table(["run", "epochs in all", f"validation, seeds 1 to {MOST_SEEDS} %", *seed_columns(RUNS.most), "points beside dense"], rows)


BLOCKS = {"recipes.results": results, "recipes.devices": RUNS.devices}
BLOCKS |= {f"recipes.{kind}": lambda kind=kind: beside_dense(kind) for kind in RECIPES}
BLOCKS |= {f"recipes.{kind}_{plain}": lambda kind=kind, plain=plain: RUNS.beside(kind, plain) for kind, plain in COMPARED}
BLOCKS |= {f"recipes.{kind}_mean": lambda kind=kind: RUNS.mean_accuracy(kind) for kind in RECIPES}
