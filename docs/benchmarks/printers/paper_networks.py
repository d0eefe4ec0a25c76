"""The networks of paper 003's tables, three seeds: paper-networks.md. Runs of paper-networks/runs.txt."""
from printers.common import percent, read_lines, table
from printers.runs import NOT_RUN, SEEDS, Runs, mean

RUNS = Runs("paper-networks")
# Network and data; our dense runs, the longer one last; the pruned run; the paper's accuracy and sparsity.
ROWS = (
    ("VGG16, CIFAR-100", "vgg16-c100", (40, 80), "92.2", "68.31 at 92.2 %"),
    ("ResNet50, CIFAR-10", "resnet50-c10", (40, 80), "97.2", "94.1 at 97.14 %"),
    ("ResNet50, CIFAR-100", "resnet50-c100", (40, 80), "90.2", "78.23 at 90.14 %"),
    ("DenseNet121, CIFAR-10", "densenet121-c10", (20, 40), "89.5", "84.0 at 89.5 %"),
)
# More runs of a network: what they are, the run, the dense run of as many epochs.
MORE = {
    "vgg16-c100": (("dense, 160 epochs", "vgg16-c100-dense-160", None),),
    "resnet50-c10": (
        ("dense, 160 epochs", "resnet50-c10-dense-160", None),
        ("not taught, with 4 epochs of warm-up", "resnet50-c10-97.2-warm", "resnet50-c10-dense-80"),
        ("taught, with 4 epochs of warm-up", "resnet50-c10-97.2-taught-warm", "resnet50-c10-dense-80"),
        ("taught at a temperature of 2, with 4 epochs of warm-up", "resnet50-c10-97.2-taught-warm-2", "resnet50-c10-dense-80"),
    ),
    "resnet50-c100": (
        ("dense, 80 epochs, twice the weight decay, where pruning starts", "resnet50-c100-decay10-dense-80", "resnet50-c100-decay10-dense-160"),
        ("dense, 160 epochs, twice the weight decay", "resnet50-c100-decay10-dense-160", None),
        ("pruned, 160 epochs in all, twice the weight decay, taught by the dense network that it starts from", "resnet50-c100-decay10-90.2-taught-160",
         "resnet50-c100-decay10-dense-160"),
        ("the same from a learning rate of 0.1 on", "resnet50-c100-decay10-90.2-taught-160-rate1", "resnet50-c100-decay10-dense-160"),
        ("dense, 100 epochs of 49,500 images, twice the weight decay, where pruning starts", "resnet50-c100-whole-dense-100", "resnet50-c100-whole-dense-200"),
        ("dense, 200 epochs of 49,500 images, twice the weight decay", "resnet50-c100-whole-dense-200", None),
        ("pruned, 200 epochs in all of 49,500 images, twice the weight decay, taught by the dense network that it starts from", "resnet50-c100-whole-90.2-taught-200",
         "resnet50-c100-whole-dense-200"),
    ),
    "densenet121-c10": (
        ("dense, 80 epochs", "densenet121-c10-dense-80", None),
        ("pruned after 40 dense epochs, 80 in all, taught by the dense network of 80", "densenet121-c10-89.5-taught-80", "densenet121-c10-dense-80"),
        ("pruned after 10 dense epochs, 80 in all, taught by the dense network of 80", "densenet121-c10-89.5-taught-early", "densenet121-c10-dense-80"),
        ("dense, 120 epochs", "densenet121-c10-dense-120", None),
        ("pruned after 10 dense epochs, 120 in all, taught by the dense network of 120", "densenet121-c10-89.5-taught-120", "densenet121-c10-dense-120"),
    ),
}


