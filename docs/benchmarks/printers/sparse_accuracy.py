"""VGG16 on CIFAR-10 under several budgets, three seeds: sparse-accuracy.md. Each run has a folder
sparse-accuracy/KIND-seedN with config.yaml, prune.json and metrics.jsonl."""
from printers.common import ROOT, percent, read, read_config, table, three_digits

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


def seeds(kind):
    return sorted(path.name.rsplit("-seed", 1)[1] for path in (ROOT / FOLDER).glob(f"{kind}-seed*"))


def summaries(kind):
    return {seed: read(f"{FOLDER}/{kind}-seed{seed}/prune.json") for seed in seeds(kind)}


def accuracies(kind):
    """{seed: accuracy on the test images}; of dense runs before the one batch that ends them."""
    key = "dense_accuracy" if kind.startswith("dense") else "accuracy"
    return {seed: summary[key] for seed, summary in summaries(kind).items()}


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def beside(kind, other):
    """Points, of the seeds that both have: mean, least and largest."""
    ours, theirs = accuracies(kind), accuracies(other)
    points = [100 * (ours[seed] - theirs[seed]) for seed in ours if seed in theirs]
    return f"{mean(points):+.2f} ({min(points):+.2f} to {max(points):+.2f})"


def columns(kind):
    found = accuracies(kind)
    return [*(percent(found[seed]) if seed in found else "" for seed in "123"), percent(mean(found.values())),
            "" if kind == DENSE else beside(kind, DENSE)]


SEEDS = ["seed 1 %", "seed 2 %", "seed 3 %", "mean %", "points beside dense, 80 epochs"]


def results():
    rows = [["dense, 40 epochs, where pruning starts", "", *columns("dense-40")], ["dense, 80 epochs", "", *columns(DENSE)]]
    for sparsity in ("95", "98"):
        rows += [[name, sparsity, *columns(f"{kind}-{sparsity}")] for kind, name in METHODS.items() if seeds(f"{kind}-{sparsity}")]
    return table(["run", "sparsity %", *SEEDS], rows)


def budget_rows(budget):
    return [(allocation, f"{budget}-{allocation}") for allocation in ALLOCATIONS if seeds(f"{budget}-{allocation}")]


def macs():
    rows = [[allocation, percent(mean(s["sparsity"] for s in summaries(kind).values())), *columns(kind)]
            for allocation, kind in budget_rows("macs")]
    return table(["allocation", "sparsity of weights %", *SEEDS], rows)


def time():
    rows = [[allocation, percent(mean(s["sparsity"] for s in summaries(kind).values())),
             three_digits(mean(s["time"]["predicted_ms"] for s in summaries(kind).values())), *columns(kind)]
            for allocation, kind in budget_rows("time")]
    return table(["allocation", "sparsity of weights %", "predicted ms", *SEEDS], rows)


def spread(kind):
    found = accuracies(kind).values()
    return f"{percent(min(found))} to {percent(max(found))} %"


def config(key):
    """Of all runs that prune: one value."""
    values = {read_config(path / "config.yaml")[key] for path in (ROOT / FOLDER).iterdir() if path.is_dir() and
              not path.name.startswith(("dense", "lottery"))}
    assert len(values) == 1, (key, values)
    return values.pop()


def where():
    devices = {summary["device"].split(",")[0] for path in (ROOT / FOLDER).iterdir() if path.is_dir()
               for summary in [read(f"{FOLDER}/{path.name}/prune.json")]}
    return ", ".join(sorted(devices))


BLOCKS = {
    "sparse.results": results,
    "sparse.macs": macs,
    "sparse.time": time,
    "sparse.steps95": lambda: beside("steps-95", DENSE),
    "sparse.steps98": lambda: beside("steps-98", DENSE),
    "sparse.often95": lambda: beside("steps-95", "magnitude-95"),
    "sparse.often98": lambda: beside("steps-98", "magnitude-98"),
    "sparse.feedback95": lambda: beside("feedback-95", "steps-95"),
    "sparse.feedback98": lambda: beside("feedback-98", "steps-98"),
    "sparse.plain95": lambda: beside("plain-95", "steps-95"),
    "sparse.plain98": lambda: beside("plain-98", "steps-98"),
    "sparse.spread_plain98": lambda: spread("plain-98"),
    "sparse.spread_steps98": lambda: spread("steps-98"),
    "sparse.lottery98": lambda: beside("lottery2-98", "steps-98"),
    "sparse.distilled98": lambda: beside("distilled-98", "steps-98"),
    "sparse.erk_uniform": lambda: beside("macs-erk", "macs-uniform"),
    "sparse.time_uniform": lambda: beside("time-least_loss", "time-uniform"),
    "sparse.time_global": lambda: beside("time-least_loss", "time-global"),
    "sparse.rate": lambda: config("prune.learning_rate"),
    "sparse.decay": lambda: config("train.weight_decay"),
    "sparse.cutout": lambda: config("augment.cutout"),
    "sparse.device": where,
}
