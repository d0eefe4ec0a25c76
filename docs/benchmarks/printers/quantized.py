"""Pruned networks as `quantize` left them: sparse-accuracy.md. quantized/KIND-seedN-SCHEME.json is what `quantize` measured,
with -kept after SCHEME what it did with --no-bias-correction;
quantized/KIND-seedN is a pruning run with, for each form of its weights, what `runtime run` answered (run-FORM.json) and what `export`
wrote (export-FORM.json).
"""
from printers.common import ROOT, read, table
from printers.runs import SEEDS, mean, points_text, seed_cells

FOLDER = "quantized"
VGG16, VGG16_ANEW = "steps-96.2-h100", "steps-96.2"
NETWORKS = {"VGG16, 96.2 %": VGG16, "VGG16, 96.2 %, trained anew": VGG16_ANEW, "ResNet50, 97.2 %": "resnet50-c10-97.2"}
BIASES = {"-kept": "as they were", "": "corrected"}
DEPLOYED = "ResNet50, 97.2 %"
FORMS = {"f32": "as pruned", "16b": "16 bits of fixed point", "4b-kept": "16 values a layer, biases as they were", "4b": "16 values a layer, biases corrected"}


def by_seed(kind, file):
    """{seed: what the file of each seed has}."""
    found = {path: path.relative_to(ROOT / FOLDER).as_posix() for path in (ROOT / FOLDER).glob(f"{kind}-seed*{file}.json")}
    return {place.split("-seed")[1][0]: read(path) for path, place in sorted(found.items())}


def devices(results):
    return ", ".join(sorted({result["device"] for result in results}))


def measured():
    rows = []
    for network, kind in NETWORKS.items():
        for scheme in ("16b-16b", "4b-16b"):
            for suffix, biases in BIASES.items():
                found = by_seed(kind, f"-{scheme}{suffix}")
                if not found:
                    continue
                changes = [result["accuracy_after"] - result["accuracy_before"] for result in found.values()]
                cells = seed_cells({seed: result["accuracy_after"] / 100 for seed, result in found.items()})
                rows.append([network, scheme.replace("-", "/"), biases, devices(found.values()), *cells, points_text(changes)])
    return table(["network, sparsity", "weights/activations", "biases", "measured on", *SEEDS, "points beside pruned"], rows)


def pruned_anew():
    return f"{mean(result['accuracy_before'] for result in by_seed(VGG16_ANEW, '-4b-16b').values()):.2f} %"


def runs(form):
    """{seed: what `runtime run` answered} of the network that was deployed."""
    return by_seed(NETWORKS[DEPLOYED], f"/run-{form}")


def points(found, others):
    return points_text([found[seed]["accuracy"] - others[seed]["accuracy"] for seed in found])


def deployed():
    rows = []
    for form, name in FORMS.items():
        found = runs(form)
        files = by_seed(NETWORKS[DEPLOYED], f"/export-{form}").values()
        smaller = mean(file["dense_f32_bytes"] / file["bytes"] for file in files)
        rows.append([DEPLOYED, name, *seed_cells({seed: run["accuracy"] / 100 for seed, run in found.items()}),
                     "" if form == "f32" else points(found, runs("f32")), f"{mean(file['bytes'] for file in files):,.0f}", f"{smaller:.1f}x"])
    return table(["network, sparsity", "weights", *SEEDS, "points beside pruned", "file bytes", "smaller than dense f32"], rows)


BLOCKS = {
    "quantized.measured": measured,
    "quantized.pruned_anew": pruned_anew,
    "quantized.deployed": deployed,
    "quantized.corrected": lambda: points(runs("4b"), runs("4b-kept")),
    "quantized.devices": lambda: devices(run for form in FORMS for run in runs(form).values()),
}