def kinds_of(name, short, long, sparsity):
    """Of a network: title, run, the dense run of as many epochs."""
    dense = f"{name}-dense-{long}"
    return ((f"dense, {short} epochs, where pruning starts", f"{name}-dense-{short}", dense), (f"dense, {long} epochs", dense, None),
            (f"pruned, {long} epochs in all", f"{name}-{sparsity}", dense),
            (f"pruned, {long} epochs in all, taught by the dense network of {long}", f"{name}-{sparsity}-taught", dense), *MORE.get(name, ()))


def results():
    rows = []
    for network, name, (short, long), sparsity, paper in ROWS:
        for title, kind, dense in kinds_of(name, short, long, sparsity):
            if not RUNS.seeds(kind):
                continue
            is_pruned = "-dense-" not in kind
            kept = percent(mean(s["sparsity"] for s in RUNS.summaries(kind).values())) if is_pruned else ""
            rows.append([network, title, kept, *RUNS.columns(kind), RUNS.beside(kind, dense) if dense and RUNS.seeds(dense) else "",
                         paper if is_pruned else ""])
    return table(["network, data", "run", "sparsity %", *SEEDS, "points beside dense", "paper 003, %"], rows)


def after_one_epoch(kind):
    """Validation accuracies after the first epoch of pruning."""
    lines = [line for seed in RUNS.seeds(kind) for line in read_lines(f"{RUNS.folder}/{kind}-seed{seed}/metrics.jsonl")]
    found = [line["accuracy"] for line in lines if line["stage"] == "prune" and line["iteration"] == 1]
    return f"{percent(min(found))} to {percent(max(found))} %" if found else NOT_RUN


def paper_of(wanted):
    return next(paper for _, name, _, _, paper in ROWS if name == wanted)


