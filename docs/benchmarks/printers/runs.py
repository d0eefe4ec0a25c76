"""Runs of accuracy_runs.py by kind and seed: FOLDER/KIND-seedN with config.yaml, prune.json and metrics.jsonl."""
from functools import cache

from printers.common import ROOT, percent, read

MOST_SEEDS = 3  # that tables have columns for


def seed_columns(most):
    return [*(f"seed {seed} %" for seed in range(1, most + 1)), "mean %"]


SEEDS = seed_columns(MOST_SEEDS)
NOT_RUN = "not run"
CIFAR_IMAGES = 50000  # in the training files


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def points_text(points):
    return f"{mean(points):+.2f} ({min(points):+.2f} to {max(points):+.2f})"


def seed_cells(found, most=MOST_SEEDS):
    """Below seed_columns, of {seed: accuracy}; empty where a seed is missing."""
    seeds = map(str, range(1, most + 1))
    return [*(percent(found[seed]) if seed in found else "" for seed in seeds), percent(mean(found.values()))]


class Runs:
    def __init__(self, folder, most=MOST_SEEDS):
        self.folder = folder
        self.most = most  # seeds after this one are left out

    @cache
    def seeds(self, kind):
        found = (path.name.rsplit("-seed", 1)[1] for path in (ROOT / self.folder).glob(f"{kind}-seed*"))
        return sorted(seed for seed in found if int(seed) <= self.most)

    def named_seeds(self, kind):
        return f"seed {', '.join(self.seeds(kind))}"

    def summaries(self, kind):
        return {seed: read(f"{self.folder}/{kind}-seed{seed}/prune.json") for seed in self.seeds(kind)}

    def accuracies(self, kind):
        """{seed: accuracy on the test images}; of dense runs before the one batch that ends them."""
        key = "dense_accuracy" if "dense-" in kind else "accuracy"
        return {seed: summary[key] for seed, summary in self.summaries(kind).items()}

    def columns(self, kind):
        return seed_cells(self.accuracies(kind), self.most)

    def beside(self, kind, other, others=None):
        """Points, of the seeds that both have, beside a kind of these runs or of others: mean, least and largest."""
        ours, theirs = self.accuracies(kind), (others or self).accuracies(other)
        points = [100 * (ours[seed] - theirs[seed]) for seed in ours if seed in theirs]
        return points_text(points) if points else NOT_RUN

    def beside_best(self, kinds, is_plain):
        """Name, columns and points of (name, kind), beside the plain one of the best mean among those with most seeds."""
        plain = [kind for _, kind in kinds if is_plain(kind)]
        best = max(plain, key=lambda kind: (len(self.seeds(kind)), mean(self.accuracies(kind).values())), default="")
        return [[name, *self.columns(kind), "" if kind == best else self.beside(kind, best)] for name, kind in kinds]

    def mean_accuracy(self, kind):
        found = self.accuracies(kind).values()
        return f"{percent(mean(found))} %" if found else NOT_RUN

    def spread(self, kind):
        found = self.accuracies(kind).values()
        return f"{percent(min(found))} to {percent(max(found))} %" if found else NOT_RUN

    def devices_of(self, *kinds):
        """Names of the GPUs alone, without how steps ran on them."""
        return ", ".join(sorted({summary["device"].split(",")[0] for kind in kinds for summary in self.summaries(kind).values()}))

    def kinds(self):
        return {path.name.rsplit("-seed", 1)[0] for path in (ROOT / self.folder).iterdir() if path.is_dir()}

    def devices(self):
        return self.devices_of(*self.kinds())
