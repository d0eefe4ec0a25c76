"""Seconds of an epoch and memory while training: training-speed.md. Runs of training-speed/runs.txt."""
from statistics import median

from printers import common
from printers.common import ROOT, read_lines, table, three_digits, timed_lines
from printers.runs import CIFAR_IMAGES, NOT_RUN, Runs

RUNS = Runs("training-speed")
NETWORKS = {"VGG16": "vgg16", "ResNet50": "resnet50"}
BEFORE, KERNELS = "before-", "kernels-"  # runs of earlier programs
H200, SORTED_BEFORE = "h200-", "h200-before-"  # runs on another GPU, by a program in which CUB sorts the weights and by one in which LibTorch does
WHOLE = "whole"  # runs of nearly all images
TURNS = "turns-"  # runs that took turns with PyTorch
PYTORCH = "training-speed/pytorch.jsonl"  # lines of pytorch_epochs.py
HOW = {
    "eager": "dense epoch by PyTorch, eager",
    "compiled": "dense epoch by PyTorch, `torch.compile`",
    "graphed": "dense epoch by PyTorch, steps as CUDA graphs",
    "compiled and graphed": "dense epoch by PyTorch, `torch.compile`, steps as CUDA graphs",
}
FIXED = "tune"  # the phase of the evolution whose masks stay
# Title, kind of run, stage of metrics.jsonl, and which of its lines count.
WORK = (
    ("dense epoch", "dense", "dense", lambda line: True),
    ("iteration of the evolution", "evolution", "prune", lambda line: line["phase"] != FIXED),
    ("iteration of the evolution, masks fixed", "evolution", "prune", lambda line: line["phase"] == FIXED),
)
DIVIDED = (  # before each mask, among the layers by the weights' sizes
    ("iteration by magnitude", "magnitude", "prune", lambda line: line["phase"] != FIXED),
    ("iteration of the evolution, density divided by `global`", "recipe", "prune", lambda line: line["phase"] != FIXED),
)
TIMES = ("counted", "median s", "least s", "most s", f"median scaled to {CIFAR_IMAGES:,} images, s")
MEMORY = (("dense", "dense"), ("evolution, an epoch an iteration", "evolution"), ("evolution, larger population", "pool16"))


def place(kind, seed):
    return f"{RUNS.folder}/{kind}-seed{seed}"


def seconds(kind, stage, counts):
    """Of each line but the first, which holds the start."""
    found = []
    for seed in RUNS.seeds(kind):
        found += [lasted for line, lasted in timed_lines(f"{place(kind, seed)}/metrics.jsonl", stage) if counts(line)]
    return found


def setting(kinds, key):
    """Of all seeds of these runs: one number."""
    return int(common.setting([place(kind, seed) for kind in kinds for seed in RUNS.seeds(kind)], key))


def every(*kinds):
    return [f"{network}-{kind}" for network in NETWORKS.values() for kind in kinds]


def images(kinds):
    return CIFAR_IMAGES - setting(kinds, "data.validation")


def work_of(name):
    """Title, kind of run, stage, lines that count and images of each kind of work that was run."""
    found = [(title, kind, stage, counts, images([f"{name}-{kind}"])) for title, kind, stage, counts in (*WORK, *DIVIDED)
             if RUNS.seeds(f"{name}-{kind}")]
    whole = f"{name}-{WHOLE}"
    if RUNS.seeds(whole):
        trained = setting([whole], "prune.batch_nr") * setting([whole], "train.batch_size")
        title, _, stage, counts = WORK[1]
        found.append((f"{title}, {trained:,} images, hardly a measurement", WHOLE, stage, counts, trained))
    return found


def times(found, trained):
    """The columns TIMES."""
    scaled = median(found) * CIFAR_IMAGES / trained
    return [str(len(found)), *(three_digits(value) for value in (median(found), min(found), max(found), scaled))]


def epochs():
    rows = []
    for network, name in NETWORKS.items():
        for title, kind, stage, counts, trained in work_of(name):
            rows.append([network, title, *times(seconds(f"{name}-{kind}", stage, counts), trained)])
    return table(["network", "what", *TIMES], rows)