BLOCKS = {
    "papers.results": results,
    "papers.vgg16_c100": lambda: RUNS.beside("vgg16-c100-92.2", "vgg16-c100-dense-80"),
    "papers.vgg16_c100_mean": lambda: RUNS.mean_accuracy("vgg16-c100-92.2"),
    "papers.vgg16_c100_paper": lambda: paper_of("vgg16-c100"),
    "papers.vgg16_c100_taught": lambda: RUNS.beside("vgg16-c100-92.2-taught", "vgg16-c100-92.2"),
    "papers.vgg16_c100_taught_dense": lambda: RUNS.beside("vgg16-c100-92.2-taught", "vgg16-c100-dense-80"),
    "papers.vgg16_c100_taught_mean": lambda: RUNS.mean_accuracy("vgg16-c100-92.2-taught"),
    "papers.resnet50_c100_long": lambda: RUNS.named_seeds("resnet50-c100-dense-80"),
    "papers.resnet50_c100_decay": lambda: RUNS.beside("resnet50-c100-decay10-dense-80", "resnet50-c100-dense-80"),
    "papers.resnet50_c100_taught": lambda: RUNS.beside("resnet50-c100-decay10-90.2-taught-160", "resnet50-c100-decay10-dense-80"),
    "papers.resnet50_c100_rate": lambda: RUNS.beside("resnet50-c100-decay10-90.2-taught-160-rate1", "resnet50-c100-decay10-90.2-taught-160"),
    "papers.resnet50_c100_rate_mean": lambda: RUNS.mean_accuracy("resnet50-c100-decay10-90.2-taught-160-rate1"),
    "papers.resnet50_c100_whole": lambda: RUNS.beside("resnet50-c100-whole-90.2-taught-200", "resnet50-c100-whole-dense-100"),
    "papers.resnet50_c100_whole_dense": lambda: RUNS.beside("resnet50-c100-whole-90.2-taught-200", "resnet50-c100-whole-dense-200"),
    "papers.resnet50_c100_whole_mean": lambda: RUNS.mean_accuracy("resnet50-c100-whole-90.2-taught-200"),
    "papers.resnet50_c100_whole_spread": lambda: RUNS.spread("resnet50-c100-whole-90.2-taught-200"),
    "papers.densenet121": lambda: RUNS.beside("densenet121-c10-89.5", "densenet121-c10-dense-40"),
    "papers.densenet121_seeds": lambda: RUNS.named_seeds("densenet121-c10-89.5-taught"),
    "papers.densenet121_taught": lambda: RUNS.beside("densenet121-c10-89.5-taught", "densenet121-c10-89.5"),
    "papers.densenet121_taught_dense": lambda: RUNS.beside("densenet121-c10-89.5-taught", "densenet121-c10-dense-40"),
    "papers.densenet121_taught_mean": lambda: RUNS.mean_accuracy("densenet121-c10-89.5-taught"),
    "papers.densenet121_long": lambda: RUNS.beside("densenet121-c10-89.5-taught-80", "densenet121-c10-dense-80"),
    "papers.densenet121_long_mean": lambda: RUNS.mean_accuracy("densenet121-c10-89.5-taught-80"),
    "papers.densenet121_long_start": lambda: RUNS.beside("densenet121-c10-89.5-taught-80", "densenet121-c10-dense-40"),
    "papers.densenet121_early": lambda: RUNS.beside("densenet121-c10-89.5-taught-early", "densenet121-c10-dense-80"),
    "papers.densenet121_early_mean": lambda: RUNS.mean_accuracy("densenet121-c10-89.5-taught-early"),
    "papers.densenet121_early_late": lambda: RUNS.beside("densenet121-c10-89.5-taught-early", "densenet121-c10-89.5-taught-80"),
    "papers.densenet121_120": lambda: RUNS.beside("densenet121-c10-89.5-taught-120", "densenet121-c10-dense-120"),
    "papers.densenet121_120_mean": lambda: RUNS.mean_accuracy("densenet121-c10-89.5-taught-120"),
    "papers.densenet121_120_dense": lambda: RUNS.beside("densenet121-c10-dense-120", "densenet121-c10-dense-80"),
    "papers.densenet121_paper": lambda: paper_of("densenet121-c10"),
    "papers.resnet50_c100_paper": lambda: paper_of("resnet50-c100"),
    "papers.resnet50_c10": lambda: RUNS.beside("resnet50-c10-97.2", "resnet50-c10-dense-80"),
    "papers.resnet50_c10_mean": lambda: RUNS.mean_accuracy("resnet50-c10-97.2"),
    "papers.resnet50_c10_taught": lambda: RUNS.beside("resnet50-c10-97.2-taught", "resnet50-c10-97.2"),
    "papers.resnet50_c10_first": lambda: after_one_epoch("resnet50-c10-97.2"),
    "papers.resnet50_c10_warm": lambda: RUNS.beside("resnet50-c10-97.2-taught-warm", "resnet50-c10-97.2"),
    "papers.resnet50_c10_warm_alone": lambda: RUNS.beside("resnet50-c10-97.2-warm", "resnet50-c10-97.2"),
    "papers.resnet50_c10_warm_alone_mean": lambda: RUNS.mean_accuracy("resnet50-c10-97.2-warm"),
    "papers.resnet50_c10_teacher": lambda: RUNS.beside("resnet50-c10-97.2-taught-warm", "resnet50-c10-97.2-warm"),
    "papers.resnet50_c10_warm_dense": lambda: RUNS.beside("resnet50-c10-97.2-taught-warm", "resnet50-c10-dense-80"),
    "papers.resnet50_c10_warm_mean": lambda: RUNS.mean_accuracy("resnet50-c10-97.2-taught-warm"),
    "papers.resnet50_c10_warm_first": lambda: after_one_epoch("resnet50-c10-97.2-taught-warm"),
    "papers.resnet50_c10_cool": lambda: RUNS.beside("resnet50-c10-97.2-taught-warm-2", "resnet50-c10-97.2-taught-warm"),
    "papers.resnet50_c10_taught_first": lambda: after_one_epoch("resnet50-c10-97.2-taught"),
    "papers.resnet50_c10_paper": lambda: paper_of("resnet50-c10"),
    "papers.device": RUNS.devices,
}
