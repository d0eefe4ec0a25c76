"""Epochs that were trained in all for a taught network, with its teacher's: pages whose pruned networks learn from another one."""
from math import ceil

from printers import frontier_long, frontier_resnet50, frontier_search, frontier_taught, paper_networks, sparse_accuracy
from printers.common import read_config
from printers.frontier_resnet50 import CUT5, CUT7, LARGE7, LATE8, LATE10
from printers.runs import CIFAR_IMAGES, NOT_RUN

SAME = ("model.architecture", "data.format", "data.validation", "augment.cutout", "train.weight_decay")  # of networks that stand beside each other


def config(runs, name):
    return read_config(f"{runs.folder}/{name}/config.yaml")


def run_of(weights):
    """Of runs/NAME/dense.safetensors: NAME; nothing of no file."""
    path = weights.strip('"')
    assert not path or path.endswith("/dense.safetensors"), path
    return path.split("/")[-2] if path else ""


def pruning_epochs(values):
    batches = ceil((CIFAR_IMAGES - int(values["data.validation"])) / int(values["train.batch_size"]))
    epochs, rest = divmod(int(values["prune.iter_nr"]) * int(values["prune.batch_nr"]), batches)
    assert rest == 0, (values["name"], rest)
    return epochs


def epochs_of(runs, name):
    """Of a run, of what it begins with and of its teacher, each network once."""
    values = config(runs, name)
    others = {run_of(values["model.weights"]), run_of(values["prune.teacher"])} - {""}
    return int(values["train.epochs"]) + pruning_epochs(values) + sum(int(config(runs, other)["train.epochs"]) for other in others)


def dense_runs(runs, wanted, epochs):
    """Kinds of dense networks with all layers that were trained for so many epochs as a pruned one of this configuration."""
    found = []
    for kind in runs.kinds():
        if "dense-" not in kind or not runs.seeds(kind):
            continue
        values = config(runs, f"{kind}-seed{runs.seeds(kind)[0]}")
        if int(values["train.epochs"]) == epochs and all(values[key] == wanted[key] for key in SAME):
            found.append(kind)
    return found


def in_all(runs, *kinds, beside=None):
    """Epochs with those of the teachers, and the points beside a dense network of as many, of these runs or of others."""
    def text():
        names = [f"{kind}-seed{seed}" for kind in kinds for seed in runs.seeds(kind)]
        if not names:
            return NOT_RUN
        found = {epochs_of(runs, name) for name in names}
        assert len(found) == 1, (kinds, found)
        epochs = found.pop()
        dense = dense_runs(beside or runs, config(runs, names[0]), epochs)
        if not dense:
            return f"{epochs} epochs in all; a dense network of as many was not run beside"
        assert len(dense) == 1, (kinds, dense)
        points = {kind: runs.beside(kind, dense[0], beside) for kind in kinds if runs.seeds(kind)}
        if len(points) == 1:
            return f"{epochs} epochs in all, and lies {points[kinds[0]]} points beside a dense network of as many"
        named = ", ".join(f"`{kind}` {text}" for kind, text in points.items())
        return f"{epochs} epochs in all; points beside a dense network of as many: {named}"
    return text


PAPERS, SPARSE = paper_networks.RUNS, sparse_accuracy.RUNS
DENSENET = "densenet121-c10-89.5-taught"
RESNET = "resnet50-c10-97.2-taught"

BLOCKS = {
    "teachers.vgg16_c100": in_all(PAPERS, "vgg16-c100-92.2-taught"),
    "teachers.resnet50_c10": in_all(PAPERS, RESNET, f"{RESNET}-warm", f"{RESNET}-warm-2"),
    "teachers.densenet121_40": in_all(PAPERS, DENSENET),
    "teachers.densenet121_80": in_all(PAPERS, f"{DENSENET}-80", f"{DENSENET}-early"),
    "teachers.densenet121_120": in_all(PAPERS, f"{DENSENET}-120"),
    "teachers.vgg16_c10": in_all(SPARSE, "taught-98"),
    "teachers.frontier_vgg16": in_all(frontier_taught.RUNS, "cut6-vector16-3-taught", "cut6-sparse-2.75-taught", beside=SPARSE),
    "teachers.frontier_long": in_all(frontier_long.VGG16, frontier_long.UNTAUGHT, frontier_long.TAUGHT, frontier_long.BETWEEN, frontier_long.SLOWER,
                                      frontier_long.KEPT_SLOWER, frontier_long.KEPT, frontier_long.KEPT_FASTER, frontier_long.KEPT_MORE),
    "teachers.frontier_last": in_all(frontier_long.RESNET50, frontier_long.LAST8, frontier_long.LAST9),
    "teachers.frontier_search": in_all(frontier_search.RUNS, "hand-3-taught", "magnitude-2.5-taught", beside=SPARSE),
    "teachers.frontier_resnet50": in_all(frontier_resnet50.RUNS, CUT5, CUT7, LARGE7, LATE8, LATE10, beside=PAPERS),
}
