"""VGG16 on CIFAR-10 deployed: results.md and README. A model has a folder in vgg16-cifar10/deploy."""
import json

from printers.common import ROOT, percent, read, table
from printers.runs import SEEDS, Runs
from printers.trainings import FOLDER, best_dense, folders, training

PRECISIONS = {"f16": "f16", "f32": "f32", "tf32": "f32, dense TF32"}
RECIPES = Runs("sparse-accuracy")
DENSE = "dense-80"
SHIPPED = {  # configurations: their runs, which begin with dense networks of the same training
    "`configs/vgg16-magnitude.yaml`: gradual magnitude pruning": "steps-96.2",
    "`configs/vgg16.yaml`: evolution": "chain-95",
}
LAYER_RUNS = ("vgg16-4b", "vgg16-vector16-4b")


def trained_run(deployed):
    """The training that a deployed model comes from: .../RUN/pruned.safetensors."""
    return read(f"{FOLDER}/deploy/{deployed}/quantize.json")["in"].split("/")[-2]


def shipped():
    """What configurations that are shipped end with, beside dense networks of as many epochs."""
    rows = [["dense", "", *RECIPES.columns(DENSE), ""]]
    for name, kind in SHIPPED.items():
        sparsity = RECIPES.summaries(kind)["1"]["sparsity"]
        rows.append([name, percent(sparsity), *RECIPES.columns(kind), RECIPES.beside(kind, DENSE)])
    return table(["run", "weight sparsity %", *SEEDS, "points beside dense"], rows)


def accuracy(names=None):
    def text():
        rows = []
        for run in names or folders("deploy", "export.json"):
            export, result = (read(f"{FOLDER}/deploy/{run}/{file}.json") for file in ("export", "run"))
            quantize, pruned = read(f"{FOLDER}/deploy/{run}/quantize.json"), training(trained_run(run))
            rows.append([run, percent(best_dense()), percent(pruned["accuracy"]),
                         f"{quantize['accuracy_after']:.2f}", f"{result['accuracy']:.2f} ({result['precision']})",
                         percent(pruned["sparsity"]), str(export["bytes"]),
                         f"{export['dense_f32_bytes'] / export['bytes']:.1f}x"])
        return table(["run", "best dense %", "pruned %", "quantized %", "deployed %", "weight sparsity %", "file bytes",
                      "smaller"], rows)
    return text


def quantization():
    rows = []
    for run in folders("deploy", "quantize.json"):
        result = read(f"{FOLDER}/deploy/{run}/quantize.json")
        scaled = sum(1 for layer in result["layers"] if layer.get("channel_scale"))
        rows.append([run, result["scheme"], f"{scaled} of {len(result['layers'])}",
                     *(f"{result[key]:.2f}" for key in ("accuracy_before", "accuracy_weights", "accuracy_after")),
                     f"{result['accuracy_after'] - result['accuracy_before']:+.2f}"])
    return table(["run", "scheme", "layers with channel scales", "pruned %", "weights quantized %", "activations too %",
                  "points"], rows)


def comparisons(run):
    """(precision, comparison) of all that were measured."""
    for precision in PRECISIONS:
        path = f"{FOLDER}/deploy/{run}/bench-{precision}.json"
        if (ROOT / path).exists():
            for result in read(path):
                yield precision, result


def medians(result):
    return [result[plan]["network_ms"]["median"] for plan in ("dense", "sparse", "chosen")]


def networks(names=None):
    def text():
        rows = []
        for run in names or folders("deploy", "bench-f16.json"):
            for precision, result in comparisons(run):
                dense, sparse, chosen = medians(result)
                rows.append([run, str(result["batch"]), PRECISIONS[precision], f"{dense:.4f}", f"{sparse:.4f}",
                             f"{chosen:.4f}", f"{dense / sparse:.2f}x", f"{dense / chosen:.2f}x"])
        return table(["run", "batch", "precision", "dense ms", "sparse ms", "chosen ms", "dense / sparse",
                      "dense / chosen"], rows)
    return text


def spread():
    """The widest p90 over median of all networks."""
    worst = max(result[plan]["network_ms"]["p90"] / result[plan]["network_ms"]["median"] - 1
                for run in folders("deploy", "bench-f16.json") for _, result in comparisons(run)
                for plan in ("dense", "sparse", "chosen"))
    return f"{100 * worst:.1f} %"


