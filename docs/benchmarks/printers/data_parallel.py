"""One network over several GPUs: data-parallel.md. data-parallel/resnet50-bB-ranks-N are runs of N processes with batches of B images in all."""
from statistics import median

from printers import common
from printers.common import ROOT, gpu_of, percent, read, table, three_digits, timed_lines
from printers.runs import CIFAR_IMAGES

FOLDER = "data-parallel"
NETWORK = "resnet50"


def place(batch, processes):
    return f"{FOLDER}/{NETWORK}-b{batch}-ranks-{processes}"


def runs():
    """{batch: processes of its runs}, both rising."""
    found = {}
    for path in (ROOT / FOLDER).glob(f"{NETWORK}-b*-ranks-*"):
        batch, processes = path.name.removeprefix(f"{NETWORK}-b").split("-ranks-")
        found.setdefault(int(batch), []).append(int(processes))
    return {batch: sorted(found[batch]) for batch in sorted(found)}


def places():
    return [place(batch, count) for batch, counts in runs().items() for count in counts]


def epochs(batch, processes):
    """Seconds of each dense epoch but the first."""
    return [lasted for _, lasted in timed_lines(f"{place(batch, processes)}/metrics.jsonl", "dense")]


def setting(key):
    return common.setting(places(), key)


def factor(batch, processes):
    """Times as fast as one process with batches of as many images."""
    return median(epochs(batch, 1)) / median(epochs(batch, processes))


def speed():
    rows = []
    for batch, counts in runs().items():
        for count in counts:
            found = epochs(batch, count)
            rows.append([f"{batch:,}", str(count), f"{batch // count:,}", *(three_digits(value) for value in (median(found), min(found), max(found))),
                         f"{factor(batch, count):.2f}x", percent(read(f"{place(batch, count)}/prune.json")["dense_accuracy"])])
    return table(["images of a batch", "processes", "of each", "median s of an epoch", "least s", "most s", "times as fast", "accuracy %"], rows)


def scaling():
    return "; ".join(f"batches of {batch:,}: " + ", ".join(f"{factor(batch, count):.2f}x on {count}" for count in counts if count > 1)
                     for batch, counts in runs().items())


def device():
    return ", ".join(sorted({gpu_of(read(f"{folder}/prune.json")["device"]) for folder in places()}))


BLOCKS = {
    "data_parallel.speed": speed,
    "data_parallel.scaling": scaling,
    "data_parallel.device": device,
    "data_parallel.epochs": lambda: setting("train.epochs"),
    "data_parallel.images": lambda: f"{CIFAR_IMAGES - int(setting('data.validation')):,}",
}
