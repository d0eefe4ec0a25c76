"""Why the evolution lay behind magnitude, on a small network: small-network.md. Runs of small-network/runs.txt."""
from printers import common
from printers.common import percent, table
from printers.runs import CIFAR_IMAGES, Runs, mean, seed_columns

RUNS = Runs("small-network", 4)
BESIDE = "steps"
LAST = 2  # iterations whose loss counts
ROWS = {
    "steps": "magnitude, masks every 16 batches",
    "magnitude": "magnitude, masks once an epoch",
    "lamp": "magnitude, every 16 batches, `lamp`",
    "erk": "magnitude, every 16 batches, `erk`",
    "before-chain": "evolutionary, before",
    "longer-chain": "evolutionary, masks that move",
    "chain": "evolutionary",
    "regrown": "evolutionary, regrowing",
    "mutated": "evolutionary, 8 plans compared, mutations alone",
    "before-evolved": "evolutionary, 8 plans compared, known allocations, before",
    "moved-evolved": "evolutionary, 8 plans compared, known allocations, masks that move",
    "longer-evolved": "evolutionary, 8 plans compared, known allocations, none denser",
    "evolved": "evolutionary, 8 plans compared, known allocations",
}


def place(kind, seed):
    return f"{RUNS.folder}/{kind}-seed{seed}"


def iterations(kind, seed):
    return [line for line in common.read_lines(f"{place(kind, seed)}/metrics.jsonl") if line["stage"] == "prune"]


def losses(kind):
    """{seed: mean training loss of the last iterations}"""
    return {seed: mean(line["loss"] for line in iterations(kind, seed)[-LAST:]) for seed in RUNS.seeds(kind)}


def rising(kind):
    """Iterations in which sparsity rises."""
    found = {sum(line["phase"] == "rise" for line in iterations(kind, seed)) for seed in RUNS.seeds(kind)}
    assert len(found) == 1, (kind, found)
    return str(found.pop())


def more_loss(kind, other=BESIDE):
    ours, theirs = losses(kind), losses(other)
    more = [ours[seed] - theirs[seed] for seed in ours]
    return f"{mean(more):+.4f} ({min(more):+.4f} to {max(more):+.4f})"


def results():
    rows = [[f"dense, {setting('train.epochs', ['dense'])} epochs, where pruning starts", *accuracies("dense", "dense_accuracy"), "", ""]]
    for kind, title in ROWS.items():
        beside = kind != BESIDE
        rows.append([title, *accuracies(kind, "accuracy"), RUNS.beside(kind, BESIDE) if beside else "", more_loss(kind) if beside else ""])
    return table(["run", *seed_columns(RUNS.most), "points beside magnitude's steps", "training loss beside"], rows)


def accuracies(kind, key):
    found = [summary[key] for summary in RUNS.summaries(kind).values()]
    assert len(found) == len(RUNS.seeds(BESIDE)), kind
    return [*map(percent, found), percent(mean(found))]


def setting(key, kinds=ROWS):
    return common.setting([place(kind, seed) for kind in kinds for seed in RUNS.seeds(kind)], key)


def plans_cost():
    """What comparing plans adds to the loss of the evolution."""
    return f"{more_loss('mutated', 'chain')} with mutations alone, {more_loss('evolved', 'chain')} with known allocations too"


def migrated():
    """Largest share of the kept weights that changed places in an iteration."""
    rates = [line["migration"]["rate"] for seed in RUNS.seeds("regrown") for line in iterations("regrown", seed)]
    return f"{100 * max(rates):.1f} %"


BLOCKS = {
    "small.results": results,
    "small.before": lambda: more_loss("before-chain"),
    "small.chain": lambda: more_loss("chain"),
    "small.before_points": lambda: RUNS.beside("before-chain", BESIDE),
    "small.chain_points": lambda: RUNS.beside("chain", BESIDE),
    "small.moved": lambda: more_loss("moved-evolved"),
    "small.returning": lambda: more_loss("longer-evolved", "moved-evolved"),
    "small.longer_evolved": lambda: more_loss("longer-evolved"),
    "small.longer": lambda: more_loss("longer-chain"),
    "small.longer_points": lambda: RUNS.beside("longer-chain", BESIDE),
    "small.regrown": lambda: more_loss("regrown"),
    "small.regrown_chain": lambda: more_loss("regrown", "chain"),
    "small.migrated": migrated,
    "small.plans": plans_cost,
    "small.lamp": lambda: more_loss("lamp"),
    "small.erk": lambda: more_loss("erk"),
    "small.sparsity": lambda: f"{100 * float(setting('prune.target_sparsity')):g} %",
    "small.images": lambda: f"{CIFAR_IMAGES - int(setting('data.validation')):,}",
    "small.dense": lambda: setting("train.epochs", ["dense"]),
    "small.iterations": lambda: setting("prune.iter_nr"),
    "small.judged": lambda: f"{int(setting('prune.judge_images')):,}",
    "small.rising": lambda: rising("longer-chain"),
    "small.rising_magnitude": lambda: rising("steps"),
    "small.device": RUNS.devices,
    "small.last": lambda: str(LAST),
}
