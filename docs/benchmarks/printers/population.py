"""The population over several GPUs: population.md. population/ranks-N-seed1 are runs of N processes; RESUMED began with two and went on with one."""
from statistics import median

from printers.common import ROOT, gpu_of, percent, read, read_config, read_lines, table

FOLDER = "population"
ALONE = "ranks-1-seed1"
RESUMED = {"int": "SIGINT to `torchrun`", "kill": "SIGKILL to one of the two processes"}
GOALS = {2: 1.8, 4: 3.5}  # times the children per second of one process


def name_of(processes):
    return f"ranks-{processes}-seed1"


def processes():
    return sorted(int(path.name.split("-")[1]) for path in (ROOT / FOLDER).glob("ranks-*-seed1"))


def lines(name):
    return read_lines(f"{FOLDER}/{name}/metrics.jsonl")


def setting(key):
    """Of all runs: one text."""
    values = {read_config(f"{FOLDER}/{path.parent.name}/config.yaml")[key] for path in (ROOT / FOLDER).glob("*/config.yaml")}
    assert len(values) == 1, (key, values)
    return values.pop()


def size():
    """Children of a generation."""
    return int(setting("prune.generation"))


def generations(name):
    """Seconds of each: all children of one have the same line end."""
    ends = [line["seconds"] for line in lines(name) if line["stage"] == "prune"][size() - 1::size()]
    return [end - before for before, end in zip([0, *ends], ends)]


def rate(name):
    """Children per second after the first generation."""
    later = generations(name)[1:]
    return size() * len(later) / sum(later)


def without_seconds(name):
    return [{key: value for key, value in line.items() if key != "seconds"} for line in lines(name)]


def equal(name):
    """To the run of one process, but for `seconds`."""
    return "yes" if without_seconds(name) == without_seconds(ALONE) else "**no**"


def times(ours, alone):
    return f"{ours / alone:.2f}x"


def ranks():
    rows = []
    for count in processes():
        name = name_of(count)
        seconds = sum(generations(name))
        rows.append([str(count), f"{seconds:.2f}", times(sum(generations(ALONE)), seconds), f"{rate(name):.2f}",
                     times(rate(name), rate(ALONE)), "" if name == ALONE else equal(name)])
    return table(["processes", "pruning s", "times as fast", "children per second after the first generation", "times as many",
                  "lines equal to one process"], rows)


def first_generation():
    rows = []
    for count in processes():
        first, *later = generations(name_of(count))
        rows.append([str(count), f"{first:.2f}", f"{median(later):.2f}", f"{first - median(later):.2f}"])
    return table(["processes", "first generation s", "others, median s", "difference s"], rows)


def resumed():
    """The resumed process starts anew, so that its first generation is the longest after the run's first."""
    rows = []
    for name, end in RESUMED.items():
        later = generations(name)[1:]
        rows.append([f"`{name}`", end, str(1 + later.index(max(later))), equal(name)])
    return table(["run", "what ended it", "generations of two processes", "lines equal to one process"], rows)


def goals():
    parts = []
    for count, goal in GOALS.items():
        factor = rate(name_of(count)) / rate(ALONE)
        parts.append(f"{factor:.2f}x on {count} (wanted {goal}x, {'reached' if factor >= goal else 'missed'})")
    return ", ".join(parts)


def more():
    """Numbers of processes beside one."""
    return [count for count in processes() if count > 1]


def scaling():
    return ", ".join(f"{times(rate(name_of(count)), rate(ALONE))} on {count}" for count in more())


def whole():
    return ", ".join(f"{times(sum(generations(ALONE)), sum(generations(name_of(count))))} on {count}" for count in more())


def equal_runs():
    """How many of the others have the lines of one process."""
    others = [*(name_of(count) for count in more()), *RESUMED]
    return f"{sum(equal(name) == 'yes' for name in others)} of {len(others)}"


def summary():
    return read(f"{FOLDER}/{ALONE}/prune.json")


def accuracy():
    """Of all runs on the test images."""
    names = [*(name_of(count) for count in processes()), *RESUMED]
    return ", ".join(sorted({f"{percent(read(f'{FOLDER}/{name}/prune.json')['accuracy'])} %" for name in names}))


BLOCKS = {
    "population.ranks": ranks,
    "population.first_generation": first_generation,
    "population.resumed": resumed,
    "population.goals": goals,
    "population.scaling": scaling,
    "population.whole": whole,
    "population.equal": equal_runs,
    "population.device": lambda: gpu_of(summary()["device"]),
    "population.lines": lambda: str(len(lines(ALONE))),
    "population.iterations": lambda: setting("prune.iter_nr"),
    "population.batches": lambda: setting("prune.batch_nr"),
    "population.pool_size": lambda: setting("prune.pool_size"),
    "population.generation": lambda: setting("prune.generation"),
    "population.interval": lambda: setting("prune.mask_interval"),
    "population.sparsity": lambda: f"{percent(summary()['sparsity'])} %",
    "population.accuracy": accuracy,
    "population.dense": lambda: f"{percent(summary()['dense_accuracy'])} %",
}
