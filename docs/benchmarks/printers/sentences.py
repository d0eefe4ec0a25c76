"""CNN-non-static on MR: sentences.md. Each run has a folder sentences/KIND-foldN with config.yaml, prune.json and metrics.jsonl."""
from printers.common import ROOT, percent, read, read_lines, table
from printers.runs import mean, points_text

FOLDER = "sentences"
DENSE = "dense-8"
PRUNED = "evolutionary-87.5"  # begins with a dense training, which the other pruning runs of its fold start from
PAPER_KIM = 0.815  # arxiv.org/abs/1408.5882, table 2, all vectors of Google News
ROWS = {
    "dense-8": "dense, 8 epochs",
    "magnitude-77": "magnitude, 77 %",
    "evolutionary-77": "evolutionary, 77 %",
    "magnitude-87.5": "magnitude, 87.5 %",
    "evolutionary-87.5": "evolutionary, 87.5 %",
    "steps-87.5": "magnitude, 87.5 %, masks every 16 batches",
    "chain-87.5": "evolutionary, 87.5 %, masks every 16 batches",
}


def folds():
    """Those that every kind of run was trained on."""
    found = [{path.name.rsplit("-fold", 1)[1] for path in (ROOT / FOLDER).glob(f"{kind}-fold*")} for kind in ROWS]
    return sorted(set.intersection(*found), key=int)


def summary(kind, fold):
    """Of a run; one that prunes began with the dense network that all such runs of its fold began with."""
    found = read(f"{FOLDER}/{kind}-fold{fold}/prune.json")
    if kind not in (DENSE, PRUNED):
        ours, theirs = found["dense_accuracy"], summary(PRUNED, fold)["dense_accuracy"]
        assert ours == theirs, (f"docs/benchmarks/{FOLDER}/{kind}-fold{fold}: fold {fold} begins with a dense network of {100 * ours:.2f} %, "
                                f"{PRUNED}-fold{fold} with one of {100 * theirs:.2f} %: no pair of runs")
    return found


def summaries(kind):
    return [summary(kind, fold) for fold in folds()]


def accuracies(kind):
    """Of the test parts; of dense runs before the one batch that ends them."""
    return [run["dense_accuracy" if kind == DENSE else "accuracy"] for run in summaries(kind)]


def points(values, others):
    """Mean, least and largest difference of the folds."""
    return points_text([100 * (value - other) for value, other in zip(values, others)])


def row(name, values, sparsity, baseline):
    against = "" if values is baseline else points(values, baseline)
    return [name, sparsity, *map(percent, values), percent(mean(values)), against]


def results():
    baseline = accuracies(DENSE)
    start = [run["dense_accuracy"] for run in summaries(PRUNED)]
    rows = [row("dense, 4 epochs, where pruning starts", start, "", baseline)]
    for kind, name in ROWS.items():
        values = baseline if kind == DENSE else accuracies(kind)
        sparsity = "" if kind == DENSE else percent(mean([run["sparsity"] for run in summaries(kind)]))
        rows.append(row(name, values, sparsity, baseline))
    return table(["run", "sparsity %", *(f"fold {fold} %" for fold in folds()), "mean %", "points beside dense, 8 epochs"], rows)


def layers():
    """Sparsities of the layers, mean over the folds."""
    kinds = [kind for kind in ROWS if kind != DENSE]
    names = [layer["name"] for layer in summaries(PRUNED)[0]["layers"]]
    rows = []
    for i, name in enumerate(names):
        weights = summaries(PRUNED)[0]["layers"][i]["weights"]
        rows.append([name, f"{weights:,}",
                     *(percent(mean([run["layers"][i]["sparsity"] for run in summaries(kind)])) for kind in kinds)])
    return table(["layer", "weights", *(ROWS[kind] for kind in kinds)], rows)


def fold_count():
    return f"{len(folds())} of 10"


def test_sentences():
    """Of all folds together; every fold of 10,662 sentences has a tenth."""
    sizes = [(10662 + 9 - int(fold)) // 10 for fold in folds()]
    return f"{sum(sizes):,}"


def goal(kind=PRUNED):
    difference = 100 * (mean(accuracies(kind)) - mean(accuracies(DENSE)))
    text = "within half a point of" if difference >= -0.5 else "more than half a point below"
    return f"{difference:+.2f} points, {text} dense"


def beside(kind, other):
    return points(accuracies(kind), accuracies(other))


def devices():
    return ", ".join(sorted({run["device"].split(",")[0] for kind in ROWS for run in summaries(kind)}))


def deployed():
    quantize, export, run = (read(f"{FOLDER}/deploy-fold0/{name}.json") for name in ("quantize", "export", "run"))
    return (f"{quantize['accuracy_before']:.2f} % pruned, {run['accuracy']:.2f} % deployed as {quantize['scheme']}, "
            f"in a file of {export['bytes']:,} bytes")


def epoch_seconds():
    """The shortest and the longest mean of a dense run, without its first epoch, which holds the start."""
    means = []
    for fold in folds():
        lines = [line for line in read_lines(f"{FOLDER}/{DENSE}-fold{fold}/metrics.jsonl") if line["stage"] == "dense"]
        means.append((lines[-1]["seconds"] - lines[0]["seconds"]) / (lines[-1]["epoch"] - lines[0]["epoch"]))
    return f"{min(means):.2f} to {max(means):.2f}"


BLOCKS = {
    "sentences.results": results,
    "sentences.layers": layers,
    "sentences.folds": fold_count,
    "sentences.test": test_sentences,
    "sentences.goal": goal,
    "sentences.goal_magnitude": lambda: goal("magnitude-87.5"),
    "sentences.goal_steps": lambda: goal("steps-87.5"),
    "sentences.goal_chain": lambda: goal("chain-87.5"),
    "sentences.magnitude77": lambda: beside("evolutionary-77", "magnitude-77"),
    "sentences.magnitude87": lambda: beside("evolutionary-87.5", "magnitude-87.5"),
    "sentences.chain_steps": lambda: beside("chain-87.5", "steps-87.5"),
    "sentences.device": devices,
    "sentences.deployed": deployed,
    "sentences.epoch": epoch_seconds,
    "sentences.kim": lambda: f"{100 * PAPER_KIM:.1f}",
}
