"""Masks of vectors of 16 and whole channels, and of single weights from the same dense networks, at a share of the weights, six seeds:
sparse-accuracy.md. Runs MASKS-KIND-SPARSITY of sparse-accuracy/runs.txt."""
from printers.common import table
from printers.runs import mean, seed_columns
from printers.sparse_accuracy import SIX, iterations, plans_counted, setting

MASKS = {"elements": "single weights", "vectors": "vectors of 16", "channels": "whole channels"}
SPARSITIES = ("95", "98")
DENSE = {"dense-40-h200": "dense, 40 epochs, where pruning starts", "dense-80-h200": "dense, 80 epochs"}
BY_MAGNITUDE = {
    "uniform": "magnitude, `uniform`",
    "erk": "magnitude, `erk`",
    "erk-longer": "magnitude, `erk`, longer",
    "global": "magnitude, `global`",
    "lamp": "magnitude, `lamp`",
    "lamp-longer": "magnitude, `lamp`, longer",
}
EVOLUTIONARY = {
    "chain": "evolutionary, no plans compared",
    "mutated": "evolutionary, plans compared: mutations alone",
    "few": "evolutionary, 4 plans compared: mutations alone",
    "known": "evolutionary, plans compared, one follows an allocation",
    "evolved": "evolutionary, plans compared, from the one chosen before",
    "evolved-longer": "evolutionary, plans compared, from the one chosen before, longer",
    "more": "evolutionary, 16 plans compared, from the one chosen before",
    "judged": "evolutionary, plans compared, from the one chosen before, each trained before",
}
ROWS = BY_MAGNITUDE | EVOLUTIONARY
KEPT = ("lamp", "erk", "evolved")  # of whole channels, 98 %
TIMED = ("erk", "erk-longer", "lamp", "lamp-longer", "chain", "evolved")


def results():
    rows = [["none", "", title, *SIX.columns(kind), ""] for kind, title in DENSE.items() if SIX.seeds(kind)]
    for masks, title in MASKS.items():
        for sparsity in SPARSITIES:
            kinds = {f"{masks}-{kind}-{sparsity}": kind for kind in ROWS if SIX.seeds(f"{masks}-{kind}-{sparsity}")}
            named = [(ROWS[kind], run) for run, kind in kinds.items()]
            rows += [[title, sparsity, *row] for row in SIX.beside_best(named, lambda run: kinds[run] in BY_MAGNITUDE)]
    return table(["masks of", "sparsity %", "run", *seed_columns(SIX.most), "points beside the best by magnitude"], rows)


def kept_of(run):
    """{layer: (output channels that are kept, mean of all seeds, and all of them)}"""
    channels, answers = {}, []
    for summary in SIX.summaries(run).values():
        channels |= {layer["name"]: layer["shape"][0] for layer in summary["layers"]}
        answers += [solution["sparsities"] for solution in summary["population"] if solution["answer"]]
    return {name: (mean((1 - answer[name]) * channels[name] for answer in answers), channels[name]) for name in answers[0]}


def kept():
    found = {kind: kept_of(f"channels-{kind}-98") for kind in KEPT}
    return table(["layer", "channels", *(ROWS[kind] for kind in KEPT)],
                 [[name, str(all_), *(f"{found[kind][name][0]:.1f}" for kind in KEPT)] for name, (_, all_) in found[KEPT[0]].items()])


def seconds(run):
    """Of pruning, a mean; several runs shared a GPU."""
    return mean(summary["seconds"]["prune"] for summary in SIX.summaries(run).values())


def times():
    """Of pruning whole channels to 98 %."""
    return ", ".join(f"{seconds(f'channels-{kind}-98'):.0f} ({ROWS[kind]})" for kind in TIMED if SIX.seeds(f"channels-{kind}-98"))


def judged_batches():
    """Those that a run's plans trained before they were judged: of the run with the fewest, and with the most."""
    runs = [f"{masks}-judged-{sparsity}" for masks in MASKS for sparsity in SPARSITIES]
    found = [sum(line.get("judged_batches", 0) for line in lines) for run in runs for lines in iterations(run, SIX).values()]
    return f"{min(found)} to {max(found)}"


def beside(masks, kind, other, sparsity):
    return lambda: SIX.beside(f"{masks}-{kind}-{sparsity}", f"{masks}-{other}-{sparsity}")


BLOCKS = {
    "granularity.results": results,
    "granularity.kept": kept,
    "granularity.plans": lambda: f"{setting('channels-evolved-98', 'offspring'):g}",
    "granularity.images": lambda: f"{setting('channels-evolved-98', 'judge_images'):,g}",
    "granularity.chosen": lambda: plans_counted("channels-evolved-98", SIX),
    "granularity.judged_batches": judged_batches,
    "granularity.judged_iterations": lambda: f"{setting('channels-judged-98', 'iter_nr'):g}",
    "granularity.iterations": lambda: f"{setting('channels-evolved-98', 'iter_nr'):g}",
    "granularity.batches": lambda: f"{setting('channels-judged-98', 'batch_nr'):g}",
    "granularity.longer_iterations": lambda: f"{setting('channels-erk-longer-98', 'iter_nr'):g}",
    "granularity.seconds": times,
    "granularity.dense": lambda: SIX.beside("dense-40-h200", "dense-40"),
    "granularity.device": lambda: SIX.devices_of(*(f"{masks}-{kind}-{sparsity}" for masks in MASKS for kind in ROWS for sparsity in SPARSITIES)),
    **{f"granularity.{masks}.{kind}_{other}{sparsity}": beside(masks, kind, other, sparsity)
       for masks in MASKS for kind in ROWS for other in ROWS for sparsity in SPARSITIES if kind != other},
}
