"""One network over several GPUs: data-parallel.md. data-parallel/resnet50-bB-ranks-N are runs of N processes with batches of B images in all."""
from statistics import median

from printers.common import ROOT, percent, read, read_config, read_lines, table, three_digits

FOLDER = "data-parallel"
NETWORK = "resnet50"


def name_of(batch, processes):
    return f"{NETWORK}-b{batch}-ranks-{processes}"


def runs():
    """{batch: processes of its runs}, both rising."""
    found = {}
    for path in (ROOT / FOLDER).glob(f"{NETWORK}-b*-ranks-*"):
        batch, processes = path.name.removeprefix(f"{NETWORK}-b").split("-ranks-")
        found.setdefault(int(batch), []).append(int(processes))
    return {batch: sorted(found[batch]) for batch in sorted(found)}


def epochs(batch, processes):
    """Seconds of each dense epoch but the first, which holds the start."""
    lines = [line for line in read_lines(f"{FOLDER}/{name_of(batch, processes)}/metrics.jsonl") if line["stage"] == "dense"]
    return [line["seconds"] - before["seconds"] for before, line in zip(lines, lines[1:])]


def summary(batch, processes):
    return read(f"{FOLDER}/{name_of(batch, processes)}/prune.json")


def setting(key):
    """Of all runs: one text."""
    values = {read_config(f"{FOLDER}/{name_of(batch, count)}/config.yaml")[key] for batch, counts in runs().items() for count in counts}
    assert len(values) == 1, (key, values)
    return values.pop()


def factor(batch, processes):
    """Times as fast as one process with batches of as many images."""
    return median(epochs(batch, 1)) / median(epochs(batch, processes))


def speed():
    rows = []
    for batch, counts in runs().items():
        for count in counts:
            found = epochs(batch, count)
            rows.append([f"{batch:,}", str(count), f"{batch // count:,}", *(three_digits(value) for value in (median(found), min(found), max(found))),
                         f"{factor(batch, count):.2f}x", f"{percent(summary(batch, count)['dense_accuracy'])}"])
    return table(["images of a batch", "processes", "of each", "median s of an epoch", "least s", "most s", "times as fast", "accuracy %"], rows)


def scaling():
    return "; ".join(f"batches of {batch:,}: " + ", ".join(f"{factor(batch, count):.2f}x on {count}" for count in counts if count > 1)
                     for batch, counts in runs().items())


def device():
    found = {summary(batch, count)["device"].partition("(")[2].partition(")")[0] for batch, counts in runs().items() for count in counts}
    return ", ".join(sorted(found))


BLOCKS = {
    "data_parallel.speed": speed,
    "data_parallel.scaling": scaling,
    "data_parallel.device": device,
    "data_parallel.epochs": lambda: setting("train.epochs"),
    "data_parallel.images": lambda: f"{50000 - int(setting('data.validation')):,}",
}
