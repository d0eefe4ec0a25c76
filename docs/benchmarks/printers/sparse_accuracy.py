"""VGG16 on CIFAR-10 at several sparsities, three seeds: sparse-accuracy.md. Each run has a folder
sparse-accuracy/KIND-seedN with config.yaml, prune.json and metrics.jsonl."""
from printers.common import ROOT, percent, read, read_config, table

FOLDER = "sparse-accuracy"
DENSE = "dense-80"
SPARSITIES = ("95", "96.2", "98")
METHODS = {"magnitude": "magnitude", "feedback": "magnitude, feedback", "decay": "magnitude, feedback, decay 0.01"}
TRIED = {
    "decay0.001-98": "feedback, decay 0.001",
    "rate0.1-98": "feedback, pruning begins at a learning rate of 0.1",
    "interval4-98": "feedback, masks made anew every 4 batches",
}
PAPER = {"96.2": 0.925}  # paper 003, VGG16 on CIFAR-10


def seeds(kind):
    return sorted(path.name.rsplit("-seed", 1)[1] for path in (ROOT / FOLDER).glob(f"{kind}-seed*"))


def accuracies(kind):
    """{seed: accuracy on the test images}; of dense runs before the one batch that ends them."""
    key = "dense_accuracy" if kind.startswith("dense") else "accuracy"
    return {seed: read(f"{FOLDER}/{kind}-seed{seed}/prune.json")[key] for seed in seeds(kind)}


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def beside(kind, other):
    """Points, of the seeds that both have: mean, least and largest."""
    ours, theirs = accuracies(kind), accuracies(other)
    points = [100 * (ours[seed] - theirs[seed]) for seed in ours if seed in theirs]
    return f"{mean(points):+.2f} ({min(points):+.2f} to {max(points):+.2f})"


def pruning_seconds(kind):
    return f"{mean(read(f'{FOLDER}/{kind}-seed{seed}/prune.json')['seconds']['prune'] for seed in seeds(kind)):.1f}"


def row(name, sparsity, kind):
    found = accuracies(kind)
    return [name, sparsity, *(percent(found[seed]) if seed in found else "" for seed in "123"), percent(mean(found.values())),
            "" if kind == DENSE else beside(kind, DENSE), "" if kind.startswith("dense") else pruning_seconds(kind)]


HEADER = ["run", "sparsity %", "seed 1 %", "seed 2 %", "seed 3 %", "mean %", "points beside dense, 80 epochs", "seconds of pruning"]


def results():
    rows = [row("dense, 40 epochs, where pruning starts", "", "dense-40"), row("dense, 80 epochs", "", DENSE)]
    for sparsity in SPARSITIES:
        rows += [row(name, sparsity, f"{kind}-{sparsity}") for kind, name in METHODS.items() if seeds(f"{kind}-{sparsity}")]
    return table(HEADER, rows)


def tried():
    return table(HEADER, [row(name, "98", kind) for kind, name in TRIED.items()])


def gain(kind, sparsity):
    return lambda: beside(f"{kind}-{sparsity}", f"magnitude-{sparsity}")


def spread(kind):
    found = accuracies(kind).values()
    return f"{percent(min(found))} to {percent(max(found))} %"


def config(key):
    """Of all runs that prune: one value."""
    values = {read_config(f"{FOLDER}/{kind}-{sparsity}-seed{seed}/config.yaml")[key]
              for kind in METHODS for sparsity in SPARSITIES for seed in seeds(f"{kind}-{sparsity}")}
    assert len(values) == 1, (key, values)
    return values.pop()


BLOCKS = {
    "sparse.results": results,
    "sparse.tried": tried,
    "sparse.feedback98": gain("feedback", "98"),
    "sparse.decay98": gain("decay", "98"),
    "sparse.decay96": gain("decay", "96.2"),
    "sparse.spread_feedback98": lambda: spread("feedback-98"),
    "sparse.spread_magnitude98": lambda: spread("magnitude-98"),
    "sparse.mean96": lambda: percent(mean(accuracies("decay-96.2").values())),
    "sparse.dense96": lambda: beside("decay-96.2", DENSE),
    "sparse.dense98": lambda: beside("feedback-98", DENSE),
    "sparse.paper96": lambda: f"{100 * PAPER['96.2']:.1f}",
    "sparse.rate": lambda: config("prune.learning_rate"),
    "sparse.decay": lambda: config("train.weight_decay"),
}
