"""The trainings of VGG16 on CIFAR-10: results.md. Each has a folder in vgg16-cifar10/train."""
import json

from printers.common import ROOT, percent, read, read_config, table

FOLDER = "vgg16-cifar10"
TRAIN_IMAGES = 45_000


def folders(kind, file):
    return [path.name for path in sorted((ROOT / FOLDER / kind).iterdir()) if (path / file).exists()]


def config(run):
    return read_config(f"{FOLDER}/train/{run}/config.yaml")


def training(run):
    return read(f"{FOLDER}/train/{run}/prune.json")


def epochs(run):
    """(of the dense network, of the evolution)"""
    values = config(run)
    batches = int(values["prune.iter_nr"]) * int(values["prune.batch_nr"])
    return int(values["train.epochs"]), batches * int(values["train.batch_size"]) / TRAIN_IMAGES


def dense_runs():
    return {run: training(run)["dense_accuracy"] for run in folders("train", "prune.json") if epochs(run)[0] > 0}


def best_dense():
    return max(dense_runs().values())


def best_dense_text():
    best = best_dense()
    names = [run for run, accuracy in dense_runs().items() if accuracy == best]
    longest = max(epochs(run)[0] for run in names)
    return f"{percent(best)} %, of {longest} epochs (`{'`, `'.join(names)}`)"


def is_dense_only(run):
    return epochs(run)[1] < 1


def circumstances(run):
    path = ROOT / FOLDER / "train" / run / "circumstances.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def mask_of(run):
    is_balanced = config(run).get("prune.row_balance") == "true"
    return training(run)["granularity"] + (", balanced rows" if is_balanced else "")


def balance():
    """Accuracies of element masks with and without balanced rows, all seeds that both were trained with."""
    groups = {}
    for run in folders("train", "prune.json"):
        if run.split("-seed")[0] in ("vgg16", "vgg16-balanced"):
            groups.setdefault(mask_of(run), {})[training(run)["seed"]] = training(run)["accuracy"]
    parts = [f"{mask}: {', '.join(percent(found[seed]) for seed in sorted(found))} % (mean {percent(sum(found.values()) / len(found))} %)"
             for mask, found in groups.items()]
    seeds = sorted({seed for found in groups.values() for seed in found})
    return f"seeds {', '.join(map(str, seeds))}, {'; '.join(parts)}"


def trainings():
    rows = []
    for run in folders("train", "prune.json"):
        values, summary = config(run), training(run)
        dense, evolution = epochs(run)
        starts_dense = values["prune.start"] == "dense"
        seconds = summary["seconds"]
        rows.append([
            f"`{run}`", str(summary["seed"]), str(dense) if dense else "",
            percent(summary["dense_accuracy"]) if dense else "",
            "" if is_dense_only(run) else f"{evolution:.0f}",
            "" if is_dense_only(run) else "the dense network" if starts_dense else "random weights",
            "" if is_dense_only(run) else mask_of(run),
            "" if is_dense_only(run) else percent(summary["sparsity"]),
            "" if is_dense_only(run) else percent(summary["accuracy"]),
            f"{seconds['dense'] + (0 if is_dense_only(run) else seconds['prune']):.0f}",
            circumstances(run).get("gpu", ""),
            "yes" if (ROOT / FOLDER / "train" / run / "metrics.jsonl").exists() else "no"])
    return table(["run", "seed", "dense epochs", "dense %", "evolution, epochs", "from", "masks", "sparsity %", "pruned %",
                  "seconds", "GPU", "metrics.jsonl"], rows)


def repeated_runs():
    """Whether runs of equal configuration and seed ended with equal accuracies."""
    groups = {}
    for run in folders("train", "prune.json"):
        values = {k: v for k, v in config(run).items() if k not in ("name", "output", "device", "threads")
                  and not k.startswith("checkpoint")}
        summary = training(run)
        outcome = (summary.get("dense_accuracy"), summary["accuracy"])
        groups.setdefault(tuple(sorted(values.items())), []).append((run, outcome))
    sentences = []
    for group in groups.values():
        if len(group) > 1:
            verb = "ended with the same accuracies" if len({o for _, o in group}) == 1 else "did not end with the same accuracies"
            sentences.append(f"`{'` and `'.join(run for run, _ in group)}`, one configuration and one seed, {verb}")
    return ("; ".join(sentences) + ".") if sentences else "No configuration was run twice with one seed."


def gain_of_dense_start():
    """Pruned accuracy from the dense network against from random weights, for equal masks and sparsity."""
    start = training("vgg16")["accuracy"]
    parts = []
    for run in folders("train", "prune.json"):
        if config(run)["prune.start"] == "scratch":
            summary = training(run)
            dense, evolution = epochs(run)
            parts.append(f"{percent(summary['accuracy'])} % after {evolution:.0f} epochs (`{run}`), "
                         f"{100 * (start - summary['accuracy']):.2f} points below `vgg16`, which had "
                         f"{sum(epochs('vgg16')):.0f} epochs in all")
    return "; ".join(parts)


BLOCKS = {
    "vgg16.trainings": trainings,
    "vgg16.best-dense": best_dense_text,
    "vgg16.balance": balance,
    "vgg16.repeated": repeated_runs,
    "vgg16.scratch": gain_of_dense_start,
}