def h200():
    """A program in which CUB sorts the weights before each mask, beside one in which LibTorch does."""
    rows = []
    for network, name in NETWORKS.items():
        for title, kind, stage, counts, trained in work_of(f"{H200}{name}"):
            found, earlier = (seconds(f"{prefix}{name}-{kind}", stage, counts) for prefix in (H200, SORTED_BEFORE))
            rows.append([network, title, *times(found, trained),
                         *([three_digits(median(earlier)), f"{three_digits(min(earlier))} to {three_digits(max(earlier))}", change(found, earlier)] if earlier else [""] * 3)])
    return table(["network", "what", *TIMES, "LibTorch's sort, median s", "range s", "change %"], rows)


def pytorch_lines():
    return read_lines(PYTORCH) if (ROOT / PYTORCH).exists() else []


def pytorch_seconds(name, how):
    """Of each epoch but a run's first."""
    return [second for line in pytorch_lines() if (line["network"], line["how"]) == (name, how) for second in line["seconds"][1:]]


def pytorch():
    """Dense epochs by PyTorch, and ours in turns with them."""
    rows = []
    for network, name in NETWORKS.items():
        found = {title: pytorch_seconds(name, how) for how, title in HOW.items()}
        best = min((median(times) for times in found.values() if times), default=None)
        found |= {title: seconds(f"{TURNS}{name}-{kind}", stage, counts) for title, kind, stage, counts in (*WORK, *DIVIDED)}
        rows += [[network, title, str(len(times)), *(three_digits(value) for value in (median(times), min(times), max(times))),
                  f"{best / median(times):.2f}" if best else ""] for title, times in found.items() if times]
    return table(["network", "what", *TIMES[:4], "PyTorch's fastest / this"], rows) if pytorch_lines() else NOT_RUN


def pytorch_device():
    ours = RUNS.devices_of(*(kind for kind in RUNS.kinds() if kind.startswith(TURNS)))
    theirs = {f"{line['device']}, PyTorch {line['torch']}" for line in pytorch_lines()}
    return "; ".join(part for part in (ours, *sorted(theirs)) if part) or NOT_RUN


def change(ours, theirs):
    return f"{100 * (median(ours) / median(theirs) - 1):+.1f}"


def equal_sorts():
    """Of the runs by magnitude that took turns, on the test images."""
    pairs = [(RUNS.accuracies(f"{H200}{name}-magnitude"), RUNS.accuracies(f"{SORTED_BEFORE}{name}-magnitude")) for name in NETWORKS.values()]
    same = [ours[seed] == theirs[seed] for ours, theirs in pairs for seed in theirs]
    return f"{sum(same)} of {len(same)}"


def before():
    """VGG16 by two earlier programs, which took turns on one GPU."""
    rows = []
    for title, kind, stage, counts in WORK:
        ours, theirs = seconds(f"{KERNELS}vgg16-{kind}", stage, counts), seconds(f"{BEFORE}vgg16-{kind}", stage, counts)
        rows.append([title, str(len(theirs)), three_digits(median(theirs)), f"{three_digits(min(theirs))} to {three_digits(max(theirs))}",
                     three_digits(median(ours)), change(ours, theirs)])
    return table(["VGG16", "counted", "LibTorch's, median s", "range s", "kernels', median s", "change %"], rows)


def update_ms(prefix=""):
    """What a mask update adds to an iteration of VGG16, with the statistics that it needs."""
    with_masks, fixed = (median(seconds(f"{prefix}vgg16-evolution", stage, counts)) for _, _, stage, counts in WORK[1:])
    updates = setting(["vgg16-evolution"], "prune.batch_nr") / setting(["vgg16-evolution"], "prune.mask_interval")
    return f"{1000 * (with_masks - fixed) / updates:.1f} ms"


