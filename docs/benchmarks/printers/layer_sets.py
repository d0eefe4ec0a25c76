"""VGG16 without some of its layers, which keeps as many weights as the whole network: a part of sparse-accuracy.md."""
from printers.common import percent, table
from printers.frontier_runs import search_of
from printers.runs import SEEDS
from printers.searches import HEADER, row_of
from printers.sparse_accuracy import DENSE, FOLDER, RUNS

WHOLE = "steps"
SETS = {
    WHOLE: "none",
    "cut3": "3 by hand",
    "cut5": "5 by hand",
    "cut6": "6 by hand",
    "evolution-layers": "by evolution",
    "evolution-layers-short": "by evolution, trials half as long",
    "evolution-layers-fresh": "by evolution, trials from random weights",
    "random-layers-fresh": "by chance, trials from random weights",
    "greedy-layers": "by a greedy search",
    "random-layers": "by chance",
    "random-layers-short": "by chance, trials half as long",
}
SPARSITIES = ("95", "98")
# Sets that the page names beside no layer left out.
CITED = (("cut3", "95"), ("cut3", "98"), ("cut5", "98"), ("evolution-layers", "98"), *((f"{search}-layers-fresh", sparsity) for search in ("evolution", "random") for sparsity in SPARSITIES))


def kinds():
    """(sparsity of the whole network, kind, what is left out) of all that was run, of a sparsity of which more than the whole network was."""
    found = {sparsity: [(sparsity, f"{name}-{sparsity}", text) for name, text in SETS.items() if RUNS.seeds(f"{name}-{sparsity}")] for sparsity in SPARSITIES}
    return [kind for of_sparsity in found.values() if len(of_sparsity) > 1 for kind in of_sparsity]


def kept(summary):
    return sum(layer["nonzeros"] for layer in summary["layers"])


def sets():
    rows = []
    for sparsity, kind, text in kinds():
        summaries = RUNS.summaries(kind).values()
        most = max(map(kept, summaries))
        beside = "" if kind.startswith(WHOLE) else RUNS.beside(kind, f"{WHOLE}-{sparsity}")
        rows.append([text, f"{most:,}", ", ".join(sorted({percent(summary["sparsity"]) for summary in summaries})), *RUNS.columns(kind),
                     RUNS.beside(kind, DENSE), beside])
    return table(["layers left out", "weights kept, at most", "sparsity of the others %", *SEEDS, "points beside dense, 80 epochs", "beside no layer left out"], rows)


def found():
    """By the searches."""
    names = [f"{kind}-seed{seed}" for _, kind, _ in kinds() for seed in RUNS.seeds(kind)]
    searches = [(name, search_of(f"{FOLDER}/{name}")) for name in names]
    return table(HEADER, [row_of(name, search) for name, search in searches if search])


def beside(name, sparsity):
    return RUNS.beside(f"{name}-{sparsity}", f"{WHOLE}-{sparsity}")


BLOCKS = {
    "layer_sets.results": sets,
    "layer_sets.found": found,
    **{f"layer_sets.{name.replace('-', '_')}{sparsity}": (lambda name=name, sparsity=sparsity: beside(name, sparsity)) for name, sparsity in CITED},
}