def baseline_scope():
    found = {result.get("all_plans") for run in folders("deploy", "bench-f16.json") for _, result in comparisons(run)}
    every = "all plans that cuDNN's heuristics propose and up to 256 algorithms of cuBLASLt's (`--all-plans`)"
    few = "the first 6 plans that cuDNN's heuristics propose and the first 8 algorithms of cuBLASLt's"
    scopes = {
        True: every,
        False: few,
        None: few + ", in NHWC alone where a layer's channels are multiples of 8",
    }
    if len(found) == 1:
        return scopes[found.pop()]
    labels = {True: "`all_plans: true`", False: "`all_plans: false`", None: "no `all_plans`"}
    return "; or of ".join(f"{scope} where the raw results have {labels[key]}" for key, scope in scopes.items()
                           if key in found)


def layers(run, batch):
    def text():
        result = next(r for _, r in comparisons(run) if r["batch"] == batch)
        plans = [{layer["name"]: layer for layer in result[plan]["layers"]} for plan in ("dense", "sparse", "chosen")]
        rows = []
        for name, layer in plans[2].items():
            if layer["op"] in ("conv2d", "linear"):
                times = [f"{plan[name]['ms']['median']:.4f}" if name in plan else "-" for plan in plans]
                rows.append([name, percent(layer["weight_sparsity"]), *times, layer["kernel"]])
        return table(["layer", "sparsity %", "dense ms", "sparse ms", "chosen ms", "chosen kernel"], rows)
    return text


def verification():
    errors = {}
    for run in folders("deploy", "export.json"):
        for path in sorted((ROOT / FOLDER / "deploy" / run).glob("verify-*.json")):
            report = json.loads(path.read_text(encoding="utf-8"))
            compared = [layer["relative_error"] for layer in report["layers"] if "relative_error" in layer]
            key = path.stem.removeprefix("verify-")
            known = errors.setdefault(key, [0, 0, report["tolerance"]])
            known[0] += len(compared)
            known[1] = max(known[1], *compared)
    if not errors:
        return "No report of `runtime verify` is kept with these results."
    parts = [f"{count} layers in {key}, relative error at most {worst:.1e} (tolerance {tolerance:g})"
             for key, (count, worst, tolerance) in errors.items()]
    return "`runtime verify` compared with the reference: " + "; ".join(parts) + "."


def wins(plan):
    """In how many measurements a plan is faster than dense, and its extremes; within 3 % counts as equal."""
    def text():
        parts = []
        for precision, title in PRECISIONS.items():
            found = {}
            for run in folders("deploy", "bench-f16.json"):
                for p, result in comparisons(run):
                    if p == precision:
                        dense, sparse, chosen = medians(result)
                        found.setdefault(result["batch"], []).append(dense / (sparse if plan == "sparse" else chosen))
            for batch, gains in found.items():
                verdicts = [sum(g > 1.03 for g in gains), sum(g < 0.97 for g in gains)]
                parts.append(f"{title} batch {batch}: {min(gains):.2f} to {max(gains):.2f} ({verdicts[0]} faster, {verdicts[1]} "
                             f"slower of {len(gains)})")
        return "; ".join(parts)
    return text


BLOCKS = {
    "vgg16.wins.sparse": wins("sparse"),
    "vgg16.wins.chosen": wins("chosen"),
    "vgg16.accuracy": accuracy(),
    "vgg16.quantization": quantization,
    "vgg16.networks": networks(),
    "vgg16.spread": spread,
    "vgg16.baseline": baseline_scope,
    "vgg16.verification": verification,
    "vgg16.readme.shipped": shipped,
    "vgg16.readme.device": lambda: RECIPES.devices_of(DENSE, *SHIPPED.values()),
    "vgg16.readme.accuracy": accuracy(("vgg16-16b", "vgg16-4b", "vgg16-vector16-4b")),
    "vgg16.readme.networks": networks(("vgg16-4b",)),
    **{f"vgg16.layers.{run}.{batch}": layers(run, batch) for run in LAYER_RUNS for batch in (1, 128)},
}