def sums():
    """Medians of a dense epoch of ResNet50 whose sums and ReLUs were LibTorch's, and of one today."""
    before, now = (median(seconds(f"{prefix}resnet50-dense", *WORK[0][2:])) for prefix in (KERNELS, ""))
    return f"{three_digits(before)} s before, {three_digits(now)} s since then"


def equal_accuracies():
    """Of the runs that took turns, on the test images."""
    pairs = [(RUNS.accuracies(f"{KERNELS}{kind}"), RUNS.accuracies(f"{BEFORE}{kind}")) for kind in ("vgg16-dense", "vgg16-evolution")]
    same = [ours[seed] == theirs[seed] for ours, theirs in pairs for seed in theirs]
    return f"{sum(same)} of {len(same)}"


def seeds_of(network):
    found = RUNS.seeds(f"{network}-dense")
    assert found == RUNS.seeds(f"{network}-evolution"), network
    return str(len(found))


def memory():
    rows = []
    for network, name in NETWORKS.items():
        for title, kind in MEMORY:
            for seeds, peak in peaks(f"{name}-{kind}").items():
                pool = "" if kind == "dense" else str(setting([f"{name}-{kind}"], "prune.pool_size"))
                rows.append([network, title, pool, seeds, f"{peak / 1e9:.2f}", f"{peak / 2**30:.2f}"])
    return table(["network", "run", "population", "seeds", "GB", "GiB"], rows)


def peaks(kind):
    """{seeds: peak_gpu_bytes}"""
    seeds = {}
    for seed, summary in RUNS.summaries(kind).items():
        seeds.setdefault(summary["peak_gpu_bytes"], []).append(seed)
    return {", ".join(found): peak for peak, found in seeds.items()}


def pool_memory():
    peak = max(summary["peak_gpu_bytes"] for summary in RUNS.summaries("resnet50-pool16").values())
    return f"{peak / 1e9:.2f} GB ({peak / 2**30:.2f} GiB)"


def dense_memory():
    """Peaks of ResNet50 with LibTorch's sums and today."""
    before, now = (max(peaks(f"{prefix}resnet50-dense").values()) / 1e9 for prefix in (KERNELS, ""))
    return f"{before:.2f} GB then, {now:.2f} GB now"


def members():
    """Of the population when the run ended."""
    return ", ".join(sorted({str(len(summary["population"])) for summary in RUNS.summaries("resnet50-pool16").values()}))


def device():
    return ", ".join(sorted({summary["device"] for kind in every("dense", "evolution") for summary in RUNS.summaries(kind).values()}))


BLOCKS = {
    "speed.epochs": epochs,
    "speed.h200": h200,
    "speed.h200.equal": equal_sorts,
    "speed.h200.device": lambda: RUNS.devices_of(*(kind for kind in RUNS.kinds() if kind.startswith(H200))),
    "speed.pytorch": pytorch,
    "speed.pytorch.device": pytorch_device,
    "speed.before": before,
    "speed.equal": equal_accuracies,
    "speed.update": update_ms,
    "speed.update.kernels": lambda: update_ms(KERNELS),
    "speed.update.before": lambda: update_ms(BEFORE),
    "speed.sums": sums,
    "speed.seeds.vgg16": lambda: seeds_of("vgg16"),
    "speed.seeds.resnet50": lambda: seeds_of("resnet50"),
    "speed.memory": memory,
    "speed.images": lambda: f"{images(every('dense', 'evolution')):,}",
    "speed.validation": lambda: f"{setting(every('dense', 'evolution'), 'data.validation'):,}",
    "speed.batch": lambda: str(setting(every("dense", "evolution"), "train.batch_size")),
    "speed.batches": lambda: str(setting(every("evolution"), "prune.batch_nr")),
    "speed.interval": lambda: str(setting(every("evolution"), "prune.mask_interval")),
    "speed.pool_size": lambda: str(setting(every("evolution"), "prune.pool_size")),
    "speed.pool_batches": lambda: str(setting(["resnet50-pool16"], "prune.batch_nr")),
    "speed.pool_memory": pool_memory,
    "speed.dense_memory": dense_memory,
    "speed.members": members,
    "speed.device": device,
}
