"""VGG16 on CIFAR-10 under several budgets, three seeds: sparse-accuracy.md. Each run has a folder
sparse-accuracy/KIND-seedN with config.yaml, prune.json and metrics.jsonl."""
from printers.common import ROOT, percent, read_config, table, three_digits
from printers.runs import SEEDS, Runs, mean

FOLDER = "sparse-accuracy"
DENSE = "dense-80"
METHODS = {
    "magnitude": "magnitude, masks once an epoch",
    "steps": "magnitude, masks every 16 batches",
    "feedback": "magnitude, every 16 batches, feedback",
    "plain": "evolutionary, every 16 batches",
    "lottery2": "lottery, 2 rounds of 40 epochs",
    "distilled": "magnitude, every 16 batches, distilled",
}
ALLOCATIONS = ("uniform", "erk", "global", "lamp", "least_loss")


RUNS = Runs(FOLDER)
HEADER = [*SEEDS, "points beside dense, 80 epochs"]


def columns(kind):
    return [*RUNS.columns(kind), "" if kind == DENSE else RUNS.beside(kind, DENSE)]


def results():
    rows = [["dense, 40 epochs, where pruning starts", "", *columns("dense-40")], ["dense, 80 epochs", "", *columns(DENSE)]]
    for sparsity in ("95", "98"):
        rows += [[name, sparsity, *columns(f"{kind}-{sparsity}")] for kind, name in METHODS.items() if RUNS.seeds(f"{kind}-{sparsity}")]
    return table(["run", "sparsity %", *HEADER], rows)


def budget_rows(budget):
    return [(allocation, f"{budget}-{allocation}") for allocation in ALLOCATIONS if RUNS.seeds(f"{budget}-{allocation}")]


def macs():
    rows = [[allocation, percent(mean(s["sparsity"] for s in RUNS.summaries(kind).values())), *columns(kind)]
            for allocation, kind in budget_rows("macs")]
    return table(["allocation", "sparsity of weights %", *HEADER], rows)


def time():
    rows = [[allocation, percent(mean(s["sparsity"] for s in RUNS.summaries(kind).values())),
             three_digits(mean(s["time"]["predicted_ms"] for s in RUNS.summaries(kind).values())), *columns(kind)]
            for allocation, kind in budget_rows("time")]
    return table(["allocation", "sparsity of weights %", "predicted ms", *HEADER], rows)


def config(key):
    """Of all runs that prune: one value."""
    values = {read_config(path / "config.yaml")[key] for path in (ROOT / FOLDER).iterdir() if path.is_dir() and
              not path.name.startswith(("dense", "lottery"))}
    assert len(values) == 1, (key, values)
    return values.pop()


BLOCKS = {
    "sparse.results": results,
    "sparse.macs": macs,
    "sparse.time": time,
    "sparse.steps95": lambda: RUNS.beside("steps-95", DENSE),
    "sparse.steps98": lambda: RUNS.beside("steps-98", DENSE),
    "sparse.often95": lambda: RUNS.beside("steps-95", "magnitude-95"),
    "sparse.often98": lambda: RUNS.beside("steps-98", "magnitude-98"),
    "sparse.feedback95": lambda: RUNS.beside("feedback-95", "steps-95"),
    "sparse.feedback98": lambda: RUNS.beside("feedback-98", "steps-98"),
    "sparse.plain95": lambda: RUNS.beside("plain-95", "steps-95"),
    "sparse.plain98": lambda: RUNS.beside("plain-98", "steps-98"),
    "sparse.spread_plain98": lambda: RUNS.spread("plain-98"),
    "sparse.spread_steps98": lambda: RUNS.spread("steps-98"),
    "sparse.lottery98": lambda: RUNS.beside("lottery2-98", "steps-98"),
    "sparse.distilled98": lambda: RUNS.beside("distilled-98", "steps-98"),
    "sparse.erk_uniform": lambda: RUNS.beside("macs-erk", "macs-uniform"),
    "sparse.time_uniform": lambda: RUNS.beside("time-least_loss", "time-uniform"),
    "sparse.time_global": lambda: RUNS.beside("time-least_loss", "time-global"),
    "sparse.rate": lambda: config("prune.learning_rate"),
    "sparse.decay": lambda: config("train.weight_decay"),
    "sparse.cutout": lambda: config("augment.cutout"),
    "sparse.device": RUNS.devices,
}
